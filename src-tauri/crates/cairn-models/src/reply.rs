//! One reply as it comes in, whatever the protocol: what is held back, what was said, how it ended. SPEC M2, M3.
//!
//! Owns: the order in which things are told, thinking in tags, calls written as text, halves of characters, usage and
//! its cost, the end. Must never know: frames of any protocol, bytes, connections, time.

pub(crate) mod calls;
mod escapes;
mod spoken;
mod spoken_json;
pub(crate) mod stream;
mod think;

use std::collections::HashSet;
use std::sync::Arc;

use cairn_agent::model::{FinishReason, ModelError, ModelEvent, ModelRequest};
use cairn_agent::tool::ToolSpec;
use cairn_protocol::{MAX_REASONING_BYTES, Prices, ReasoningData, Usage};
use serde_json::Value;

use crate::cost;
use crate::http::refusal::Refusal;
use crate::http::rejected;
use crate::request::Trace;
use calls::{CallCollector, Ending};
use spoken::Spotter;
use think::{Said, ThinkSplitter};

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
    /// Tools that were offered: only those can be called in plain text.
    pub tools: Option<Arc<[ToolSpec]>>,
    /// Whose the reasoning data is.
    pub origin: String,
    /// The server wants the thinking of a reply with calls back as text.
    pub wants_thinking_back: bool,
}

/// Tokens as a server counts them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    /// Prompt tokens, cached ones included.
    pub(crate) input: Option<u64>,
    pub(crate) cached: Option<u64>,
    pub(crate) written: Option<u64>,
    pub(crate) output: Option<u64>,
}

/// One reply.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) context: StreamContext,
    think: ThinkSplitter,
    joiner: escapes::Joiner,
    spotter: Spotter,
    pub(crate) calls: CallCollector,
    usage: Option<Usage>,
    pub(crate) reason: Option<FinishReason>,
    /// The protocol's own mark of the end came.
    pub(crate) done: bool,
    pub(crate) spoke: bool,
    bytes: usize,
}

impl Reply {
    pub(crate) fn new(context: StreamContext) -> Self {
        Self {
            think: ThinkSplitter::new(),
            joiner: escapes::Joiner::default(),
            spotter: Spotter::new(context.tools.clone()),
            calls: CallCollector::new(context.taken_ids.clone(), context.salt.clone()),
            usage: None,
            reason: None,
            done: false,
            spoke: false,
            bytes: 0,
            context,
        }
    }

    /// Words of the answer.
    pub(crate) fn text(&mut self, text: &str, out: &mut Vec<ModelEvent>) {
        if text.is_empty() {
            return;
        }
        self.spoke = true;
        self.bytes += text.len();
        let text = self.joiner.push(text);
        let mut said = Vec::new();
        self.think.push(&text, &mut said);
        self.say(said, out);
    }

    /// Words of its thinking, told apart by the protocol.
    pub(crate) fn thinking(&mut self, text: &str, out: &mut Vec<ModelEvent>) {
        if text.is_empty() {
            return;
        }
        self.spoke = true;
        self.bytes += text.len();
        self.spotter.release(out);
        out.push(ModelEvent::Thinking(escapes::plain(text)));
    }

    /// Bytes of words and arguments so far.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes + self.calls.bytes()
    }

    /// Pieces of calls in the form of Chat Completions.
    pub(crate) fn calls(&mut self, pieces: &Value) {
        self.calls.push(&escapes::plain_value(pieces));
    }

    /// A piece of a call as a protocol with numbered blocks sends it.
    pub(crate) fn call(&mut self, index: u64, id: &str, name: &str, arguments: &str) {
        let plain = escapes::plain;
        self.calls
            .push_piece(Some(index), &plain(id), &plain(name), &plain(arguments), false);
    }

    /// A block that begins a call; another one with the same number begins another call.
    pub(crate) fn begin_call(&mut self, index: u64, id: &str, name: &str, arguments: &str) {
        self.calls.begin(index);
        self.call(index, id, name, arguments);
    }

    /// A call that came whole, in the form of Chat Completions.
    pub(crate) fn whole_call(&mut self, call: &Value) {
        self.calls.push_whole(&escapes::plain_value(call));
    }

    /// What the provider wants back. Too much of it is left: a request without it works.
    pub(crate) fn reasoning(&mut self, data: &Value, out: &mut Vec<ModelEvent>) {
        let json = escapes::plain_value(data).to_string();
        if json.len() > MAX_REASONING_BYTES {
            return;
        }
        self.spotter.release(out);
        out.push(ModelEvent::Reasoning(ReasoningData {
            origin: self.context.origin.clone(),
            json,
        }));
    }

    /// Tokens used; told when they changed.
    pub(crate) fn count(&mut self, counts: Counts, out: &mut Vec<ModelEvent>) {
        let known = self.usage.unwrap_or_default();
        let mut usage = Usage {
            input_tokens: counts.input.unwrap_or(known.input_tokens),
            cached_tokens: counts.cached.unwrap_or(known.cached_tokens),
            cache_write_tokens: counts.written.unwrap_or(known.cache_write_tokens),
            output_tokens: counts.output.unwrap_or(known.output_tokens),
            cost_usd: None,
        };
        usage.cost_usd = cost(&usage, self.context.prices.as_ref());
        if self.usage != Some(usage) {
            self.usage = Some(usage);
            out.push(ModelEvent::Usage(usage));
        }
    }

    /// The end: what was held back, the calls, and why it ended.
    pub(crate) fn finish(&mut self, out: &mut Vec<ModelEvent>) {
        let ending = match self.reason {
            Some(FinishReason::Length | FinishReason::Filtered) => Ending::Limit,
            Some(_) => Ending::Whole,
            None if self.done => Ending::Whole,
            None => Ending::Silence,
        };
        self.flush(ending, out);
        out.push(ModelEvent::Finished(match self.reason {
            Some(reason) => reason,
            None if self.done => FinishReason::Stop,
            None => FinishReason::Unknown,
        }));
    }

    /// The connection broke: what was held back, and open calls as cut. No `Finished` follows.
    pub(crate) fn break_off(&mut self, out: &mut Vec<ModelEvent>) {
        self.flush(Ending::Limit, out);
    }

    /// An error inside the stream: what came before stays, and the error in words.
    pub(crate) fn fail(&mut self, error: &Value, out: &mut Vec<ModelEvent>) -> ModelError {
        self.break_off(out);
        let refusal = Refusal::in_stream(&self.context.server, &self.context.model, error);
        let rejected = rejected::read(&refusal, &Trace::default(), &ModelRequest::default());
        let mut error = refusal.into_error();
        error.rejected = rejected.map(Box::new);
        error
    }

    fn flush(&mut self, ending: Ending, out: &mut Vec<ModelEvent>) {
        let mut said = Vec::new();
        let rest = self.joiner.finish();
        self.think.push(&rest, &mut said);
        self.think.finish(&mut said);
        self.say(said, out);
        // A model that calls as it should only quotes what else looks like a call; what broke off is no call either.
        if self.calls.is_empty() && ending == Ending::Whole {
            for call in self.spotter.finish(out) {
                out.push(ModelEvent::Call {
                    id: self.calls.unique(""),
                    name: call.name,
                    arguments: call.arguments,
                    from_text: true,
                    cut: false,
                });
            }
        } else {
            self.spotter.release(out);
        }
        out.extend(self.calls.finish(ending));
    }

    fn say(&mut self, said: Vec<Said>, out: &mut Vec<ModelEvent>) {
        for piece in said {
            match piece {
                Said::Text(text) => self.spotter.push(&text, out),
                Said::Thinking(text) => {
                    self.spotter.release(out);
                    out.push(ModelEvent::Thinking(text));
                }
            }
        }
    }
}

/// A count, also where a server writes it as a fraction.
pub(crate) fn number(value: &Value) -> Option<u64> {
    value
        .as_u64()
        .or_else(|| value.as_f64().filter(|it| *it >= 0.0).map(|it| it as u64))
}
