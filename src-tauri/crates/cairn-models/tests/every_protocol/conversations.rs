//! Whatever a session holds, and whichever model goes on with it: its server takes the request. SPEC M7, T12.

use std::sync::Arc;

use cairn_agent::model::{Message, ModelEvent, ModelRequest, Part, Role};
use cairn_agent::tool::PictureBytes;
use cairn_models::{assume, build};
use cairn_protocol::{Api, BlobId, Effort, ReasoningData};
use cairn_testkit::provider::{Reply, Script, ScriptedServer};
use proptest::prelude::*;
use serde_json::json;

use crate::support::{APIS, config, hear, model, request, user};

fn picture() -> PictureBytes {
    PictureBytes {
        blob: BlobId::from("b"),
        media_type: "image/png".into(),
        bytes: Arc::from(&b"\x89PNG\r\n\x1a\n...."[..]),
    }
}

/// What the reply said, as the history would hold it, with results.
fn remembered(events: &[ModelEvent]) -> Vec<Message> {
    let (mut said, mut results) = (Vec::new(), Vec::new());
    for event in events {
        match event {
            ModelEvent::Text(text) => said.push(Part::Text(text.clone())),
            ModelEvent::Reasoning(data) => said.push(Part::Reasoning(data.clone())),
            ModelEvent::Call {
                id, name, arguments, ..
            } => {
                said.push(Part::Call {
                    id: id.clone(),
                    name: name.clone(),
                    arguments: arguments.clone(),
                });
                results.push(Part::Result {
                    id: id.clone(),
                    text: "done".into(),
                    pictures: vec![picture()],
                    ok: true,
                });
            }
            _ => {}
        }
    }
    let mut messages = vec![Message {
        role: Role::Assistant,
        parts: said,
    }];
    if !results.is_empty() {
        messages.push(Message {
            role: Role::Tool,
            parts: results,
        });
    }
    messages
}

fn thoughtful(n: usize) -> Reply {
    let mut reply =
        Reply::call("read_file", json!({ "path": "a" })).and_call("read_file", json!({ "path": "b" }));
    reply.thinking = serde_json::from_value(json!(format!("thought {n}"))).unwrap();
    reply
}

#[tokio::test]
async fn t12_a_session_goes_through_all_models_and_back_with_thinking_on() {
    let script = Script::new((0..24).map(thoughtful));
    let server = ScriptedServer::start(script).await.unwrap();
    let mut messages = vec![user("begin")];
    for (round, api) in APIS
        .iter()
        .cycle()
        .take(8)
        .chain(APIS.iter().rev().cycle().take(8))
        .enumerate()
    {
        let mut config = config(*api, &server);
        config.effort = Some(Effort::Medium);
        let model = build(&config, assume(&config)).unwrap();
        let asked = ModelRequest {
            max_output_tokens: Some(16_000),
            ..request(messages.clone())
        };
        let (events, error) = hear(&model, asked).await;
        assert_eq!(error, None, "{api:?} in round {round}");
        let calls = events
            .iter()
            .filter(|event| matches!(event, ModelEvent::Call { .. }))
            .count();
        assert_eq!(calls, 2, "{api:?} in round {round}");
        messages.extend(remembered(&events));
        if round % 3 == 0 {
            messages.push(user("go on"));
        }
    }
    assert!(server.chats().iter().all(|chat| chat.refused.is_none()));
}

#[tokio::test]
async fn t12_m7_thoughts_go_back_to_the_server_that_made_them_and_to_no_other() {
    for api in APIS {
        let one = ScriptedServer::start(Script::new([thoughtful(1), Reply::text("x")]))
            .await
            .unwrap();
        let other = ScriptedServer::start(Script::new([Reply::text("x")]))
            .await
            .unwrap();
        let mine = model(api, &one);
        let (events, _) = hear(&mine, request(vec![user("begin")])).await;
        let mut messages = vec![user("begin")];
        messages.extend(remembered(&events));
        assert_eq!(hear(&mine, request(messages.clone())).await.1, None);
        assert_eq!(hear(&model(api, &other), request(messages)).await.1, None);
        let kept = |server: &ScriptedServer| {
            let body = server.chats().last().unwrap().body.to_string();
            body.contains("thought 1") || body.contains("encrypted_content")
        };
        assert_eq!((kept(&one), kept(&other)), (true, false), "{api:?}");
    }
}

#[tokio::test]
async fn the_key_goes_where_each_protocol_wants_it() {
    for api in APIS {
        let server = ScriptedServer::start(Script::new([Reply::text("x")]))
            .await
            .unwrap();
        hear(&model(api, &server), request(vec![user("hi")])).await;
        let chat = &server.chats()[0];
        let (bearer, own) = (chat.header("authorization"), chat.header("x-api-key"));
        match api {
            Api::Anthropic => assert_eq!((bearer, own), (None, Some("sk-secret"))),
            _ => assert_eq!((bearer, own), (Some("Bearer sk-secret"), None)),
        }
    }
}

fn part() -> impl Strategy<Value = Part> {
    let origins = prop_oneof![Just("x"), Just("Anthropic http://127.0.0.1 m")];
    prop_oneof![
        3 => "[ a-c\n]{0,6}".prop_map(Part::Text),
        1 => Just(Part::Picture(picture())),
        1 => (origins, prop_oneof![Just("{}"), Just("null"), Just("no json"), Just("{\"type\":\"thinking\",\"thinking\":\"a\",\"signature\":\"b\"}")])
            .prop_map(|(origin, json)| Part::Reasoning(ReasoningData { origin: origin.into(), json: json.into() })),
    ]
}

/// A conversation as the history makes it: every call has its result right after, ids are unique but of any form.
fn conversation() -> impl Strategy<Value = Vec<Message>> {
    let step = (
        any::<bool>(),
        proptest::collection::vec(part(), 0..3),
        proptest::collection::vec("[a-z.:ü|]{1,80}", 0..3),
    );
    proptest::collection::vec(step, 1..7).prop_map(|steps| {
        let mut messages = vec![user("begin")];
        for (n, (person, parts, ids)) in steps.into_iter().enumerate() {
            if person {
                let parts = parts
                    .into_iter()
                    .filter(|part| !matches!(part, Part::Reasoning(_)))
                    .collect();
                messages.push(Message {
                    role: Role::User,
                    parts,
                });
                continue;
            }
            let ids: Vec<String> = ids
                .iter()
                .enumerate()
                .map(|(m, id)| format!("{id}{n}-{m}"))
                .collect();
            let calls = ids.iter().map(|id| Part::Call {
                id: id.clone(),
                name: "read_file".into(),
                arguments: "{}".into(),
            });
            let said = parts
                .into_iter()
                .filter(|part| !matches!(part, Part::Picture(_)))
                .chain(calls)
                .collect();
            messages.push(Message {
                role: Role::Assistant,
                parts: said,
            });
            let results: Vec<Part> = ids
                .iter()
                .enumerate()
                .map(|(m, id)| Part::Result {
                    id: id.clone(),
                    text: if m == 0 { String::new() } else { "ok".into() },
                    pictures: if m == 1 { vec![picture()] } else { Vec::new() },
                    ok: m != 1,
                })
                .collect();
            if !results.is_empty() {
                messages.push(Message {
                    role: Role::Tool,
                    parts: results,
                });
            }
        }
        messages
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn t12_x104_whatever_a_session_holds_every_server_takes_it(messages in conversation()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let script = Script { last: Some(Reply::text("ok")), ..Script::default() };
            let server = ScriptedServer::start(script).await.unwrap();
            for api in APIS {
                let (events, error) = hear(&model(api, &server), request(messages.clone())).await;
                assert_eq!(error, None, "{api:?}: {messages:#?}");
                assert!(events.contains(&ModelEvent::Text("ok".into())));
            }
        });
    }
}
