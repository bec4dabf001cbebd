//! *Run outside…*: nothing runs without an answer of its own, and the answer is never remembered.

use super::*;

fn outside() -> Would {
    let Would::RunCommand {
        line,
        workdir,
        place,
        network,
        facts,
        ..
    } = run()
    else {
        panic!("a command")
    };
    Would::RunCommand {
        line,
        workdir,
        place,
        network,
        facts,
        outside: true,
    }
}

impl Bench {
    /// A command that failed within the sandbox; the request goes on.
    fn with_failed_command() -> (Self, ItemId) {
        let mut bench = Self::new();
        bench.machine.policy_mut().sandbox = Sandbox::Enforced;
        bench.send("publish it");
        bench.call("c1", "shell", "{\"command\":\"cargo publish\",\"timeout\":60}");
        bench.end(FinishReason::Stop);
        bench.prepared("c1", run(), "d1");
        if !bench.machine.log().approvals.is_empty() {
            bench.answer(ApprovalAnswer::AllowOnce);
            bench.prepared("c1", run(), "d1");
        }
        bench.done(
            "c1",
            ToolOutcome {
                walled: true,
                ..ToolOutcome::failed("read-only file system")
            },
        );
        let items = bench.machine.log().items();
        let item = items
            .iter()
            .find(|item| matches!(item.body, ItemBody::Tool(_)))
            .unwrap();
        let id = item.id.clone();
        (bench, id)
    }

    fn wants_outside(&mut self, item: &ItemId) -> Vec<Effect> {
        self.machine.check_outside(item).unwrap();
        let (item, turn) = (item.clone(), "outside-turn".into());
        self.tell(Input::RunOutside { item, turn })
    }
}

fn prepared_arguments(effects: &[Effect]) -> Option<(String, serde_json::Value)> {
    effects.iter().find_map(|effect| match effect {
        Effect::Prepare { call, arguments, .. } => {
            Some((call.0.clone(), serde_json::from_str(arguments).unwrap()))
        }
        _ => None,
    })
}

#[test]
fn p12_at_rest_it_begins_a_request_that_asks_and_then_the_model_goes_on() {
    let (mut bench, item) = Bench::with_failed_command();
    bench.text("It did not work.");
    bench.end(FinishReason::Stop);
    let effects = bench.wants_outside(&item);
    assert!(
        executes(&effects).is_empty() && !asks_model(&effects),
        "{effects:?}"
    );
    let (call, arguments) = prepared_arguments(&effects).unwrap();
    let expected = serde_json::json!({ "command": "cargo publish", "timeout": 60, "outside": true });
    assert_eq!(arguments, expected);
    let effects = bench.prepared(&call, outside(), "d2");
    assert!(executes(&effects).is_empty());
    let card = bench.machine.log().approvals[0].clone();
    assert!(
        !card.filled && card.offers.is_empty() && !card.offers_accept_edits,
        "{card:?}"
    );
    bench.answer(ApprovalAnswer::AllowOnce);
    assert_eq!(executes(&bench.prepared(&call, outside(), "d2")), [call.as_str()]);
    assert!(
        asks_model(&bench.done(&call, ToolOutcome::ok("published"))),
        "the model hears of it"
    );
    let messages = format!(
        "{:?}",
        crate::history::messages(
            &bench.machine.log().context(),
            &[],
            &std::collections::HashMap::new()
        )
    );
    assert!(messages.contains("Run this again, outside the sandbox") && messages.contains("published"));
    assert_eq!(bench.machine.log().turns.len(), 2);
}

#[test]
fn p12_while_the_model_writes_it_comes_before_its_next_step() {
    let (mut bench, item) = Bench::with_failed_command();
    assert!(
        bench
            .wants_outside(&item)
            .iter()
            .all(|effect| !matches!(effect, Effect::Prepare { .. }))
    );
    bench.text("Then I try another way.");
    let effects = bench.end(FinishReason::Stop);
    let (call, _) = prepared_arguments(&effects).unwrap();
    assert_eq!(bench.outcome(), None, "the request goes on with it");
    bench.prepared(&call, outside(), "d2");
    bench.answer(ApprovalAnswer::Skip);
    assert_eq!(bench.machine.log().turns.len(), 1);
}

#[test]
fn p12_it_is_offered_once_and_only_where_the_sandbox_may_be_the_reason() {
    let (mut bench, item) = Bench::with_failed_command();
    bench.wants_outside(&item);
    assert_eq!(
        bench.machine.check_outside(&item).unwrap_err().code,
        ErrorCode::Stale
    );
    // Stopped before it came to that, it is offered again.
    bench.tell(Input::Stop);
    bench.machine.check_outside(&item).unwrap();
    bench.tell(Input::SetMode(Mode::Plan));
    let refused = bench.machine.check_outside(&item).unwrap_err();
    assert!(refused.message.contains("plan mode"), "{refused}");
    bench.tell(Input::SetMode(Mode::Manual));
    assert_eq!(
        bench.machine.check_outside(&"nothing".into()).unwrap_err().code,
        ErrorCode::NotFound
    );

    let mut bench = Bench::new();
    bench.send("x");
    bench.call("c1", "shell", "{\"command\":\"false\"}");
    bench.end(FinishReason::Stop);
    bench.prepared("c1", run(), "d1");
    bench.answer(ApprovalAnswer::AllowOnce);
    bench.prepared("c1", run(), "d1");
    bench.done("c1", ToolOutcome::failed("exit 1"));
    let item = bench.machine.log().items()[1].id.clone();
    assert_eq!(
        bench.machine.check_outside(&item).unwrap_err().code,
        ErrorCode::Stale
    );
}
