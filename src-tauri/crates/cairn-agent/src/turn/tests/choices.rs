//! Edits that the person changes before allowing them. SPEC P4.

use cairn_protocol::{DiffLine, DiffLineKind, FileDiff, Hunk, HunkChoice, ShownKind, ShownSpan};

use super::*;
use HunkChoice::{Leave, Take};

fn hunk(start: u32, kind: ShownKind) -> Hunk {
    let span = ShownSpan {
        kind,
        text: "x".to_owned(),
    };
    Hunk {
        old_start: start,
        new_start: start,
        lines: vec![DiffLine {
            kind: DiffLineKind::Added,
            old: None,
            new: Some(start),
            spans: vec![span],
        }],
    }
}

/// An edit with two places; the second holds something that is not shown as it is.
fn edit(digest: &str, second: u32) -> PreparedFacts {
    let diff = FileDiff {
        path: "a.rs".to_owned(),
        change: ChangeKind::Modified,
        added: 2,
        removed: 0,
        hunks: vec![hunk(1, ShownKind::Plain), hunk(second, ShownKind::Chip)],
        omitted_lines: 0,
        before: None,
        after: None,
        notes: Vec::new(),
    };
    PreparedFacts {
        subject: Some(ApprovalSubject::Edit { diffs: vec![diff] }),
        takes_hunks: true,
        ..facts(write(), digest)
    }
}

fn waiting(facts: PreparedFacts) -> Bench {
    let mut bench = Bench::new();
    bench.send("fix it");
    bench.call("c1", "edit_file", "{}");
    bench.end(FinishReason::Stop);
    prepare(&mut bench, facts);
    bench
}

fn prepare(bench: &mut Bench, facts: PreparedFacts) -> Vec<Effect> {
    bench.tell(Input::Prepared {
        call: "c1".into(),
        facts: Box::new(facts),
    })
}

fn replace() -> HunkChoice {
    HunkChoice::Replace {
        text: "mine".to_owned(),
    }
}

#[test]
fn choices_must_fit_what_the_card_shows() {
    let rows: [(&[HunkChoice], bool); 7] = [
        (&[Take, Leave], true),
        (&[Take, Take], true),
        (&[replace(), Leave], true),
        (&[Leave, Leave], false),
        (&[Take], false),
        (&[Take, Leave, Leave], false),
        (&[Take, replace()], false),
    ];
    for (hunks, fits) in rows {
        let bench = waiting(edit("d1", 9));
        let card = &bench.machine.log().approvals[0];
        assert!(card.offers_hunks);
        let answer = ApprovalAnswer::AllowChanged { hunks: hunks.into() };
        let checked = bench.machine.check_answer(&card.id, &card.digest, &answer);
        assert_eq!(checked.is_ok(), fits, "{hunks:?}");
    }
}

#[test]
fn a_card_that_offers_no_choices_takes_none() {
    let bench = Bench::with_waiting_edit();
    let card = &bench.machine.log().approvals[0];
    for hunks in [Vec::new(), vec![Take]] {
        let answer = ApprovalAnswer::AllowChanged { hunks };
        assert!(
            bench
                .machine
                .check_answer(&card.id, &card.digest, &answer)
                .is_err()
        );
    }
}

#[test]
fn the_choices_go_to_the_call_that_was_shown() {
    let mut bench = waiting(edit("d1", 9));
    let hunks = vec![replace(), Leave];
    bench.answer(ApprovalAnswer::AllowChanged { hunks: hunks.clone() });
    let effects = prepare(&mut bench, edit("d1", 9));
    let went = effects.iter().find_map(|effect| match effect {
        Effect::Execute { hunks, .. } => Some(hunks.clone()),
        _ => None,
    });
    assert_eq!(went, Some(Some(hunks)));
}

#[test]
fn choices_do_not_outlive_the_places_that_they_are_about() {
    for (what, facts) in [
        ("another content", edit("d2", 9)),
        ("other places", edit("d1", 8)),
    ] {
        let mut bench = waiting(edit("d1", 9));
        bench.answer(ApprovalAnswer::AllowChanged {
            hunks: vec![Take, Leave],
        });
        let effects = prepare(&mut bench, facts);
        assert!(executes(&effects).is_empty(), "{what}");
        assert_eq!(bench.machine.log().approvals.len(), 1, "{what}");
    }
}
