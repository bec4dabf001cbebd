//! A request as Anthropic Messages wants it. Owns: the JSON body. Must never know: connections, keys, replies.

use cairn_agent::model::{Message, Part, Place, Role};
use cairn_agent::tool::PictureBytes;
use cairn_protocol::Effort;
use serde_json::{Map, Value, json};

use crate::request::{Ask, Sent, Thinking, Trace, WireIds, arguments, base64, place};

/// Least tokens of thinking that may be asked for.
const LEAST_THINKING: u64 = 1_024;

/// The body of a request.
pub(super) fn compose(ask: &Ask<'_>) -> Sent {
    let marks = ask.extras.cache_marks;
    let limit = ask.limit().unwrap_or(ask.usual_limit);
    let limit = ask.extras.most_tokens.map_or(limit, |most| limit.min(most));
    let thinking = if interrupted_thought(ask) {
        None
    } else {
        think(ask, limit)
    };
    // Where thinking was turned off, its blocks are refused; where nobody said anything, the model decides.
    let with_thoughts = thinking.is_some() || ask.effort.is_none();
    let (mut messages, trace) = Blocks::of(ask, with_thoughts);
    if marks {
        mark_last_turns(&mut messages);
    }
    let mut body = Map::new();
    body.insert("model".into(), ask.model.into());
    if !ask.request.system.trim().is_empty() {
        let mut block = json!({ "type": "text", "text": ask.request.system });
        mark(&mut block, marks);
        body.insert("system".into(), json!([block]));
    }
    let mut tools: Vec<Value> = ask
        .request
        .tools
        .iter()
        .map(
            |tool| json!({ "name": tool.name, "description": tool.description, "input_schema": tool.schema }),
        )
        .collect();
    if let Some(last) = tools.last_mut() {
        mark(last, marks);
        body.insert("tools".into(), tools.into());
    }
    body.insert("max_tokens".into(), limit.into());
    body.insert("messages".into(), messages.into());
    body.insert("stream".into(), true.into());
    if let Some(temperature) = ask.temperature().filter(|_| thinking.is_none()) {
        body.insert("temperature".into(), temperature.clamp(0.0, 1.0).into());
    }
    body.extend(thinking.into_iter().flatten());
    Sent {
        body: Value::Object(body),
        trace,
    }
}

/// The fields that ask for thinking; none where the profile wants none or the limit leaves no room.
fn think(ask: &Ask<'_>, limit: u64) -> Option<Map<String, Value>> {
    let effort = ask.effort().filter(|effort| *effort != Effort::Off)?;
    let mut fields = Map::new();
    if ask.extras.thinking == Thinking::Adaptive {
        fields.insert("thinking".into(), json!({ "type": "adaptive" }));
        fields.insert("output_config".into(), json!({ "effort": effort_word(effort) }));
        return Some(fields);
    }
    let wanted = match effort {
        Effort::Off | Effort::Minimal => LEAST_THINKING,
        Effort::Low => 4_096,
        Effort::Medium => 10_240,
        Effort::High => 24_576,
        Effort::Max => 32_768,
    };
    // At least as much is left for the answer as a short one needs.
    let budget = wanted.min(limit.saturating_sub(LEAST_THINKING));
    if budget < LEAST_THINKING {
        return None;
    }
    fields.insert(
        "thinking".into(),
        json!({ "type": "enabled", "budget_tokens": budget }),
    );
    Some(fields)
}

fn effort_word(effort: Effort) -> &'static str {
    match effort {
        Effort::Off | Effort::Minimal | Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High => "high",
        Effort::Max => "max",
    }
}

/// Whether calls that are being answered came without a thought of this model: another model made them, or thinking
/// was off. With thinking on, the provider refuses such a request, so that it is off until the person's next words.
fn interrupted_thought(ask: &Ask<'_>) -> bool {
    let begin = ask.last_words();
    let after = ask.request.messages.iter().skip(begin + 1);
    after
        .filter(|message| message.role == Role::Assistant)
        .filter(|message| message.parts.iter().any(|part| matches!(part, Part::Call { .. })))
        .any(|message| {
            let first = message.parts.iter().find(|part| match part {
                Part::Text(text) => !text.trim().is_empty(),
                Part::Reasoning(_) => ask.own_reasoning(part).is_some(),
                _ => true,
            });
            !matches!(first, Some(Part::Reasoning(_)))
        })
}

fn is_thought(block: &Value) -> bool {
    matches!(
        block.get("type").and_then(Value::as_str),
        Some("thinking" | "redacted_thinking")
    )
}

fn mark(block: &mut Value, wanted: bool) {
    if let Some(block) = block.as_object_mut().filter(|_| wanted) {
        block.insert("cache_control".into(), json!({ "type": "ephemeral" }));
    }
}

/// Marks the ends of the last two messages of the person's side: what was marked by the request before is found again,
/// and the new end is kept for the next. With system and tools that makes four marks, which is all there may be.
fn mark_last_turns(messages: &mut [Value]) {
    let ends = messages
        .iter_mut()
        .rev()
        .filter(|message| message.get("role").is_some_and(|role| role == "user"))
        .filter_map(|message| message.get_mut("content")?.as_array_mut()?.last_mut());
    for end in ends.take(2) {
        mark(end, true);
    }
}

/// The messages, sides alternating.
struct Blocks<'a> {
    ask: &'a Ask<'a>,
    out: Vec<(&'static str, Vec<Value>)>,
    trace: Trace,
    ids: WireIds,
    with_thoughts: bool,
}

impl<'a> Blocks<'a> {
    fn of(ask: &'a Ask<'a>, with_thoughts: bool) -> (Vec<Value>, Trace) {
        let mut blocks = Self {
            ask,
            with_thoughts,
            out: Vec::new(),
            trace: Trace::default(),
            ids: WireIds::new(ask.ids),
        };
        for (at, message) in ask.request.messages.iter().enumerate() {
            let role = if message.role == Role::Assistant {
                "assistant"
            } else {
                "user"
            };
            let content = blocks.content(at, message);
            blocks.put(role, content);
        }
        // The provider refuses to go on with words of its own.
        if blocks.out.last().is_none_or(|(role, _)| *role == "assistant") {
            blocks.put(
                "user",
                vec![(json!({ "type": "text", "text": "Go on." }), place(0, 0))],
            );
        }
        let Self {
            out, mut trace, ids, ..
        } = blocks;
        trace.ids(ids);
        let messages = out
            .into_iter()
            .map(|(role, content)| json!({ "role": role, "content": content }))
            .collect();
        (messages, trace)
    }

    fn put(&mut self, role: &'static str, content: Vec<(Value, Place)>) {
        if content.is_empty() {
            return;
        }
        if self.out.is_empty() && role == "assistant" {
            self.put(
                "user",
                vec![(json!({ "type": "text", "text": "Go on." }), place(0, 0))],
            );
        }
        let (blocks, places): (Vec<Value>, Vec<Place>) = content.into_iter().unzip();
        match self.out.last_mut() {
            Some((last, content)) if *last == role => {
                content.extend(blocks);
                self.trace.more(places);
            }
            _ => {
                self.out.push((role, blocks));
                self.trace.entry(places);
            }
        }
    }

    fn content(&mut self, at: usize, message: &Message) -> Vec<(Value, Place)> {
        let mut content = Vec::new();
        for (part, it) in message.parts.iter().enumerate() {
            if let Some(block) = self.block(it) {
                content.push((block, place(at, part)));
            }
        }
        // A thought that nothing follows is refused.
        while content.last().is_some_and(|(block, _)| is_thought(block)) {
            content.pop();
        }
        content
    }

    fn block(&mut self, part: &Part) -> Option<Value> {
        Some(match part {
            Part::Text(text) if text.trim().is_empty() => return None,
            Part::Text(text) => json!({ "type": "text", "text": text }),
            Part::Picture(picture) => image(picture),
            Part::Reasoning(_) => self.ask.own_reasoning(part).filter(|_| self.with_thoughts)?,
            Part::Call {
                id,
                name,
                arguments: text,
            } => {
                json!({ "type": "tool_use", "id": self.ids.wire(id), "name": name, "input": arguments(text) })
            }
            Part::Result {
                id,
                text,
                pictures,
                ok,
            } => {
                let mut block = Map::new();
                block.insert("type".into(), "tool_result".into());
                block.insert("tool_use_id".into(), self.ids.wire(id).into());
                let blank = text.trim().is_empty();
                if pictures.is_empty() {
                    if !blank {
                        block.insert("content".into(), text.as_str().into());
                    }
                } else {
                    let mut content = Vec::new();
                    if !blank {
                        content.push(json!({ "type": "text", "text": text }));
                    }
                    content.extend(pictures.iter().map(image));
                    block.insert("content".into(), content.into());
                }
                if !ok {
                    block.insert("is_error".into(), true.into());
                }
                Value::Object(block)
            }
        })
    }
}

fn image(picture: &PictureBytes) -> Value {
    json!({ "type": "image", "source": {
        "type": "base64", "media_type": picture.media_type, "data": base64(picture),
    } })
}

#[cfg(test)]
mod tests;
