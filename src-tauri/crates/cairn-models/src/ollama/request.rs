//! A request as Ollama's own protocol wants it. Owns: the JSON body. Must never know: connections, replies.

use std::collections::HashMap;

use cairn_agent::model::{Message, Part, Place, Role};
use cairn_protocol::Effort;
use serde_json::{Map, Value, json};

use crate::chat::request::texts;
use crate::request::{Ask, Sent, Trace, WireIds, arguments, base64, place};

/// The body of a request.
pub(super) fn compose(ask: &Ask<'_>) -> Sent {
    let (messages, trace) = messages(ask);
    let mut body = Map::new();
    body.insert("model".into(), ask.model.into());
    body.insert("messages".into(), messages.into());
    if !ask.request.tools.is_empty() {
        let tools = ask.request.tools.iter().map(|tool| {
            json!({ "type": "function", "function": {
                "name": tool.name, "description": tool.description, "parameters": tool.schema,
            } })
        });
        body.insert("tools".into(), tools.collect());
    }
    body.insert("stream".into(), true.into());
    if let Some(effort) = ask.effort() {
        body.insert("think".into(), think(ask.model, effort));
    }
    if let Some(time) = ask.keep_alive {
        // A bare number is seconds, everything else a duration like `30m`.
        let time = time.parse::<i64>().map_or_else(|_| time.into(), Value::from);
        body.insert("keep_alive".into(), time);
    }
    let mut options = Map::new();
    if let Some(window) = ask.window {
        options.insert("num_ctx".into(), window.into());
    }
    if let Some(limit) = ask.limit() {
        options.insert("num_predict".into(), limit.into());
    }
    if let Some(temperature) = ask.temperature() {
        options.insert("temperature".into(), temperature.into());
    }
    if !options.is_empty() {
        body.insert("options".into(), options.into());
    }
    Sent {
        body: Value::Object(body),
        trace,
    }
}

/// A switch for most models; gpt-oss knows three levels and no switch.
fn think(model: &str, effort: Effort) -> Value {
    if !model.contains("gpt-oss") {
        return (effort != Effort::Off).into();
    }
    match effort {
        Effort::Off | Effort::Minimal | Effort::Low => "low".into(),
        Effort::Medium => "medium".into(),
        Effort::High | Effort::Max => "high".into(),
    }
}

fn messages(ask: &Ask<'_>) -> (Vec<Value>, Trace) {
    let mut out = Vec::new();
    let mut trace = Trace::default();
    let mut ids = WireIds::new(ask.ids);
    let mut names: HashMap<&str, &str> = HashMap::new();
    if !ask.request.system.is_empty() {
        out.push(json!({ "role": "system", "content": ask.request.system }));
        trace.entry(Vec::new());
    }
    let mut put = |message: Value, from: Place, out: &mut Vec<Value>| {
        out.push(message);
        trace.entry(vec![from]);
    };
    // A result holds only text: its pictures follow all results of the reply.
    let mut owed: Option<(Vec<String>, Place)> = None;
    let now = ask.last_words();
    for (at, message) in ask.request.messages.iter().enumerate() {
        if message.role != Role::Tool
            && let Some((images, from)) = owed.take()
        {
            put(pictures_of_results(&images), from, &mut out);
        }
        let from = Place {
            message: at,
            part: None,
        };
        match message.role {
            Role::User => {
                if let Some(sent) = user(message) {
                    put(sent, from, &mut out);
                }
            }
            Role::Assistant => {
                for part in &message.parts {
                    if let Part::Call { id, name, .. } = part {
                        names.insert(id, name);
                    }
                }
                if let Some(sent) = assistant(ask, message, &mut ids, at > now) {
                    put(sent, from, &mut out);
                }
            }
            Role::Tool => {
                for (part, it) in message.parts.iter().enumerate() {
                    let Part::Result {
                        id, text, pictures, ..
                    } = it
                    else {
                        continue;
                    };
                    let name = names.get(id.as_str()).copied().unwrap_or_default();
                    let id = ids.wire(id);
                    let sent =
                        json!({ "role": "tool", "content": text, "tool_name": name, "tool_call_id": id });
                    put(sent, place(at, part), &mut out);
                    if !pictures.is_empty() {
                        let images = &mut owed.get_or_insert_with(|| (Vec::new(), place(at, part))).0;
                        images.extend(pictures.iter().map(base64));
                    }
                }
            }
        }
    }
    if let Some((images, from)) = owed {
        put(pictures_of_results(&images), from, &mut out);
    }
    trace.ids(ids);
    (out, trace)
}

fn pictures_of_results(images: &[String]) -> Value {
    json!({ "role": "user", "content": "Pictures of the results above:", "images": images })
}

fn user(message: &Message) -> Option<Value> {
    let text = texts(message);
    let images: Vec<String> = message
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::Picture(picture) => Some(base64(picture)),
            _ => None,
        })
        .collect();
    if text.is_empty() && images.is_empty() {
        return None;
    }
    let mut sent = json!({ "role": "user", "content": text });
    if let Some(sent) = sent.as_object_mut().filter(|_| !images.is_empty()) {
        sent.insert("images".into(), images.into());
    }
    Some(sent)
}

fn assistant(ask: &Ask<'_>, message: &Message, ids: &mut WireIds, now: bool) -> Option<Value> {
    let text = texts(message);
    let mut calls = Vec::new();
    for part in &message.parts {
        if let Part::Call {
            id,
            name,
            arguments: text,
        } = part
        {
            calls.push(
                json!({ "id": ids.wire(id), "function": { "name": name, "arguments": arguments(text) } }),
            );
        }
    }
    if text.is_empty() && calls.is_empty() {
        return None;
    }
    let mut sent = Map::new();
    sent.insert("role".into(), "assistant".into());
    sent.insert("content".into(), text.into());
    let mut own = message.parts.iter().filter_map(|part| ask.own_reasoning(part));
    if let Some(thought) = own.find_map(|data| data.get("thinking").cloned()).filter(|_| now) {
        sent.insert("thinking".into(), thought);
    }
    if !calls.is_empty() {
        sent.insert("tool_calls".into(), calls.into());
    }
    Some(Value::Object(sent))
}

#[cfg(test)]
mod tests;
