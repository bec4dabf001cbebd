//! The web: one careful way out, which `web_fetch` and `web_search` share. SPEC T24, T25.
//!
//! Owns: how an address is read, which machines may be connected to, how a body comes in and what is made of it. Must
//! never know: whether a host may be asked at all (the gate decides that on the declared effect), or what a tool does
//! with the text.
//!
//! The order of things: an address is read and refused by its form ([`target`]); a name is resolved and its addresses
//! filtered, and exactly those are connected to ([`network`]); redirects are followed by hand ([`exchange`]); the body is
//! unpacked while every unpacked byte is counted ([`decode`]); its kind is told by header and first bytes ([`kind`]);
//! HTML goes to the helper; what comes out is wrapped as text from outside ([`crate::untrusted`]).

pub(crate) mod address;
pub mod config;
mod decode;
mod error;
mod exchange;
pub(crate) mod kind;
mod network;
pub(crate) mod pages;
pub(crate) mod search;
mod secret;
mod wait;

use std::sync::Arc;
use std::time::Duration;

use crate::untrusted::Marks;
pub use config::{Engine, WebConfig};
pub use error::WebError;
pub(crate) use exchange::{Answer, Asked, Got, Reach};
pub use network::{Internet, Network};
use pages::Pages;

/// Characters of a query.
const LONGEST_QUERY: usize = 400;

/// Why a query does not go out; none when it may. Cases X122, N59.
pub(crate) fn query_problem(query: &str) -> Option<String> {
    if query.is_empty() {
        return Some("the query is empty".to_owned());
    }
    if query.contains(['\n', '\r', '\u{2028}', '\u{2029}', '\u{85}']) {
        return Some("the query has line breaks; give one line".to_owned());
    }
    let length = query.chars().count();
    if length > LONGEST_QUERY {
        return Some(format!(
            "the query has {length} characters, and at most {LONGEST_QUERY} are sent; ask shorter"
        ));
    }
    secret::in_query(query).map(|what| {
        format!("the query holds what looks like {what}, which the engine would get; leave it out")
    })
}

/// How much and how long. The defaults are those of SPEC T24.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// For the whole call, retries and redirects included. A little less than the call's own limit, so that there is
    /// time to say what happened.
    pub total: Duration,
    /// Until a connection stands.
    pub connect: Duration,
    /// Between two pieces of an answer, and before its first.
    pub silence: Duration,
    /// Before the second attempt; doubled before the third.
    pub pause: Duration,
    /// The longest wait that a server may ask for.
    pub patience: Duration,
    /// Bytes of a body, as it comes and at each stage of unpacking.
    pub bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            total: Duration::from_millis(29_500),
            connect: Duration::from_secs(10),
            silence: Duration::from_secs(10),
            pause: Duration::from_millis(500),
            patience: Duration::from_secs(10),
            bytes: 10_000_000,
        }
    }
}

/// The web of one session: the way out, and what was fetched lately.
pub struct Web {
    network: Arc<dyn Network>,
    limits: Limits,
    pub(crate) marks: Marks,
    pub(crate) pages: Pages,
}

impl Web {
    /// Over the system's own resolver and network.
    pub fn internet() -> Self {
        Self::over(Arc::new(Internet), Limits::default())
    }

    /// Over another network and with other limits. What the network resolves is filtered all the same.
    pub fn over(network: Arc<dyn Network>, limits: Limits) -> Self {
        Self {
            network,
            limits,
            marks: Marks::new(),
            pages: Pages::default(),
        }
    }
}
