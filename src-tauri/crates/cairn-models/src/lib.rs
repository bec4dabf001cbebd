//! Models: one file per wire protocol, what they share, discovery, the demo script.
//!
//! Owns: how a request becomes bytes for a server and how its bytes become [`cairn_agent::model::ModelEvent`]s.
//! Must never know: tools, sessions, permissions, where keys are kept, windows.
//!
//! Start with [`build`], which turns a [`ModelConfig`] into something that can be asked. A new protocol is one
//! file with a `PROTOCOL` constant and one line in `registry.rs`.

pub mod address;
mod catalog;
pub mod chat;
mod cost;
pub mod demo;
pub mod discover;
mod http;
mod inspect;
mod registry;
mod secret;
pub mod sse;

pub use cost::cost;
pub use inspect::{Inspection, assume, inspect, trial};
pub use registry::{ModelConfig, build};
pub use secret::Secret;
