//! A model's stream in any protocol: the same bytes say the same however they are cut, and what they say can be sent
//! again.

use std::collections::HashSet;
use std::sync::Arc;

use cairn_agent::model::{ModelError, ModelEvent};
use cairn_agent::tool::{ToolClass, ToolSpec};
use cairn_models::ndjson::LineDecoder;
use cairn_models::sse::{Decoder, SseEvent};
use cairn_models::{ReplyStream, StreamContext};
use cairn_protocol::Api;

use crate::take::Take;

/// Reads any bytes as a stream of that protocol.
pub fn check(api: Api, data: &[u8]) {
    let mut take = Take::new(data);
    let piece = 1 + usize::from(take.byte());
    let bytes = take.rest();
    let whole = events(api, &[bytes]);
    let cut: Vec<&[u8]> = bytes.chunks(piece).collect();
    assert_eq!(
        events(api, &cut),
        whole,
        "cut into pieces of {piece} bytes it says something else"
    );
    let single: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(events(api, &single), whole, "byte by byte it says something else");
    for event in &whole {
        assert!(!event.name.contains(['\n', '\r']), "{event:?}");
    }
    let (said, failed) = read(api, &whole);
    let ended = said
        .iter()
        .filter(|event| matches!(event, ModelEvent::Finished(_)))
        .count();
    assert_eq!(ended, usize::from(failed.is_none()), "{said:?} {failed:?}");
    let mut ids = HashSet::from(["taken".to_owned()]);
    for event in &said {
        match event {
            ModelEvent::Call {
                id,
                name,
                arguments,
                from_text,
                ..
            } => {
                assert!(!id.is_empty() && ids.insert(id.clone()), "{id} is there twice");
                let object =
                    serde_json::from_str::<serde_json::Value>(arguments).is_ok_and(|it| it.is_object());
                assert!(!from_text || name == "read_file" && object, "{event:?}");
            }
            ModelEvent::Text(text) | ModelEvent::Thinking(text) => assert!(!text.is_empty(), "{said:?}"),
            ModelEvent::Reading { done, total } => assert!(done <= total),
            ModelEvent::Reasoning(data) => {
                assert!(
                    serde_json::from_str::<serde_json::Value>(&data.json).is_ok(),
                    "{data:?}"
                );
            }
            _ => {}
        }
    }
}

fn events(api: Api, pieces: &[&[u8]]) -> Vec<SseEvent> {
    let mut events = Vec::new();
    if api == Api::Ollama {
        let mut decoder = LineDecoder::new();
        for piece in pieces {
            decoder.push(piece, &mut events).expect("far below the limit");
        }
        decoder.finish(&mut events);
        return events;
    }
    let mut decoder = Decoder::new();
    for piece in pieces {
        decoder.push(piece, &mut events).expect("far below the limit");
    }
    decoder.finish(&mut events).expect("far below the limit");
    assert!(decoder.stray().len() <= 16 * 1024);
    events
}

fn read(api: Api, events: &[SseEvent]) -> (Vec<ModelEvent>, Option<ModelError>) {
    let tool = ToolSpec {
        name: "read_file".to_owned(),
        description: String::new(),
        schema: serde_json::json!({ "type": "object", "properties": { "path": { "type": "string" } } }),
        class: ToolClass::Read,
        limit: None,
    };
    let context = StreamContext {
        taken_ids: HashSet::from(["taken".to_owned()]),
        salt: "salt".to_owned(),
        tools: Some(Arc::from([tool])),
        wants_thinking_back: true,
        ..StreamContext::default()
    };
    let mut stream = ReplyStream::new(api, context);
    let mut said = Vec::new();
    for event in events {
        if let Err(error) = stream.push(event, &mut said) {
            return (said, Some(error));
        }
        if stream.is_over() {
            break;
        }
    }
    stream.finish(&mut said);
    (said, None)
}
