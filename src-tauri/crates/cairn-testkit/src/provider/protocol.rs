//! The protocols that the server speaks, and how a scripted reply looks in each. Owns: frames. Knows no socket.

use serde_json::{Value, json};

use super::script::{Call, Reply, Step};

/// A wire protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// OpenAI Chat Completions.
    Chat,
    /// OpenAI Responses.
    Responses,
    /// Anthropic Messages.
    Messages,
    /// Ollama's own.
    Ollama,
}

impl Protocol {
    /// The protocol of a path; none for other questions.
    pub(super) fn of_path(path: &str) -> Option<Self> {
        let path = path.split('?').next().unwrap_or_default();
        [
            ("/chat/completions", Self::Chat),
            ("/responses", Self::Responses),
            ("/messages", Self::Messages),
            ("/api/chat", Self::Ollama),
        ]
        .into_iter()
        .find_map(|(end, protocol)| path.ends_with(end).then_some(protocol))
    }

    /// The media type of a stream.
    pub(super) fn media_type(self) -> &'static str {
        match self {
            Self::Ollama => "application/x-ndjson",
            Self::Chat | Self::Responses | Self::Messages => "text/event-stream",
        }
    }

    /// An error in the protocol's form.
    pub fn error(self, message: &str) -> Value {
        match self {
            Self::Chat | Self::Responses => json!({ "error": {
                "message": message, "type": "invalid_request_error", "param": null, "code": null,
            } }),
            Self::Messages => {
                json!({ "type": "error", "error": { "type": "invalid_request_error", "message": message } })
            }
            Self::Ollama => json!({ "error": message }),
        }
    }

    /// All steps of a reply. `number` makes the ids of calls, `wants_usage` is what a chat request asked for.
    pub(super) fn steps(self, reply: &Reply, number: usize, wants_usage: bool) -> Vec<Step> {
        if self == Self::Chat {
            return reply.all_steps(number, wants_usage);
        }
        let mut writer = Writer {
            protocol: self,
            number,
            blocks: 0,
            output: Vec::new(),
            steps: Vec::new(),
        };
        writer.begin();
        if reply.steps.is_empty() {
            let words = reply.words();
            for (text, thinks) in words {
                writer.said(text, thinks);
            }
            for (at, call) in reply.tool_calls.iter().enumerate() {
                writer.call(call, at);
            }
            writer.end(reply);
        } else {
            for step in &reply.steps {
                match step {
                    Step::Text(text) => writer.said(text, false),
                    Step::Thinking(text) => writer.said(text, true),
                    Step::Frame(document) => writer.frame(document.clone()),
                    Step::Done => writer.end(reply),
                    other => writer.steps.push(other.clone()),
                }
            }
        }
        writer.steps
    }
}

/// Writes the frames of one reply.
struct Writer {
    protocol: Protocol,
    number: usize,
    blocks: usize,
    output: Vec<Value>,
    steps: Vec<Step>,
}

impl Writer {
    fn frame(&mut self, document: Value) {
        let text = match self.protocol {
            Protocol::Ollama => format!("{document}\n"),
            Protocol::Chat | Protocol::Responses | Protocol::Messages => {
                let kind = document.get("type").and_then(Value::as_str).unwrap_or_default();
                format!("event: {kind}\ndata: {document}\n\n")
            }
        };
        self.steps.push(Step::Raw(text));
    }

    fn begin(&mut self) {
        match self.protocol {
            Protocol::Messages => self.frame(json!({ "type": "message_start", "message": {
                "id": format!("msg_{}", self.number), "type": "message", "role": "assistant", "content": [],
                "usage": { "input_tokens": 1, "output_tokens": 1 },
            } })),
            Protocol::Responses => self.frame(json!({ "type": "response.created", "response": {
                "id": format!("resp_{}", self.number), "object": "response", "status": "in_progress", "output": [],
            } })),
            Protocol::Chat | Protocol::Ollama => {}
        }
    }

    /// Words, each piece a block of its own where the protocol has blocks.
    fn said(&mut self, text: &str, thinks: bool) {
        let at = self.blocks;
        match (self.protocol, thinks) {
            (Protocol::Chat, _) => {}
            (Protocol::Ollama, thinks) => {
                let field = if thinks { "thinking" } else { "content" };
                let mut message = json!({ "role": "assistant", "content": "" });
                if let Some(message) = message.as_object_mut() {
                    message.insert(field.to_owned(), text.into());
                }
                self.frame(json!({ "model": "scripted", "message": message, "done": false }));
            }
            (Protocol::Messages, thinks) => {
                let (kind, delta) = if thinks {
                    ("thinking", json!({ "type": "thinking_delta", "thinking": text }))
                } else {
                    ("text", json!({ "type": "text_delta", "text": text }))
                };
                let mut block = json!({ "type": kind, "signature": "" });
                if let Some(block) = block.as_object_mut() {
                    block.insert(kind.to_owned(), "".into());
                }
                self.frame(json!({ "type": "content_block_start", "index": at, "content_block": block }));
                self.frame(json!({ "type": "content_block_delta", "index": at, "delta": delta }));
                if thinks {
                    let signed = json!({ "type": "signature_delta", "signature": signature(text) });
                    self.frame(json!({ "type": "content_block_delta", "index": at, "delta": signed }));
                }
                self.frame(json!({ "type": "content_block_stop", "index": at }));
                self.blocks += 1;
            }
            (Protocol::Responses, true) => {
                let id = format!("rs_{}_{at}", self.number);
                let item = json!({ "type": "reasoning", "id": id,
                    "summary": [{ "type": "summary_text", "text": text }], "encrypted_content": signature(text) });
                self.frame(json!({ "type": "response.output_item.added", "output_index": at,
                    "item": { "type": "reasoning", "id": id, "summary": [] } }));
                self.frame(json!({ "type": "response.reasoning_summary_text.delta", "output_index": at, "delta": text }));
                self.frame(json!({ "type": "response.output_item.done", "output_index": at, "item": item }));
                self.output.push(item);
                self.blocks += 1;
            }
            (Protocol::Responses, false) => {
                let item = json!({ "type": "message", "role": "assistant", "id": format!("msg_{}_{at}", self.number),
                    "content": [{ "type": "output_text", "text": text }] });
                self.frame(json!({ "type": "response.output_item.added", "output_index": at,
                    "item": { "type": "message", "role": "assistant", "content": [] } }));
                self.frame(
                    json!({ "type": "response.output_text.delta", "output_index": at, "delta": text }),
                );
                self.frame(json!({ "type": "response.output_item.done", "output_index": at, "item": item }));
                self.output.push(item);
                self.blocks += 1;
            }
        }
    }

    fn call(&mut self, call: &Call, order: usize) {
        let at = self.blocks;
        let id = call
            .id
            .clone()
            .unwrap_or_else(|| format!("call_{}_{order}", self.number));
        let text = call.arguments_text();
        match self.protocol {
            Protocol::Chat => {}
            Protocol::Ollama => {
                let arguments = serde_json::from_str(&text).unwrap_or(Value::String(text));
                self.frame(json!({ "model": "scripted", "done": false, "message": {
                    "role": "assistant", "content": "",
                    "tool_calls": [{ "function": { "name": call.name, "arguments": arguments } }],
                } }));
            }
            Protocol::Messages => {
                self.frame(json!({ "type": "content_block_start", "index": at,
                    "content_block": { "type": "tool_use", "id": id, "name": call.name, "input": {} } }));
                for piece in call.pieces_of(&text) {
                    let delta = json!({ "type": "input_json_delta", "partial_json": piece });
                    self.frame(json!({ "type": "content_block_delta", "index": at, "delta": delta }));
                }
                self.frame(json!({ "type": "content_block_stop", "index": at }));
                self.blocks += 1;
            }
            Protocol::Responses => {
                let item = |arguments: &str| {
                    json!({ "type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": call.name,
                        "arguments": arguments })
                };
                self.frame(
                    json!({ "type": "response.output_item.added", "output_index": at, "item": item("") }),
                );
                for piece in call.pieces_of(&text) {
                    self.frame(
                        json!({ "type": "response.function_call_arguments.delta", "output_index": at,
                        "delta": piece }),
                    );
                }
                self.frame(
                    json!({ "type": "response.output_item.done", "output_index": at, "item": item(&text) }),
                );
                self.output.push(item(&text));
                self.blocks += 1;
            }
        }
    }

    fn end(&mut self, reply: &Reply) {
        let count = |path: &str| {
            reply
                .usage
                .as_ref()
                .and_then(|usage| usage.pointer(path))
                .and_then(Value::as_u64)
        };
        let (input, output) = (count("/prompt_tokens"), count("/completion_tokens"));
        let cached = count("/prompt_tokens_details/cached_tokens").unwrap_or(0);
        let cut = reply.finish.as_deref() == Some("length");
        match self.protocol {
            Protocol::Chat => {}
            Protocol::Ollama => self.frame(json!({
                "model": "scripted", "message": { "role": "assistant", "content": "" }, "done": true,
                "done_reason": if cut { "length" } else { "stop" },
                "prompt_eval_count": input.unwrap_or(1), "eval_count": output.unwrap_or(1),
            })),
            Protocol::Messages => {
                let reason = match (cut, reply.tool_calls.is_empty()) {
                    (true, _) => "max_tokens",
                    (false, true) => "end_turn",
                    (false, false) => "tool_use",
                };
                self.frame(
                    json!({ "type": "message_delta", "delta": { "stop_reason": reason }, "usage": {
                    "input_tokens": input.unwrap_or(1).saturating_sub(cached),
                    "cache_read_input_tokens": cached, "output_tokens": output.unwrap_or(1),
                } }),
                );
                self.frame(json!({ "type": "message_stop" }));
            }
            Protocol::Responses => {
                let kind = if cut {
                    "response.incomplete"
                } else {
                    "response.completed"
                };
                let details = if cut {
                    json!({ "reason": "max_output_tokens" })
                } else {
                    Value::Null
                };
                self.frame(json!({ "type": kind, "response": {
                    "object": "response", "status": if cut { "incomplete" } else { "completed" },
                    "incomplete_details": details, "output": self.output,
                    "usage": { "input_tokens": input.unwrap_or(1), "output_tokens": output.unwrap_or(1),
                        "input_tokens_details": { "cached_tokens": cached } },
                } }));
            }
        }
    }
}

/// The signature that the scripted provider gives a thought, and checks when it comes back.
pub(super) fn signature(thought: &str) -> String {
    let sum = thought.bytes().fold(17_u64, |sum, byte| {
        sum.wrapping_mul(31).wrapping_add(u64::from(byte))
    });
    format!("sig{sum:x}")
}
