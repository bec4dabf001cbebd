//! Plan mode: entered by either, left only by the person. SPEC T32.

use super::*;

fn presented(presence: Presence) -> (Bench, Vec<Effect>) {
    let mut bench = Bench::with(Bench::new().machine.log().clone(), presence, Limits::default());
    bench.send("rename it");
    bench.call("c1", "enter_plan_mode", "{}");
    bench.end(FinishReason::Stop);
    bench.prepared("c1", Would::Own, "d");
    let entered = ToolOutcome {
        enters_plan: true,
        ..ToolOutcome::ok("Plan mode is on.")
    };
    bench.done("c1", entered);
    bench.call("c2", "exit_plan_mode", "{\"plan\":\"1. Rename it\"}");
    bench.end(FinishReason::Stop);
    let effects = bench.prepared("c2", Would::LeavePlan, "d2");
    (bench, effects)
}

fn waiting() -> Bench {
    presented(Presence::Person).0
}

fn result(bench: &Bench) -> String {
    bench.tool("c2").1.result.unwrap().content
}

#[test]
fn t32_entering_takes_effect_at_once_and_a_plan_waits_for_the_person() {
    let bench = waiting();
    assert_eq!(bench.machine.log().session.mode, Mode::Plan);
    assert_eq!(bench.tool("c2").0, ItemState::Waiting);
    let [card] = bench.machine.log().approvals.as_slice() else {
        panic!()
    };
    assert!(card.offers.is_empty() && !card.filled && card.title == "Carry out this plan?");
    assert!(matches!(&card.subject, ApprovalSubject::Plan { text, .. } if text == "1. Rename it"));
}

#[test]
fn t32_carried_out_the_mode_is_what_the_person_chose_and_the_plan_is_kept() {
    for (mode, words) in [
        (Mode::AcceptEdits, "Edits inside the project are accepted"),
        (Mode::Manual, "Every change still asks"),
    ] {
        let mut bench = waiting();
        let effects = bench.answer(ApprovalAnswer::CarryOut { mode, plan: None });
        assert_eq!(bench.machine.log().session.mode, mode);
        assert_eq!(bench.tool("c2").0, ItemState::Done);
        assert!(result(&bench).contains(words) && !result(&bench).contains("1. Rename it"));
        let accepted = bench.machine.log().accepted_plan.clone().unwrap();
        assert_eq!(accepted.text, "1. Rename it");
        assert!(
            effects.contains(&Effect::AskModel),
            "the work goes on: {effects:?}"
        );
        // What is kept outlives a summary: it stands in the context and not in the conversation.
        assert_eq!(bench.machine.log().context().accepted_plan, Some("1. Rename it"));
    }
}

#[test]
fn t32_a_plan_that_the_person_changed_is_what_the_model_is_told() {
    let mut bench = waiting();
    bench.answer(ApprovalAnswer::CarryOut {
        mode: Mode::Manual,
        plan: Some("1. Rename only this".to_owned()),
    });
    assert!(
        result(&bench)
            .ends_with("The user changed the plan first; this is what holds:\n\n1. Rename only this")
    );
    assert_eq!(
        bench
            .machine
            .log()
            .accepted_plan
            .as_ref()
            .map(|plan| plan.text.as_str()),
        Some("1. Rename only this")
    );
}

#[test]
fn t32_planning_goes_on_with_a_comment_and_waits_without_one() {
    let mut bench = waiting();
    let effects = bench.answer(ApprovalAnswer::Deny {
        note: Some("smaller".to_owned()),
    });
    assert_eq!(bench.machine.log().session.mode, Mode::Plan);
    assert!(result(&bench).ends_with("The user says: smaller"));
    assert!(effects.contains(&Effect::AskModel));
    let mut bench = waiting();
    bench.answer(ApprovalAnswer::Deny { note: None });
    assert_eq!(bench.machine.log().session.mode, Mode::Plan);
    assert_eq!(bench.outcome(), Some(TurnOutcome::Denied));
    assert_eq!(bench.machine.log().accepted_plan, None);
}

#[test]
fn t32_nothing_else_answers_a_plan_and_a_plan_is_no_answer_to_anything_else() {
    let bench = waiting();
    let card = bench.machine.log().approvals[0].clone();
    let carry = |mode, plan: Option<&str>| ApprovalAnswer::CarryOut {
        mode,
        plan: plan.map(str::to_owned),
    };
    let long = "x".repeat(20_001);
    for answer in [
        ApprovalAnswer::AllowOnce,
        ApprovalAnswer::AcceptEdits,
        ApprovalAnswer::Skip,
        ApprovalAnswer::AllowAlways {
            rules: Vec::new(),
            scope: RuleScope::Session,
        },
        ApprovalAnswer::AllowChanged { hunks: Vec::new() },
        carry(Mode::Auto, None),
        carry(Mode::Plan, None),
        carry(Mode::Manual, Some(" \n")),
        carry(Mode::Manual, Some(&long)),
    ] {
        let told = bench.machine.check_answer(&card.id, &card.digest, &answer);
        assert_eq!(told.unwrap_err().code, ErrorCode::BadRequest, "{answer:?}");
    }
    let edit = Bench::with_waiting_edit();
    let card = edit.machine.log().approvals[0].clone();
    let told = edit
        .machine
        .check_answer(&card.id, &card.digest, &carry(Mode::Manual, None));
    assert_eq!(told.unwrap_err().code, ErrorCode::BadRequest);
}

#[test]
fn t32_without_plan_mode_there_is_nothing_to_accept() {
    let mut bench = Bench::new();
    bench.send("rename it");
    bench.call("c2", "exit_plan_mode", "{\"plan\":\"1. Rename it\"}");
    bench.end(FinishReason::Stop);
    bench.prepared("c2", Would::LeavePlan, "d2");
    assert_eq!(bench.tool("c2").0, ItemState::Denied);
    assert!(result(&bench).contains("enter_plan_mode"));
    assert!(bench.machine.log().approvals.is_empty());
}

#[test]
fn t32_where_nobody_is_there_the_plan_is_the_answer() {
    let (bench, effects) = presented(Presence::Headless {
        approve: Approve::All,
    });
    assert_eq!(bench.outcome(), Some(TurnOutcome::Done));
    assert_eq!(bench.machine.log().session.mode, Mode::Plan);
    assert!(bench.machine.log().approvals.is_empty() && !effects.contains(&Effect::AskModel));
    let context = bench.machine.log().context();
    let last = context.items.last().unwrap();
    assert!(
        matches!(&last.body, ItemBody::Assistant { text } if text == "1. Rename it"),
        "{last:?}"
    );
}

#[test]
fn t32_after_a_restart_the_plan_waits_again_and_needs_a_new_click() {
    let bench = waiting();
    let before = bench.machine.log().approvals[0].clone();
    let mut again = Bench::with(bench.machine.log().clone(), Presence::Person, Limits::default());
    again.tell(Input::Restore);
    again.prepared("c2", Would::LeavePlan, "d2");
    let after = again.machine.log().approvals[0].clone();
    assert_ne!(after.id, before.id);
    assert_eq!(again.machine.log().session.mode, Mode::Plan);
    let old = ApprovalAnswer::CarryOut {
        mode: Mode::Manual,
        plan: None,
    };
    assert!(
        again
            .machine
            .check_answer(&before.id, &before.digest, &old)
            .is_err()
    );
    again.answer(old);
    assert_eq!(again.machine.log().session.mode, Mode::Manual);
}
