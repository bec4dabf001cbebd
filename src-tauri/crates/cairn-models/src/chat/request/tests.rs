use std::sync::Arc;

use cairn_agent::tool::ToolClass;
use cairn_protocol::BlobId;

use super::*;

const EXTRAS: Extras = Extras {
    stream_options: true,
    return_progress: false,
    temperature: true,
    limit: LimitField::MaxTokens,
};

fn picture() -> PictureBytes {
    let bytes: Arc<[u8]> = Arc::from(&b"\x89PNG\r\n\x1a\n...."[..]);
    PictureBytes {
        blob: BlobId::from("b"),
        media_type: "image/png".into(),
        bytes,
    }
}

fn message(role: Role, parts: Vec<Part>) -> Message {
    Message { role, parts }
}

fn call(id: &str) -> Part {
    Part::Call {
        id: id.into(),
        name: "read_file".into(),
        arguments: "{\"path\":\"a\"}".into(),
    }
}

fn result(id: &str, pictures: Vec<PictureBytes>) -> Part {
    Part::Result {
        id: id.into(),
        text: format!("result {id}"),
        pictures,
        ok: true,
    }
}

fn request(messages: Vec<Message>) -> ModelRequest {
    ModelRequest {
        system: "rules".into(),
        messages,
        tools: Arc::from([]),
        max_output_tokens: Some(100),
        temperature: Some(0.5),
    }
}

fn user(text: &str) -> Message {
    message(Role::User, vec![Part::Text(text.into())])
}

fn checked(request: &ModelRequest) -> Value {
    let body = body("m", request, EXTRAS);
    assert_eq!(cairn_testkit::provider::check_request(&body), Ok(()), "{body:#}");
    body
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
    let extras = Extras {
        stream_options: false,
        return_progress: true,
        temperature: false,
        limit: LimitField::MaxCompletionTokens,
    };
    let body = body("m", &request(vec![user("hi")]), extras);
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
