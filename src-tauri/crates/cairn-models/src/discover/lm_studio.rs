//! What LM Studio tells: `/api/v0/models` (its public REST document).

use cairn_protocol::{Api, FoundModel};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::Value;

use super::{PROBE_LIMIT, Seen, ServerKind, count, entries, named};
use crate::http::{Connection, Trouble};

pub(crate) const KIND: ServerKind = ServerKind {
    name: "LM Studio",
    port: 1234,
    api: Api::Openai,
    base: "/v1",
    list,
};

fn list<'a>(connection: &'a Connection, _only: Option<&'a str>) -> BoxFuture<'a, Result<Vec<Seen>, Trouble>> {
    async move {
        let models = connection
            .get(connection.address.at_root("/api/v0/models"), PROBE_LIMIT)
            .await?;
        Ok(entries(connection, &models, "data")?
            .iter()
            .filter_map(describe)
            .collect())
    }
    .boxed()
}

fn describe(entry: &Value) -> Option<Seen> {
    let name = entry.get("id").and_then(Value::as_str)?;
    let kind = entry.get("type").and_then(Value::as_str);
    if kind == Some("embeddings") {
        return None;
    }
    let abilities = entry.get("capabilities").and_then(Value::as_array);
    let found = FoundModel {
        context_window: count(entry.get("max_context_length")),
        tools: abilities.map(|abilities| abilities.iter().any(|ability| ability == "tool_use")),
        vision: kind.map(|kind| kind == "vlm"),
        ..named(name)
    };
    Some(Seen {
        found,
        given: count(entry.get("loaded_context_length")),
    })
}
