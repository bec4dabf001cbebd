//! What the server will say: replies made of steps, from Rust or from JSON. Owns: their form. Knows no socket.
//!
//! ```json
//! {
//!   "model": "scripted", "vision": true, "context_window": 32768,
//!   "replies": [
//!     { "text": ["I look ", "around."], "tool_calls": [{ "name": "list_dir", "arguments": { "path": "." } }] },
//!     { "when": "axis.png", "gate": "go", "text": "I saw it.", "usage": { "prompt_tokens": 9, "completion_tokens": 3 } },
//!     { "status": 429, "headers": { "retry-after": "1" }, "error": "slow down" },
//!     { "steps": [{ "text": "half a wo" }, "hang"] }
//!   ],
//!   "last": { "text": "Done." }, "side": { "text": "A title" }
//! }
//! ```

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// What a server will say, in order.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Script {
    /// Name of the model it offers.
    pub model: String,
    /// Whether `/props` and `/v1/models` say that it sees pictures.
    pub vision: bool,
    /// The window that `/props` and `/v1/models` tell; 0 tells none.
    pub context_window: u64,
    /// Whether requests that real servers refuse are refused.
    pub strict: bool,
    /// Tokens that the model holds, a token being four bytes; what is longer is refused. 0 for no limit.
    pub holds: u64,
    /// Tokens that the server counts for every four bytes of a request and a reply; what a reply says itself goes before.
    /// 0 for none.
    pub counts: f64,
    /// Pictures that one request may have.
    pub most_pictures: usize,
    /// Bytes that one picture may have as base64.
    pub most_picture_bytes: usize,
    /// Replies, each used once: a request gets the first whose `when` fits.
    pub replies: VecDeque<Reply>,
    /// The reply when all are used; a 500 when there is none.
    pub last: Option<Reply>,
    /// The reply to requests that offer no tools (titles, trials); those use up no other reply when it is set.
    pub side: Option<Reply>,
    /// Documents for `GET` (or `POST`, for `/api/show`) of other paths, like `/api/tags`.
    pub documents: BTreeMap<String, Value>,
}

impl Default for Script {
    fn default() -> Self {
        Self {
            model: "scripted".to_owned(),
            vision: true,
            context_window: 32_768,
            strict: true,
            holds: 0,
            counts: 0.0,
            most_pictures: 100,
            most_picture_bytes: 5 * 1024 * 1024 * 4 / 3,
            replies: VecDeque::new(),
            last: None,
            side: None,
            documents: BTreeMap::new(),
        }
    }
}

impl Script {
    /// A script of these replies.
    pub fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        Self {
            replies: replies.into_iter().collect(),
            ..Self::default()
        }
    }

    /// The same with a document at a path.
    #[must_use]
    pub fn document(mut self, path: &str, document: Value) -> Self {
        self.documents.insert(path.to_owned(), document);
        self
    }

    /// Takes the reply for a request.
    pub(super) fn take(&mut self, body: &Value) -> Option<Reply> {
        let without_tools = body.get("tools").is_none();
        if let Some(side) = self.side.as_ref().filter(|_| without_tools) {
            return Some(side.clone());
        }
        let last = body
            .get("messages")
            .or_else(|| body.get("input"))
            .and_then(Value::as_array)
            .and_then(|messages| messages.last());
        let last = last.map(Value::to_string).unwrap_or_default();
        let at = self
            .replies
            .iter()
            .position(|reply| reply.when.as_ref().is_none_or(|when| last.contains(when)));
        at.and_then(|at| self.replies.remove(at))
            .or_else(|| self.last.clone())
    }
}

/// One reply. Use the functions to make one; from JSON every field is optional.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Reply {
    /// Only for a request whose last message (as JSON text) holds these words.
    pub when: Option<String>,
    /// A gate to wait at before anything is sent.
    pub gate: Option<String>,
    /// Status; 200 when none.
    pub status: Option<u16>,
    /// Headers beside the usual ones; `content-type` replaces the usual one.
    pub headers: BTreeMap<String, String>,
    /// An error body in OpenAI's form, with that message (or that object).
    pub error: Option<Value>,
    /// The body as it is, not chunked into frames.
    pub body: Option<String>,
    /// Thinking, one frame each.
    pub thinking: Pieces,
    /// Text, one frame each.
    pub text: Pieces,
    /// Calls.
    pub tool_calls: Vec<Call>,
    /// The count of tokens, sent when it was asked for.
    pub usage: Option<Value>,
    /// The reason of the end; `stop` or `tool_calls` when none.
    pub finish: Option<String>,
    /// Milliseconds before each frame, for looks only.
    pub pace_ms: u64,
    /// Exactly these steps instead of all of the above from `thinking` on.
    pub steps: Vec<Step>,
    /// Cuts the connection after that many bytes of the body.
    pub cut_after: Option<usize>,
}

/// One piece of text or several.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(untagged)]
pub enum Pieces {
    /// None.
    #[default]
    None,
    /// One.
    One(String),
    /// Several.
    Many(Vec<String>),
}

impl Pieces {
    fn list(&self) -> &[String] {
        match self {
            Self::None => &[],
            Self::One(text) => std::slice::from_ref(text),
            Self::Many(list) => list,
        }
    }
}

/// A call that the scripted model makes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// Its id; made up when none.
    #[serde(default)]
    pub id: Option<String>,
    /// The tool.
    pub name: String,
    /// The arguments: a string is sent as it is, anything else as its JSON text.
    pub arguments: Value,
    /// Frames that the arguments are split into; 1 when 0.
    #[serde(default)]
    pub pieces: usize,
}

/// One step of a reply.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// A frame with text.
    Text(String),
    /// A frame with thinking.
    Thinking(String),
    /// A frame with that `delta`.
    Delta(Value),
    /// A frame that is that document.
    Frame(Value),
    /// A frame with that reason of the end.
    Finish(String),
    /// Text as it is, in the middle of the stream.
    Raw(String),
    /// `data: [DONE]`.
    Done,
    /// Waits until that gate is open.
    Gate(String),
    /// Waits that long, for looks only.
    PauseMs(u64),
    /// Says nothing more and leaves the connection open.
    Hang,
    /// Closes the connection without an end.
    Cut,
}

impl Reply {
    /// A reply of that text.
    pub fn text(text: &str) -> Self {
        Self {
            text: Pieces::One(text.to_owned()),
            ..Self::default()
        }
    }

    /// A reply of text in these pieces.
    pub fn pieces<'a>(pieces: impl IntoIterator<Item = &'a str>) -> Self {
        Self {
            text: Pieces::Many(pieces.into_iter().map(str::to_owned).collect()),
            ..Self::default()
        }
    }

    /// A reply that makes one call.
    pub fn call(name: &str, arguments: Value) -> Self {
        Self::default().and_call(name, arguments)
    }

    /// The same with one more call, its arguments in three pieces.
    #[must_use]
    pub fn and_call(mut self, name: &str, arguments: Value) -> Self {
        self.tool_calls.push(Call {
            id: None,
            name: name.to_owned(),
            arguments,
            pieces: 3,
        });
        self
    }

    /// A reply of exactly these steps.
    pub fn steps(steps: impl IntoIterator<Item = Step>) -> Self {
        Self {
            steps: steps.into_iter().collect(),
            ..Self::default()
        }
    }

    /// A stream of exactly these bytes.
    pub fn stream(text: &str) -> Self {
        Self::steps([Step::Raw(text.to_owned())])
    }

    /// An error in OpenAI's form.
    pub fn error(status: u16, message: &str) -> Self {
        Self {
            status: Some(status),
            error: Some(message.into()),
            ..Self::default()
        }
    }

    /// A body as it is.
    pub fn body(status: u16, content_type: &str, body: &str) -> Self {
        Self {
            status: Some(status),
            body: Some(body.to_owned()),
            ..Self::default()
        }
        .header("content-type", content_type)
    }

    /// The same with a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.insert(name.to_owned(), value.to_owned());
        self
    }

    /// The same, only for a request whose last message holds these words.
    #[must_use]
    pub fn when(mut self, words: &str) -> Self {
        self.when = Some(words.to_owned());
        self
    }

    /// The same, sent once that gate is open.
    #[must_use]
    pub fn gate(mut self, gate: &str) -> Self {
        self.gate = Some(gate.to_owned());
        self
    }

    /// The same with a count of tokens.
    #[must_use]
    pub fn usage(mut self, prompt: u64, cached: u64, completion: u64) -> Self {
        self.usage = Some(json!({
            "prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion,
            "prompt_tokens_details": { "cached_tokens": cached },
        }));
        self
    }

    /// The same with the count of a server that takes so many tokens for four bytes.
    pub(super) fn counted(self, body: &Value, counts: f64) -> Self {
        if counts <= 0.0 || self.usage.is_some() {
            return self;
        }
        let said: usize = self.words().iter().map(|(words, _)| words.len()).sum();
        let tokens = |bytes: usize| (bytes as f64 / 4.0 * counts).round() as u64;
        let (prompt, completion) = (tokens(super::strict::text_bytes(body)), tokens(said).max(1));
        self.usage(prompt, 0, completion)
    }

    /// The same, cut after that many bytes of its body.
    #[must_use]
    pub fn cut_after(mut self, bytes: usize) -> Self {
        self.cut_after = Some(bytes);
        self
    }

    /// The words in their order, and whether they are thought.
    pub(super) fn words(&self) -> Vec<(&str, bool)> {
        let thoughts = self.thinking.list().iter().map(|text| (text.as_str(), true));
        let texts = self.text.list().iter().map(|text| (text.as_str(), false));
        thoughts.chain(texts).collect()
    }

    /// All steps; `number` makes the ids of calls, `wants_usage` is what the request asked for.
    pub(super) fn all_steps(&self, number: usize, wants_usage: bool) -> Vec<Step> {
        if !self.steps.is_empty() {
            return self.steps.clone();
        }
        let mut steps = vec![Step::Delta(json!({ "role": "assistant", "content": "" }))];
        steps.extend(self.thinking.list().iter().cloned().map(Step::Thinking));
        steps.extend(self.text.list().iter().cloned().map(Step::Text));
        for (index, call) in self.tool_calls.iter().enumerate() {
            steps.extend(call_steps(call, index, number));
        }
        let usual = if self.tool_calls.is_empty() {
            "stop"
        } else {
            "tool_calls"
        };
        steps.push(Step::Finish(
            self.finish.clone().unwrap_or_else(|| usual.to_owned()),
        ));
        if let Some(usage) = self.usage.as_ref().filter(|_| wants_usage) {
            steps.push(Step::Frame(
                json!({ "object": "chat.completion.chunk", "choices": [], "usage": usage }),
            ));
        }
        steps.push(Step::Done);
        if self.pace_ms > 0 {
            steps = steps
                .into_iter()
                .flat_map(|step| [Step::PauseMs(self.pace_ms), step])
                .collect();
        }
        steps
    }
}

impl Call {
    /// The arguments as they are written.
    pub(super) fn arguments_text(&self) -> String {
        self.arguments
            .as_str()
            .map_or_else(|| self.arguments.to_string(), str::to_owned)
    }

    /// A text in as many pieces as this call's arguments shall come in.
    pub(super) fn pieces_of(&self, text: &str) -> Vec<String> {
        let letters: Vec<char> = text.chars().collect();
        let size = letters.len().div_ceil(self.pieces.max(1)).max(1);
        letters.chunks(size).map(|piece| piece.iter().collect()).collect()
    }
}

fn call_steps(call: &Call, index: usize, number: usize) -> Vec<Step> {
    let id = call
        .id
        .clone()
        .unwrap_or_else(|| format!("call_{number}_{index}"));
    let delta = |piece: Value| Step::Delta(json!({ "tool_calls": [piece] }));
    let mut steps = vec![delta(json!({
        "index": index, "id": id, "type": "function", "function": { "name": call.name, "arguments": "" },
    }))];
    let pieces = call.pieces_of(&call.arguments_text());
    steps.extend(
        pieces
            .into_iter()
            .map(|piece| delta(json!({ "index": index, "function": { "arguments": piece } }))),
    );
    steps
}
