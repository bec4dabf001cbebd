use cairn_agent::model::ModelRequest;
use cairn_protocol::Api;

use super::*;
use crate::trying::{
    ORIGIN, call, checked, compose, message, picture, reasoning, request, result, text, tool, user,
};

fn thought() -> Value {
    // The double gives and checks its signatures by a sum over the words.
    json!({ "type": "redacted_thinking", "data": "abc" })
}

fn with_tools(messages: Vec<Message>) -> ModelRequest {
    ModelRequest {
        tools: vec![tool("read_file"), tool("write_file")].into(),
        ..request(messages)
    }
}

#[test]
fn x104_system_moves_out_and_results_of_one_reply_share_a_message_with_what_follows() {
    let body = checked(
        Api::Anthropic,
        &request(vec![
            user("hi"),
            message(Role::Assistant, vec![text("I look."), call("a"), call("b")]),
            message(
                Role::Tool,
                vec![result("a", vec![]), result("b", vec![picture()])],
            ),
            user("and now?"),
        ]),
    );
    assert_eq!(body["system"][0]["text"], "rules");
    let messages = body["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 3);
    assert_eq!(messages[1]["content"][1]["input"], json!({ "path": "a" }));
    let last = &messages[2]["content"];
    assert_eq!(last[0]["tool_use_id"], "a");
    assert_eq!(last[1]["content"][1]["type"], "image");
    assert_eq!(last[2]["text"], "and now?");
}

#[test]
fn m6_four_marks_stand_at_system_tools_and_the_last_two_turns() {
    let step = |id: &str| {
        [
            message(Role::Assistant, vec![call(id)]),
            message(Role::Tool, vec![result(id, vec![])]),
        ]
    };
    let mut messages = vec![user("hi")];
    for id in ["a", "b", "c"] {
        messages.extend(step(id));
    }
    let body = checked(Api::Anthropic, &with_tools(messages));
    let marked = |block: &Value| block.get("cache_control").is_some();
    assert!(marked(&body["system"][0]) && marked(&body["tools"][1]) && !marked(&body["tools"][0]));
    let turns: Vec<bool> = [2, 4, 6]
        .iter()
        .map(|at| marked(&body["messages"][*at]["content"][0]))
        .collect();
    assert_eq!(turns, [false, true, true]);
    assert_eq!(body.to_string().matches("cache_control").count(), 4);
    let without = compose(Api::Anthropic, &request(vec![user("hi")]), |ask| {
        ask.extras.cache_marks = false;
    });
    assert!(!without.body.to_string().contains("cache_control"));
}

#[test]
fn t12_signed_thoughts_go_back_to_their_maker_only() {
    let conversation = |origin: &str| {
        request(vec![
            user("hi"),
            message(
                Role::Assistant,
                vec![reasoning(origin, &thought()), text("I look."), call("a")],
            ),
            message(Role::Tool, vec![result("a", vec![])]),
        ])
    };
    let own = checked(Api::Anthropic, &conversation(ORIGIN));
    assert_eq!(own["messages"][1]["content"][0], thought());
    let foreign = checked(Api::Anthropic, &conversation("elsewhere"));
    assert_eq!(foreign["messages"][1]["content"][0]["type"], "text");
}

#[test]
fn t12_thinking_is_off_while_calls_of_another_model_are_answered() {
    let asked = |origin: &str| {
        let mut asked = request(vec![
            user("hi"),
            message(Role::Assistant, vec![reasoning(origin, &thought()), call("a")]),
            message(Role::Tool, vec![result("a", vec![])]),
        ]);
        asked.max_output_tokens = Some(20_000);
        asked
    };
    let body = |request: &ModelRequest| {
        let body = compose(Api::Anthropic, request, |ask| ask.effort = Some(Effort::Medium)).body;
        crate::trying::accepted(Api::Anthropic, body)
    };
    let own = body(&asked(ORIGIN));
    assert_eq!(own["thinking"]["budget_tokens"], 10_240);
    assert!(own.get("temperature").is_none());
    let foreign = body(&asked("elsewhere"));
    assert!(foreign.get("thinking").is_none() && foreign["temperature"] == 0.5);
    let mut next = asked("elsewhere");
    next.messages.push(message(Role::Assistant, vec![text("Done.")]));
    next.messages.push(user("more"));
    assert_eq!(body(&next)["thinking"]["type"], "enabled");
}

#[test]
fn an_effort_becomes_a_budget_or_a_word_and_fits_the_limit() {
    let with = |limit: u64, effort: Effort, thinking: Thinking| {
        let asked = ModelRequest {
            max_output_tokens: Some(limit),
            ..request(vec![user("hi")])
        };
        compose(Api::Anthropic, &asked, |ask| {
            ask.effort = Some(effort);
            ask.extras.thinking = thinking;
        })
        .body
    };
    assert_eq!(
        with(64_000, Effort::High, Thinking::Usual)["thinking"]["budget_tokens"],
        24_576
    );
    assert_eq!(
        with(4_096, Effort::High, Thinking::Usual)["thinking"]["budget_tokens"],
        3_072
    );
    assert!(
        with(1_500, Effort::High, Thinking::Usual)
            .get("thinking")
            .is_none()
    );
    assert!(
        with(64_000, Effort::Off, Thinking::Usual)
            .get("thinking")
            .is_none()
    );
    assert!(
        with(64_000, Effort::High, Thinking::Left)
            .get("thinking")
            .is_none()
    );
    let adaptive = with(64_000, Effort::Max, Thinking::Adaptive);
    assert_eq!(adaptive["thinking"]["type"], "adaptive");
    assert_eq!(adaptive["output_config"]["effort"], "max");
}

#[test]
fn x104_what_the_provider_refuses_is_never_sent() {
    let blank = Part::Result {
        id: "a.b".into(),
        text: " ".into(),
        pictures: Vec::new(),
        ok: false,
    };
    let body = checked(
        Api::Anthropic,
        &request(vec![
            message(Role::Assistant, vec![text("I begin.")]),
            user(""),
            message(Role::Assistant, vec![text("  "), call("a.b")]),
            message(Role::Tool, vec![blank]),
            message(
                Role::Assistant,
                vec![text("I end."), reasoning(ORIGIN, &thought())],
            ),
        ]),
    );
    let roles: Vec<&str> = body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["role"].as_str().unwrap())
        .collect();
    assert_eq!(roles, ["user", "assistant", "user", "assistant", "user"]);
    let result = &body["messages"][2]["content"][0];
    assert!(result.get("content").is_none() && result["is_error"] == true);
}

#[test]
fn a_limit_is_always_sent_and_stays_under_what_the_server_said() {
    let asked = ModelRequest {
        max_output_tokens: None,
        ..request(vec![user("hi")])
    };
    let limit = |most: Option<u64>| {
        compose(Api::Anthropic, &asked, |ask| ask.extras.most_tokens = most).body["max_tokens"].clone()
    };
    assert_eq!((limit(None), limit(Some(4_096))), (json!(8_192), json!(4_096)));
}
