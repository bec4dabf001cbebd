//! Models: one file per wire protocol, what they share, discovery, the demo script.
//!
//! Owns: how a request becomes bytes for a server and how its bytes become [`cairn_agent::model::ModelEvent`]s.
//! Must never know: tools, sessions, permissions, where keys are kept, windows.
//!
//! Start with [`build`], which turns a [`ModelConfig`] into something that can be asked. A new protocol is one
//! file with a `DIALECT` constant and one line in `registry.rs`.

pub mod address;
mod anthropic;
mod catalog;
mod chat;
mod cost;
pub mod demo;
mod dialect;
pub mod discover;
mod exchange;
mod gguf;
mod http;
mod inspect;
pub mod ndjson;
mod ollama;
mod registry;
mod reply;
mod request;
mod responses;
mod secret;
pub mod sse;
#[cfg(test)]
mod trying;

pub use cost::cost;
pub use gguf::AVAILABLE as RUNS_MODEL_FILES;
pub use inspect::{Inspection, assume, inspect, trial};
pub use registry::{ModelConfig, build};
pub use reply::StreamContext;
pub use reply::stream::ReplyStream;
pub use secret::Secret;
