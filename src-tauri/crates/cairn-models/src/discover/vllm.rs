//! What vLLM tells, and every other server with an OpenAI-shaped list: `/v1/models`.

use cairn_protocol::{Api, FoundModel};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::Value;

use super::{PROBE_LIMIT, Seen, ServerKind, count, entries, named};
use crate::http::{Connection, Trouble};

pub(crate) const KIND: ServerKind = ServerKind {
    name: "vLLM",
    port: 8000,
    api: Api::Openai,
    base: "/v1",
    list,
};

fn list<'a>(connection: &'a Connection, _only: Option<&'a str>) -> BoxFuture<'a, Result<Vec<Seen>, Trouble>> {
    async move {
        let models = connection.get((*connection.models).clone(), PROBE_LIMIT).await?;
        Ok(entries(connection, &models, "data")?
            .iter()
            .filter_map(describe)
            .collect())
    }
    .boxed()
}

/// Reads one entry; the fields beyond vLLM's own are OpenRouter's, Anthropic's and others'.
pub(crate) fn describe(entry: &Value) -> Option<Seen> {
    let name = entry.get("id").and_then(Value::as_str)?;
    let window = [
        "max_model_len",
        "context_length",
        "context_window",
        "max_context_length",
        "max_input_tokens",
    ];
    let lists = |pointer: &str, what: &str| {
        let list = entry.pointer(pointer).and_then(Value::as_array)?;
        Some(list.iter().any(|item| item == what))
    };
    let found = FoundModel {
        context_window: window.iter().find_map(|field| count(entry.get(field))),
        tools: lists("/supported_parameters", "tools").or_else(|| {
            entry
                .pointer("/capabilities/function_calling")
                .and_then(Value::as_bool)
        }),
        vision: lists("/architecture/input_modalities", "image")
            .or_else(|| entry.pointer("/capabilities/vision").and_then(Value::as_bool))
            .or_else(|| {
                entry
                    .pointer("/capabilities/image_input/supported")
                    .and_then(Value::as_bool)
            }),
        ..named(name)
    };
    Some(Seen { found, given: None })
}
