//! Bad input and refusals, the same in every protocol: bounded, in words, and nothing is sent elsewhere.

use cairn_agent::model::{FinishReason, Message, ModelEvent, Objection, Part, Place, Role};
use cairn_models::{assume, build};
use cairn_protocol::{Api, Effort, ErrorCode};
use cairn_testkit::provider::{Protocol, Reply, Script, ScriptedServer, Step};
use serde_json::{Value, json};

use crate::support::{APIS, config, hear, model, read, request, user};

fn protocol(api: Api) -> Protocol {
    match api {
        Api::Responses => Protocol::Responses,
        Api::Anthropic => Protocol::Messages,
        Api::Ollama => Protocol::Ollama,
        Api::Openai | Api::Gguf | Api::Demo => Protocol::Chat,
    }
}

async fn serve(script: Script) -> ScriptedServer {
    ScriptedServer::start(script).await.unwrap()
}

#[tokio::test]
async fn m6_usage_and_words_come_from_every_double() {
    for api in APIS {
        let server = serve(Script::new([Reply::pieces(["Hel", "lo"]).usage(10, 4, 2)])).await;
        let (events, error) = hear(&model(api, &server), request(vec![user("hi")])).await;
        assert_eq!(error, None, "{api:?}");
        assert!(
            events.contains(&ModelEvent::Text("Hello".into())),
            "{api:?}: {events:?}"
        );
        let usage = events.iter().rev().find_map(|event| match event {
            ModelEvent::Usage(usage) => Some((usage.input_tokens, usage.output_tokens)),
            _ => None,
        });
        assert_eq!(usage, Some((10, 2)), "{api:?}");
        assert_eq!(
            events.last(),
            Some(&ModelEvent::Finished(FinishReason::Stop)),
            "{api:?}"
        );
    }
}

#[tokio::test]
async fn x100_a_pause_that_a_server_asks_for_is_kept_in_every_protocol() {
    for api in APIS {
        let server = serve(Script::new([
            Reply::error(429, "slow down").header("retry-after", "2")
        ]))
        .await;
        let error = hear(&model(api, &server), request(vec![user("hi")]))
            .await
            .1
            .unwrap();
        assert_eq!(error.error.code, ErrorCode::RateLimited, "{api:?}");
        assert_eq!(error.retry_after.map(|wait| wait.as_secs()), Some(2), "{api:?}");
        assert!(error.error.message.contains("slow down"), "{api:?}: {error}");
    }
}

#[tokio::test]
async fn c2_an_overflow_is_told_apart_in_every_protocol() {
    for api in APIS {
        let server = serve(Script {
            holds: 300,
            ..Script::new([Reply::text("x")])
        })
        .await;
        let long = "word ".repeat(2_000);
        let error = hear(&model(api, &server), request(vec![user(&long)]))
            .await
            .1
            .unwrap();
        assert_eq!(error.error.code, ErrorCode::TooLong, "{api:?}: {error}");
        let rejected = error.rejected.unwrap();
        assert!(
            matches!(rejected.what, Objection::TooLong { .. }),
            "{api:?}: {rejected:?}"
        );
    }
}

#[tokio::test]
async fn m8_what_the_doubles_refuse_is_found_in_the_request() {
    let lonely = Message {
        role: Role::Assistant,
        parts: vec![Part::Call {
            id: "call_lonely".into(),
            name: "read_file".into(),
            arguments: "{}".into(),
        }],
    };
    for api in [Api::Openai, Api::Responses, Api::Anthropic] {
        let server = serve(Script::new([Reply::text("x")])).await;
        let asked = request(vec![user("hi"), lonely.clone(), user("and?")]);
        let error = hear(&model(api, &server), asked).await.1.unwrap();
        let rejected = error
            .rejected
            .unwrap_or_else(|| panic!("{api:?}: {}", error.error.message));
        let pairing = Objection::Pairing {
            call: Some("call_lonely".into()),
        };
        assert_eq!(rejected.what, pairing, "{api:?}");
        assert_eq!(
            rejected.at,
            Some(Place {
                message: 1,
                part: Some(0)
            }),
            "{api:?}"
        );
    }
}

#[tokio::test]
async fn an_effort_that_is_refused_is_left_out_from_then_on() {
    let refusals = [
        (
            Api::Openai,
            "Unsupported parameter: 'reasoning_effort' is not supported with this model.",
        ),
        (
            Api::Responses,
            "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
        ),
        (Api::Anthropic, "\"thinking\" is not supported on this model"),
        (Api::Ollama, "\"m\" does not support thinking"),
    ];
    for (api, words) in refusals {
        let server = serve(Script::new([
            Reply::error(400, words),
            Reply::text("one"),
            Reply::text("two"),
        ]))
        .await;
        let mut config = config(api, &server);
        config.effort = Some(Effort::High);
        let model = build(&config, assume(&config)).unwrap();
        for _ in 0..2 {
            assert_eq!(hear(&model, request(vec![user("hi")])).await.1, None, "{api:?}");
        }
        let asked: Vec<bool> = server
            .chats()
            .iter()
            .map(|chat| {
                ["reasoning_effort", "reasoning", "thinking", "think"]
                    .iter()
                    .any(|field| chat.body.get(field).is_some())
            })
            .collect();
        assert_eq!(asked, [true, false, false], "{api:?}");
    }
}

#[tokio::test]
async fn m4_a_redirect_never_carries_our_key_elsewhere() {
    for api in APIS {
        let elsewhere = serve(Script::new([Reply::text("stolen")])).await;
        let reply = Reply::error(307, "").header("location", &format!("{}/take", elsewhere.root_url()));
        let server = serve(Script::new([reply])).await;
        let error = hear(&model(api, &server), request(vec![user("hi")]))
            .await
            .1
            .unwrap();
        assert!(
            error.error.message.contains("The key is not sent there"),
            "{api:?}: {error}"
        );
        assert!(elsewhere.requests().is_empty(), "{api:?}");
    }
}

#[tokio::test]
async fn an_error_page_is_said_so_in_every_protocol() {
    for api in APIS {
        for status in [200, 502] {
            let page = "<!doctype html><html><title>Please sign in</title></html>";
            let server = serve(Script::new([Reply::body(status, "text/html", page)])).await;
            let error = hear(&model(api, &server), request(vec![user("hi")]))
                .await
                .1
                .unwrap();
            assert!(
                error.error.message.contains("Please sign in"),
                "{api:?} {status}: {error}"
            );
        }
    }
}

#[tokio::test]
async fn a_connection_that_breaks_keeps_the_words_and_cuts_the_call() {
    for api in APIS {
        let steps = [Step::Text("half a wo".into()), Step::Cut];
        let server = serve(Script::new([Reply::steps(steps)])).await;
        let (events, error) = hear(&model(api, &server), request(vec![user("hi")])).await;
        assert!(
            events.contains(&ModelEvent::Text("half a wo".into())),
            "{api:?}: {events:?}"
        );
        let error = error.unwrap();
        assert!(
            error.retryable && error.error.message.contains("broke off"),
            "{api:?}: {error}"
        );
    }
}

/// A frame with a piece of a call's arguments, and the frames before the first.
fn flood(api: Api, piece: &str) -> (String, String) {
    let frame = |document: Value| match api {
        Api::Ollama => format!("{document}\n"),
        _ => format!("data: {document}\n\n"),
    };
    match api {
        Api::Openai | Api::Gguf | Api::Demo => (
            String::new(),
            frame(
                json!({ "choices": [{ "delta": { "tool_calls": [{ "index": 0, "id": "a",
                "function": { "name": "read_file", "arguments": piece } }] } }] }),
            ),
        ),
        Api::Responses => (
            frame(json!({ "type": "response.output_item.added", "output_index": 0,
                "item": { "type": "function_call", "call_id": "a", "name": "read_file", "arguments": "" } })),
            frame(
                json!({ "type": "response.function_call_arguments.delta", "output_index": 0, "delta": piece }),
            ),
        ),
        Api::Anthropic => (
            frame(json!({ "type": "content_block_start", "index": 0,
                "content_block": { "type": "tool_use", "id": "a", "name": "read_file", "input": {} } })),
            frame(json!({ "type": "content_block_delta", "index": 0,
                "delta": { "type": "input_json_delta", "partial_json": piece } })),
        ),
        Api::Ollama => (String::new(), frame(json!({ "message": { "content": piece } }))),
    }
}

#[test]
fn two_hundred_megabytes_of_arguments_are_stopped_with_words() {
    for api in APIS {
        let (begin, piece) = flood(api, &"x".repeat(1024 * 1024));
        let chunks = std::iter::once(begin.as_bytes()).chain(std::iter::repeat_n(piece.as_bytes(), 200));
        let mut taken = 0;
        let (events, error) = read(api, chunks.inspect(|_| taken += 1));
        let error = error.unwrap();
        assert!(
            taken < 20,
            "{api:?}: nothing is read after it, but {taken} MB were"
        );
        assert!(
            error.error.message.contains("16 MB") && !error.retryable,
            "{api:?}: {error}"
        );
        let whole = events
            .iter()
            .any(|event| matches!(event, ModelEvent::Call { cut: false, .. }));
        assert!(!whole, "{api:?}");
    }
}

#[tokio::test]
async fn a_stream_that_never_ends_is_stopped_where_its_reply_is_too_large() {
    // Where the limit stands it knows no protocol; over the wire one is enough.
    for api in [Api::Openai] {
        let steps = std::iter::repeat_n(Step::Text("word ".repeat(100_000)), 60);
        let server = serve(Script::new([Reply::steps(steps.chain([Step::Hang]))])).await;
        let (_, error) = hear(&model(api, &server), request(vec![user("hi")])).await;
        assert!(error.unwrap().error.message.contains("16 MB"), "{api:?}");
    }
}

#[tokio::test]
async fn five_hundred_calls_in_one_reply_are_five_hundred_calls() {
    for api in APIS {
        let reply = (0..500).fold(Reply::default(), |reply, n| {
            reply.and_call("read_file", json!({ "path": n }))
        });
        let server = serve(Script::new([reply])).await;
        let (events, error) = hear(&model(api, &server), request(vec![user("hi")])).await;
        assert_eq!(error, None, "{api:?}");
        let mut ids: Vec<&String> = events
            .iter()
            .filter_map(|event| match event {
                ModelEvent::Call { id, cut: false, .. } => Some(id),
                _ => None,
            })
            .collect();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), 500, "{api:?}");
    }
}

#[tokio::test]
async fn t10_a_call_in_plain_text_is_marked_in_every_protocol() {
    for api in APIS {
        let spoken =
            "I look.\n<tool_call>\n{\"name\": \"read_file\", \"arguments\": {\"path\": \"a\"}}\n</tool_call>";
        let server = serve(Script::new([
            Reply::text(spoken),
            Reply::text(&format!("You write `{spoken}` for it.")),
        ]))
        .await;
        let model = model(api, &server);
        let (events, _) = hear(&model, request(vec![user("hi")])).await;
        let marked = events.iter().any(|event| {
            matches!(event, ModelEvent::Call { from_text: true, cut: false, name, arguments, .. }
                if name == "read_file" && arguments == "{\"path\":\"a\"}")
        });
        assert!(
            marked && events.contains(&ModelEvent::Text("I look.\n".into())),
            "{api:?}: {events:?}"
        );
        let (events, _) = hear(&model, request(vec![user("hi")])).await;
        assert!(
            !events
                .iter()
                .any(|event| matches!(event, ModelEvent::Call { .. })),
            "{api:?}: {events:?}"
        );
    }
}

#[test]
fn the_doubles_refuse_in_the_form_of_their_protocol() {
    for api in APIS {
        let words = protocol(api).error("no").to_string();
        assert!(words.contains("\"no\""), "{words}");
    }
}
