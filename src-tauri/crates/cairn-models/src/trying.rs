//! For tests of this crate: requests, replies and their reading, alike for all protocols.

use std::collections::HashSet;
use std::sync::Arc;

use cairn_agent::model::{Message, ModelError, ModelEvent, ModelRequest, Part, Role};
use cairn_agent::tool::{PictureBytes, ToolClass, ToolSpec};
use cairn_protocol::{Api, BlobId, Effort, ReasoningData};
use serde_json::{Value, json};

use crate::address::Address;
use crate::ndjson::LineDecoder;
use crate::registry;
use crate::reply::StreamContext;
use crate::reply::stream::ReplyStream;
use crate::request::{Ask, Sent};
use crate::sse::Decoder;

/// Whose reasoning data is ours in tests.
pub(crate) const ORIGIN: &str = "here";

pub(crate) fn tool(name: &str) -> ToolSpec {
    ToolSpec {
        name: name.into(),
        description: "Does it.".into(),
        schema: json!({ "type": "object", "properties": {
            "path": { "type": "string" }, "content": { "type": "string" }, "limit": { "type": "integer" },
            "todos": { "type": "array" },
        } }),
        class: ToolClass::Read,
        limit: None,
    }
}

pub(crate) fn picture() -> PictureBytes {
    PictureBytes {
        blob: BlobId::from("b"),
        media_type: "image/png".into(),
        bytes: Arc::from(&b"\x89PNG\r\n\x1a\n...."[..]),
    }
}

pub(crate) fn message(role: Role, parts: Vec<Part>) -> Message {
    Message { role, parts }
}

pub(crate) fn text(text: &str) -> Part {
    Part::Text(text.into())
}

pub(crate) fn user(words: &str) -> Message {
    message(Role::User, vec![text(words)])
}

pub(crate) fn call(id: &str) -> Part {
    Part::Call {
        id: id.into(),
        name: "read_file".into(),
        arguments: "{\"path\":\"a\"}".into(),
    }
}

pub(crate) fn result(id: &str, pictures: Vec<PictureBytes>) -> Part {
    Part::Result {
        id: id.into(),
        text: format!("result {id}"),
        pictures,
        ok: true,
    }
}

pub(crate) fn reasoning(origin: &str, data: &Value) -> Part {
    Part::Reasoning(ReasoningData {
        origin: origin.into(),
        json: data.to_string(),
    })
}

pub(crate) fn request(messages: Vec<Message>) -> ModelRequest {
    ModelRequest {
        system: "rules".into(),
        messages,
        tools: Arc::from([]),
        max_output_tokens: Some(100),
        temperature: Some(0.5),
    }
}

/// The body for a server of that protocol at its usual place.
pub(crate) fn compose(api: Api, request: &ModelRequest, change: impl FnOnce(&mut Ask<'_>)) -> Sent {
    let dialect = registry::dialect(api).unwrap();
    let address = Address::parse(match api {
        Api::Ollama => "http://127.0.0.1:11434",
        Api::Anthropic => "https://api.anthropic.com/v1",
        _ => "https://llm.example/v1",
    })
    .unwrap();
    let mut ask = Ask {
        model: "m",
        request,
        extras: (dialect.first)(&address, "m"),
        effort: None,
        keep_alive: None,
        window: None,
        usual_limit: 8_192,
        origin: ORIGIN,
        ids: (dialect.ids)(&address),
    };
    change(&mut ask);
    (dialect.compose)(&ask)
}

/// The same with an effort.
pub(crate) fn with_effort(api: Api, request: &ModelRequest, effort: Effort) -> Value {
    compose(api, request, |ask| ask.effort = Some(effort)).body
}

/// The body as the strict double of the real server takes it.
pub(crate) fn checked(api: Api, request: &ModelRequest) -> Value {
    accepted(api, compose(api, request, |_| {}).body)
}

/// The body, once the strict double took it.
pub(crate) fn accepted(api: Api, body: Value) -> Value {
    use cairn_testkit::provider::{Protocol, check_body};
    let protocol = match api {
        Api::Anthropic => Protocol::Messages,
        Api::Responses => Protocol::Responses,
        Api::Ollama => Protocol::Ollama,
        Api::Openai | Api::Gguf | Api::Demo => Protocol::Chat,
    };
    assert_eq!(check_body(protocol, &body), Ok(()), "{body:#}");
    body
}

pub(crate) fn context() -> StreamContext {
    StreamContext {
        server: "Ollama at 127.0.0.1:11434".into(),
        model: "m".into(),
        taken_ids: HashSet::from(["used".to_owned()]),
        salt: "s".into(),
        tools: Some(Arc::from([tool("read_file"), tool("write_file")])),
        origin: ORIGIN.into(),
        wants_thinking_back: true,
        ..StreamContext::default()
    }
}

pub(crate) type Read = (Vec<ModelEvent>, Option<ModelError>);

/// Reads a stream in chunks, as an exchange does, neighbouring pieces of text joined.
pub(crate) fn read<'a>(api: Api, chunks: impl IntoIterator<Item = &'a [u8]>) -> Read {
    let mut events = Vec::new();
    if api == Api::Ollama {
        let mut decoder = LineDecoder::new();
        for chunk in chunks {
            decoder.push(chunk, &mut events).unwrap();
        }
        decoder.finish(&mut events);
    } else {
        let mut decoder = Decoder::new();
        for chunk in chunks {
            decoder.push(chunk, &mut events).unwrap();
        }
        decoder.finish(&mut events).unwrap();
    }
    let mut stream = ReplyStream::new(api, context());
    let mut out = Vec::new();
    for event in events {
        if let Err(error) = stream.push(&event, &mut out) {
            return (joined(out), Some(error));
        }
    }
    stream.finish(&mut out);
    (joined(out), None)
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

/// Documents as the frames of a stream.
pub(crate) fn frames(api: Api, documents: &[Value]) -> String {
    documents
        .iter()
        .fold(String::new(), |stream, document| match api {
            Api::Ollama => format!("{stream}{document}\n"),
            _ => format!("{stream}data: {document}\n\n"),
        })
}
