//! Search engines: a query goes out, results come back, or why there are none. SPEC T25.
//!
//! Owns: what each engine is asked and how its answer reads. Must never know: how results are shown. One file each.

mod brave;
mod custom;
mod duckduckgo;
mod json;
mod searxng;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use cairn_exec::Processes;
use reqwest::header::{ACCEPT, HeaderMap, HeaderValue};
use tokio_util::sync::CancellationToken;
use url::Url;

use super::address::Target;
use super::config::{Engine, WebConfig};
use super::{Asked, Got, Reach, Web};
use crate::bounds::Bounds;

/// Results that are shown.
pub(crate) const MOST_RESULTS: usize = 10;
/// Characters of a title and of a snippet.
const LONGEST_TITLE: usize = 200;
const LONGEST_SNIPPET: usize = 500;
/// Bytes of an address.
const LONGEST_ADDRESS: usize = 2_000;

/// One result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hit {
    pub(crate) title: String,
    pub(crate) url: String,
    pub(crate) snippet: String,
}

impl Hit {
    /// A result in the form in which it is shown; none without a web address.
    fn new(title: &str, url: &str, snippet: &str) -> Option<Self> {
        let url = Url::parse(url.trim()).ok()?;
        if !matches!(url.scheme(), "http" | "https") || url.as_str().len() > LONGEST_ADDRESS {
            return None;
        }
        let title = one_line(title, LONGEST_TITLE);
        Some(Self {
            title: if title.is_empty() { url.to_string() } else { title },
            url: url.into(),
            snippet: one_line(snippet, LONGEST_SNIPPET),
        })
    }
}

/// What came of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// Results, at most ten.
    Hits(Vec<Hit>),
    /// The engine says itself that there are none.
    Nothing,
    /// It wants to see a person: a captcha or a refusal.
    Refused(String),
    /// What came is none of the forms that are known.
    Changed(String),
    /// It did not answer, or the configuration does not fit.
    Failed(String),
}

/// What a search needs beside the web.
pub(crate) struct Around<'a> {
    pub(crate) config: &'a WebConfig,
    pub(crate) processes: &'a Processes,
    pub(crate) environment: &'a [(OsString, OsString)],
    pub(crate) folder: PathBuf,
    pub(crate) bounds: Option<Arc<Bounds>>,
    pub(crate) cancel: &'a CancellationToken,
}

/// Who gets the query, for the card.
pub(crate) fn engine_name(config: &WebConfig) -> String {
    match config.engine {
        Engine::Custom => match config.command.first() {
            Some(program) => format!("the command {program} of your configuration"),
            None => "the command of your configuration".to_owned(),
        },
        engine => match endpoint(config) {
            Ok(url) => url.host_str().unwrap_or_default().to_owned(),
            Err(_) => format!("{engine:?}"),
        },
    }
}

/// Searches.
pub(crate) async fn search(web: &Web, query: &str, around: Around<'_>) -> Found {
    let mut headers = HeaderMap::new();
    let url = match endpoint(around.config) {
        _ if around.config.engine == Engine::Custom => return custom::search(query, around).await,
        Ok(url) => url,
        Err(problem) => return Found::Failed(problem),
    };
    let (url, read): (Url, fn(&str) -> Found) = match around.config.engine {
        Engine::SearXng => (searxng::address(url, query), searxng::read),
        Engine::Brave => {
            headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
            match around.config.key.as_deref().map(HeaderValue::from_str) {
                Some(Ok(mut key)) => {
                    key.set_sensitive(true);
                    headers.insert("x-subscription-token", key);
                }
                _ => {
                    return Found::Failed(
                        "Brave needs a key: `key` under [web_search] in the configuration; tell the user"
                            .to_owned(),
                    );
                }
            }
            (brave::address(url, query), brave::read)
        }
        Engine::DuckDuckGo | Engine::Custom => (duckduckgo::address(url, query), duckduckgo::read),
    };
    // What the user named in the configuration may be anywhere; the usual addresses are public.
    let (reach, target) = if around.config.url.is_some() {
        (Reach::Configured, Target::of_any_host(url))
    } else {
        (Reach::Public, Target::of(url))
    };
    let target = match target {
        Ok(target) => target,
        Err(error) => return Found::Failed(error.to_string()),
    };
    let asked = Asked {
        target: &target,
        headers,
        reach,
    };
    match web.get(asked).await {
        Err(error) => Found::Failed(error.to_string()),
        Ok(Got::Elsewhere(there)) => Found::Changed(format!(
            "it sends to {}, which was not asked; `url` under [web_search] may have to change",
            there.shown()
        )),
        Ok(Got::Answer(answer)) => {
            let text = String::from_utf8_lossy(&answer.body);
            match answer.status {
                202 | 401 | 403 | 407 | 418 | 429 | 451 => {
                    Found::Refused(format!("status {}", answer.status))
                }
                200..=299 => read(&text),
                status => Found::Failed(format!("{} answered with status {status}", target.shown())),
            }
        }
    }
}

/// The address that is asked, without the query.
fn endpoint(config: &WebConfig) -> Result<Url, String> {
    let usual = match config.engine {
        Engine::DuckDuckGo => Some("https://html.duckduckgo.com/html/"),
        Engine::Brave => Some("https://api.search.brave.com/res/v1/web/search"),
        Engine::SearXng | Engine::Custom => None,
    };
    let Some(address) = config.url.as_deref().or(usual) else {
        return Err("no `url` is set under [web_search] in the configuration; tell the user".to_owned());
    };
    Url::parse(address.trim()).map_err(|error| {
        format!("`url` under [web_search] in the configuration cannot be read ({error}); tell the user")
    })
}

/// A text on one line, without control characters.
fn one_line(text: &str, most: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words
        .join(" ")
        .chars()
        .filter(|c| !c.is_control())
        .take(most)
        .collect()
}
