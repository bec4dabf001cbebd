//! A request as Chat Completions wants it. Owns: the JSON body. Must never know: connections, keys, replies.

use cairn_agent::model::{Message, Part, Place, Role};
use cairn_agent::tool::{PictureBytes, ToolSpec};
use cairn_protocol::Effort;
use serde_json::{Map, Value, json};

use super::beside;
use crate::request::{Ask, LimitField, Sent, Trace, WireIds, data_url, place};

/// The body of a request.
pub(super) fn compose(ask: &Ask<'_>) -> Sent {
    let request = ask.request;
    let (messages, trace) = Messages::of(ask);
    let mut body = Map::new();
    body.insert("model".into(), ask.model.into());
    body.insert("messages".into(), messages.into());
    if !request.tools.is_empty() {
        body.insert("tools".into(), request.tools.iter().map(tool).collect());
    }
    body.insert("stream".into(), true.into());
    if ask.extras.stream_options {
        body.insert("stream_options".into(), json!({ "include_usage": true }));
    }
    if ask.extras.return_progress {
        body.insert("return_progress".into(), true.into());
    }
    if let Some(limit) = ask.limit() {
        let field = match ask.extras.limit {
            LimitField::MaxTokens => "max_tokens",
            LimitField::MaxCompletionTokens => "max_completion_tokens",
        };
        body.insert(field.into(), limit.into());
    }
    if let Some(temperature) = ask.temperature() {
        body.insert("temperature".into(), temperature.into());
    }
    if let Some(effort) = ask.effort() {
        body.insert("reasoning_effort".into(), effort_word(effort).into());
    }
    Sent {
        body: Value::Object(body),
        trace,
    }
}

/// An effort as OpenAI's protocols call it.
pub(crate) fn effort_word(effort: Effort) -> &'static str {
    match effort {
        Effort::Off => "none",
        Effort::Minimal => "minimal",
        Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High => "high",
        Effort::Max => "xhigh",
    }
}

fn tool(spec: &ToolSpec) -> Value {
    json!({
        "type": "function",
        "function": { "name": spec.name, "description": spec.description, "parameters": spec.schema },
    })
}

struct Messages<'a> {
    ask: &'a Ask<'a>,
    out: Vec<Value>,
    trace: Trace,
    ids: WireIds,
    /// Pictures of results. A tool message holds only text, so they follow in a user message; it must not stand
    /// between the results of one reply, which providers want in one row.
    owed: Vec<Value>,
    owed_from: Vec<Place>,
}

impl<'a> Messages<'a> {
    fn of(ask: &'a Ask<'a>) -> (Vec<Value>, Trace) {
        let mut messages = Self {
            ask,
            out: Vec::new(),
            trace: Trace::default(),
            ids: WireIds::new(ask.ids),
            owed: Vec::new(),
            owed_from: Vec::new(),
        };
        if !ask.request.system.is_empty() {
            messages.put(
                json!({ "role": "system", "content": ask.request.system }),
                Vec::new(),
            );
        }
        for (at, message) in ask.request.messages.iter().enumerate() {
            if message.role != Role::Tool {
                messages.settle();
            }
            match message.role {
                Role::User => messages.user(at, message),
                Role::Assistant => messages.assistant(at, message),
                Role::Tool => messages.results(at, message),
            }
        }
        messages.settle();
        let Self {
            out, mut trace, ids, ..
        } = messages;
        trace.ids(ids);
        (out, trace)
    }

    fn put(&mut self, message: Value, from: Vec<Place>) {
        self.out.push(message);
        self.trace.entry(from);
    }

    fn settle(&mut self) {
        if !self.owed.is_empty() {
            let owed = std::mem::take(&mut self.owed);
            let from = std::mem::take(&mut self.owed_from);
            self.put(json!({ "role": "user", "content": owed }), from);
        }
    }

    fn user(&mut self, at: usize, message: &Message) {
        let has_pictures = message.parts.iter().any(|part| matches!(part, Part::Picture(_)));
        if !has_pictures {
            // Plain text where there is nothing else: some servers know no content in parts.
            let text = texts(message);
            if !text.is_empty() {
                self.put(json!({ "role": "user", "content": text }), whole(at));
            }
            return;
        }
        let (content, from): (Vec<Value>, Vec<Place>) = message
            .parts
            .iter()
            .enumerate()
            .filter_map(|(part, it)| {
                let content = match it {
                    Part::Text(text) if !text.is_empty() => json!({ "type": "text", "text": text }),
                    Part::Picture(picture) => image(picture),
                    _ => return None,
                };
                Some((content, place(at, part)))
            })
            .unzip();
        self.put(json!({ "role": "user", "content": content }), from);
    }

    fn assistant(&mut self, at: usize, message: &Message) {
        let text = texts(message);
        let mut calls = Vec::new();
        for part in &message.parts {
            if let Part::Call { id, name, arguments } = part {
                calls.push(json!({
                    "id": self.ids.wire(id),
                    "type": "function",
                    "function": { "name": name, "arguments": arguments },
                }));
            }
        }
        if text.is_empty() && calls.is_empty() {
            return;
        }
        let mut sent = Map::new();
        sent.insert("role".into(), "assistant".into());
        let content = if text.is_empty() { Value::Null } else { text.into() };
        sent.insert("content".into(), content);
        if !calls.is_empty() {
            sent.insert("tool_calls".into(), calls.into());
        }
        let now = at > self.ask.last_words();
        for data in message
            .parts
            .iter()
            .filter_map(|part| self.ask.own_reasoning(part))
        {
            beside::put_back(&mut sent, &data, now);
        }
        self.put(Value::Object(sent), whole(at));
    }

    fn results(&mut self, at: usize, message: &Message) {
        for (part, it) in message.parts.iter().enumerate() {
            let Part::Result {
                id, text, pictures, ..
            } = it
            else {
                continue;
            };
            let id = self.ids.wire(id);
            let from = place(at, part);
            self.put(
                json!({ "role": "tool", "tool_call_id": id, "content": text }),
                vec![from],
            );
            if !pictures.is_empty() {
                let title = format!("Pictures of the result of call {id}:");
                self.owed.push(json!({ "type": "text", "text": title }));
                self.owed.extend(pictures.iter().map(image));
                self.owed_from
                    .extend(std::iter::repeat_n(from, 1 + pictures.len()));
            }
        }
    }
}

fn whole(message: usize) -> Vec<Place> {
    vec![Place { message, part: None }]
}

/// All words of a message.
pub(crate) fn texts(message: &Message) -> String {
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
    json!({ "type": "image_url", "image_url": { "url": data_url(picture) } })
}

#[cfg(test)]
mod tests;
