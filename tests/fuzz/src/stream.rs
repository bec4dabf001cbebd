//! A model's stream: the same bytes say the same however they are cut, and what they say can be sent again.

use std::collections::HashSet;

use cairn_agent::model::{ModelError, ModelEvent};
use cairn_models::chat::{ChatStream, StreamContext};
use cairn_models::sse::{Decoder, SseEvent};

use crate::take::Take;

/// Reads any bytes as a stream of Chat Completions.
pub fn check(data: &[u8]) {
    let mut take = Take::new(data);
    let piece = 1 + usize::from(take.byte());
    let bytes = take.rest();
    let whole = events(&[bytes]);
    let cut: Vec<&[u8]> = bytes.chunks(piece).collect();
    assert_eq!(
        events(&cut),
        whole,
        "cut into pieces of {piece} bytes it says something else"
    );
    let single: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(events(&single), whole, "byte by byte it says something else");
    for event in &whole {
        assert!(!event.name.contains(['\n', '\r']), "{event:?}");
    }
    let (said, failed) = read(&whole);
    let ended = said
        .iter()
        .filter(|event| matches!(event, ModelEvent::Finished(_)))
        .count();
    assert_eq!(ended, usize::from(failed.is_none()), "{said:?} {failed:?}");
    let mut ids = HashSet::from(["taken".to_owned()]);
    for event in &said {
        match event {
            ModelEvent::Call { id, .. } => {
                assert!(!id.is_empty() && ids.insert(id.clone()), "{id} is there twice");
            }
            ModelEvent::Text(text) | ModelEvent::Thinking(text) => assert!(!text.is_empty(), "{said:?}"),
            ModelEvent::Reading { done, total } => assert!(done <= total),
            _ => {}
        }
    }
}

fn events(pieces: &[&[u8]]) -> Vec<SseEvent> {
    let mut decoder = Decoder::new();
    let mut events = Vec::new();
    for piece in pieces {
        decoder.push(piece, &mut events).expect("far below the limit");
    }
    decoder.finish(&mut events).expect("far below the limit");
    assert!(decoder.stray().len() <= 16 * 1024);
    events
}

fn read(events: &[SseEvent]) -> (Vec<ModelEvent>, Option<ModelError>) {
    let context = StreamContext {
        taken_ids: HashSet::from(["taken".to_owned()]),
        salt: "salt".to_owned(),
        ..StreamContext::default()
    };
    let mut stream = ChatStream::new(context);
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
