//! What one wire protocol is made of, and the model that speaks it. SPEC M1.
//!
//! Owns: the form of the table's entries, what a model keeps over its requests. Must never know: any one protocol,
//! sessions, tools, when to retry a failure (the driver does).

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::{Arc, Mutex, PoisonError};

use cairn_agent::model::{Model, ModelError, ModelEvent, ModelInfo, ModelRequest};
use cairn_protocol::{Api, Effort, Prices};
use futures_util::stream::BoxStream;
use serde_json::Value;
use url::Url;

use crate::address::Address;
use crate::catalog;
use crate::exchange::Exchange;
use crate::http::Connection;
use crate::http::refusal::Refusal;
use crate::registry::ModelConfig;
use crate::reply::StreamContext;
use crate::reply::stream::Listener;
use crate::request::{self, Ask, Extras, IdForm, LimitField, Sent, Thinking};

/// Tokens of a reply where a protocol insists on a number and nobody tells one.
const USUAL_LIMIT: u64 = 8_192;

/// How the bytes of a reply are cut into frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// Server-sent events.
    Events,
    /// One JSON document a line.
    Lines,
}

/// Where the key goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyHeader {
    /// `authorization: Bearer …`.
    Bearer,
    /// `x-api-key`, as Anthropic wants it, with the version of its protocol.
    Anthropic,
}

/// One wire protocol.
pub(crate) struct Dialect {
    pub(crate) api: Api,
    pub(crate) key: KeyHeader,
    pub(crate) framing: Framing,
    /// Where requests go.
    pub(crate) endpoint: fn(&Address) -> Url,
    /// What is asked for at first.
    pub(crate) first: fn(&Address, &str) -> Extras,
    /// The form of call ids.
    pub(crate) ids: fn(&Address) -> IdForm,
    pub(crate) compose: fn(&Ask<'_>) -> Sent,
    /// The same request without what the server refuses; none when there is nothing to leave out.
    pub(crate) plainer: fn(Extras, &Refusal) -> Option<Extras>,
    pub(crate) listener: fn() -> Box<dyn Listener>,
    /// Whether a document is a reply that came whole.
    pub(crate) is_reply: fn(&Value) -> bool,
    /// Whether the thinking of a reply with calls is wanted back as text.
    pub(crate) wants_thinking_back: fn(&Address) -> bool,
}

impl Extras {
    /// Nothing beyond the bare protocol but temperature and effort.
    pub(crate) fn plain(thinking: Thinking) -> Self {
        Self {
            stream_options: false,
            return_progress: false,
            temperature: true,
            limit: LimitField::MaxTokens,
            most_tokens: None,
            thinking,
            summary: false,
            encrypted: false,
            cache_marks: false,
        }
    }
}

/// A model behind a server that speaks one of the protocols.
pub(crate) struct WireModel {
    dialect: &'static Dialect,
    connection: Connection,
    info: ModelInfo,
    prices: Option<Prices>,
    effort: Option<Effort>,
    keep_alive: Option<String>,
    origin: String,
    extras: Arc<Learned>,
}

impl WireModel {
    /// Prepares; nothing is sent. Fails with `BadConfig` where address, key or a header cannot be used.
    pub(crate) fn new(
        dialect: &'static Dialect,
        config: &ModelConfig,
        info: ModelInfo,
    ) -> Result<Self, ModelError> {
        let connection = Connection::new(config)?;
        let extras = (dialect.first)(&connection.address, &config.model);
        Ok(Self {
            dialect,
            origin: format!(
                "{:?} {} {}",
                dialect.api,
                (dialect.endpoint)(&connection.address),
                config.model
            ),
            connection,
            info,
            prices: config.prices,
            effort: config.effort,
            keep_alive: config.keep_alive.clone(),
            extras: Arc::new(Learned(Mutex::new(extras))),
        })
    }
}

impl Model for WireModel {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn stream(&self, request: ModelRequest) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        let address = &self.connection.address;
        let context = StreamContext {
            server: address.described(),
            model: self.info.name.clone(),
            prices: self.prices,
            taken_ids: request::call_ids(&request),
            salt: salt(),
            tools: Some(request.tools.clone()),
            origin: self.origin.clone(),
            wants_thinking_back: (self.dialect.wants_thinking_back)(address),
        };
        let question = Question {
            dialect: self.dialect,
            ids: (self.dialect.ids)(address),
            effort: self.effort,
            keep_alive: self.keep_alive.clone(),
            window: self.info.window.filter(|_| !self.info.window_assumed),
            usual_limit: catalog::most_output(&self.info.name).unwrap_or(USUAL_LIMIT),
            origin: self.origin.clone(),
            request,
        };
        Exchange::new(self.connection.clone(), self.extras.clone(), question, context).into_stream()
    }
}

/// A request together with all that its body is made from.
pub(crate) struct Question {
    pub(crate) dialect: &'static Dialect,
    pub(crate) request: ModelRequest,
    ids: IdForm,
    effort: Option<Effort>,
    keep_alive: Option<String>,
    window: Option<u64>,
    usual_limit: u64,
    origin: String,
}

impl Question {
    /// The body, with those extras.
    pub(crate) fn compose(&self, model: &str, extras: Extras) -> Sent {
        (self.dialect.compose)(&Ask {
            model,
            request: &self.request,
            extras,
            effort: self.effort,
            keep_alive: self.keep_alive.as_deref(),
            window: self.window,
            usual_limit: self.usual_limit,
            origin: &self.origin,
            ids: self.ids,
        })
    }
}

/// Makes call ids of ours differ between replies; the hasher's keys are random.
pub(crate) fn salt() -> String {
    format!("{:08x}", RandomState::new().build_hasher().finish() as u32)
}

/// What the server is known to accept, kept over the requests of one model.
#[derive(Debug)]
pub(crate) struct Learned(Mutex<Extras>);

impl Learned {
    pub(crate) fn get(&self) -> Extras {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set(&self, extras: Extras) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = extras;
    }
}
