//! The turn: a pure state machine, its driver, the prompt, and the traits it drives.
//!
//! Owns: what happens next. Must never know: disks, networks, windows. Only [`driver`] awaits anything.

pub mod model;
pub mod store;
pub mod tool;
pub mod world;
