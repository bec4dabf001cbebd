//! A request as Chat Completions wants it. Owns: the JSON body. Must never know: connections, keys, replies.

use std::collections::HashSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cairn_agent::model::{Message, ModelRequest, Part, Role};
use cairn_agent::tool::{PictureBytes, ToolSpec};
use serde_json::{Map, Value, json};

/// Name of the field that limits the reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LimitField {
    /// What nearly every server knows.
    MaxTokens,
    /// What OpenAI's own newer models insist on.
    MaxCompletionTokens,
}

/// What beyond the bare protocol is put into the body. Servers differ in what they refuse; what one refused once is
/// left out from then on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extras {
    /// Ask for the count of tokens.
    pub(super) stream_options: bool,
    /// Ask llama.cpp to tell how far the prompt is read.
    pub(super) return_progress: bool,
    /// Send the temperature, where one is set.
    pub(super) temperature: bool,
    /// How the limit is called.
    pub(super) limit: LimitField,
}

/// The body of a request.
pub(super) fn body(model: &str, request: &ModelRequest, extras: Extras) -> Value {
    let mut body = Map::new();
    body.insert("model".into(), model.into());
    body.insert("messages".into(), messages(request).into());
    if !request.tools.is_empty() {
        body.insert("tools".into(), request.tools.iter().map(tool).collect());
    }
    body.insert("stream".into(), true.into());
    if extras.stream_options {
        body.insert("stream_options".into(), json!({ "include_usage": true }));
    }
    if extras.return_progress {
        body.insert("return_progress".into(), true.into());
    }
    if let Some(limit) = request.max_output_tokens {
        let field = match extras.limit {
            LimitField::MaxTokens => "max_tokens",
            LimitField::MaxCompletionTokens => "max_completion_tokens",
        };
        body.insert(field.into(), limit.into());
    }
    if let Some(temperature) = request.temperature.filter(|_| extras.temperature) {
        body.insert("temperature".into(), temperature.into());
    }
    Value::Object(body)
}

/// Ids of all calls in the conversation.
pub(super) fn call_ids(request: &ModelRequest) -> HashSet<String> {
    let parts = request.messages.iter().flat_map(|message| &message.parts);
    parts
        .filter_map(|part| match part {
            Part::Call { id, .. } => Some(id.clone()),
            _ => None,
        })
        .collect()
}

fn tool(spec: &ToolSpec) -> Value {
    json!({
        "type": "function",
        "function": { "name": spec.name, "description": spec.description, "parameters": spec.schema },
    })
}

fn messages(request: &ModelRequest) -> Vec<Value> {
    let mut out = Vec::new();
    if !request.system.is_empty() {
        out.push(json!({ "role": "system", "content": request.system }));
    }
    // A tool message holds only text, so pictures follow in a user message; it must not stand between the results
    // of one reply, which providers want in one row.
    let mut owed: Vec<Value> = Vec::new();
    for message in &request.messages {
        if message.role != Role::Tool {
            settle(&mut owed, &mut out);
        }
        match message.role {
            Role::User => user(message, &mut out),
            Role::Assistant => assistant(message, &mut out),
            Role::Tool => results(message, &mut out, &mut owed),
        }
    }
    settle(&mut owed, &mut out);
    out
}

fn settle(owed: &mut Vec<Value>, out: &mut Vec<Value>) {
    if !owed.is_empty() {
        out.push(json!({ "role": "user", "content": std::mem::take(owed) }));
    }
}

fn user(message: &Message, out: &mut Vec<Value>) {
    let has_pictures = message.parts.iter().any(|part| matches!(part, Part::Picture(_)));
    if !has_pictures {
        // Plain text where there is nothing else: some servers know no content in parts.
        let text = texts(message);
        if !text.is_empty() {
            out.push(json!({ "role": "user", "content": text }));
        }
        return;
    }
    let content: Vec<Value> = message
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::Text(text) if !text.is_empty() => Some(json!({ "type": "text", "text": text })),
            Part::Picture(picture) => Some(image(picture)),
            _ => None,
        })
        .collect();
    out.push(json!({ "role": "user", "content": content }));
}

fn assistant(message: &Message, out: &mut Vec<Value>) {
    let text = texts(message);
    let calls: Vec<Value> = message
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::Call { id, name, arguments } => Some(json!({
                "id": id,
                "type": "function",
                "function": { "name": name, "arguments": arguments },
            })),
            _ => None,
        })
        .collect();
    match (text.is_empty(), calls.is_empty()) {
        (true, true) => {}
        (false, true) => out.push(json!({ "role": "assistant", "content": text })),
        (empty, false) => {
            let content = if empty { Value::Null } else { text.into() };
            out.push(json!({ "role": "assistant", "content": content, "tool_calls": calls }));
        }
    }
}

fn results(message: &Message, out: &mut Vec<Value>, owed: &mut Vec<Value>) {
    for part in &message.parts {
        let Part::Result {
            id, text, pictures, ..
        } = part
        else {
            continue;
        };
        out.push(json!({ "role": "tool", "tool_call_id": id, "content": text }));
        if !pictures.is_empty() {
            owed.push(json!({ "type": "text", "text": format!("Pictures of the result of call {id}:") }));
            owed.extend(pictures.iter().map(image));
        }
    }
}

fn texts(message: &Message) -> String {
    let texts: Vec<&str> = message
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::Text(text) if !text.is_empty() => Some(text.as_str()),
            _ => None,
        })
        .collect();
    texts.join("\n\n")
}

fn image(picture: &PictureBytes) -> Value {
    let url = format!(
        "data:{};base64,{}",
        picture.media_type,
        STANDARD.encode(&picture.bytes)
    );
    json!({ "type": "image_url", "image_url": { "url": url } })
}

#[cfg(test)]
mod tests;
