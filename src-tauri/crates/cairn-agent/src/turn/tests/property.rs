//! Whatever happens in whatever order: nothing runs that was not allowed, and nothing stays open at the end.

use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Chance {
    Send,
    Text,
    Call(u8, u8),
    End(bool),
    Prepare(u8, u8, u8),
    Unprepare(u8),
    Finish(u8, bool),
    Answer(u8),
    Stop,
    Continue,
    Fail(bool),
    TooLong,
    Summarise,
    LongText,
    Wake,
    Restart,
}

fn chances() -> impl Strategy<Value = Vec<Chance>> {
    let one = prop_oneof![
        3 => Just(Chance::Send),
        2 => Just(Chance::Text),
        6 => (0u8..6, 0u8..6).prop_map(|(id, tool)| Chance::Call(id, tool)),
        5 => any::<bool>().prop_map(Chance::End),
        8 => (0u8..6, 0u8..3, 0u8..2).prop_map(|(id, would, digest)| Chance::Prepare(id, would, digest)),
        1 => (0u8..6).prop_map(Chance::Unprepare),
        6 => (0u8..6, any::<bool>()).prop_map(|(id, ok)| Chance::Finish(id, ok)),
        6 => (0u8..6).prop_map(Chance::Answer),
        1 => Just(Chance::Stop),
        1 => Just(Chance::Continue),
        1 => any::<bool>().prop_map(Chance::Fail),
        1 => Just(Chance::TooLong),
        1 => Just(Chance::Summarise),
        1 => Just(Chance::LongText),
        1 => Just(Chance::Wake),
        1 => Just(Chance::Restart),
    ];
    prop::collection::vec(one, 1..120)
}

fn play(bench: &mut Bench, chance: &Chance) -> Vec<Effect> {
    const TOOLS: [&str; 6] = ["read_file", "grep", "edit_file", "shell", "edit_file", "no_such"];
    match chance {
        Chance::Send => bench.send("words"),
        Chance::Text => {
            bench.text("words");
            Vec::new()
        }
        Chance::Call(id, tool) => {
            let arguments = format!("{{\"n\":{}}}", bench.now);
            bench.call(&format!("c{id}"), TOOLS[usize::from(*tool)], &arguments);
            Vec::new()
        }
        Chance::End(whole) => bench.end(if *whole {
            FinishReason::Stop
        } else {
            FinishReason::Length
        }),
        Chance::Prepare(id, would, digest) => {
            let would = [read(), write(), run()][usize::from(*would)].clone();
            bench.prepared(&format!("c{id}"), would, &format!("d{digest}"))
        }
        Chance::Unprepare(id) => bench.tell(Input::Unprepared {
            call: format!("c{id}").into(),
            message: "no".to_owned(),
        }),
        Chance::Finish(id, ok) => bench.done(
            &format!("c{id}"),
            ToolOutcome {
                ok: *ok,
                ..ToolOutcome::ok("r")
            },
        ),
        Chance::Answer(kind) => {
            let Some(card) = bench.machine.log().approvals.first().cloned() else {
                return Vec::new();
            };
            let answer = match kind {
                0..3 => ApprovalAnswer::AllowOnce,
                3 => ApprovalAnswer::Skip,
                4 => ApprovalAnswer::Deny { note: None },
                _ => ApprovalAnswer::Deny {
                    note: Some("no".to_owned()),
                },
            };
            if bench
                .machine
                .check_answer(&card.id, &card.digest, &answer)
                .is_err()
            {
                return Vec::new();
            }
            bench.tell(Input::AnswerApproval {
                approval: card.id,
                answer,
            })
        }
        Chance::Stop => bench.tell(Input::Stop),
        Chance::Continue => bench.tell(Input::Continue),
        Chance::Fail(passing) => {
            let error = if *passing {
                ModelError::passing
            } else {
                ModelError::fatal
            };
            bench.tell(Input::ModelFailed(error(ErrorCode::ModelServer, "503")))
        }
        Chance::TooLong => {
            let error = ModelError::fatal(ErrorCode::TooLong, "400: too long");
            bench.tell(Input::ModelFailed(error))
        }
        Chance::Summarise => bench.tell(Input::Summarise),
        Chance::LongText => {
            bench.text(&"words ".repeat(1_500));
            Vec::new()
        }
        Chance::Wake => bench.tell(Input::Woke),
        Chance::Restart => {
            let (now, fresh) = (bench.now, bench.fresh);
            *bench = after_kill(bench);
            (bench.now, bench.fresh) = (now, fresh);
            bench.tell(Input::Restore)
        }
    }
}

proptest! {
    #[test]
    fn nothing_runs_unallowed_and_nothing_stays_open(chances in chances(), small: bool) {
        let mut bench = if small { Bench::of_window(8_000, None) } else { Bench::new() };
        // Calls that were allowed and have not run yet, with what was shown of them.
        let mut allowed: std::collections::HashMap<String, String> = std::collections::HashMap::new();
        for chance in &chances {
            let card = bench.machine.log().approvals.first().cloned();
            let effects = play(&mut bench, chance);
            let mut may_run = false;
            match chance {
                Chance::Answer(kind) => if let Some(card) = card {
                    match kind {
                        0..3 => allowed.insert(card.call.0, card.digest),
                        _ => allowed.remove(&card.call.0),
                    };
                },
                Chance::Prepare(id, would, digest) => {
                    let shown = allowed.remove(&format!("c{id}"));
                    may_run = *would == 0 || shown == Some(format!("d{digest}"));
                }
                // After a restart every card needs a new click.
                Chance::Restart => allowed.clear(),
                _ => {}
            }
            for call in executes(&effects) {
                prop_assert!(may_run, "{call} ran unasked after {chance:?}");
            }
            let log = bench.machine.log();
            if let Some(turn) = log.last_turn().filter(|turn| turn.outcome.is_some()) {
                prop_assert_eq!(log.open_items(&turn.id).count(), 0, "open at the end, after {:?}", chance);
                prop_assert!(log.approvals.is_empty());
                let activity = bench.machine.activity();
                let summarises = matches!(activity, Activity::Summarising { .. } | Activity::Retrying { .. });
                prop_assert!(!bench.machine.is_busy() || summarises, "{activity:?}");
            }
            let ids: std::collections::HashSet<_> = log.items().iter().map(|item| item.id.clone()).collect();
            prop_assert_eq!(ids.len(), log.items().len());
        }
    }
}
