//! OpenAI Chat Completions, streamed, and what calls itself compatible. SPEC M1, M2, M4.
//!
//! Owns: the order of one exchange: ask, perhaps ask more plainly, wait for a loading model, read to the end.
//! Must never know: tools, sessions, when to retry a failure (the driver does).

mod calls;
mod escapes;
mod exchange;
mod request;
mod stream;
mod think;

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::{Arc, Mutex, PoisonError};

use cairn_agent::model::{Model, ModelError, ModelEvent, ModelInfo, ModelRequest};
use cairn_protocol::{Api, Prices};
use futures_util::stream::BoxStream;

use crate::address::Address;
use crate::http::Connection;
use crate::registry::{ModelConfig, Protocol};
use exchange::Exchange;
use request::{Extras, LimitField};
pub use stream::{ChatStream, StreamContext};

pub(crate) const PROTOCOL: Protocol = Protocol {
    api: Api::Openai,
    build,
};

fn build(config: &ModelConfig, info: ModelInfo) -> Result<Arc<dyn Model>, ModelError> {
    Ok(Arc::new(ChatModel::new(config, info)?))
}

/// A model behind a Chat Completions server.
#[derive(Debug)]
pub struct ChatModel {
    connection: Connection,
    info: ModelInfo,
    prices: Option<Prices>,
    extras: Arc<Learned>,
}

impl ChatModel {
    /// Prepares; nothing is sent. Fails with `BadConfig` where address, key or a header cannot be used.
    pub fn new(config: &ModelConfig, info: ModelInfo) -> Result<Self, ModelError> {
        let connection = Connection::new(config)?;
        let extras = Arc::new(Learned::for_address(&connection.address));
        Ok(Self {
            connection,
            info,
            prices: config.prices,
            extras,
        })
    }
}

impl Model for ChatModel {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn stream(&self, request: ModelRequest) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        let context = StreamContext {
            server: self.connection.address.described(),
            model: self.info.name.clone(),
            prices: self.prices,
            taken_ids: request::call_ids(&request),
            salt: salt(),
        };
        Exchange::new(self.connection.clone(), self.extras.clone(), request, context).into_stream()
    }
}

/// Makes call ids of ours differ between replies; the hasher's keys are random.
fn salt() -> String {
    format!("{:08x}", RandomState::new().build_hasher().finish() as u32)
}

/// What the server is known to accept, kept over the requests of one model.
#[derive(Debug)]
struct Learned(Mutex<Extras>);

impl Learned {
    fn for_address(address: &Address) -> Self {
        let openai = matches!(address.known_name(), Some("OpenAI" | "Azure OpenAI"));
        Self(Mutex::new(Extras {
            stream_options: true,
            // Only llama.cpp knows it, and a local server on another port may be one.
            return_progress: address.is_local() && matches!(address.known_name(), Some("llama.cpp") | None),
            temperature: true,
            limit: if openai {
                LimitField::MaxCompletionTokens
            } else {
                LimitField::MaxTokens
            },
        }))
    }

    fn get(&self) -> Extras {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, extras: Extras) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = extras;
    }
}
