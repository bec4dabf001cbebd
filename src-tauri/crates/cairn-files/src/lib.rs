//! Files that are changed safely: root handle, compare-and-swap writes, encodings, line ends, read coverage.
//!
//! Owns: how a path is found, how bytes are read and replaced, and what was seen of them.
//! Must never know: whether a call may run, who asked for it, or how anything is drawn on a screen.
//! Everything here blocks; callers in asynchronous code use a blocking thread.

pub mod coverage;
pub mod diff;
pub mod edit;
pub mod encoding;
mod error;
pub mod folder;
pub mod hash;
pub mod lines;
pub mod name;
pub mod read;
mod root;
pub mod swap;
mod sys;

pub use error::FileError;
pub use root::{Kind, Resolved, Root, Special};
