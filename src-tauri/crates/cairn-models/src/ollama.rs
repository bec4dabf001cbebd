//! Ollama's own protocol, which can be told the window (SPEC M5): `/api/chat`, one JSON document a line.
//!
//! Owns: what is particular to this protocol. Must never know: connections, tools, sessions.

mod request;
mod stream;

use cairn_protocol::Api;

use crate::dialect::{Dialect, Framing, KeyHeader};
use crate::http::refusal::Refusal;
use crate::request::{Extras, IdForm, Thinking};

pub(crate) const DIALECT: Dialect = Dialect {
    api: Api::Ollama,
    key: KeyHeader::Bearer,
    framing: Framing::Lines,
    endpoint: |address| address.at_root("/api/chat"),
    first: |_, _| Extras::plain(Thinking::Usual),
    ids: |_| IdForm::Plain(64),
    compose: request::compose,
    plainer,
    listener: || Box::<stream::OllamaListener>::default(),
    is_reply: |document| document.get("message").is_some_and(serde_json::Value::is_object),
    wants_thinking_back: |_| true,
};

fn plainer(extras: Extras, refusal: &Refusal) -> Option<Extras> {
    let refused = refusal.refuses_effort()
        || refusal.mentions("does not support thinking")
        || refusal.mentions("think value");
    (refused && extras.thinking != Thinking::Left).then_some(Extras {
        thinking: Thinking::Left,
        ..extras
    })
}
