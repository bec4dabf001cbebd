//! What holds commands in on this machine. SPEC P12.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// How far commands are held in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum SandboxLevel {
    /// By all that there is.
    Whole,
    /// With gaps, which are named.
    Partly,
    /// Not at all: saved rules hold, and in `auto` every command asks.
    None,
}

/// What holds commands in, as it was found by trying.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SandboxView {
    /// How far.
    pub level: SandboxLevel,
    /// What does it, like `bubblewrap (/usr/bin/bwrap)`; empty where nothing does.
    pub layer: String,
    /// What is not enforced, one phrase each.
    pub gaps: Vec<String>,
    /// Why there is nothing better, one sentence each.
    pub why_not: Vec<String>,
    /// What to do for more; empty where nothing is missing.
    pub remedy: String,
}
