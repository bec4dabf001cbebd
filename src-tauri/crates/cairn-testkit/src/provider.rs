//! A scripted model server over real TCP, which speaks four protocols and refuses what real servers refuse.
//!
//! Owns: the script, the record of what was asked, the gates that a test opens. Must never know: the product.
//!
//! In a test: [`ScriptedServer::start`]. As a process of its own, for tests of the real window:
//! `cargo run -p cairn-testkit --bin scripted-provider -- script.json`, steered through `/_scripted/…`:
//! `GET /_scripted/requests` gives the record, `POST /_scripted/open/NAME` opens a gate,
//! `POST /_scripted/replies` appends replies (a JSON list), `GET /_scripted/waiting` names the gates that are waited at.

mod protocol;
mod script;
mod serve;
mod strict;
mod wire;

use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::Recorder;
pub use protocol::Protocol;
pub use script::{Call, Reply, Script, Step};
pub use strict::chat::check as check_request;

/// Checks a request as the real servers of that protocol do, with their usual limits. A refusal is the body of a 400.
pub fn check_body(protocol: Protocol, body: &Value) -> Result<(), Value> {
    let script = Script::default();
    strict::check(
        protocol,
        body,
        strict::Limits {
            tokens: script.holds,
            pictures: script.most_pictures,
            picture_bytes: script.most_picture_bytes,
        },
    )
}

/// One request as it came.
#[derive(Clone, Debug, Serialize)]
pub struct Recorded {
    /// Number, from 0, over all requests.
    pub number: usize,
    /// `GET`, `POST` …
    pub method: String,
    /// Path with query.
    pub path: String,
    /// Headers in order, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body; null when there was none or it is no JSON.
    pub body: Value,
    /// Bytes of the body.
    pub bytes: usize,
    /// Why the request was refused by the strict rules; none when it was answered from the script.
    pub refused: Option<String>,
    /// How the connection fared: still open, answered whole, or closed by the client before that.
    pub end: End,
}

impl Recorded {
    /// A header's value; the name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    /// The messages of a request to a model (the items, for Responses); empty for others.
    pub fn messages(&self) -> &[Value] {
        self.body
            .get("messages")
            .or_else(|| self.body.get("input"))
            .and_then(Value::as_array)
            .map_or(&[], Vec::as_slice)
    }

    /// Whether it is a request to a model, in any protocol.
    pub fn is_chat(&self) -> bool {
        self.method == "POST" && Protocol::of_path(&self.path).is_some()
    }
}

/// How an exchange fared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// It goes on.
    Open,
    /// The reply was sent as scripted.
    Answered,
    /// The client closed the connection first.
    ClosedByClient,
}

/// What connections share.
#[derive(Debug)]
struct Shared {
    script: Mutex<Script>,
    record: Recorder<Recorded>,
    open: Recorder<String>,
    waiting: Mutex<HashSet<String>>,
}

/// A running server; stops when dropped.
#[derive(Debug)]
pub struct ScriptedServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

impl ScriptedServer {
    /// Starts on a free loopback port. Fails only when no port can be had.
    pub async fn start(script: Script) -> std::io::Result<Self> {
        Self::start_on(script, 0).await
    }

    /// Starts on that loopback port; 0 takes a free one.
    pub async fn start_on(script: Script, port: u16) -> std::io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", port)).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            script: Mutex::new(script),
            record: Recorder::new(),
            open: Recorder::new(),
            waiting: Mutex::new(HashSet::new()),
        });
        let task = tokio::spawn(serve::accept(listener, shared.clone()));
        Ok(Self {
            address,
            shared,
            task,
        })
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Its address with the version part, as a profile has it.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Its address without the version part, as Ollama's own protocol and some others have it.
    pub fn root_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Appends a reply to the script.
    pub fn reply(&self, reply: Reply) {
        self.shared
            .script
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .replies
            .push_back(reply);
    }

    /// Opens a gate, for good.
    pub fn open(&self, gate: &str) {
        self.shared.open.push(gate.to_owned());
    }

    /// All requests so far.
    pub fn requests(&self) -> Vec<Recorded> {
        self.shared.record.all()
    }

    /// All chat requests so far.
    pub fn chats(&self) -> Vec<Recorded> {
        self.requests().into_iter().filter(Recorded::is_chat).collect()
    }

    /// Waits until the record is as wanted; none when that does not come within 30 s.
    pub async fn wait_for(&self, wanted: impl Fn(&[Recorded]) -> bool) -> Option<Vec<Recorded>> {
        self.shared.record.wait_for(wanted).await
    }

    /// Waits for that many chat requests; none when they do not come within 30 s.
    pub async fn wait_for_chats(&self, count: usize) -> Option<Vec<Recorded>> {
        let enough = |all: &[Recorded]| all.iter().filter(|request| request.is_chat()).count() >= count;
        Some(
            self.wait_for(enough)
                .await?
                .into_iter()
                .filter(Recorded::is_chat)
                .collect(),
        )
    }
}

impl Drop for ScriptedServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

#[cfg(test)]
mod tests;
