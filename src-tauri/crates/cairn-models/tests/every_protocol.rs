//! Every protocol against the same promises: however a stream is cut it says the same, whatever a session holds its
//! server takes it, and bad input ends in words. Over real HTTP where bytes matter.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may fail loudly"
)]

#[path = "every_protocol/conversations.rs"]
mod conversations;
#[path = "every_protocol/faults.rs"]
mod faults;
#[path = "every_protocol/recordings.rs"]
mod recordings;
#[path = "every_protocol/support.rs"]
mod support;
