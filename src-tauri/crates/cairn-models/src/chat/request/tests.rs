use std::sync::Arc;

use cairn_agent::model::ModelRequest;
use cairn_agent::tool::ToolClass;
use cairn_protocol::Api;

use super::*;
use crate::request::Thinking;
use crate::trying::{call, compose, message, picture, reasoning, request, result, user, with_effort};

fn checked(request: &ModelRequest) -> Value {
    crate::trying::checked(Api::Openai, request)
}

#[test]
fn a_plain_request_has_no_empty_fields() {
    let body = checked(&request(vec![user("hi")]));
    let expected = json!({
        "model": "m", "stream": true, "stream_options": { "include_usage": true }, "max_tokens": 100, "temperature": 0.5,
        "messages": [{ "role": "system", "content": "rules" }, { "role": "user", "content": "hi" }],
    });
    assert_eq!(body, expected);
}

#[test]
fn what_a_server_refused_is_left_out() {
    let body = compose(Api::Openai, &request(vec![user("hi")]), |ask| {
        ask.extras.stream_options = false;
        ask.extras.return_progress = true;
        ask.extras.temperature = false;
        ask.extras.limit = LimitField::MaxCompletionTokens;
    })
    .body;
    assert!(
        body.get("stream_options").is_none()
            && body.get("temperature").is_none()
            && body.get("max_tokens").is_none()
    );
    assert_eq!(body["max_completion_tokens"], 100);
    assert_eq!(body["return_progress"], true);
}

#[test]
fn tools_are_functions() {
    let spec = ToolSpec {
        name: "grep".into(),
        description: "Searches.".into(),
        schema: json!({ "type": "object", "properties": {} }),
        class: ToolClass::Read,
        limit: None,
    };
    let body = checked(&ModelRequest {
        tools: Arc::from([spec]),
        ..request(vec![user("hi")])
    });
    assert_eq!(body["tools"][0]["function"]["name"], "grep");
    assert_eq!(body["tools"][0]["function"]["parameters"]["type"], "object");
}

#[test]
fn pictures_of_results_follow_all_results_of_their_reply() {
    let body = checked(&request(vec![
        user("look"),
        message(
            Role::Assistant,
            vec![Part::Text("I look.".into()), call("a"), call("b")],
        ),
        message(Role::Tool, vec![result("a", vec![picture()])]),
        message(Role::Tool, vec![result("b", vec![])]),
        message(Role::Assistant, vec![Part::Text("Seen.".into())]),
        message(
            Role::User,
            vec![Part::Text("and this?".into()), Part::Picture(picture())],
        ),
    ]));
    let roles: Vec<&str> = body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["role"].as_str().unwrap())
        .collect();
    assert_eq!(
        roles,
        [
            "system",
            "user",
            "assistant",
            "tool",
            "tool",
            "user",
            "assistant",
            "user"
        ]
    );
    assert!(
        body["messages"][5]["content"][1]["image_url"]["url"]
            .as_str()
            .unwrap()
            .starts_with("data:image/png;base64,iVBOR")
    );
    assert_eq!(body["messages"][7]["content"][0]["text"], "and this?");
}

#[test]
fn pictures_of_the_last_results_are_sent_too() {
    let body = checked(&request(vec![
        user("look"),
        message(Role::Assistant, vec![call("a")]),
        message(Role::Tool, vec![result("a", vec![picture(), picture()])]),
    ]));
    assert_eq!(body["messages"][4]["content"].as_array().unwrap().len(), 3);
    assert_eq!(body["messages"][2]["content"], Value::Null);
    assert_eq!(
        body["messages"][2]["tool_calls"][0]["function"]["arguments"],
        "{\"path\":\"a\"}"
    );
}

#[test]
fn empty_messages_are_not_sent() {
    let body = checked(&request(vec![
        user("hi"),
        message(Role::Assistant, vec![]),
        message(Role::User, vec![Part::Text(String::new())]),
        user("again"),
    ]));
    assert_eq!(body["messages"].as_array().unwrap().len(), 3);
}

#[test]
fn an_effort_is_sent_in_the_words_of_the_protocol_or_not_at_all() {
    let asked = request(vec![user("hi")]);
    for (effort, word) in [
        (Effort::Off, "none"),
        (Effort::Low, "low"),
        (Effort::Max, "xhigh"),
    ] {
        assert_eq!(with_effort(Api::Openai, &asked, effort)["reasoning_effort"], word);
    }
    let left = compose(Api::Openai, &asked, |ask| {
        ask.effort = Some(Effort::High);
        ask.extras.thinking = Thinking::Left;
    });
    assert!(left.body.get("reasoning_effort").is_none());
}

#[test]
fn t12_thoughts_go_back_to_their_own_server_only_and_as_text_only_while_their_request_lasts() {
    let data = json!({ "reasoning_content": "hm", "reasoning_details": [{ "type": "reasoning.text", "text": "hm" }],
        "calls": [null, { "google": { "thought_signature": "s" } }] });
    let step = |origin: &str, n: &str| {
        let (one, two) = (format!("a{n}"), format!("b{n}"));
        [
            message(
                Role::Assistant,
                vec![reasoning(origin, &data), call(&one), call(&two)],
            ),
            message(Role::Tool, vec![result(&one, vec![]), result(&two, vec![])]),
        ]
    };
    let conversation = |origin: &str| {
        let mut messages = vec![user("hi")];
        messages.extend(step(origin, "1"));
        messages.push(user("go on"));
        messages.extend(step(origin, "2"));
        request(messages)
    };
    let own = checked(&conversation(crate::trying::ORIGIN));
    let (old, new) = (&own["messages"][2], &own["messages"][6]);
    assert_eq!(old["reasoning_details"][0]["text"], "hm");
    assert!(old.get("reasoning_content").is_none());
    assert_eq!(new["reasoning_content"], "hm");
    assert_eq!(
        new["tool_calls"][1]["extra_content"]["google"]["thought_signature"],
        "s"
    );
    assert!(new["tool_calls"][0].get("extra_content").is_none());
    let foreign = checked(&conversation("elsewhere")).to_string();
    assert!(!foreign.contains("hm") && !foreign.contains("thought_signature"));
}

#[test]
fn ids_of_other_protocols_are_made_to_fit_and_stay_the_same() {
    let long = "x".repeat(90);
    let ids = [long.as_str(), "a|b c", "ü", "call_1"];
    let asked = request(vec![
        user("hi"),
        message(Role::Assistant, ids.iter().map(|id| call(id)).collect()),
        message(Role::Tool, ids.iter().map(|id| result(id, vec![])).collect()),
    ]);
    let first = checked(&asked);
    assert_eq!(
        first,
        checked(&asked),
        "a prompt whose ids change is not found in a cache"
    );
    assert_eq!(first["messages"][2]["tool_calls"][3]["id"], "call_1");
    for call in first["messages"][2]["tool_calls"].as_array().unwrap() {
        assert!(call["id"].as_str().unwrap().len() <= 40);
    }
    let nine = compose(Api::Openai, &asked, |ask| ask.ids = crate::request::IdForm::Nine).body;
    for call in nine["messages"][2]["tool_calls"].as_array().unwrap() {
        let id = call["id"].as_str().unwrap();
        assert!(
            id.len() == 9 && id.chars().all(|c| c.is_ascii_alphanumeric()),
            "{id}"
        );
    }
}
