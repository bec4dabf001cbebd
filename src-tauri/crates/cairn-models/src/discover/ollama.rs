//! What Ollama tells: `/api/tags`, `/api/show`, `/api/ps` (its public API document).

use cairn_protocol::{Api, FoundModel};
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, join, join_all};
use serde_json::{Value, json};

use super::{PROBE_LIMIT, Seen, ServerKind, count, entries, named};
use crate::http::{Connection, Trouble};

pub(crate) const KIND: ServerKind = ServerKind {
    name: "Ollama",
    port: 11434,
    api: Api::Ollama,
    base: "",
    list,
};

/// Tokens that Ollama gives a model unless told otherwise.
pub(crate) const USUAL_WINDOW: u64 = 4_096;

fn list<'a>(connection: &'a Connection, only: Option<&'a str>) -> BoxFuture<'a, Result<Vec<Seen>, Trouble>> {
    async move {
        let (tags, running) = join(
            connection.get(connection.address.at_root("/api/tags"), PROBE_LIMIT),
            connection.get(connection.address.at_root("/api/ps"), PROBE_LIMIT),
        )
        .await;
        let tags = tags?;
        let running = running.unwrap_or(Value::Null);
        let wanted = entries(connection, &tags, "models")?
            .iter()
            .filter(|tag| match (only, name_of(tag)) {
                (Some(only), Some(name)) => is_same(name, only),
                (None, Some(_)) => true,
                (_, None) => false,
            });
        Ok(join_all(wanted.map(|tag| describe(connection, tag, &running))).await)
    }
    .boxed()
}

/// Whether two names mean one model: `qwen3` is `qwen3:latest`.
pub(crate) fn is_same(one: &str, other: &str) -> bool {
    let tagged = |name: &str| {
        if name.contains(':') {
            name.to_owned()
        } else {
            format!("{name}:latest")
        }
    };
    tagged(one) == tagged(other)
}

async fn describe(connection: &Connection, tag: &Value, running: &Value) -> Seen {
    let name = name_of(tag).unwrap_or_default();
    let mut found = FoundModel {
        bytes: count(tag.get("size")),
        ..named(name)
    };
    let url = connection.address.at_root("/api/show");
    // A model that cannot be shown in time is still there.
    let shown = connection
        .ask(url, &json!({ "model": name }), PROBE_LIMIT)
        .await
        .unwrap_or(Value::Null);
    let info = shown.get("model_info").and_then(Value::as_object);
    found.context_window = info
        .and_then(|info| info.iter().find(|(key, _)| key.ends_with(".context_length")))
        .and_then(|(_, value)| count(Some(value)));
    if let Some(abilities) = shown.get("capabilities").and_then(Value::as_array) {
        let can = |what: &str| abilities.iter().any(|ability| ability == what);
        found.tools = Some(can("tools"));
        found.vision = Some(can("vision"));
    }
    let loaded = running
        .get("models")
        .and_then(Value::as_array)
        .and_then(|models| {
            let entry = models
                .iter()
                .find(|entry| name_of(entry).is_some_and(|other| is_same(other, name)))?;
            count(entry.get("context_length"))
        });
    let given = loaded.or_else(|| num_ctx(&shown)).unwrap_or(USUAL_WINDOW);
    Seen {
        given: Some(found.context_window.map_or(given, |window| given.min(window))),
        found,
    }
}

fn name_of(entry: &Value) -> Option<&str> {
    entry
        .get("name")
        .or_else(|| entry.get("model"))
        .and_then(Value::as_str)
}

/// `num_ctx` among the parameters of the model's file: lines of name, blanks, value.
fn num_ctx(shown: &Value) -> Option<u64> {
    let parameters = shown.get("parameters").and_then(Value::as_str)?;
    parameters.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        (words.next() == Some("num_ctx"))
            .then(|| words.next().and_then(|value| value.parse().ok()))
            .flatten()
    })
}
