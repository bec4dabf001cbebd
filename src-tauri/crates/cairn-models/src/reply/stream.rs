//! A stream's events in, the model's events out, for every protocol. Pure.
//!
//! Owns: what all streams have alike: marks of the end, frames that are no JSON, errors in mid-stream, the limit of
//! one reply. Must never know: bytes, connections, time.

use cairn_agent::model::{ModelError, ModelEvent};
use cairn_protocol::{Api, ErrorCode};
use serde_json::Value;

use super::{Reply, StreamContext, escapes};
use crate::registry;
use crate::sse::SseEvent;

/// Bytes of words and arguments that one reply may have.
const MAX_REPLY_BYTES: usize = 16 * 1024 * 1024;

/// How one protocol reads its frames.
pub(crate) trait Listener: std::fmt::Debug + Send {
    /// Takes one frame.
    fn frame(&mut self, frame: &Value, reply: &mut Reply, out: &mut Vec<ModelEvent>);

    /// Takes a reply that came whole, from a server that does not stream.
    fn whole(&mut self, document: &Value, reply: &mut Reply, out: &mut Vec<ModelEvent>) {
        self.frame(document, reply, out);
    }

    /// What is told only at the end, before the calls.
    fn end(&mut self, _reply: &mut Reply, _out: &mut Vec<ModelEvent>) {}
}

/// Reads one reply. Feed it events; after [`ReplyStream::is_over`] or at the end of the bytes call
/// [`ReplyStream::finish`].
#[derive(Debug)]
pub struct ReplyStream {
    reply: Reply,
    listener: Box<dyn Listener>,
    frames: u64,
    broken: Option<String>,
}

impl ReplyStream {
    /// At the beginning of a reply in that protocol. What speaks no protocol, like the demo, is read as chat.
    pub fn new(api: Api, context: StreamContext) -> Self {
        Self {
            reply: Reply::new(context),
            listener: registry::listener(api),
            frames: 0,
            broken: None,
        }
    }

    /// Takes one event and appends what it says. An error in the stream ends it: what came before has been
    /// appended, calls that were open as `cut`.
    pub fn push(&mut self, event: &SseEvent, out: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        let Some(frame) = self.parse(event, out)? else {
            return Ok(());
        };
        self.listener.frame(&frame, &mut self.reply, out);
        self.within_limit(out)
    }

    /// Takes a reply that came whole, from a server that does not stream.
    pub fn push_whole(&mut self, document: &Value, out: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        let event = SseEvent {
            name: String::new(),
            data: document.to_string(),
        };
        let Some(frame) = self.parse(&event, out)? else {
            return Ok(());
        };
        self.listener.whole(&frame, &mut self.reply, out);
        self.within_limit(out)
    }

    /// The frame of an event; none for what says nothing.
    fn parse(&mut self, event: &SseEvent, out: &mut Vec<ModelEvent>) -> Result<Option<Value>, ModelError> {
        let data = event.data.trim();
        if self.reply.done || data.is_empty() {
            return Ok(None);
        }
        if data == "[DONE]" {
            self.reply.done = true;
            return Ok(None);
        }
        let Some(frame) = escapes::parse(data) else {
            if event.name == "error" {
                return Err(self.fail(&Value::String(data.to_owned()), out));
            }
            // One bad frame is skipped; only when nothing else comes is it worth a word.
            self.broken
                .get_or_insert_with(|| data.chars().take(200).collect());
            return Ok(None);
        };
        self.frames += 1;
        if let Some(error) = error_of(event, &frame) {
            let error = error.clone();
            return Err(self.fail(&error, out));
        }
        Ok(Some(frame))
    }

    fn within_limit(&mut self, out: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        if self.reply.bytes() <= MAX_REPLY_BYTES {
            return Ok(());
        }
        self.break_off(out);
        Err(ModelError::fatal(
            ErrorCode::ModelGarbage,
            format!(
                "{} was stopped: one reply of it went over 16 MB, which no model writes in earnest. Try again, or choose \
                 another model.",
                self.reply.context.model
            ),
        ))
    }

    /// Whether the server has said all: nothing that comes after matters.
    pub fn is_over(&self) -> bool {
        self.reply.done
    }

    /// Whether the reply is complete but for a late count of tokens.
    pub fn has_reason(&self) -> bool {
        self.reply.reason.is_some()
    }

    /// Whether anything of the protocol was understood.
    pub fn understood(&self) -> bool {
        self.frames > 0 || self.reply.done
    }

    /// The start of a frame that was no JSON, if there was one.
    pub fn broken_frame(&self) -> Option<&str> {
        self.broken.as_deref()
    }

    /// The end: what was held back, the calls, and why it ended.
    pub fn finish(&mut self, out: &mut Vec<ModelEvent>) {
        self.listener.end(&mut self.reply, out);
        self.reply.finish(out);
    }

    /// The connection broke: what was held back, and open calls as cut. No `Finished` follows.
    pub fn break_off(&mut self, out: &mut Vec<ModelEvent>) {
        self.reply.break_off(out);
    }

    fn fail(&mut self, error: &Value, out: &mut Vec<ModelEvent>) -> ModelError {
        self.reply.fail(error, out)
    }
}

/// The error that a frame carries, in any of the shapes servers use.
fn error_of<'a>(event: &SseEvent, frame: &'a Value) -> Option<&'a Value> {
    let given = |error: &&Value| match error {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        _ => true,
    };
    let word = |field: &str| frame.get(field).and_then(Value::as_str);
    let named = frame.get("error").filter(given);
    let failed = frame.pointer("/response/error").filter(given);
    let is_error = event.name == "error" || word("object") == Some("error") || word("type") == Some("error");
    let bare_detail =
        frame.get("detail").is_some() && frame.get("choices").is_none() && frame.get("type").is_none();
    named
        .or(failed)
        .or_else(|| (is_error || bare_detail).then_some(frame))
}
