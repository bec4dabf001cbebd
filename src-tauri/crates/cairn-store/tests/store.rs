//! The store from outside: what it promises about crashes, other processes, full disks and old databases.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::format_collect,
    reason = "this file is only tests and what they share"
)]

#[path = "store/corpus.rs"]
mod corpus;
#[path = "store/events.rs"]
mod events;
#[path = "store/faults.rs"]
mod faults;
#[path = "store/journal.rs"]
mod journal;
#[path = "store/keychain.rs"]
mod keychain;
#[path = "store/kit.rs"]
mod kit;
#[path = "store/leases.rs"]
mod leases;
#[path = "store/processes.rs"]
mod processes;
#[path = "store/sessions.rs"]
mod sessions;
#[path = "store/speed.rs"]
mod speed;
