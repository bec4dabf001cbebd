//! What may happen: effects, rules, modes and the one pure decision.
//!
//! Owns: the judgement. Must never know: how anything is done, or who asks. No input or output.

mod effect;

pub use effect::*;
