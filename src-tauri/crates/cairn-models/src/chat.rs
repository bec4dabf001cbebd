//! OpenAI Chat Completions, streamed, and what calls itself compatible. SPEC M1, M2, M4.
//!
//! Owns: what is particular to this protocol. Must never know: connections, tools, sessions, when to retry a failure.

mod beside;
pub(crate) mod request;
pub(crate) mod stream;

use cairn_protocol::Api;

use crate::address::Address;
use crate::dialect::{Dialect, Framing, KeyHeader};
use crate::http::refusal::Refusal;
use crate::request::{Extras, IdForm, LimitField, Thinking};

pub(crate) const DIALECT: Dialect = Dialect {
    api: Api::Openai,
    key: KeyHeader::Bearer,
    framing: Framing::Events,
    endpoint: |address| address.endpoint("chat/completions"),
    first: first_extras,
    ids: |address| match address.known_name() {
        Some("Mistral") => IdForm::Nine,
        _ => IdForm::Plain(40),
    },
    compose: request::compose,
    plainer,
    listener: || Box::<stream::ChatListener>::default(),
    is_reply: |document| document.get("choices").is_some(),
    wants_thinking_back,
};

fn first_extras(address: &Address, _model: &str) -> Extras {
    let openai = matches!(address.known_name(), Some("OpenAI" | "Azure OpenAI"));
    Extras {
        stream_options: true,
        // Only llama.cpp knows it, and a local server on another port may be one.
        return_progress: address.is_local() && matches!(address.known_name(), Some("llama.cpp") | None),
        limit: if openai {
            LimitField::MaxCompletionTokens
        } else {
            LimitField::MaxTokens
        },
        ..Extras::plain(Thinking::Usual)
    }
}

/// Services whose reasoning models forget what they thought between two calls unless it is sent again.
fn wants_thinking_back(address: &Address) -> bool {
    address.is_local()
        || matches!(
            address.known_name(),
            Some("DeepSeek" | "Moonshot" | "Z.ai" | "MiniMax")
        )
}

/// The same request without what the server refuses; none when there is nothing to leave out. SPEC X105.
fn plainer(extras: Extras, refusal: &Refusal) -> Option<Extras> {
    let mut plainer = extras;
    if extras.limit == LimitField::MaxTokens && refusal.refuses_field("max_completion_tokens") {
        plainer.limit = LimitField::MaxCompletionTokens;
    } else if extras.limit == LimitField::MaxCompletionTokens
        && refusal.refuses_field("max_completion_tokens")
    {
        plainer.limit = LimitField::MaxTokens;
    } else if refusal.refuses_field("return_progress") {
        plainer.return_progress = false;
    } else if refusal.refuses_field("stream_options") || refusal.refuses_field("include_usage") {
        plainer.stream_options = false;
    } else if refusal.refuses_field("temperature") {
        plainer.temperature = false;
    } else if refusal.refuses_effort() {
        plainer.thinking = Thinking::Left;
    } else if refusal.refuses_something() {
        plainer.return_progress = false;
        plainer.stream_options = false;
    }
    (plainer != extras).then_some(plainer)
}
