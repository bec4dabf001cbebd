//! Models that go round in circles: each ends by the guard, with the count.

use super::*;

/// What a model says at each step.
enum Says {
    /// A call of that tool with that argument, which is answered so, or not at all when it cannot be carried out.
    Call(&'static str, u32, Option<&'static str>),
}

impl Bench {
    /// Plays a model that says the same things over and over; gives the number of its replies and the words of the end.
    fn play_over_and_over(&mut self, says: &[Says]) -> (u32, String) {
        self.send("go");
        let mut replies = 0;
        for Says::Call(name, argument, answer) in says.iter().cycle() {
            if self.outcome().is_some() {
                break;
            }
            replies += 1;
            assert!(replies < 45, "the limit of steps ends it, not the guard");
            let id = format!("c{replies}");
            self.call(&id, name, &format!("{{\"n\":{argument}}}"));
            let effects = self.end(FinishReason::Stop);
            if !prepares(&effects).contains(&id) {
                continue;
            }
            match answer {
                Some(answer) => {
                    self.prepared(&id, read(), "d");
                    self.done(&id, ToolOutcome::ok(*answer));
                }
                None => {
                    self.tell(Input::Unprepared {
                        call: id.as_str().into(),
                        message: format!("`{name}`: `path` is missing."),
                    });
                }
            }
        }
        let items = self.machine.log().items();
        let notice = items.iter().rev().find_map(|item| match &item.body {
            ItemBody::Notice(notice) if notice.code == "stuck" => Some(notice.text.clone()),
            _ => None,
        });
        (replies, notice.unwrap_or_default())
    }
}

#[test]
fn t16_a_model_that_goes_round_in_circles_is_paused_with_the_count() {
    let same = || Says::Call("read_file", 1, Some("same"));
    let other = || Says::Call("grep", 2, Some("also the same"));
    for (what, says, replies, words) in [
        (
            "one call",
            vec![same()],
            5,
            "The last 3 replies held nothing but calls whose answers",
        ),
        (
            "two by turns",
            vec![same(), other()],
            7,
            "The last 3 replies held nothing but calls whose answers",
        ),
        (
            "a broken call",
            vec![Says::Call("edit_file", 1, None)],
            4,
            "The last 4 replies held nothing but calls",
        ),
        (
            "broken calls of all kinds",
            vec![
                Says::Call("edit_file", 1, None),
                Says::Call("edit_file", 2, None),
                Says::Call("read_file", 3, None),
                Says::Call("edit_file", 4, None),
                Says::Call("grep", 5, None),
                Says::Call("shell", 6, None),
                Says::Call("shell", 7, None),
            ],
            6,
            "The last 6 replies held nothing but calls that cannot be carried out",
        ),
        (
            "a tool that was never offered",
            vec![Says::Call("fly", 1, None)],
            6,
            "calls that cannot be carried out",
        ),
    ] {
        let mut bench = Bench::new();
        let (asked, notice) = bench.play_over_and_over(&says);
        assert_eq!(asked, replies, "{what}: {notice}");
        assert!(notice.contains(words), "{what}: {notice}");
        assert!(
            matches!(bench.outcome(), Some(TurnOutcome::Paused { .. })),
            "{what}"
        );
        // It can go on, and a new message begins afresh.
        assert!(asks_model(&bench.tell(Input::Continue)), "{what}");
        bench.tell(Input::Stop);
        assert!(asks_model(&bench.send("try another way")), "{what}");
    }
}

#[test]
fn a_call_that_runs_in_between_lifts_the_count() {
    let mut bench = Bench::new();
    bench.send("go");
    for round in 0..12 {
        let id = format!("c{round}");
        let broken = round % 3 != 2;
        bench.call(&id, "grep", &format!("{{\"n\":{round}}}"));
        bench.end(FinishReason::Stop);
        if broken {
            let message = "broken".to_owned();
            bench.tell(Input::Unprepared {
                call: id.as_str().into(),
                message,
            });
        } else {
            bench.prepared(&id, read(), "d");
            bench.done(&id, ToolOutcome::ok("found"));
        }
        assert_eq!(bench.outcome(), None, "{round}");
    }
}

#[test]
fn five_hundred_calls_of_one_reply_are_bounded_and_each_is_answered() {
    let mut bench = Bench::new();
    bench.send("go");
    for n in 0..500 {
        bench.call(&format!("c{n}"), "grep", &format!("{{\"n\":{n}}}"));
    }
    let effects = bench.end(FinishReason::Stop);
    assert_eq!(prepares(&effects).len(), 64);
    let (state, tool) = bench.tool("c499");
    assert_eq!(state, ItemState::Failed);
    assert!(tool.result.unwrap().content.contains("Only 64 calls"));
}
