//! Brave's web search interface.

use serde_json::Value;
use url::Url;

use super::{Found, MOST_RESULTS, json};

pub(super) fn address(mut url: Url, query: &str) -> Url {
    url.query_pairs_mut()
        .append_pair("q", query)
        .append_pair("count", &MOST_RESULTS.to_string())
        .append_pair("text_decorations", "false");
    url
}

pub(super) fn read(text: &str) -> Found {
    let Ok(answer) = serde_json::from_str::<Value>(text) else {
        return Found::Changed("it answers with no JSON".to_owned());
    };
    if answer.get("type").and_then(Value::as_str) != Some("search") {
        return Found::Changed("its JSON is no answer to a search".to_owned());
    }
    // Without results the whole part is missing.
    let Some(web) = answer.get("web") else {
        return Found::Nothing;
    };
    let Some(results) = web.get("results").and_then(Value::as_array) else {
        return Found::Changed("its JSON has no `web.results`".to_owned());
    };
    let hits = json::hits(results, &["title"], &["url"], &["description"]);
    if hits.is_empty() {
        Found::Nothing
    } else {
        Found::Hits(hits)
    }
}
