//! Usage, cost and the context meter.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Tokens used and what they cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Usage {
    /// Prompt tokens, cached ones included.
    pub input_tokens: u64,
    /// Of those, read from the provider's cache.
    pub cached_tokens: u64,
    /// Of those, written to the provider's cache, where that costs extra.
    #[serde(default)]
    pub cache_write_tokens: u64,
    /// Tokens written by the model, reasoning included.
    pub output_tokens: u64,
    /// In US dollars; none when no price is known. Local models cost nothing and say none.
    pub cost_usd: Option<f64>,
}

/// What fills the context window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum MeterPart {
    /// Rules and tool descriptions.
    Rules,
    /// Instructions and memory.
    Notes,
    /// Tool results.
    Results,
    /// Pictures.
    Pictures,
    /// Messages of both sides.
    Conversation,
}

/// One part of the meter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct MeterShare {
    /// What.
    pub part: MeterPart,
    /// Tokens, estimated.
    pub tokens: u64,
}

/// The context meter: one number, the same that triggers compaction. SPEC C1.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ContextMeter {
    /// Tokens used: last reported plus an estimate of what was added since; none while not known.
    pub used: Option<u64>,
    /// Tokens the model can hold; none while not known.
    pub window: Option<u64>,
    /// Nobody tells the window: it is a guess, and the person is asked once. SPEC M5.
    #[serde(default)]
    pub assumed: bool,
    /// Tokens kept free for the reply.
    pub reserve: u64,
    /// Where older parts get summarised; none while the window is not known.
    pub compacts_at: Option<u64>,
    /// What fills it.
    pub parts: Vec<MeterShare>,
}
