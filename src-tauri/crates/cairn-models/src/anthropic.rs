//! Anthropic Messages, streamed, and what calls itself compatible. SPEC M1, M6, M7.
//!
//! Owns: what is particular to this protocol. Must never know: connections, tools, sessions.

mod request;
mod stream;

use cairn_protocol::Api;

use crate::dialect::{Dialect, Framing, KeyHeader};
use crate::http::refusal::Refusal;
use crate::request::{Extras, IdForm, Thinking};

pub(crate) const DIALECT: Dialect = Dialect {
    api: Api::Anthropic,
    key: KeyHeader::Anthropic,
    framing: Framing::Events,
    // Bases of compatible services are written without the version, which their own programs add.
    endpoint: |address| {
        if address.has_version() {
            address.endpoint("messages")
        } else {
            address.endpoint("v1/messages")
        }
    },
    first: |_, _| Extras {
        cache_marks: true,
        ..Extras::plain(Thinking::Usual)
    },
    ids: |_| IdForm::Plain(64),
    compose: request::compose,
    plainer,
    listener: || Box::<stream::MessagesListener>::default(),
    is_reply: |document| document.get("type").is_some_and(|kind| kind == "message"),
    wants_thinking_back: |_| false,
};

fn plainer(extras: Extras, refusal: &Refusal) -> Option<Extras> {
    let mut plainer = extras;
    if let Some(most) = refusal
        .most_output()
        .filter(|most| extras.most_tokens.is_none_or(|known| *most < known))
    {
        plainer.most_tokens = Some(most);
    } else if refusal.refuses_field("thinking.type")
        && refusal.mentions("adaptive")
        && extras.thinking == Thinking::Usual
    {
        plainer.thinking = Thinking::Adaptive;
    } else if refusal.refuses_effort() || refusal.refuses_field("thinking") {
        plainer.thinking = Thinking::Left;
    } else if refusal.refuses_field("cache_control") {
        plainer.cache_marks = false;
    } else if refusal.refuses_field("temperature") {
        plainer.temperature = false;
    }
    (plainer != extras).then_some(plainer)
}
