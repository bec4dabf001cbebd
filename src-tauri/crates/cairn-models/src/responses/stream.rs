//! What a Responses stream means: frames in, events of the model out. Pure.

use std::collections::HashSet;

use cairn_agent::model::{FinishReason, ModelEvent};
use serde_json::Value;

use crate::chat::stream::progress;
use crate::reply::calls::written;
use crate::reply::stream::Listener;
use crate::reply::{Counts, Reply, number};

/// Reads the frames of one reply.
#[derive(Debug, Default)]
pub(super) struct ResponsesListener {
    /// Numbers of the items whose words came in pieces already.
    told: HashSet<u64>,
    /// Numbers of the items that are over.
    over: HashSet<u64>,
    /// Numbers of the calls that began.
    begun: HashSet<u64>,
    last: u64,
    items: u64,
}

impl Listener for ResponsesListener {
    fn frame(&mut self, frame: &Value, reply: &mut Reply, out: &mut Vec<ModelEvent>) {
        progress(frame, out);
        let word = |field: &str| frame.get(field).and_then(Value::as_str).unwrap_or_default();
        let kind = word("type");
        let item = frame.get("item").unwrap_or(&Value::Null);
        match kind {
            "response.output_item.added" => {
                let index = self.index_of(frame, true);
                if item.get("type").is_some_and(|kind| kind == "function_call") {
                    self.begin_call(index, item, reply);
                }
            }
            "response.output_text.delta" | "response.refusal.delta" => {
                let index = self.index_of(frame, false);
                self.told.insert(index);
                reply.text(word("delta"), out);
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                let index = self.index_of(frame, false);
                self.told.insert(index);
                reply.thinking(word("delta"), out);
            }
            "response.reasoning_summary_part.added" => {
                let index = self.index_of(frame, false);
                if self.told.contains(&index) {
                    reply.thinking("\n\n", out);
                }
            }
            "response.function_call_arguments.delta" => {
                let index = self.index_of(frame, false);
                reply.call(index, "", "", &written(frame.get("delta")));
            }
            "response.function_call_arguments.done" => {
                let index = self.index_of(frame, false);
                if !reply.calls.has_arguments(index) {
                    reply.call(index, "", word("name"), &written(frame.get("arguments")));
                }
            }
            "response.output_item.done" => {
                let index = self.index_of(frame, false);
                self.item(index, item, reply, out);
            }
            "response.completed" | "response.incomplete" | "response.done" => {
                let response = frame.get("response").unwrap_or(&Value::Null);
                self.whole(response, reply, out);
                reply.done = true;
            }
            _ if frame.get("object").is_some_and(|kind| kind == "response") => self.whole(frame, reply, out),
            _ => {}
        }
    }

    /// The whole response: what no frame told yet, the count of tokens and the reason.
    fn whole(&mut self, response: &Value, reply: &mut Reply, out: &mut Vec<ModelEvent>) {
        if response.get("object").is_none() && response.get("type").is_some() {
            return self.frame(response, reply, out);
        }
        // Beside frames it repeats them, not always under the same numbers.
        let silent = self.told.is_empty() && self.over.is_empty() && self.begun.is_empty();
        let output = response
            .get("output")
            .and_then(Value::as_array)
            .filter(|_| silent);
        for (index, item) in output.into_iter().flatten().enumerate() {
            self.item(index as u64, item, reply, out);
        }
        if let Some(usage) = response.get("usage") {
            take_usage(usage, reply, out);
        }
        let incomplete = response
            .pointer("/incomplete_details/reason")
            .and_then(Value::as_str);
        reply.reason = match (response.get("status").and_then(Value::as_str), incomplete) {
            (_, Some("max_output_tokens" | "max_tokens")) => Some(FinishReason::Length),
            (_, Some("content_filter")) => Some(FinishReason::Filtered),
            (Some("completed") | None, None) => Some(FinishReason::Stop),
            _ => Some(FinishReason::Unknown),
        };
    }
}

impl ResponsesListener {
    /// The item that a frame is about. Without a number a beginning is the next item, anything else the last.
    fn index_of(&mut self, frame: &Value, begins: bool) -> u64 {
        let next = if begins { self.items } else { self.last };
        self.last = frame.get("output_index").and_then(number).unwrap_or(next);
        if begins {
            self.items = self.last.saturating_add(1);
        }
        self.last
    }

    fn begin_call(&mut self, index: u64, item: &Value, reply: &mut Reply) {
        let word = |field: &str| item.get(field).and_then(Value::as_str).unwrap_or_default();
        let id = if word("call_id").is_empty() {
            word("id")
        } else {
            word("call_id")
        };
        reply.begin_call(index, id, word("name"), &written(item.get("arguments")));
        self.begun.insert(index);
    }

    /// An item as it is at its end: what of it did not come in pieces, and what is wanted back.
    fn item(&mut self, index: u64, item: &Value, reply: &mut Reply, out: &mut Vec<ModelEvent>) {
        if !self.over.insert(index) {
            return;
        }
        let told = self.told.contains(&index);
        match item.get("type").and_then(Value::as_str) {
            Some("message") if !told => {
                for part in parts(item, "content") {
                    let text = part.get("text").or_else(|| part.get("refusal"));
                    reply.text(text.and_then(Value::as_str).unwrap_or_default(), out);
                }
            }
            Some("function_call") => {
                if !self.begun.contains(&index) {
                    self.begin_call(index, item, reply);
                } else if !reply.calls.has_arguments(index) {
                    reply.call(index, "", "", &written(item.get("arguments")));
                }
            }
            Some("reasoning") => {
                if !told {
                    let texts = parts(item, "summary").chain(parts(item, "content"));
                    let texts: Vec<&str> = texts.filter_map(|part| part.get("text")?.as_str()).collect();
                    reply.thinking(&texts.join("\n\n"), out);
                }
                if item.get("encrypted_content").is_some_and(Value::is_string) {
                    let mut kept = item.clone();
                    if let Some(kept) = kept.as_object_mut() {
                        // Nothing of ours is kept there, so that the state of it means nothing.
                        kept.remove("status");
                    }
                    reply.reasoning(&kept, out);
                }
            }
            _ => {}
        }
    }
}

fn parts<'a>(item: &'a Value, field: &str) -> impl Iterator<Item = &'a Value> {
    item.get(field).and_then(Value::as_array).into_iter().flatten()
}

fn take_usage(usage: &Value, reply: &mut Reply, out: &mut Vec<ModelEvent>) {
    let count = |path: &str| usage.pointer(path).and_then(number);
    let (input, output) = (count("/input_tokens"), count("/output_tokens"));
    if input.is_none() && output.is_none() {
        return;
    }
    let counts = Counts {
        input,
        cached: count("/input_tokens_details/cached_tokens"),
        written: count("/input_tokens_details/cache_write_tokens"),
        output,
    };
    reply.count(counts, out);
}

#[cfg(test)]
mod tests;
