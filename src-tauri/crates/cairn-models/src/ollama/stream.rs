//! What the lines of Ollama's own protocol mean: documents in, events of the model out. Pure.

use cairn_agent::model::{FinishReason, ModelEvent};
use serde_json::{Value, json};

use crate::reply::stream::Listener;
use crate::reply::{Counts, Reply, number};

/// Reads the lines of one reply.
#[derive(Debug, Default)]
pub(super) struct OllamaListener {
    thought: String,
}

impl Listener for OllamaListener {
    fn frame(&mut self, line: &Value, reply: &mut Reply, out: &mut Vec<ModelEvent>) {
        let message = line.get("message").unwrap_or(&Value::Null);
        let word = |field: &str| message.get(field).and_then(Value::as_str).unwrap_or_default();
        if reply.context.wants_thinking_back {
            self.thought.push_str(word("thinking"));
        }
        reply.thinking(word("thinking"), out);
        reply.text(word("content"), out);
        // Calls come whole, without numbers; every one is a call of its own.
        let calls = message.get("tool_calls").and_then(Value::as_array);
        for call in calls.into_iter().flatten() {
            reply.whole_call(call);
        }
        let reason = line.get("done_reason").and_then(Value::as_str);
        if reason == Some("load") {
            // The answer to a question without words: the model is loaded now.
            return;
        }
        let counts = Counts {
            input: line.get("prompt_eval_count").and_then(number),
            output: line.get("eval_count").and_then(number),
            ..Counts::default()
        };
        if counts.input.is_some() || counts.output.is_some() {
            reply.count(counts, out);
        }
        if line.get("done").and_then(Value::as_bool) == Some(true) {
            reply.reason = Some(match reason {
                None | Some("stop" | "tool_calls") => FinishReason::Stop,
                Some("length") => FinishReason::Length,
                Some(_) => FinishReason::Unknown,
            });
            reply.done = true;
        }
    }

    fn end(&mut self, reply: &mut Reply, out: &mut Vec<ModelEvent>) {
        if !self.thought.is_empty() && !reply.calls.is_empty() {
            reply.reasoning(&json!({ "thinking": std::mem::take(&mut self.thought) }), out);
        }
    }
}

#[cfg(test)]
mod tests;
