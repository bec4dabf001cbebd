//! Reasoning data that stands beside the words of a chat reply: OpenRouter's `reasoning_details`, Google's thought
//! signatures at the calls. Owns: collecting it from pieces and putting it back. Never reads it.

use serde_json::{Map, Value};

/// Pieces that are kept of one reply.
const MAX_PIECES: usize = 10_000;

/// Collects what a reply carries.
#[derive(Debug, Default)]
pub(super) struct Collector {
    details: Vec<Value>,
    calls: Vec<Value>,
}

impl Collector {
    /// Looks at one delta, or a whole message.
    pub(super) fn delta(&mut self, delta: &Value) {
        if let Some(details) = delta.get("reasoning_details").and_then(Value::as_array) {
            for detail in details {
                self.detail(detail);
            }
        }
        let calls = delta.get("tool_calls").and_then(Value::as_array);
        for (at, call) in calls.into_iter().flatten().enumerate() {
            let Some(extra) = call.get("extra_content").filter(|it| it.is_object()) else {
                continue;
            };
            let at = call
                .get("index")
                .and_then(Value::as_u64)
                .map_or(at, |index| index as usize);
            if at < 1_000 {
                self.calls.resize(self.calls.len().max(at + 1), Value::Null);
                if let Some(place) = self.calls.get_mut(at) {
                    *place = extra.clone();
                }
            }
        }
    }

    /// Pieces of one thought are joined: their texts grow, other fields are those that came last.
    fn detail(&mut self, piece: &Value) {
        let same = |one: &Value, field: &str| one.get(field) == piece.get(field);
        let known = self
            .details
            .last_mut()
            .filter(|last| piece.get("index").is_some() && same(last, "index") && same(last, "type"));
        let (Some(known), Some(piece)) = (known.and_then(Value::as_object_mut), piece.as_object()) else {
            if self.details.len() < MAX_PIECES && piece.is_object() {
                self.details.push(piece.clone());
            }
            return;
        };
        for (key, value) in piece {
            match (known.get_mut(key), value) {
                (Some(Value::String(text)), Value::String(more))
                    if matches!(key.as_str(), "text" | "summary" | "data") =>
                {
                    text.push_str(more);
                }
                (_, Value::Null) => {}
                _ => {
                    known.insert(key.clone(), value.clone());
                }
            }
        }
    }

    /// All of it, as an object with the fields that are to be put back.
    pub(super) fn take(&mut self) -> Map<String, Value> {
        let mut data = Map::new();
        if !self.details.is_empty() {
            data.insert(
                "reasoning_details".into(),
                std::mem::take(&mut self.details).into(),
            );
        }
        if !self.calls.is_empty() {
            data.insert("calls".into(), std::mem::take(&mut self.calls).into());
        }
        data
    }
}

/// Puts data back into the message that it came with. `now` is whether the message belongs to the request that is
/// being worked at: thoughts as plain text are wanted only there.
pub(super) fn put_back(message: &mut Map<String, Value>, data: &Value, now: bool) {
    if let Some(details) = data.get("reasoning_details") {
        message.insert("reasoning_details".into(), details.clone());
    }
    if let Some(thought) = data.get("reasoning_content").filter(|_| now) {
        message.insert("reasoning_content".into(), thought.clone());
    }
    let extras = data.get("calls").and_then(Value::as_array);
    let calls = message.get_mut("tool_calls").and_then(Value::as_array_mut);
    for (call, extra) in calls.into_iter().flatten().zip(extras.into_iter().flatten()) {
        if let Some(call) = call.as_object_mut().filter(|_| !extra.is_null()) {
            call.insert("extra_content".into(), extra.clone());
        }
    }
}
