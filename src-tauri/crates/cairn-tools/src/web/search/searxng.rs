//! SearXNG's `search?format=json`, which an instance has to allow in its own settings.

use serde_json::Value;
use url::Url;

use super::{Found, json};

pub(super) fn address(mut url: Url, query: &str) -> Url {
    let path = url.path().trim_end_matches('/').to_owned();
    if !path.ends_with("/search") {
        url.set_path(&format!("{path}/search"));
    }
    url.query_pairs_mut()
        .append_pair("q", query)
        .append_pair("format", "json");
    url
}

pub(super) fn read(text: &str) -> Found {
    let Ok(answer) = serde_json::from_str::<Value>(text) else {
        return Found::Changed(
            "it answers with no JSON; its settings must allow the format `json`".to_owned(),
        );
    };
    let Some(results) = answer.get("results").and_then(Value::as_array) else {
        return Found::Changed("its JSON has no `results`".to_owned());
    };
    let hits = json::hits(results, &["title"], &["url"], &["content"]);
    if !hits.is_empty() {
        return Found::Hits(hits);
    }
    // Engines behind it that did not answer are named, and then "none" is not honest.
    match answer.get("unresponsive_engines").and_then(Value::as_array) {
        Some(engines) if !engines.is_empty() => {
            Found::Refused(format!("{} of its engines did not answer", engines.len()))
        }
        _ => Found::Nothing,
    }
}
