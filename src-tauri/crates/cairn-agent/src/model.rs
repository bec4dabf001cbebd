//! The model interface: one request in, a stream of events out. Dropping the stream cancels the request.

use std::sync::Arc;
use std::time::Duration;

use cairn_protocol::{ApiError, ErrorCode, ReasoningData, Usage};
use futures_util::stream::BoxStream;

use crate::tool::{PictureBytes, ToolSpec};

/// Who wrote a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The person (and what the driver says in the person's place).
    User,
    /// The model.
    Assistant,
    /// A tool; its message holds only results.
    Tool,
}

/// One piece of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// Words.
    Text(String),
    /// A picture. Models without vision never get one: the driver has put a sentence in its place.
    Picture(PictureBytes),
    /// A call the model made.
    Call {
        /// Its id, unique in the request.
        id: String,
        /// The tool's name as the model wrote it.
        name: String,
        /// The arguments as the model wrote them; always a valid JSON object by the time it is sent again.
        arguments: String,
    },
    /// What a provider wants back of its own thinking, before what it said next. SPEC M7. A protocol leaves out what
    /// another provider, or another model, made.
    Reasoning(ReasoningData),
    /// The result of a call.
    Result {
        /// The call's id.
        id: String,
        /// The text.
        text: String,
        /// Pictures that belong to it.
        pictures: Vec<PictureBytes>,
        /// Whether it ended well.
        ok: bool,
    },
}

/// One message of the conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// Who wrote it.
    pub role: Role,
    /// Its pieces.
    pub parts: Vec<Part>,
}

/// One request to a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelRequest {
    /// The system prompt, in the stable order of its parts.
    pub system: String,
    /// The conversation: every call has exactly one result, in a message right after its own.
    pub messages: Vec<Message>,
    /// Tools the model may call.
    pub tools: Arc<[ToolSpec]>,
    /// Tokens the reply may have.
    pub max_output_tokens: Option<u64>,
    /// Sampling temperature.
    pub temperature: Option<f64>,
}

/// Why a reply ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FinishReason {
    /// The model was done, or wants its calls carried out.
    Stop,
    /// The output limit cut it: an open call was not written to its end and must not run.
    Length,
    /// The provider's filter cut it.
    Filtered,
    /// The stream ended without saying why.
    Unknown,
}

/// One thing a model says.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelEvent {
    /// The server loads the model.
    Loading,
    /// The server reads the prompt.
    Reading {
        /// Tokens read.
        done: u64,
        /// Tokens in all.
        total: u64,
    },
    /// Words of the answer.
    Text(String),
    /// Words of its thinking.
    Thinking(String),
    /// What the provider wants back of the thinking that came just before; sent once per thought, also where it has no
    /// words.
    Reasoning(ReasoningData),
    /// One whole call. Sent once, when its arguments are complete.
    Call {
        /// Its id; made up where the server gave none or gave one twice.
        id: String,
        /// The tool's name.
        name: String,
        /// The arguments as written; anything from an empty string to broken JSON.
        arguments: String,
        /// Recognised in plain text. SPEC M3.
        from_text: bool,
        /// The stream ended before the call did: it must not run.
        cut: bool,
    },
    /// Tokens used, cumulative for this reply.
    Usage(Usage),
    /// The end; nothing follows.
    Finished(FinishReason),
}

/// Where something stands in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Index in [`ModelRequest::messages`].
    pub message: usize,
    /// Index in [`Message::parts`]; none when it may be any of them.
    pub part: Option<usize>,
}

/// What is wrong with a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureFault {
    /// There are too many in the request.
    TooMany,
    /// Too many bytes or pixels.
    TooLarge,
    /// It cannot be read, or is not of the type that it is said to be.
    Unreadable,
    /// The model sees no pictures.
    Unsupported,
    /// The server does not say.
    Unknown,
}

/// What a server objects to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Objection {
    /// More tokens than the model holds.
    TooLong {
        /// Tokens that were sent, where the server tells.
        sent: Option<u64>,
        /// Tokens that it holds, where the server tells.
        limit: Option<u64>,
    },
    /// A picture.
    Picture(PictureFault),
    /// A call without its result, a result without its call, or an id that is there twice.
    Pairing {
        /// The call's id as the request has it, where the server tells.
        call: Option<String>,
    },
    /// Reasoning data: of another provider, or changed.
    Reasoning,
    /// Roles in the wrong order, or empty content.
    Shape,
    /// The schema or the name of a tool.
    Tool {
        /// Its name, where the server tells.
        name: Option<String>,
    },
    /// A field that the server or the model does not know; nothing of the conversation is at fault.
    Parameter(String),
    /// Something of the conversation, with no reason that is known.
    Unknown,
}

/// What of a request was refused, for whoever sets exactly that aside and sends the rest again. SPEC M8.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// What is wrong.
    pub what: Objection,
    /// Where, as far as the server tells.
    pub at: Option<Place>,
}

/// Why a request failed. The driver retries `retryable` ones (SPEC M4); the rest end the request with words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{error}")]
pub struct ModelError {
    /// Kind and words: what was tried, why it failed, what to do.
    pub error: ApiError,
    /// Sending the same again may work.
    pub retryable: bool,
    /// How long the server asked to wait.
    pub retry_after: Option<Duration>,
    /// Which part of the request was refused, where the refusal is about one.
    pub rejected: Option<Box<Rejected>>,
}

impl ModelError {
    /// A failure that the same request would meet again.
    pub fn fatal(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            error: ApiError::new(code, sentence(message.into())),
            retryable: false,
            retry_after: None,
            rejected: None,
        }
    }

    /// A failure that may pass.
    pub fn passing(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            error: ApiError::new(code, sentence(message.into())),
            retryable: true,
            retry_after: None,
            rejected: None,
        }
    }
}

/// What reaches a person is a sentence, also where it begins with a server that has no name.
fn sentence(message: String) -> String {
    let mut letters = message.chars();
    match letters.next() {
        Some(first) if first.is_lowercase() => first.to_uppercase().chain(letters).collect(),
        _ => message,
    }
}

/// What is known about a model. SPEC M5.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelInfo {
    /// Its name at the server.
    pub name: String,
    /// Tokens it can hold; none while not known.
    pub window: Option<u64>,
    /// The window is a guess: neither profile nor server nor table tells it.
    pub window_assumed: bool,
    /// Tokens a reply may have; none when the server's own limit holds.
    pub max_output_tokens: Option<u64>,
    /// Sampling temperature that the profile asks for; none leaves it to the server.
    pub temperature: Option<f64>,
    /// Whether it calls tools.
    pub tools: bool,
    /// Whether it sees pictures.
    pub vision: bool,
    /// Whether it runs on this machine: no silence limit, no cost.
    pub local: bool,
}

/// A model that can be asked.
pub trait Model: Send + Sync {
    /// What is known about it.
    fn info(&self) -> &ModelInfo;

    /// Sends the request. Errors come as the last element; text that came before stays valid.
    fn stream(&self, request: ModelRequest) -> BoxStream<'static, Result<ModelEvent, ModelError>>;
}
