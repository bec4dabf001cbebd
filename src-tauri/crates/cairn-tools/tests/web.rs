//! Fetching and searching against servers of our own on loopback, which the product never reaches: names are answered by
//! a double, and only addresses that passed the filter are led to the servers.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[path = "web/fetching.rs"]
mod fetching;
#[path = "web/fixture.rs"]
mod fixture;
#[path = "web/hostile.rs"]
mod hostile;
#[path = "web/reaching.rs"]
mod reaching;
#[path = "web/searching.rs"]
mod searching;
#[path = "shell/support.rs"]
mod support;
