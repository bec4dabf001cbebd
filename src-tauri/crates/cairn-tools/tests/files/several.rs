//! `multi_edit`.

use cairn_protocol::{ApprovalSubject, ContentBlock};
use proptest::prelude::*;
use serde_json::json;

use super::fixture::{Project, done, refused};

fn seen(content: impl AsRef<[u8]>) -> Project {
    let project = Project::with("f", content);
    done(&project.read("f"));
    project
}

#[test]
fn x24_t18_each_edit_sees_what_those_before_it_did() {
    let project = seen("one\ntwo\n");
    let outcome = project.multi_edit("f", &[("one", "1"), ("1\ntwo", "1\n2"), ("2", "two too\nand")]);
    done(&outcome);
    assert_eq!(project.text("f"), "1\ntwo too\nand\n");
    assert!(
        outcome
            .content
            .starts_with("Edited f: 3 edits, 3 replacements on lines 1, 1, 2 (+3 \u{2212}2).\n@@"),
        "{}",
        outcome.content
    );
    assert_eq!(
        (outcome.changes.len(), project.journal.before_images().len()),
        (1, 1)
    );
}

#[test]
fn x24_t18_one_edit_that_fails_leaves_everything_as_it_was() {
    let project = seen("one\ntwo\n");
    let outcome = project.multi_edit("f", &[("one", "1"), ("three", "3"), ("two", "2")]);
    refused(
        &outcome,
        "f was not changed: edit 2 of 3: old_string was not found",
    );
    refused(&outcome, "None of the edits was made");
    refused(
        &project.multi_edit("f", &[("", "1")]),
        "edit 1 of 1: old_string is empty",
    );
    refused(
        &project.multi_edit("f", &[("o", "0"), ("x", "y")]),
        "edit 1 of 2: old_string was found 2 times",
    );
    // The text of an earlier edit is gone for a later one.
    refused(
        &project.multi_edit("f", &[("one", "1"), ("one", "2")]),
        "edit 2 of 2",
    );
    assert_eq!(project.text("f"), "one\ntwo\n");
    assert!(project.journal.told.lock().unwrap().is_empty());
}

#[test]
fn x24_t18_the_preview_is_the_result_byte_for_byte_and_one_approval_covers_it() {
    let project = seen("\u{feff}a\r\nb\r\nc\r\n");
    let arguments = json!({ "path": "f", "edits": [
        { "old_string": "a", "new_string": "A\nA2" },
        { "old_string": "c", "new_string": "C", "replace_all": true },
    ]});
    let prepared = project.prepare("multi_edit", arguments).unwrap();
    let Some(ApprovalSubject::Edit { diffs }) = prepared.subject.clone() else {
        panic!()
    };
    assert_eq!((diffs.len(), prepared.effects.len()), (1, 1));
    assert_eq!(prepared.blocks, [ContentBlock::Diff(diffs[0].clone())]);
    assert_eq!(project.journal.before_images().len(), 0, "nothing happened yet");
    done(&project.execute(prepared));
    assert_eq!(project.text("f"), "\u{feff}A\r\nA2\r\nb\r\nC\r\n");
    let now = cairn_files::hash::of_bytes(&project.bytes("f"));
    assert_eq!(diffs[0].after.as_deref(), Some(now.as_str()));
}

#[test]
fn x23_one_idle_edit_among_several_is_named_and_only_idle_ones_are_an_error() {
    let project = seen("one\ntwo\n");
    let outcome = project.multi_edit("f", &[("two", "two"), ("one", "1")]);
    done(&outcome);
    assert!(
        outcome.content.starts_with(
            "Edited f: 1 edit, 1 replacement on line 1; edit 1 has the same old_string and new_string"
        ),
        "{}",
        outcome.content
    );
    refused(
        &project.multi_edit("f", &[("1", "1"), ("x", "x")]),
        "in every edit",
    );
    let outcome = project.multi_edit("f", &[("1", "one"), ("one", "1")]);
    done(&outcome);
    assert!(outcome.content.contains("undo each other") && outcome.changes.is_empty());
    assert_eq!(project.text("f"), "1\ntwo\n");
}

#[test]
fn t18_needs_a_read_and_between_one_and_a_hundred_edits() {
    let project = Project::with("f", "one\n");
    refused(&project.multi_edit("f", &[("one", "1")]), "has not been read");
    refused(&project.multi_edit("g", &[("one", "1")]), "g does not exist");
    done(&project.read("f"));
    refused(
        &project.multi_edit("f", &[]),
        "`edits` has 0 entries; give 1 to 100",
    );
    let many = vec![("one", "1"); 101];
    refused(&project.multi_edit("f", &many), "`edits` has 101 entries");
    refused(
        &project.run(
            "multi_edit",
            json!({ "path": "f", "edits": [{ "old_string": "one" }] }),
        ),
        "`edits[1].new_string` is missing",
    );
    refused(
        &project.run(
            "multi_edit",
            json!({ "path": "f", "edits": [{ "old_str": "one", "new_string": "1" }] }),
        ),
        "did you mean `edits[1].old_string`?",
    );
}

#[test]
fn t20_what_was_seen_moves_with_every_edit() {
    let lines: String = (1..=30).map(|line| format!("line {line}\n")).collect();
    let project = Project::with("f", &lines);
    done(&project.read_range("f", 1, 20));
    done(&project.multi_edit(
        "f",
        &[("line 3\n", "3a\n3b\n3c\n"), ("line 25\n", ""), ("3b\n", "")],
    ));
    // Lines 1 to 21 are seen by now, and those after them are not.
    refused(&project.write("f", "x"), "lines 22 to 30 never shown whole");
    done(&project.read_range("f", 22, 9));
    done(&project.write("f", "x"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Any sequence of edits is what the same replacements make of a string, all or nothing.
    #[test]
    fn x24_any_sequence_of_edits_equals_the_same_edits_of_a_string(
        start in "[ab\n]{0,30}",
        edits in proptest::collection::vec(("[ab\n]{1,3}", "[abc\n$]{0,4}", any::<bool>()), 1..6),
    ) {
        let project = Project::with("f", &start);
        done(&project.read("f"));
        let arguments: Vec<_> = edits
            .iter()
            .map(|(old, new, all)| json!({ "old_string": old, "new_string": new, "replace_all": all }))
            .collect();
        let mut model = Some(start.clone());
        for (old, new, all) in &edits {
            // `aa` is in `aaa` twice, though only one can be replaced.
            let places = |text: &str| text.char_indices().filter(|(at, _)| text[*at..].starts_with(old.as_str())).count();
            model = model.and_then(|text| match places(&text) {
                _ if old == new => Some(text),
                0 => None,
                1 => Some(text.replace(old, new)),
                _ => all.then(|| text.replace(old, new)),
            });
        }
        let idle = edits.iter().all(|(old, new, _)| old == new);
        let outcome = project.run("multi_edit", json!({ "path": "f", "edits": arguments }));
        prop_assert_eq!(outcome.ok, model.is_some() && !idle, "{}", outcome.content);
        prop_assert_eq!(project.text("f"), model.unwrap_or(start));
    }
}
