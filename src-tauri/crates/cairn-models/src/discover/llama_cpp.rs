//! What llama.cpp's server tells: `/props` and `/v1/models` (its public server document).

use cairn_protocol::{Api, FoundModel};
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, join};
use serde_json::Value;

use super::{PROBE_LIMIT, Seen, ServerKind, count, entries, named};
use crate::http::{Connection, Trouble};

pub(crate) const KIND: ServerKind = ServerKind {
    name: "llama.cpp",
    port: 8080,
    api: Api::Openai,
    base: "/v1",
    list,
};

fn list<'a>(connection: &'a Connection, _only: Option<&'a str>) -> BoxFuture<'a, Result<Vec<Seen>, Trouble>> {
    async move {
        let (props, models) = join(
            connection.get(connection.address.at_root("/props"), PROBE_LIMIT),
            connection.get(connection.address.endpoint("models"), PROBE_LIMIT),
        )
        .await;
        let models = models?;
        let props = props.unwrap_or(Value::Null);
        Ok(entries(connection, &models, "data")?
            .iter()
            .filter_map(|entry| describe(entry, &props))
            .collect())
    }
    .boxed()
}

fn describe(entry: &Value, props: &Value) -> Option<Seen> {
    let name = entry.get("id").and_then(Value::as_str)?;
    let window =
        count(props.pointer("/default_generation_settings/n_ctx")).or_else(|| count(props.get("n_ctx")));
    let template = props.get("chat_template").and_then(Value::as_str);
    let found = FoundModel {
        context_window: window.or_else(|| count(entry.pointer("/meta/n_ctx"))),
        tools: template.map(|template| template.contains("tools")),
        vision: props.pointer("/modalities/vision").and_then(Value::as_bool),
        bytes: count(entry.pointer("/meta/size")),
        ..named(name)
    };
    Some(Seen { found, given: None })
}
