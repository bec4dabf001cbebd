use cairn_protocol::TodoState;
use serde_json::{Value, json};

use super::{describe, plan, prepare, progress, state};
use crate::args;

fn read(value: &Value) -> Result<Vec<cairn_protocol::TodoItem>, String> {
    let map = value.as_object().cloned().unwrap();
    let input: super::Input = args::parse(super::NAME, map).map_err(|error| error.message)?;
    plan(input.todos).map_err(|error| error.message)
}

#[test]
fn t28_common_spellings_of_states_are_accepted() {
    for (state_wanted, spellings) in [
        (
            TodoState::Pending,
            ["pending", "Todo", "to-do", "not started", "[ ]"],
        ),
        (
            TodoState::InProgress,
            ["in_progress", "in progress", "In-Progress", "doing", "WIP"],
        ),
        (
            TodoState::Completed,
            ["completed", "done", "DONE ", "finished", "[x]"],
        ),
        (
            TodoState::Cancelled,
            ["cancelled", "canceled", "dropped", "skipped", "won't do"],
        ),
    ] {
        for spelling in spellings {
            assert_eq!(state(spelling), Some(state_wanted), "{spelling:?}");
        }
    }
    for nonsense in ["", " ", "maybe", "50%", "?"] {
        assert_eq!(state(nonsense), None, "{nonsense:?}");
    }
}

#[test]
fn t28_at_most_one_entry_is_in_progress() {
    let two = json!({"todos": [
        {"content": "a", "status": "doing"}, {"content": "b", "status": "pending"}, {"content": "c", "status": "active"}
    ]});
    let message = read(&two).unwrap_err();
    assert!(message.contains("Entries 1, 3 are all in progress"), "{message}");
}

#[test]
fn refuses_what_no_plan_is() {
    let many: Vec<Value> = (0..101)
        .map(|n| json!({"content": format!("step {n}"), "status": "pending"}))
        .collect();
    for (arguments, says) in [
        (json!({}), "`todos` is missing"),
        (
            json!({"todos": "[{\"content\":\"a\",\"status\":\"done\"}]"}),
            "a string that holds JSON",
        ),
        (
            json!({"todos": ["a"]}),
            "`todos[1]` must be an object with `content`, `status`",
        ),
        (
            json!({"todos": [{"content": "a"}]}),
            "`todos[1].status` is missing",
        ),
        (
            json!({"todos": [{"content": " \n ", "status": "done"}]}),
            "Entry 1 has no content",
        ),
        (
            json!({"todos": [{"content": "a", "status": "maybe"}]}),
            "Entry 1 has the status \"maybe\"",
        ),
        (
            json!({"todos": [{"content": "é".repeat(501), "status": "done"}]}),
            "Entry 1 has 501 characters",
        ),
        (json!({"todos": many}), "101 entries, and at most 100"),
    ] {
        let message = read(&arguments).unwrap_err();
        assert!(message.contains(says), "{arguments}: {message}");
    }
}

#[test]
fn limits_themselves_are_allowed() {
    let many: Vec<Value> = (0..100)
        .map(|_| json!({"content": "é".repeat(500), "status": "pending"}))
        .collect();
    assert_eq!(read(&json!({"todos": many})).unwrap().len(), 100);
}

#[test]
fn an_empty_list_clears_the_plan() {
    let items = read(&json!({"todos": []})).unwrap();
    assert_eq!(progress(&items), "empty");
    assert_eq!(describe(&items), "The plan is empty now.");
}

#[test]
fn the_result_repeats_the_plan_and_counts_what_is_done() {
    let items = read(&json!({"todos": [
        {"content": "find  the\nmargin", "status": "done"},
        {"content": "make it follow", "status": "in progress"},
        {"content": "run tests", "status": "todo"},
        {"content": "paint", "status": "canceled"},
    ]}))
    .unwrap();
    assert_eq!(progress(&items), "1 of 3");
    assert_eq!(
        describe(&items),
        "The plan now, 1 of 3 done:\n1. [x] find the margin\n2. [>] make it follow\n3. [ ] run tests\n4. [-] paint"
    );
}

#[test]
fn touches_only_our_own_things_and_never_asks() {
    let arguments = json!({"todos": [{"content": "a", "status": "done"}]})
        .as_object()
        .cloned()
        .unwrap();
    let prepared = prepare(arguments).unwrap();
    assert_eq!(prepared.title, "Plan");
    assert_eq!(prepared.target, "1 of 1");
    assert_eq!(prepared.effects, [cairn_policy::Effect::Own]);
    assert!(prepared.subject.is_none());
}
