use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::*;

/// Sends one request and reads until the server closes or has said all.
async fn ask(server: &ScriptedServer, method: &str, path: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", server.port())).await.unwrap();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut text = String::new();
    let mut buffer = [0; 4096];
    loop {
        let count = stream.read(&mut buffer).await.unwrap();
        text.push_str(&String::from_utf8_lossy(&buffer[..count]));
        let whole = text.split_once("\r\n\r\n").is_some_and(|(head, body)| {
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: "))
                .map(|n| n.parse::<usize>().unwrap());
            length.is_some_and(|length| body.len() >= length) || body.ends_with("0\r\n\r\n")
        });
        if count == 0 || whole {
            return text;
        }
    }
}

fn chat(messages: &Value) -> Value {
    json!({ "model": "m", "stream": true, "messages": messages })
}

#[test]
fn refuses_what_real_servers_refuse() {
    let user = json!({ "role": "user", "content": "hi" });
    let call = |id: &str, arguments: &str| {
        json!({ "role": "assistant", "content": null, "tool_calls": [
        { "id": id, "type": "function", "function": { "name": "f", "arguments": arguments } }] })
    };
    let result = |id: &str| json!({ "role": "tool", "tool_call_id": id, "content": "ok" });
    let picture = |url: &str| json!({ "role": "user", "content": [{ "type": "image_url", "image_url": { "url": url } }] });
    let table = [
        (json!("text"), Some("could not parse")),
        (json!({ "messages": [user] }), Some("model")),
        (chat(&json!([])), Some("at least one")),
        (chat(&json!([user])), None),
        (chat(&json!([user, call("a", "{}"), result("a")])), None),
        (chat(&json!([user, result("a")])), Some("preceeding")),
        (
            chat(&json!([user, call("a", "{}")])),
            Some("did not have response"),
        ),
        (
            chat(&json!([user, call("a", "{}"), user, result("a")])),
            Some("did not have response"),
        ),
        (
            chat(&json!([user, call("a", "{}"), result("b")])),
            Some("preceeding"),
        ),
        (
            chat(&json!([user, call("a", "{}"), result("a"), result("a")])),
            Some("preceeding"),
        ),
        (
            chat(&json!([
                user,
                call("a", "{}"),
                result("a"),
                call("a", "{}"),
                result("a")
            ])),
            Some("Duplicate"),
        ),
        (
            chat(&json!([user, call("a", "{"), result("a")])),
            Some("not a JSON object"),
        ),
        (
            chat(&json!([user, call("a", "[]"), result("a")])),
            Some("not a JSON object"),
        ),
        (
            chat(&json!([{ "role": "person", "content": "hi" }])),
            Some("no role"),
        ),
        (
            chat(&json!([{ "role": "assistant", "content": null }])),
            Some("expected a string"),
        ),
        (
            chat(&json!([{ "role": "tool", "tool_call_id": "a", "content": [] }])),
            Some("expected a string"),
        ),
        (
            chat(&json!([picture("data:image/png;base64,iVBORw0KGgoAAAA")])),
            None,
        ),
        (
            chat(&json!([picture("data:image/jpeg;base64,iVBORw0KGgoAAAA")])),
            Some("neither text"),
        ),
        (
            chat(&json!([picture("https://h.example/a.png")])),
            Some("neither text"),
        ),
        (
            json!({ "model": "m", "messages": [user], "tools": [] }),
            Some("too short"),
        ),
        (
            json!({ "model": "m", "messages": [user], "stream_options": {} }),
            Some("only allowed"),
        ),
        (
            json!({ "model": "m", "messages": [user], "made_up": 1 }),
            Some("Unrecognized"),
        ),
    ];
    for (body, words) in table {
        let refusal = check_request(&body).err().map(|refusal| refusal.to_string());
        match (&refusal, words) {
            (None, None) => {}
            (Some(refusal), Some(words)) => assert!(refusal.contains(words), "{body}: {refusal}"),
            _ => panic!("{body}: {refusal:?} instead of {words:?}"),
        }
    }
}

#[tokio::test]
async fn streams_a_script_and_records_what_was_asked() {
    let script = Script::new([
        Reply::pieces(["Hel", "lo"]).usage(5, 2, 1),
        Reply::call("f", json!({ "path": "a" })),
        Reply::error(429, "slow down").header("retry-after", "3"),
    ]);
    let server = ScriptedServer::start(script).await.unwrap();
    let body = json!({ "model": "m", "stream": true, "stream_options": { "include_usage": true },
        "messages": [{ "role": "user", "content": "hi" }] });
    let first = ask(&server, "POST", "/v1/chat/completions", &body.to_string()).await;
    assert!(
        first.contains("\"Hel\"") && first.contains("cached_tokens\":2") && first.contains("[DONE]"),
        "{first}"
    );
    let second = ask(&server, "POST", "/v1/chat/completions", &body.to_string()).await;
    assert!(
        second.contains("call_1_0") && second.contains("tool_calls"),
        "{second}"
    );
    let third = ask(&server, "POST", "/v1/chat/completions", &body.to_string()).await;
    assert!(
        third.starts_with("HTTP/1.1 429") && third.contains("retry-after: 3"),
        "{third}"
    );
    let fourth = ask(&server, "POST", "/v1/chat/completions", &body.to_string()).await;
    assert!(fourth.starts_with("HTTP/1.1 500"), "{fourth}");
    let refused = ask(&server, "POST", "/v1/chat/completions", "{}").await;
    assert!(refused.starts_with("HTTP/1.1 400"), "{refused}");
    let record = server.chats();
    assert_eq!(record.len(), 5);
    assert_eq!(record[0].messages()[0]["content"], "hi");
    assert!(
        record[4]
            .refused
            .as_deref()
            .is_some_and(|words| words.contains("model"))
    );
}

#[tokio::test]
async fn gates_hold_until_they_are_opened_from_outside() {
    let server = ScriptedServer::start(Script::new([Reply::text("x").gate("go")]))
        .await
        .unwrap();
    let body = chat(&json!([{ "role": "user", "content": "hi" }])).to_string();
    let (reply, ()) = tokio::join!(ask(&server, "POST", "/v1/chat/completions", &body), async {
        server.wait_for_chats(1).await.unwrap();
        assert_eq!(server.chats()[0].end, End::Open);
        let opened = ask(&server, "POST", "/_scripted/open/go", "").await;
        assert!(opened.contains("\"go\""), "{opened}");
    });
    assert!(reply.contains("[DONE]"));
    let listed = ask(&server, "GET", "/_scripted/requests", "").await;
    assert!(listed.contains("chat/completions"), "{listed}");
    let added = ask(
        &server,
        "POST",
        "/_scripted/replies",
        r#"[{"steps":[{"text":"a"},"cut"]}]"#,
    )
    .await;
    assert!(added.contains("\"added\":1"), "{added}");
    let cut = ask(&server, "POST", "/v1/chat/completions", &body).await;
    assert!(!cut.ends_with("0\r\n\r\n") && cut.contains("\"a\""), "{cut}");
}

#[tokio::test]
async fn notices_a_client_that_goes_away() {
    let server = ScriptedServer::start(Script::new([Reply::steps([Step::Text("a".into()), Step::Hang])]))
        .await
        .unwrap();
    let body = chat(&json!([{ "role": "user", "content": "hi" }])).to_string();
    let mut stream = TcpStream::connect(("127.0.0.1", server.port())).await.unwrap();
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    server.wait_for_chats(1).await.unwrap();
    drop(stream);
    let ended = |all: &[Recorded]| all.iter().any(|request| request.end == End::ClosedByClient);
    assert!(server.wait_for(ended).await.is_some());
}

#[test]
fn refuses_what_anthropic_openai_and_ollama_refuse() {
    use Protocol::{Messages, Ollama, Responses};
    let words = |protocol: Protocol, body: &Value| {
        check_body(protocol, body)
            .err()
            .map(|refusal| refusal.to_string())
    };
    let claude = |messages: Value| json!({ "model": "m", "max_tokens": 10, "messages": messages });
    let user = json!({ "role": "user", "content": [{ "type": "text", "text": "hi" }] });
    let call = |id: &str| json!({ "role": "assistant", "content": [{ "type": "tool_use", "id": id, "name": "f", "input": {} }] });
    let result =
        |id: &str| json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": id }] });
    let said = |block: Value| json!({ "role": "assistant", "content": [block] });
    let thought = json!({ "type": "thinking", "thinking": "hm", "signature": "forged" });
    let input = |items: Value| json!({ "model": "m", "input": items });
    let words_in =
        json!({ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "hi" }] });
    let function =
        |id: &str| json!({ "type": "function_call", "call_id": id, "name": "f", "arguments": "{}" });
    let output = |id: &str| json!({ "type": "function_call_output", "call_id": id, "output": "ok" });
    let reasoning = json!({ "type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "forged" });
    let signed = json!({ "type": "reasoning", "id": "rs", "summary": [], "encrypted_content": protocol::signature("") });
    let table = [
        (Messages, claude(json!([user])), None),
        (Messages, claude(json!([user, call("a"), result("a")])), None),
        (
            Messages,
            json!({ "model": "m", "messages": [user] }),
            Some("max_tokens: Field required"),
        ),
        (
            Messages,
            claude(json!([user, user])),
            Some("roles must alternate"),
        ),
        (
            Messages,
            claude(json!([call("a"), result("a")])),
            Some("first message must use"),
        ),
        (
            Messages,
            claude(json!([user, said(json!({ "type": "text", "text": "x" }))])),
            Some("must end with a user message"),
        ),
        (
            Messages,
            claude(json!([user, call("a"), user])),
            Some("without `tool_result`"),
        ),
        (
            Messages,
            claude(json!([
                user,
                said(json!({ "type": "text", "text": "x" })),
                result("a")
            ])),
            Some("unexpected `tool_use_id`"),
        ),
        (
            Messages,
            claude(json!([user, call("a.b"), result("a.b")])),
            Some("should match pattern"),
        ),
        (
            Messages,
            claude(json!([user, call("a"), result("a"), call("a"), result("a")])),
            Some("must be unique"),
        ),
        (
            Messages,
            claude(json!([user, said(json!({ "type": "text", "text": " " })), user])),
            Some("non-whitespace"),
        ),
        (
            Messages,
            claude(json!([user, said(thought), user])),
            Some("Invalid `signature`"),
        ),
        (
            Messages,
            claude(json!([{ "role": "user", "content": [] }])),
            Some("non-empty content"),
        ),
        (
            Messages,
            json!({ "model": "m", "max_tokens": 1, "messages": [user], "made_up": 1 }),
            Some("Extra inputs"),
        ),
        (Responses, input(json!([words_in])), None),
        (
            Responses,
            input(json!([words_in, signed, function("a"), output("a")])),
            None,
        ),
        (Responses, input(json!([])), Some("must be provided")),
        (
            Responses,
            input(json!([words_in, function("a")])),
            Some("No tool output found for function call a"),
        ),
        (
            Responses,
            input(json!([words_in, output("a")])),
            Some("No tool call found"),
        ),
        (
            Responses,
            input(json!([words_in, function("a"), function("a")])),
            Some("Duplicate"),
        ),
        (
            Responses,
            input(json!([words_in, function(&"a".repeat(65))])),
            Some("string too long"),
        ),
        (
            Responses,
            input(json!([words_in, reasoning, function("a"), output("a")])),
            Some("could not be verified"),
        ),
        (
            Responses,
            input(json!([words_in, signed, words_in])),
            Some("without its required following item"),
        ),
        (
            Responses,
            json!({ "model": "m", "input": [words_in], "made_up": 1 }),
            Some("Unknown parameter"),
        ),
        (
            Ollama,
            json!({ "model": "m", "messages": [{ "role": "user", "content": "hi", "made_up": 1 }] }),
            None,
        ),
        (
            Ollama,
            json!({ "model": "m", "messages": [{ "role": "person", "content": "hi" }] }),
            Some("invalid role"),
        ),
        (
            Ollama,
            json!({ "model": "m", "messages": [{ "role": "user", "content": ["hi"] }] }),
            Some("cannot unmarshal"),
        ),
        (
            Ollama,
            json!({ "model": "m", "messages": [{ "role": "assistant", "content": "", "tool_calls": [{ "function": { "name": "f", "arguments": "{}" } }] }] }),
            Some("cannot unmarshal"),
        ),
    ];
    for (protocol, body, expected) in table {
        match (words(protocol, &body), expected) {
            (None, None) => {}
            (Some(refusal), Some(words)) => assert!(refusal.contains(words), "{body}: {refusal}"),
            (refusal, expected) => panic!("{body}: {refusal:?} instead of {expected:?}"),
        }
    }
}

#[tokio::test]
async fn every_protocol_is_answered_from_one_script_in_its_own_frames() {
    let user = json!([{ "role": "user", "content": [{ "type": "text", "text": "hi" }] }]);
    let input =
        json!([{ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "hi" }] }]);
    let plain = json!([{ "role": "user", "content": "hi" }]);
    let table = [
        (
            "/v1/responses",
            json!({ "model": "m", "input": input }),
            "response.completed",
        ),
        (
            "/api/chat",
            json!({ "model": "m", "messages": plain }),
            "\"done\":true",
        ),
        ("/v1/chat/completions", chat(&plain), "[DONE]"),
        (
            "/v1/messages",
            json!({ "model": "m", "max_tokens": 9, "messages": user }),
            "anthropic-version",
        ),
    ];
    let script = Script {
        last: Some(Reply::pieces(["Hel", "lo"]).and_call("f", json!({ "a": 1 }))),
        holds: 1_000,
        most_pictures: 1,
        ..Script::default()
    };
    let server = ScriptedServer::start(script).await.unwrap();
    for (path, body, end) in table {
        let reply = ask(&server, "POST", path, &body.to_string()).await;
        assert!(reply.contains(end), "{path}: {reply}");
    }
    let long = chat(&json!([{ "role": "user", "content": "word ".repeat(2_000) }]));
    let refused = ask(&server, "POST", "/v1/chat/completions", &long.to_string()).await;
    assert!(
        refused.contains("maximum context length is 1000 tokens"),
        "{refused}"
    );
    let part =
        json!({ "type": "image_url", "image_url": { "url": "data:image/png;base64,iVBORw0KGgoAAAA" } });
    let two = chat(&json!([{ "role": "user", "content": [part, part] }]));
    let refused = ask(&server, "POST", "/v1/chat/completions", &two.to_string()).await;
    assert!(refused.contains("At most 1 image(s)"), "{refused}");
}
