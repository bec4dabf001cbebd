//! A real server at the other end. Not part of the ordinary run: it needs one, named by the environment.
//!
//! ```sh
//! CAIRN_PEER=anthropic=http://127.0.0.1:8080/v1=any-model cargo test -p cairn-models --test real_peer -- --ignored --nocapture
//! ```
//!
//! Several are separated by blanks; a key is `CAIRN_PEER_KEY`. Each is asked for a streamed answer and for one call of a
//! tool, whose result it then gets.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may fail loudly"
)]

use std::io::Write as _;

use cairn_agent::model::{Message, ModelEvent, ModelRequest, Part, Role};
use cairn_agent::tool::{ToolClass, ToolSpec};
use cairn_models::{ModelConfig, Secret, build, inspect};
use cairn_protocol::Api;
use futures_util::StreamExt;
use serde_json::json;

fn tell(text: &str) {
    std::io::stdout()
        .write_all(format!("{text}\n").as_bytes())
        .unwrap();
}

fn user(text: &str) -> Message {
    Message {
        role: Role::User,
        parts: vec![Part::Text(text.into())],
    }
}

fn request(messages: Vec<Message>, tools: Vec<ToolSpec>) -> ModelRequest {
    ModelRequest {
        system: "You are a helpful assistant that reads files with its tool.".into(),
        messages,
        tools: tools.into(),
        max_output_tokens: Some(48),
        temperature: Some(0.0),
    }
}

fn read_file() -> ToolSpec {
    ToolSpec {
        name: "read_file".into(),
        description: "Reads a file.".into(),
        schema: json!({ "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"] }),
        class: ToolClass::Read,
        limit: None,
    }
}

async fn hear(config: &ModelConfig, request: ModelRequest) -> Vec<ModelEvent> {
    let inspection = inspect(config).await;
    let model = build(config, inspection.info).unwrap();
    let mut stream = model.stream(request);
    let (mut events, mut text, mut pieces) = (Vec::new(), String::new(), 0);
    while let Some(next) = stream.next().await {
        match next.unwrap_or_else(|error| panic!("{error} {:?}", error.rejected)) {
            ModelEvent::Text(piece) => {
                text.push_str(&piece);
                pieces += 1;
                events.push(ModelEvent::Text(piece));
            }
            event => {
                tell(&format!("    {event:?}"));
                events.push(event);
            }
        }
    }
    tell(&format!("    text in {pieces} pieces: {text:?}"));
    events
}

#[tokio::test]
#[ignore = "needs a server, named by CAIRN_PEER"]
async fn a_real_server_answers_and_calls() {
    let peers = std::env::var("CAIRN_PEER").expect("CAIRN_PEER=api=address=model");
    for peer in peers.split_whitespace() {
        let mut words = peer.splitn(3, '=');
        let api: Api = serde_json::from_value(json!(words.next().unwrap())).unwrap();
        let (address, model) = (words.next().unwrap(), words.next().unwrap());
        let mut config = ModelConfig::new(api, address, model);
        config.key = std::env::var("CAIRN_PEER_KEY").ok().map(|key| Secret::new(&key));
        let found = inspect(&config).await;
        tell(&format!(
            "{api:?} at {address}: window {:?}, tools {}",
            found.info.window, found.info.tools
        ));
        let answer = hear(&config, request(vec![user("Say hello.")], Vec::new())).await;
        assert!(
            answer.iter().any(|event| matches!(event, ModelEvent::Text(_))),
            "no answer"
        );
        let mut messages = vec![user("Read the file notes.txt.")];
        let events = hear(&config, request(messages.clone(), vec![read_file()])).await;
        let call = events.iter().find_map(|event| match event {
            ModelEvent::Call {
                id, name, arguments, ..
            } => Some((id.clone(), name.clone(), arguments.clone())),
            _ => None,
        });
        let Some((id, name, arguments)) = call else {
            tell("    the model made no call");
            continue;
        };
        messages.push(Message {
            role: Role::Assistant,
            parts: vec![Part::Call {
                id: id.clone(),
                name,
                arguments,
            }],
        });
        messages.push(Message {
            role: Role::Tool,
            parts: vec![Part::Result {
                id,
                text: "The tide turns at noon.".into(),
                pictures: Vec::new(),
                ok: true,
            }],
        });
        hear(&config, request(messages, vec![read_file()])).await;
    }
}
