//! Over real HTTP, against a server that refuses what real ones refuse.

use std::sync::Arc;

use cairn_agent::model::{FinishReason, Message, Model, ModelRequest, Part, Role};
use cairn_protocol::{Api, ErrorCode};
use cairn_testkit::provider::{End, Recorded, Reply, Script, ScriptedServer, Step};
use serde_json::json;

use super::*;
use crate::{ModelConfig, Secret, assume, build};

fn request() -> ModelRequest {
    ModelRequest {
        system: "rules".into(),
        messages: vec![Message {
            role: Role::User,
            parts: vec![Part::Text("hi".into())],
        }],
        tools: Vec::new().into(),
        max_output_tokens: Some(50),
        temperature: None,
    }
}

async fn serve(replies: impl IntoIterator<Item = Reply>) -> (ScriptedServer, Arc<dyn Model>) {
    let server = ScriptedServer::start(Script::new(replies)).await.unwrap();
    let model = model(&server);
    (server, model)
}

fn config(server: &ScriptedServer) -> ModelConfig {
    let mut config = ModelConfig::new(Api::Openai, server.base_url(), "m");
    config.key = Some(Secret::new("sk-secret"));
    config
}

fn model(server: &ScriptedServer) -> Arc<dyn Model> {
    let config = config(server);
    build(&config, assume(&config)).unwrap()
}

type Heard = (String, Vec<ModelEvent>, Option<ModelError>);

/// The whole reply: its text, all other events, its error.
async fn hear(model: &Arc<dyn Model>) -> Heard {
    let (mut text, mut events, mut error) = (String::new(), Vec::new(), None);
    let mut stream = model.stream(request());
    while let Some(next) = stream.next().await {
        assert!(error.is_none(), "an error is the last element");
        match next {
            Ok(ModelEvent::Text(piece)) => text.push_str(&piece),
            Ok(event) => events.push(event),
            Err(it) => error = Some(it),
        }
    }
    (text, events, error)
}

fn stopped() -> Vec<ModelEvent> {
    vec![ModelEvent::Finished(FinishReason::Stop)]
}

#[tokio::test]
async fn x100_a_reply_comes_over_the_wire() {
    let (server, model) = serve([Reply::pieces(["Hel", "lo"])
        .usage(10, 4, 2)
        .and_call("f", json!({ "path": "a" }))])
    .await;
    let (text, events, error) = hear(&model).await;
    assert_eq!((text.as_str(), error), ("Hello", None));
    assert!(events.iter().any(|event| matches!(event, ModelEvent::Call { arguments, cut: false, .. } if arguments == "{\"path\":\"a\"}")));
    assert!(
        events
            .iter()
            .any(|event| matches!(event, ModelEvent::Usage(usage) if usage.cached_tokens == 4))
    );
    let sent = &server.chats()[0];
    assert_eq!(sent.refused, None);
    assert_eq!(sent.header("authorization"), Some("Bearer sk-secret"));
    assert_eq!(sent.header("content-type"), Some("application/json"));
    assert_eq!(sent.path, "/v1/chat/completions");
}

#[tokio::test]
async fn x100_503_and_429_say_that_another_try_may_work_and_when() {
    let (_server, model) = serve([
        Reply::error(503, "overloaded"),
        Reply::error(429, "slow down").header("retry-after", "2"),
        Reply::text("ok"),
    ])
    .await;
    let (_, _, error) = hear(&model).await;
    let error = error.unwrap();
    assert_eq!(
        (error.error.code, error.retryable),
        (ErrorCode::ModelServer, true)
    );
    let error = hear(&model).await.2.unwrap();
    assert_eq!(
        (error.error.code, error.retry_after),
        (ErrorCode::RateLimited, Some(Duration::from_secs(2)))
    );
    assert_eq!(hear(&model).await, ("ok".into(), stopped(), None));
}

#[tokio::test]
async fn x105_stream_options_are_left_out_for_servers_that_refuse_them_and_stay_out() {
    let (server, model) = serve([
        Reply::error(400, "Unrecognized request argument supplied: stream_options"),
        Reply::text("one"),
        Reply::text("two"),
    ])
    .await;
    assert_eq!(hear(&model).await.0, "one");
    assert_eq!(hear(&model).await.0, "two");
    let with: Vec<bool> = server
        .chats()
        .iter()
        .map(|chat| chat.body.get("stream_options").is_some())
        .collect();
    assert_eq!(with, [true, false, false]);
}

#[tokio::test]
async fn the_limit_is_renamed_for_servers_that_want_it_so() {
    let (server, model) = serve([
        Reply::error(400, "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."),
        Reply::text("ok"),
    ])
    .await;
    assert_eq!(hear(&model).await.0, "ok");
    assert_eq!(server.chats()[1].body["max_completion_tokens"], 50);
    assert!(server.chats()[1].body.get("max_tokens").is_none());
}

#[tokio::test]
async fn x100_too_long_is_not_sent_again_blindly() {
    let (server, model) = serve([Reply::error(
        400,
        "maximum context length is 4096 tokens, requested 5000; stream_options unsupported",
    )])
    .await;
    let error = hear(&model).await.2.unwrap();
    assert_eq!((error.error.code, error.retryable), (ErrorCode::TooLong, false));
    assert!(error.error.message.contains("4096") && error.error.message.contains("5000"));
    assert_eq!(server.chats().len(), 1);
}

#[tokio::test]
async fn a_connection_that_breaks_keeps_the_text_and_cuts_the_call() {
    let begun = json!({ "tool_calls": [{ "index": 0, "id": "a", "function": { "name": "w", "arguments": "{\"p" } }] });
    let (_server, model) = serve([Reply::steps([
        Step::Text("partial".into()),
        Step::Delta(begun),
        Step::Cut,
    ])])
    .await;
    let (text, events, error) = hear(&model).await;
    assert_eq!(text, "partial");
    assert!(
        matches!(&events[..], [ModelEvent::Call { cut: true, .. }]),
        "{events:?}"
    );
    let error = error.unwrap();
    assert_eq!(
        (error.error.code, error.retryable),
        (ErrorCode::ModelServer, true)
    );
    assert!(error.error.message.contains("broke off"), "{error}");
}

#[tokio::test]
async fn a_connection_cut_at_any_byte_never_panics_and_always_ends() {
    let whole = Reply::pieces(["one ", "two"]).and_call("f", json!({ "path": "a" }));
    for bytes in (0..900).step_by(37) {
        let (_server, model) = serve([whole.clone().cut_after(bytes)]).await;
        let (text, events, error) = hear(&model).await;
        assert!("one two".starts_with(&text));
        let finished = events
            .iter()
            .any(|event| matches!(event, ModelEvent::Finished(_)));
        assert!(
            finished != error.is_some(),
            "cut at {bytes}: {events:?} {error:?}"
        );
    }
}

#[tokio::test]
async fn a_server_that_forgets_to_end_its_stream_is_not_waited_for() {
    let (server, model) = serve([Reply::steps([
        Step::Text("x".into()),
        Step::Finish("stop".into()),
        Step::Done,
        Step::Hang,
    ])])
    .await;
    assert_eq!(hear(&model).await, ("x".into(), stopped(), None));
    let closed = |all: &[Recorded]| all.iter().any(|chat| chat.end == End::ClosedByClient);
    assert!(
        server.wait_for(closed).await.is_some(),
        "the connection is closed"
    );
}

#[tokio::test]
async fn dropping_the_stream_closes_the_connection() {
    let (server, model) = serve([Reply::steps([Step::Text("x".into()), Step::Hang])]).await;
    let mut stream = model.stream(request());
    assert_eq!(stream.next().await, Some(Ok(ModelEvent::Text("x".into()))));
    drop(stream);
    let closed = |all: &[Recorded]| all.iter().any(|chat| chat.end == End::ClosedByClient);
    assert!(server.wait_for(closed).await.is_some());
}

#[tokio::test]
async fn a_local_server_that_loads_is_asked_until_it_is_ready() {
    let (server, model) = serve([Reply::error(503, "Loading model"), Reply::text("ok")]).await;
    let (text, events, error) = hear(&model).await;
    assert_eq!((text.as_str(), error), ("ok", None));
    assert_eq!(events[0], ModelEvent::Loading);
    assert_eq!(server.chats().len(), 2);
}

#[tokio::test]
async fn what_is_no_answer_is_said_so() {
    let table = [
        (
            Reply::body(200, "text/html", "<html><title>Welcome</title>"),
            ErrorCode::ModelGarbage,
            "web page (\"Welcome\")",
        ),
        (
            Reply::body(200, "application/json", "{\"ok\":true}"),
            ErrorCode::ModelGarbage,
            "not a model's answer",
        ),
        (
            Reply::body(200, "application/json", ""),
            ErrorCode::ModelGarbage,
            "answered with nothing",
        ),
        (
            Reply::stream(""),
            ErrorCode::ModelGarbage,
            "answered with nothing",
        ),
        (
            Reply::stream("data: not json\n\n"),
            ErrorCode::ModelGarbage,
            "not json",
        ),
        (
            Reply::stream("<html><title>Gateway</title></html>"),
            ErrorCode::ModelGarbage,
            "Gateway",
        ),
        (
            Reply::stream("{\"error\":{\"message\":\"boom\",\"code\":500}}"),
            ErrorCode::ModelServer,
            "boom",
        ),
        (
            Reply::body(401, "text/html", "<html><title>No</title>"),
            ErrorCode::BadKey,
            "did not accept the key",
        ),
        (
            Reply::body(307, "text/plain", "").header("location", "http://127.0.0.1:1/steal"),
            ErrorCode::ModelRejected,
            "127.0.0.1",
        ),
        (
            Reply::error(404, "model \"m\" not found"),
            ErrorCode::ModelRejected,
            "no model named \"m\"",
        ),
    ];
    for (reply, code, words) in table {
        let (server, model) = serve([reply]).await;
        let (text, _, error) = hear(&model).await;
        let error = error.unwrap();
        assert_eq!((text.as_str(), error.error.code), ("", code), "{error}");
        assert!(error.error.message.contains(words), "{error}");
        assert!(!error.error.message.contains("sk-secret"), "{error}");
        assert_eq!(server.chats().len(), 1);
    }
}

#[tokio::test]
async fn an_error_written_plainly_after_the_start_is_read() {
    let steps = [
        Step::Text("a".into()),
        Step::Raw("{\"error\":{\"message\":\"out of memory\",\"code\":500}}\n".into()),
    ];
    let (_server, model) = serve([Reply::steps(steps)]).await;
    let (text, _, error) = hear(&model).await;
    assert_eq!(text, "a");
    assert!(error.unwrap().error.message.contains("out of memory"));
}

#[tokio::test]
async fn a_server_that_does_not_stream_is_understood() {
    let whole = json!({ "choices": [{ "message": { "content": "hi" }, "finish_reason": "stop" }],
        "usage": { "prompt_tokens": 1, "completion_tokens": 1 } });
    let (_server, model) = serve([
        Reply::body(200, "application/json", &whole.to_string()),
        Reply::body(
            200,
            "application/json",
            "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\ndata: [DONE]\n\n",
        ),
    ])
    .await;
    assert_eq!(hear(&model).await.0, "hi");
    assert_eq!(hear(&model).await, ("x".into(), stopped(), None));
}

#[tokio::test]
async fn m4_nobody_there_is_said_with_what_to_do() {
    // The port of a server that has just gone.
    let server = ScriptedServer::start(Script::default()).await.unwrap();
    let mut config = config(&server);
    drop(server);
    let free = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    config.base_url = format!("http://127.0.0.1:{free}/v1");
    let model = build(&config, assume(&config)).unwrap();
    let error = hear(&model).await.2.unwrap();
    assert_eq!(
        (error.error.code, error.retryable),
        (ErrorCode::ModelUnreachable, true)
    );
    assert_eq!(
        error.error.message,
        format!(
            "Could not reach the model server at 127.0.0.1:{free}: connection refused. Start it or mend its address, then retry."
        )
    );
}

#[tokio::test]
async fn ids_that_the_conversation_holds_are_not_given_again() {
    let mut reply = Reply::call("f", json!({}));
    reply.tool_calls[0].id = Some("a".into());
    let (_server, model) = serve([reply]).await;
    let mut request = request();
    request.messages.push(Message {
        role: Role::Assistant,
        parts: vec![Part::Call {
            id: "a".into(),
            name: "f".into(),
            arguments: "{}".into(),
        }],
    });
    let result = Part::Result {
        id: "a".into(),
        text: "ok".into(),
        pictures: vec![],
        ok: true,
    };
    request.messages.push(Message {
        role: Role::Tool,
        parts: vec![result],
    });
    let events: Vec<_> = model.stream(request).collect().await;
    assert!(
        events
            .iter()
            .any(|event| matches!(event, Ok(ModelEvent::Call { id, .. }) if id == "a_2")),
        "{events:?}"
    );
}
