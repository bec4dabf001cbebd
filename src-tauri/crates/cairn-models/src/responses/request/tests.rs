use cairn_agent::model::ModelRequest;
use cairn_protocol::{Api, Effort};

use super::*;
use crate::trying::{
    ORIGIN, call, checked, compose, message, picture, reasoning, request, result, text, tool, user,
};

fn thought() -> Value {
    // What the double signs an empty thought with.
    json!({ "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "sig11" })
}

#[test]
fn a_conversation_is_a_row_of_items_and_nothing_is_kept_there() {
    let asked = ModelRequest {
        tools: vec![tool("read_file")].into(),
        ..request(vec![
            user("hi"),
            message(
                Role::Assistant,
                vec![
                    reasoning(ORIGIN, &thought()),
                    text("I look."),
                    call("a"),
                    call("b"),
                ],
            ),
            message(
                Role::Tool,
                vec![result("a", vec![picture()]), result("b", vec![])],
            ),
        ])
    };
    let body = checked(Api::Responses, &asked);
    assert_eq!(
        (&body["store"], &body["instructions"]),
        (&json!(false), &json!("rules"))
    );
    let kinds: Vec<&str> = body["input"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["type"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        [
            "message",
            "reasoning",
            "message",
            "function_call",
            "function_call",
            "function_call_output",
            "function_call_output",
            "message"
        ]
    );
    assert_eq!(body["input"][7]["content"][1]["type"], "input_image");
    assert_eq!(body["tools"][0]["name"], "read_file");
    assert_eq!(body["max_output_tokens"], 100);
}

#[test]
fn t12_encrypted_thoughts_of_others_and_lonely_ones_are_left_out() {
    let conversation =
        |parts: Vec<Part>| request(vec![user("hi"), message(Role::Assistant, parts), user("go on")]);
    for parts in [
        vec![reasoning("elsewhere", &thought()), text("yes")],
        vec![text("yes"), reasoning(ORIGIN, &thought())],
        vec![reasoning(ORIGIN, &thought())],
    ] {
        let body = checked(Api::Responses, &conversation(parts));
        assert!(!body.to_string().contains("encrypted_content"), "{body:#}");
    }
}

#[test]
fn an_effort_and_the_wish_for_thoughts_are_sent_where_the_model_knows_them() {
    let body = compose(Api::Responses, &request(vec![user("hi")]), |ask| {
        ask.effort = Some(Effort::High);
        ask.extras.summary = true;
        ask.extras.encrypted = true;
    })
    .body;
    assert_eq!(body["reasoning"], json!({ "effort": "high", "summary": "auto" }));
    assert_eq!(body["include"], json!(["reasoning.encrypted_content"]));
    let plain = checked(Api::Responses, &request(vec![user("hi")]));
    assert!(plain.get("reasoning").is_none() && plain.get("include").is_none());
}

#[test]
fn ids_longer_than_the_protocol_takes_are_shortened_alike_on_both_sides() {
    let long = "toolu".repeat(30);
    let body = checked(
        Api::Responses,
        &request(vec![
            user("hi"),
            message(Role::Assistant, vec![call(&long)]),
            message(Role::Tool, vec![result(&long, vec![])]),
        ]),
    );
    assert_eq!(body["input"][1]["call_id"], body["input"][2]["call_id"]);
    assert!(body["input"][1]["call_id"].as_str().unwrap().len() <= 64);
}
