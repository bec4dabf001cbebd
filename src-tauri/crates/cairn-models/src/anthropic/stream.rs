//! What a Messages stream means: frames in, events of the model out. Pure.

use std::collections::BTreeMap;

use cairn_agent::model::{FinishReason, ModelEvent};
use serde_json::{Value, json};

use crate::chat::stream::progress;
use crate::reply::calls::written;
use crate::reply::stream::Listener;
use crate::reply::{Counts, Reply, number};

/// A block that is being written.
#[derive(Debug)]
enum Block {
    Words,
    Thought {
        text: String,
        signature: String,
    },
    Redacted(Value),
    Call,
    /// Of a kind that this build does not know.
    Other,
}

/// Reads the frames of one reply.
#[derive(Debug, Default)]
pub(super) struct MessagesListener {
    open: BTreeMap<u64, Block>,
    last: u64,
}

impl Listener for MessagesListener {
    fn frame(&mut self, frame: &Value, reply: &mut Reply, out: &mut Vec<ModelEvent>) {
        progress(frame, out);
        match frame.get("type").and_then(Value::as_str) {
            Some("message_start") => {
                if let Some(usage) = frame.pointer("/message/usage") {
                    take_usage(usage, reply, out);
                }
            }
            Some("content_block_start") => {
                let index = self.index_of(frame, true);
                let block = frame.get("content_block").unwrap_or(&Value::Null);
                self.begin(index, block, reply, out);
            }
            Some("content_block_delta") => {
                let index = self.index_of(frame, false);
                let delta = frame.get("delta").unwrap_or(&Value::Null);
                self.delta(index, delta, reply, out);
            }
            Some("content_block_stop") => {
                let index = self.index_of(frame, false);
                self.close(index, reply, out);
            }
            Some("message_delta") => {
                if let Some(usage) = frame.get("usage") {
                    take_usage(usage, reply, out);
                }
                take_reason(frame.pointer("/delta/stop_reason"), reply);
            }
            Some("message_stop") => reply.done = true,
            Some("message") => self.whole(frame, reply, out),
            _ => {}
        }
    }

    fn whole(&mut self, document: &Value, reply: &mut Reply, out: &mut Vec<ModelEvent>) {
        if document.get("type").is_some_and(|kind| kind != "message") {
            return self.frame(document, reply, out);
        }
        let content = document.get("content").and_then(Value::as_array);
        for (index, block) in content.into_iter().flatten().enumerate() {
            let index = index as u64;
            self.begin(index, block, reply, out);
            self.close(index, reply, out);
        }
        if let Some(usage) = document.get("usage") {
            take_usage(usage, reply, out);
        }
        take_reason(document.get("stop_reason"), reply);
    }

    fn end(&mut self, reply: &mut Reply, out: &mut Vec<ModelEvent>) {
        for index in self.open.keys().copied().collect::<Vec<_>>() {
            self.close(index, reply, out);
        }
    }
}

impl MessagesListener {
    /// The block that a frame is about. Without an index a beginning is the next block, anything else the last.
    fn index_of(&mut self, frame: &Value, begins: bool) -> u64 {
        let next = if begins && !self.open.is_empty() {
            self.last + 1
        } else {
            self.last
        };
        self.last = frame.get("index").and_then(number).unwrap_or(next);
        self.last
    }

    fn begin(&mut self, index: u64, block: &Value, reply: &mut Reply, out: &mut Vec<ModelEvent>) {
        // Odd servers give two blocks one number: the first is over then.
        self.close(index, reply, out);
        let word = |field: &str| block.get(field).and_then(Value::as_str).unwrap_or_default();
        let begun = match word("type") {
            "text" => {
                reply.text(word("text"), out);
                Block::Words
            }
            "thinking" => {
                reply.thinking(word("thinking"), out);
                Block::Thought {
                    text: word("thinking").to_owned(),
                    signature: word("signature").to_owned(),
                }
            }
            "redacted_thinking" => Block::Redacted(block.clone()),
            "tool_use" => {
                let input = block.get("input");
                let given = input
                    .and_then(Value::as_object)
                    .is_some_and(|input| !input.is_empty());
                let arguments = if given { written(input) } else { String::new() };
                reply.begin_call(index, word("id"), word("name"), &arguments);
                Block::Call
            }
            _ => Block::Other,
        };
        self.open.insert(index, begun);
    }

    fn delta(&mut self, index: u64, delta: &Value, reply: &mut Reply, out: &mut Vec<ModelEvent>) {
        let word = |field: &str| delta.get(field).and_then(Value::as_str).unwrap_or_default();
        match word("type") {
            "text_delta" => reply.text(word("text"), out),
            "thinking_delta" => {
                reply.thinking(word("thinking"), out);
                if let Block::Thought { text, .. } = self.thought(index) {
                    text.push_str(word("thinking"));
                }
            }
            "signature_delta" => {
                if let Block::Thought { signature, .. } = self.thought(index) {
                    signature.push_str(word("signature"));
                }
            }
            "input_json_delta" => {
                let piece = delta.get("partial_json");
                if matches!(self.open.get(&index), None | Some(Block::Call)) {
                    reply.call(index, "", "", &written(piece));
                }
            }
            _ => {}
        }
    }

    /// The thought with that number, begun here where its start was left out.
    fn thought(&mut self, index: u64) -> &mut Block {
        self.open.entry(index).or_insert_with(|| Block::Thought {
            text: String::new(),
            signature: String::new(),
        })
    }

    fn close(&mut self, index: u64, reply: &mut Reply, out: &mut Vec<ModelEvent>) {
        match self.open.remove(&index) {
            // Without a signature nobody wants it back.
            Some(Block::Thought { text, signature }) if !signature.is_empty() => {
                let block = json!({ "type": "thinking", "thinking": text, "signature": signature });
                reply.reasoning(&block, out);
            }
            Some(Block::Redacted(block)) => reply.reasoning(&block, out),
            _ => {}
        }
    }
}

fn take_usage(usage: &Value, reply: &mut Reply, out: &mut Vec<ModelEvent>) {
    let count = |field: &str| usage.get(field).and_then(number);
    let (read, written) = (
        count("cache_read_input_tokens"),
        count("cache_creation_input_tokens"),
    );
    // The protocol counts cached tokens beside the others; here they are among them.
    let input = count("input_tokens").map(|input| input + read.unwrap_or(0) + written.unwrap_or(0));
    let output = count("output_tokens");
    if input.is_none() && output.is_none() {
        return;
    }
    let counts = Counts {
        input: input.filter(|input| *input > 0),
        cached: read.filter(|_| input.is_some()),
        written: written.filter(|_| input.is_some()),
        output,
    };
    reply.count(counts, out);
}

fn take_reason(reason: Option<&Value>, reply: &mut Reply) {
    let Some(reason) = reason.and_then(Value::as_str) else {
        return;
    };
    reply.reason = Some(match reason {
        "end_turn" | "tool_use" | "stop_sequence" | "pause_turn" => FinishReason::Stop,
        "max_tokens" | "model_context_window_exceeded" => FinishReason::Length,
        "refusal" => FinishReason::Filtered,
        _ => FinishReason::Unknown,
    });
}

#[cfg(test)]
mod tests;
