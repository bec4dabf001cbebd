use cairn_agent::model::ModelRequest;
use cairn_protocol::Api;

use super::*;
use crate::trying::{
    ORIGIN, call, checked, compose, message, picture, reasoning, request, result, text, tool, user,
};

#[test]
fn t13_the_window_is_told_with_limit_and_temperature() {
    let asked = ModelRequest {
        tools: vec![tool("read_file")].into(),
        ..request(vec![user("hi")])
    };
    let body = compose(Api::Ollama, &asked, |ask| {
        ask.window = Some(32_768);
        ask.keep_alive = Some("30m");
    })
    .body;
    assert_eq!(
        body["options"],
        json!({ "num_ctx": 32_768, "num_predict": 100, "temperature": 0.5 })
    );
    assert_eq!(body["keep_alive"], "30m");
    assert_eq!(body["tools"][0]["function"]["name"], "read_file");
    let seconds = compose(Api::Ollama, &asked, |ask| ask.keep_alive = Some("-1")).body;
    assert_eq!(seconds["keep_alive"], -1);
}

#[test]
fn results_name_their_tool_arguments_are_objects_and_pictures_follow() {
    let body = checked(
        Api::Ollama,
        &request(vec![
            user("hi"),
            message(
                Role::Assistant,
                vec![
                    reasoning(ORIGIN, &json!({ "thinking": "hm" })),
                    call("a"),
                    call("b"),
                ],
            ),
            message(
                Role::Tool,
                vec![result("a", vec![picture()]), result("b", vec![])],
            ),
            message(Role::User, vec![text("see"), Part::Picture(picture())]),
        ]),
    );
    let messages = body["messages"].as_array().unwrap();
    let roles: Vec<&str> = messages.iter().map(|it| it["role"].as_str().unwrap()).collect();
    assert_eq!(
        roles,
        ["system", "user", "assistant", "tool", "tool", "user", "user"]
    );
    assert_eq!(
        messages[2]["tool_calls"][0]["function"]["arguments"],
        json!({ "path": "a" })
    );
    assert_eq!(messages[3]["tool_name"], "read_file");
    assert_eq!(messages[5]["images"].as_array().unwrap().len(), 1);
    assert!(messages[2].get("thinking").is_none(), "the person spoke since");
}

#[test]
fn t12_thinking_goes_back_while_its_request_lasts() {
    let conversation = |origin: &str| {
        request(vec![
            user("hi"),
            message(
                Role::Assistant,
                vec![reasoning(origin, &json!({ "thinking": "hm" })), call("a")],
            ),
            message(Role::Tool, vec![result("a", vec![])]),
        ])
    };
    assert_eq!(
        checked(Api::Ollama, &conversation(ORIGIN))["messages"][2]["thinking"],
        "hm"
    );
    assert!(
        checked(Api::Ollama, &conversation("x"))["messages"][2]
            .get("thinking")
            .is_none()
    );
}

#[test]
fn an_effort_is_a_switch_or_one_of_three_levels() {
    let think = |model: &'static str, effort: Effort| {
        let asked = request(vec![user("hi")]);
        let body = compose(Api::Ollama, &asked, |ask| {
            ask.effort = Some(effort);
            ask.model = model;
        });
        body.body["think"].clone()
    };
    assert_eq!(think("qwen3:8b", Effort::Off), json!(false));
    assert_eq!(think("qwen3:8b", Effort::Low), json!(true));
    assert_eq!(think("gpt-oss:20b", Effort::Off), json!("low"));
    assert_eq!(think("gpt-oss:20b", Effort::Max), json!("high"));
}
