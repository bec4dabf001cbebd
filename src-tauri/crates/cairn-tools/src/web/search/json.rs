//! Reading results out of JSON by the names of their fields.

use serde_json::Value;

use super::{Hit, MOST_RESULTS};

/// The results of a list of objects.
pub(super) fn hits(list: &[Value], title: &[&str], url: &[&str], snippet: &[&str]) -> Vec<Hit> {
    let field = |object: &Value, names: &[&str]| {
        names
            .iter()
            .find_map(|name| object.get(*name)?.as_str().map(str::to_owned))
            .unwrap_or_default()
    };
    list.iter()
        .filter_map(|object| {
            Hit::new(
                &field(object, title),
                &field(object, url),
                &field(object, snippet),
            )
        })
        .take(MOST_RESULTS)
        .collect()
}
