//! What a Chat Completions stream means: events of the stream in, events of the model out. Pure.
//!
//! Owns: the reading of frames, as generous as the servers are careless. Must never know: bytes, connections, time.

use std::collections::HashSet;

use cairn_agent::model::{FinishReason, ModelError, ModelEvent};
use cairn_protocol::{Prices, Usage};
use serde_json::Value;

use super::calls::{CallCollector, Ending};
use super::escapes;
use super::think::{Said, ThinkSplitter};
use crate::cost;
use crate::http::refusal::Refusal;
use crate::sse::SseEvent;

/// How one stream is read.
#[derive(Clone, Debug, Default)]
pub struct StreamContext {
    /// The server in words, like `Ollama at 127.0.0.1:11434`.
    pub server: String,
    /// The model's name.
    pub model: String,
    /// Prices, for the cost in the usage.
    pub prices: Option<Prices>,
    /// Call ids that the conversation holds already.
    pub taken_ids: HashSet<String>,
    /// Makes ids that we give unlike those of other replies.
    pub salt: String,
}

/// Accumulates one reply. Feed it events; after [`ChatStream::is_over`] or at the end of the bytes call
/// [`ChatStream::finish`].
#[derive(Debug)]
pub struct ChatStream {
    context: StreamContext,
    think: ThinkSplitter,
    joiner: escapes::Joiner,
    calls: CallCollector,
    usage: Option<Usage>,
    reason: Option<FinishReason>,
    done: bool,
    spoke: bool,
    frames: u64,
    broken: Option<String>,
}

impl ChatStream {
    /// At the beginning of a reply.
    pub fn new(context: StreamContext) -> Self {
        let calls = CallCollector::new(context.taken_ids.clone(), context.salt.clone());
        Self {
            context,
            think: ThinkSplitter::new(),
            joiner: escapes::Joiner::default(),
            calls,
            usage: None,
            reason: None,
            done: false,
            spoke: false,
            frames: 0,
            broken: None,
        }
    }

    /// Takes one event and appends what it says. An error in the stream ends it: what came before has been
    /// appended, calls that were open as `cut`.
    pub fn push(&mut self, event: &SseEvent, out: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        let data = event.data.trim();
        if self.done || data.is_empty() {
            return Ok(());
        }
        if data == "[DONE]" {
            self.done = true;
            return Ok(());
        }
        let Some(frame) = escapes::parse(data) else {
            if event.name == "error" {
                return Err(self.fail(&Value::String(data.to_owned()), out));
            }
            // One bad frame is skipped; only when nothing else comes is it worth a word.
            self.broken
                .get_or_insert_with(|| data.chars().take(200).collect());
            return Ok(());
        };
        self.frames += 1;
        if let Some(error) = error_of(event, &frame) {
            let error = error.clone();
            return Err(self.fail(&error, out));
        }
        self.frame(&frame, out);
        Ok(())
    }

    /// Takes a reply that came whole, from a server that does not stream.
    pub fn push_whole(&mut self, reply: &Value, out: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        let event = SseEvent {
            name: String::new(),
            data: reply.to_string(),
        };
        self.push(&event, out)
    }

    /// Whether the server has said all: nothing that comes after matters.
    pub fn is_over(&self) -> bool {
        self.done
    }

    /// Whether the reply is complete but for a late count of tokens.
    pub fn has_reason(&self) -> bool {
        self.reason.is_some()
    }

    /// Whether anything of the protocol was understood.
    pub fn understood(&self) -> bool {
        self.frames > 0 || self.done
    }

    /// The start of a frame that was no JSON, if there was one.
    pub fn broken_frame(&self) -> Option<&str> {
        self.broken.as_deref()
    }

    /// The end: what was held back, the calls, and why it ended.
    pub fn finish(&mut self, out: &mut Vec<ModelEvent>) {
        let ending = match self.reason {
            Some(FinishReason::Length | FinishReason::Filtered) => Ending::Limit,
            Some(_) => Ending::Whole,
            None if self.done => Ending::Whole,
            None => Ending::Silence,
        };
        self.flush(ending, out);
        let reason = match self.reason {
            Some(reason) => reason,
            None if self.done => FinishReason::Stop,
            None => FinishReason::Unknown,
        };
        out.push(ModelEvent::Finished(reason));
    }

    /// The connection broke: what was held back, and open calls as cut. No `Finished` follows.
    pub fn break_off(&mut self, out: &mut Vec<ModelEvent>) {
        self.flush(Ending::Limit, out);
    }

    fn flush(&mut self, ending: Ending, out: &mut Vec<ModelEvent>) {
        let mut said = Vec::new();
        let rest = self.joiner.finish();
        self.think.push(&rest, &mut said);
        self.think.finish(&mut said);
        out.extend(said.into_iter().map(event_of));
        out.extend(self.calls.finish(ending));
    }

    fn fail(&mut self, error: &Value, out: &mut Vec<ModelEvent>) -> ModelError {
        self.break_off(out);
        Refusal::in_stream(&self.context.server, &self.context.model, error).into_error()
    }

    fn frame(&mut self, frame: &Value, out: &mut Vec<ModelEvent>) {
        progress(frame, out);
        let choice = frame
            .get("choices")
            .and_then(Value::as_array)
            .and_then(|choices| choices.first());
        if let Some(choice) = choice {
            // A `message` beside or after deltas repeats them; alone it is the whole reply.
            match (choice.get("delta"), choice.get("message")) {
                (Some(delta), _) if delta.is_object() => self.delta(delta, out),
                (_, Some(message)) if !self.spoke && self.calls.is_empty() => self.delta(message, out),
                _ => {}
            }
            if let Some(reason) = choice
                .get("finish_reason")
                .and_then(Value::as_str)
                .filter(|it| !it.is_empty())
            {
                self.reason = Some(reason_of(reason));
            }
        }
        let usage = frame
            .get("usage")
            .filter(|usage| usage.is_object())
            .or_else(|| frame.pointer("/x_groq/usage"))
            .or_else(|| choice.and_then(|choice| choice.get("usage")));
        if let Some(usage) = usage {
            self.take_usage(usage, out);
        }
    }

    fn delta(&mut self, delta: &Value, out: &mut Vec<ModelEvent>) {
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
            self.spoke = true;
            out.push(ModelEvent::Thinking(escapes::plain(thinking)));
        }
        match delta.get("content") {
            Some(Value::String(text)) => self.text(text, out),
            Some(Value::Array(parts)) => parts.iter().for_each(|part| self.part(part, out)),
            _ => {}
        }
        if let Some(refusal) = delta.get("refusal").and_then(Value::as_str) {
            self.text(refusal, out);
        }
        if let Some(pieces) = delta.get("tool_calls").filter(|pieces| !pieces.is_null()) {
            self.calls.push(&escapes::plain_value(pieces));
        }
        if let Some(piece) = delta.get("function_call").filter(|piece| piece.is_object()) {
            self.calls.push(&escapes::plain_value(piece));
        }
    }

    /// Content in parts, as Mistral's reasoning models send it.
    fn part(&mut self, part: &Value, out: &mut Vec<ModelEvent>) {
        match part.get("type").and_then(Value::as_str) {
            Some("thinking") => {
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
                if !thought.is_empty() {
                    self.spoke = true;
                    out.push(ModelEvent::Thinking(escapes::plain(&thought)));
                }
            }
            _ => {
                if let Some(text) = part.get("text").and_then(Value::as_str) {
                    self.text(text, out);
                }
            }
        }
    }

    /// Words of the answer. A recogniser of calls written as text would stand between the splitter and `out`.
    fn text(&mut self, text: &str, out: &mut Vec<ModelEvent>) {
        if text.is_empty() {
            return;
        }
        self.spoke = true;
        let mut said = Vec::new();
        let text = self.joiner.push(text);
        self.think.push(&text, &mut said);
        out.extend(said.into_iter().map(event_of));
    }

    fn take_usage(&mut self, value: &Value, out: &mut Vec<ModelEvent>) {
        let count = |path: &str| value.pointer(path).and_then(number);
        let (input, output) = (count("/prompt_tokens"), count("/completion_tokens"));
        if input.is_none() && output.is_none() {
            return;
        }
        let mut usage = Usage {
            input_tokens: input.unwrap_or(0),
            cached_tokens: count("/prompt_tokens_details/cached_tokens")
                .or_else(|| count("/prompt_cache_hit_tokens"))
                .unwrap_or(0),
            cache_write_tokens: 0,
            output_tokens: output.unwrap_or(0),
            cost_usd: None,
        };
        usage.cost_usd = cost(&usage, self.context.prices.as_ref());
        if self.usage != Some(usage) {
            self.usage = Some(usage);
            out.push(ModelEvent::Usage(usage));
        }
    }
}

/// How far the prompt is read, as llama.cpp tells with `return_progress`.
fn progress(frame: &Value, out: &mut Vec<ModelEvent>) {
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

fn event_of(said: Said) -> ModelEvent {
    match said {
        Said::Text(text) => ModelEvent::Text(text),
        Said::Thinking(text) => ModelEvent::Thinking(text),
    }
}

fn number(value: &Value) -> Option<u64> {
    value
        .as_u64()
        .or_else(|| value.as_f64().filter(|it| *it >= 0.0).map(|it| it as u64))
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

/// The error that a frame carries, in any of the shapes servers use.
fn error_of<'a>(event: &SseEvent, frame: &'a Value) -> Option<&'a Value> {
    let named = frame.get("error").filter(|error| match error {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        _ => true,
    });
    let is_error = event.name == "error" || frame.get("object").and_then(Value::as_str) == Some("error");
    named.or_else(|| {
        (is_error || (frame.get("detail").is_some() && frame.get("choices").is_none())).then_some(frame)
    })
}

#[cfg(test)]
mod tests;
