//! The turn: a pure state machine, its driver, the prompt, and the traits it drives.
//!
//! Owns: what happens next. Must never know: disks, networks, windows. Only [`driver`] awaits anything.

pub mod arguments;
mod brief;
pub mod budget;
pub mod context;
pub mod driver;
pub mod effect;
pub mod history;
pub mod log;
pub mod meter;
pub mod model;
pub mod nudge;
pub mod prompt;
pub mod repeat;
pub mod retry;
pub mod store;
pub mod summary;
pub mod tool;
pub mod turn;
pub mod world;
