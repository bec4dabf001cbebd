//! OpenAI Responses, streamed, with nothing kept at the server. SPEC M1, M7.
//!
//! Owns: what is particular to this protocol. Must never know: connections, tools, sessions.

mod request;
mod stream;

use cairn_protocol::Api;

use crate::address::Address;
use crate::dialect::{Dialect, Framing, KeyHeader};
use crate::http::refusal::Refusal;
use crate::request::{Extras, IdForm, Thinking};

pub(crate) const DIALECT: Dialect = Dialect {
    api: Api::Responses,
    key: KeyHeader::Bearer,
    framing: Framing::Events,
    endpoint: |address| address.endpoint("responses"),
    first: first_extras,
    ids: |_| IdForm::Plain(64),
    compose: request::compose,
    plainer,
    listener: || Box::<stream::ResponsesListener>::default(),
    is_reply: |document| document.get("object").is_some_and(|kind| kind == "response"),
    wants_thinking_back: |_| false,
};

fn first_extras(address: &Address, model: &str) -> Extras {
    let name = model.rsplit('/').next().unwrap_or(model);
    let reasons = ["gpt-5", "o1", "o3", "o4", "gpt-oss", "codex"]
        .iter()
        .any(|start| name.starts_with(start));
    Extras {
        summary: reasons && !address.is_local(),
        encrypted: reasons,
        ..Extras::plain(Thinking::Usual)
    }
}

fn plainer(extras: Extras, refusal: &Refusal) -> Option<Extras> {
    let mut plainer = extras;
    let summary =
        refusal.refuses_field("summary") || refusal.mentions("verified to generate reasoning summaries");
    if extras.summary && summary {
        plainer.summary = false;
    } else if extras.encrypted && (refusal.refuses_field("encrypted") || refusal.refuses_field("include")) {
        plainer.encrypted = false;
    } else if refusal.refuses_field("temperature") {
        plainer.temperature = false;
    } else if refusal.refuses_effort() || refusal.refuses_field("reasoning") {
        plainer.thinking = Thinking::Left;
        plainer.summary = false;
        plainer.encrypted = false;
    } else if refusal.refuses_something() {
        plainer.summary = false;
        plainer.encrypted = false;
    }
    (plainer != extras).then_some(plainer)
}
