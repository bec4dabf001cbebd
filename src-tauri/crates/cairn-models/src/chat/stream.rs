//! What a Chat Completions stream means: frames in, events of the model out. Pure.
//!
//! Owns: the reading of frames, as generous as the servers are careless. Must never know: bytes, connections, time.

use cairn_agent::model::{FinishReason, ModelEvent};
use serde_json::{Value, json};

use super::beside;
use crate::reply::stream::Listener;
use crate::reply::{Counts, Reply, number};

/// Reads the frames of one reply.
#[derive(Debug, Default)]
pub(super) struct ChatListener {
    kept: beside::Collector,
    thought: String,
}

impl Listener for ChatListener {
    fn frame(&mut self, frame: &Value, reply: &mut Reply, out: &mut Vec<ModelEvent>) {
        progress(frame, out);
        let choice = frame
            .get("choices")
            .and_then(Value::as_array)
            .and_then(|choices| choices.first());
        if let Some(choice) = choice {
            // A `message` beside or after deltas repeats them; alone it is the whole reply.
            match (choice.get("delta"), choice.get("message")) {
                (Some(delta), _) if delta.is_object() => self.delta(delta, reply, out),
                (_, Some(message)) if !reply.spoke && reply.calls.is_empty() => {
                    self.delta(message, reply, out);
                }
                _ => {}
            }
            if let Some(reason) = choice
                .get("finish_reason")
                .and_then(Value::as_str)
                .filter(|it| !it.is_empty())
            {
                reply.reason = Some(reason_of(reason));
            }
        }
        let usage = frame
            .get("usage")
            .filter(|usage| usage.is_object())
            .or_else(|| frame.pointer("/x_groq/usage"))
            .or_else(|| choice.and_then(|choice| choice.get("usage")));
        if let Some(usage) = usage {
            take_usage(usage, reply, out);
        }
    }

    fn end(&mut self, reply: &mut Reply, out: &mut Vec<ModelEvent>) {
        let mut data = self.kept.take();
        // Only a reply that goes on after its calls needs its thoughts again.
        if reply.context.wants_thinking_back && !reply.calls.is_empty() && !self.thought.is_empty() {
            data.insert(
                "reasoning_content".into(),
                json!(std::mem::take(&mut self.thought)),
            );
        }
        if !data.is_empty() {
            reply.reasoning(&Value::Object(data), out);
        }
    }
}

impl ChatListener {
    fn delta(&mut self, delta: &Value, reply: &mut Reply, out: &mut Vec<ModelEvent>) {
        self.kept.delta(delta);
        // Servers that send two of these send the same words twice.
        let thinking = ["reasoning_content", "reasoning", "thinking"]
            .iter()
            .find_map(|field| {
                delta
                    .get(field)
                    .and_then(Value::as_str)
                    .filter(|text| !text.is_empty())
            });
        if let Some(thinking) = thinking {
            if reply.context.wants_thinking_back {
                self.thought.push_str(thinking);
            }
            reply.thinking(thinking, out);
        }
        match delta.get("content") {
            Some(Value::String(text)) => reply.text(text, out),
            Some(Value::Array(parts)) => parts.iter().for_each(|part| part_of(part, reply, out)),
            _ => {}
        }
        if let Some(refusal) = delta.get("refusal").and_then(Value::as_str) {
            reply.text(refusal, out);
        }
        for field in ["tool_calls", "function_call"] {
            if let Some(pieces) = delta.get(field).filter(|pieces| !pieces.is_null()) {
                reply.calls(pieces);
            }
        }
    }
}

/// Content in parts, as Mistral's reasoning models send it.
fn part_of(part: &Value, reply: &mut Reply, out: &mut Vec<ModelEvent>) {
    if part.get("type").and_then(Value::as_str) != Some("thinking") {
        if let Some(text) = part.get("text").and_then(Value::as_str) {
            reply.text(text, out);
        }
        return;
    }
    let thoughts = part.get("thinking");
    let nested = thoughts.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let texts = nested
        .iter()
        .filter_map(|it| it.get("text").and_then(Value::as_str));
    let thought: String = thoughts
        .and_then(Value::as_str)
        .into_iter()
        .chain(texts)
        .collect();
    reply.thinking(&thought, out);
}

fn take_usage(value: &Value, reply: &mut Reply, out: &mut Vec<ModelEvent>) {
    let count = |path: &str| value.pointer(path).and_then(number);
    let (input, output) = (count("/prompt_tokens"), count("/completion_tokens"));
    if input.is_none() && output.is_none() {
        return;
    }
    let counts = Counts {
        input: input.or(Some(0)),
        cached: count("/prompt_tokens_details/cached_tokens")
            .or_else(|| count("/prompt_cache_hit_tokens"))
            .or_else(|| count("/cache_read_input_tokens"))
            .or(Some(0)),
        written: count("/prompt_tokens_details/cache_write_tokens")
            .or_else(|| count("/cache_creation_input_tokens"))
            .or(Some(0)),
        output: output.or(Some(0)),
    };
    reply.count(counts, out);
}

/// How far the prompt is read, as llama.cpp tells with `return_progress`.
pub(crate) fn progress(frame: &Value, out: &mut Vec<ModelEvent>) {
    let Some(progress) = frame.get("prompt_progress") else {
        return;
    };
    let count = |field: &str| progress.get(field).and_then(Value::as_u64);
    if let (Some(total), Some(done)) = (count("total"), count("processed")) {
        out.push(ModelEvent::Reading {
            done: done.min(total),
            total,
        });
    }
}

fn reason_of(reason: &str) -> FinishReason {
    match reason {
        "stop" | "tool_calls" | "function_call" | "end_turn" | "eos" | "eos_token" | "tool_use"
        | "stop_sequence" => FinishReason::Stop,
        "length" | "max_tokens" | "model_length" => FinishReason::Length,
        "content_filter" | "safety" | "SAFETY" => FinishReason::Filtered,
        _ => FinishReason::Unknown,
    }
}

#[cfg(test)]
mod tests;
