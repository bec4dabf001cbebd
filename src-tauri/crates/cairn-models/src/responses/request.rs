//! A request as OpenAI Responses wants it. Owns: the JSON body. Must never know: connections, keys, replies.

use cairn_agent::model::{Message, Part, Place, Role};
use cairn_agent::tool::PictureBytes;
use serde_json::{Map, Value, json};

use crate::chat::request::effort_word;
use crate::request::{Ask, Sent, Trace, WireIds, data_url, place};

/// Least tokens of a reply that the protocol takes.
const LEAST_TOKENS: u64 = 16;

/// The body of a request.
pub(super) fn compose(ask: &Ask<'_>) -> Sent {
    let (input, trace) = Items::of(ask);
    let mut body = Map::new();
    body.insert("model".into(), ask.model.into());
    if !ask.request.system.is_empty() {
        body.insert("instructions".into(), ask.request.system.as_str().into());
    }
    body.insert("input".into(), input.into());
    if !ask.request.tools.is_empty() {
        let tools = ask.request.tools.iter().map(|tool| {
            json!({
                "type": "function", "name": tool.name, "description": tool.description,
                "parameters": tool.schema, "strict": false,
            })
        });
        body.insert("tools".into(), tools.collect());
    }
    body.insert("stream".into(), true.into());
    body.insert("store".into(), false.into());
    if ask.extras.encrypted {
        body.insert("include".into(), json!(["reasoning.encrypted_content"]));
    }
    if let Some(limit) = ask.limit() {
        body.insert("max_output_tokens".into(), limit.max(LEAST_TOKENS).into());
    }
    if let Some(temperature) = ask.temperature() {
        body.insert("temperature".into(), temperature.into());
    }
    let mut reasoning = Map::new();
    if let Some(effort) = ask.effort() {
        reasoning.insert("effort".into(), effort_word(effort).into());
    }
    if ask.extras.summary {
        reasoning.insert("summary".into(), "auto".into());
    }
    if !reasoning.is_empty() {
        body.insert("reasoning".into(), reasoning.into());
    }
    Sent {
        body: Value::Object(body),
        trace,
    }
}

struct Items<'a> {
    ask: &'a Ask<'a>,
    out: Vec<Value>,
    trace: Trace,
    ids: WireIds,
    /// Pictures of results, which follow all results of their reply.
    owed: Vec<(Value, Place)>,
}

impl<'a> Items<'a> {
    fn of(ask: &'a Ask<'a>) -> (Vec<Value>, Trace) {
        let mut items = Self {
            ask,
            out: Vec::new(),
            trace: Trace::default(),
            ids: WireIds::new(ask.ids),
            owed: Vec::new(),
        };
        for (at, message) in ask.request.messages.iter().enumerate() {
            if message.role != Role::Tool {
                items.settle();
            }
            match message.role {
                Role::User => items.user(at, message),
                Role::Assistant => items.assistant(at, message),
                Role::Tool => items.results(at, message),
            }
        }
        items.settle();
        let Self {
            out, mut trace, ids, ..
        } = items;
        trace.ids(ids);
        (out, trace)
    }

    fn put(&mut self, item: Value, from: Vec<Place>) {
        self.out.push(item);
        self.trace.entry(from);
    }

    fn message(&mut self, role: &str, content: Vec<(Value, Place)>) {
        if !content.is_empty() {
            let (content, from): (Vec<Value>, Vec<Place>) = content.into_iter().unzip();
            self.put(
                json!({ "type": "message", "role": role, "content": content }),
                from,
            );
        }
    }

    fn settle(&mut self) {
        let owed = std::mem::take(&mut self.owed);
        self.message("user", owed);
    }

    fn user(&mut self, at: usize, message: &Message) {
        let content = message.parts.iter().enumerate().filter_map(|(part, it)| {
            let content = match it {
                Part::Text(text) if !text.is_empty() => json!({ "type": "input_text", "text": text }),
                Part::Picture(picture) => image(picture),
                _ => return None,
            };
            Some((content, place(at, part)))
        });
        self.message("user", content.collect());
    }

    fn assistant(&mut self, at: usize, message: &Message) {
        // A thought that nothing of its reply follows is refused.
        let last = message.parts.iter().rposition(|part| match part {
            Part::Text(text) => !text.is_empty(),
            Part::Call { .. } => true,
            _ => false,
        });
        for (part, it) in message.parts.iter().enumerate() {
            let from = place(at, part);
            match it {
                Part::Text(text) if !text.is_empty() => {
                    let content = vec![(json!({ "type": "output_text", "text": text }), from)];
                    self.message("assistant", content);
                }
                Part::Reasoning(_) if last.is_some_and(|last| part < last) => {
                    if let Some(item) = self.ask.own_reasoning(it) {
                        self.put(item, vec![from]);
                    }
                }
                Part::Call { id, name, arguments } => {
                    let id = self.ids.wire(id);
                    let call = json!({ "type": "function_call", "call_id": id, "name": name, "arguments": arguments });
                    self.put(call, vec![from]);
                }
                _ => {}
            }
        }
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
            if !pictures.is_empty() {
                let title = format!("Pictures of the result of call {id}:");
                self.owed
                    .push((json!({ "type": "input_text", "text": title }), from));
                self.owed
                    .extend(pictures.iter().map(|picture| (image(picture), from)));
            }
            self.put(
                json!({ "type": "function_call_output", "call_id": id, "output": text }),
                vec![from],
            );
        }
    }
}

fn image(picture: &PictureBytes) -> Value {
    json!({ "type": "input_image", "detail": "auto", "image_url": data_url(picture) })
}

#[cfg(test)]
mod tests;
