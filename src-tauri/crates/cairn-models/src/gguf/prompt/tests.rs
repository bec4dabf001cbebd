//! Tests of the prompt of a bare model.

use std::time::Duration;

use cairn_agent::tool::ToolClass;

use super::*;

fn message(role: Role, parts: Vec<Part>) -> Message {
    Message { role, parts }
}

fn text(text: &str) -> Part {
    Part::Text(text.to_owned())
}

fn request(messages: Vec<Message>) -> ModelRequest {
    ModelRequest {
        system: "Be brief.".to_owned(),
        messages,
        ..ModelRequest::default()
    }
}

#[test]
fn calls_and_results_are_written_into_turns_that_alternate() {
    let call = Part::Call {
        id: "1".to_owned(),
        name: "read_file".to_owned(),
        arguments: r#"{"path":"a"}"#.to_owned(),
    };
    let result = |text: &str, ok| Part::Result {
        id: "1".to_owned(),
        text: text.to_owned(),
        pictures: Vec::new(),
        ok,
    };
    let asked = request(vec![
        message(Role::User, vec![text("look")]),
        message(Role::Assistant, vec![text("I look."), call]),
        message(Role::Tool, vec![result("1\tone", true)]),
        message(Role::Tool, vec![result("no such file", false)]),
        message(Role::User, vec![text("and now?")]),
    ]);
    let all = turns(&asked);
    let roles: Vec<&str> = all.iter().map(|turn| turn.role).collect();
    assert_eq!(roles, ["system", "user", "assistant", "user"]);
    assert_eq!(
        all[2].text,
        "I look.\n<tool_call>\n{\"arguments\":{\"path\":\"a\"},\"name\":\"read_file\"}\n</tool_call>"
    );
    assert_eq!(
        all[3].text,
        "<tool_response>\n1\tone\n</tool_response>\n\n<tool_response>\nFailed: no such \
         file\n</tool_response>\n\nand now?"
    );
}

#[test]
fn tools_are_told_only_where_there_are_any() {
    let mut asked = request(vec![message(Role::User, vec![text("hi")])]);
    assert_eq!(turns(&asked)[0].text, "Be brief.");
    asked.tools = vec![ToolSpec {
        name: "look".to_owned(),
        description: "Looks.".to_owned(),
        schema: json!({ "type": "object" }),
        class: ToolClass::Read,
        limit: Some(Duration::from_secs(1)),
    }]
    .into();
    let system = &turns(&asked)[0].text;
    assert!(
        system.contains(r#"{"description":"Looks.","name":"look","parameters":{"type":"object"}}"#),
        "{system}"
    );
}

#[test]
fn what_says_nothing_is_no_turn() {
    let asked = ModelRequest {
        messages: vec![
            message(Role::User, vec![text("hi")]),
            message(Role::Assistant, vec![text(" \n")]),
            message(Role::User, vec![text("there")]),
        ],
        ..ModelRequest::default()
    };
    let all = turns(&asked);
    assert_eq!(all.len(), 1, "{all:?}");
    assert_eq!(all[0].text, "hi\n\nthere");
}

#[test]
fn a_rendered_prompt_comes_apart_into_template_and_content() {
    let rendered = chatml(2, |turn| ["system", "user"][turn]);
    assert_eq!(
        pieces(&rendered, 2).unwrap(),
        [
            Piece::Template("<|im_start|>system\n"),
            Piece::Content(0),
            Piece::Template("<|im_end|>\n<|im_start|>user\n"),
            Piece::Content(1),
            Piece::Template("<|im_end|>\n<|im_start|>assistant\n"),
        ]
    );
}

#[test]
fn a_template_that_loses_doubles_or_turns_round_the_turns_is_not_used() {
    let (one, two) = (stand_in(0), stand_in(1));
    for rendered in [
        one.clone(),
        format!("{two}{one}"),
        format!("{one}{two}{one}"),
        String::new(),
    ] {
        assert_eq!(pieces(&rendered, 2), None, "{rendered:?}");
    }
    // Ten must not be taken for one.
    assert_eq!(
        pieces(&stand_in(10), 1),
        None,
        "the stand-in of another turn was taken for it"
    );
}
