//! The gate for commands, from outside: the cases by id, a corpus of shell lines, a fuzzer beside real shells, and how
//! much of what agents usually run needs no question.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test may fail loudly, and prints its tables"
)]

#[path = "gate/corpus.rs"]
mod corpus;
#[path = "gate/fixture.rs"]
mod fixture;
#[path = "gate/fuzz.rs"]
mod fuzz;
#[path = "gate/machine.rs"]
mod machine;
#[path = "gate/rules.rs"]
mod rules;
#[path = "gate/security.rs"]
mod security;
#[path = "gate/shells.rs"]
mod shells;
#[path = "gate/useful.rs"]
mod useful;
