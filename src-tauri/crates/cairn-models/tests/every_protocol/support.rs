//! What all of these tests need.

use std::collections::HashSet;
use std::sync::Arc;

use cairn_agent::model::{Message, Model, ModelError, ModelEvent, ModelRequest, Part, Role};
use cairn_agent::tool::{ToolClass, ToolSpec};
use cairn_models::ndjson::LineDecoder;
use cairn_models::sse::{Decoder, SseEvent};
use cairn_models::{ModelConfig, ReplyStream, Secret, StreamContext, assume, build};
use cairn_protocol::Api;
use cairn_testkit::provider::ScriptedServer;
use futures_util::StreamExt;
use serde_json::json;

/// All protocols.
pub(crate) const APIS: [Api; 4] = [Api::Openai, Api::Responses, Api::Anthropic, Api::Ollama];

pub(crate) fn tools() -> Arc<[ToolSpec]> {
    Arc::from([ToolSpec {
        name: "read_file".into(),
        description: "Reads a file.".into(),
        schema: json!({ "type": "object", "properties": { "path": { "type": "string" } } }),
        class: ToolClass::Read,
        limit: None,
    }])
}

pub(crate) fn request(messages: Vec<Message>) -> ModelRequest {
    ModelRequest {
        system: "rules".into(),
        messages,
        tools: tools(),
        max_output_tokens: Some(4_000),
        temperature: None,
    }
}

pub(crate) fn user(text: &str) -> Message {
    Message {
        role: Role::User,
        parts: vec![Part::Text(text.into())],
    }
}

pub(crate) fn config(api: Api, server: &ScriptedServer) -> ModelConfig {
    let mut config = ModelConfig::new(api, server.base_url(), "m");
    config.key = Some(Secret::new("sk-secret"));
    config
}

pub(crate) fn model(api: Api, server: &ScriptedServer) -> Arc<dyn Model> {
    let config = config(api, server);
    build(&config, assume(&config)).unwrap()
}

pub(crate) type Heard = (Vec<ModelEvent>, Option<ModelError>);

/// The whole reply, neighbouring pieces of text joined.
pub(crate) async fn hear(model: &Arc<dyn Model>, request: ModelRequest) -> Heard {
    let (mut events, mut error) = (Vec::new(), None);
    let mut stream = model.stream(request);
    while let Some(next) = stream.next().await {
        assert!(error.is_none(), "an error is the last element");
        match next {
            Ok(event) => events.push(event),
            Err(it) => error = Some(it),
        }
    }
    (joined(events), error)
}

pub(crate) fn joined(events: Vec<ModelEvent>) -> Vec<ModelEvent> {
    let mut out: Vec<ModelEvent> = Vec::new();
    for event in events {
        match (out.last_mut(), event) {
            (Some(ModelEvent::Text(text)), ModelEvent::Text(more))
            | (Some(ModelEvent::Thinking(text)), ModelEvent::Thinking(more)) => text.push_str(&more),
            (_, event) => out.push(event),
        }
    }
    out
}

/// Bytes into events, in the protocol's way.
enum Cutter {
    Events(Decoder),
    Lines(LineDecoder),
}

impl Cutter {
    /// The events that a piece completes; at the end, with no piece, what stands unfinished.
    fn take(&mut self, piece: Option<&[u8]>) -> Vec<SseEvent> {
        let mut events = Vec::new();
        match (self, piece) {
            (Self::Events(decoder), Some(piece)) => decoder.push(piece, &mut events).unwrap(),
            (Self::Events(decoder), None) => decoder.finish(&mut events).unwrap(),
            (Self::Lines(decoder), Some(piece)) => decoder.push(piece, &mut events).unwrap(),
            (Self::Lines(decoder), None) => decoder.finish(&mut events),
        }
        events
    }
}

/// Reads bytes as a stream of that protocol, without a connection.
pub(crate) fn read<'a>(api: Api, chunks: impl IntoIterator<Item = &'a [u8]>) -> Heard {
    let mut cutter = match api {
        Api::Ollama => Cutter::Lines(LineDecoder::new()),
        _ => Cutter::Events(Decoder::new()),
    };
    let context = StreamContext {
        taken_ids: HashSet::from(["used".to_owned()]),
        salt: "s".into(),
        tools: Some(tools()),
        origin: "here".into(),
        wants_thinking_back: true,
        ..StreamContext::default()
    };
    let mut stream = ReplyStream::new(api, context);
    let mut out = Vec::new();
    for chunk in chunks.into_iter().map(Some).chain([None]) {
        for event in cutter.take(chunk) {
            if let Err(error) = stream.push(&event, &mut out) {
                return (joined(out), Some(error));
            }
        }
        if stream.is_over() {
            break;
        }
    }
    stream.finish(&mut out);
    (joined(out), None)
}
