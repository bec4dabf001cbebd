//! DuckDuckGo's page without scripts. Read token by token: no tree is made of it.

use html5gum::{DefaultEmitter, Token, Tokenizer};
use url::Url;

use super::{Found, Hit, MOST_RESULTS};

/// Bytes of a page that are read; its results are at the beginning.
const MOST_BYTES: usize = 2_000_000;

pub(super) fn address(mut url: Url, query: &str) -> Url {
    url.query_pairs_mut().append_pair("q", query);
    url
}

/// What is being read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum In {
    Nothing,
    Title,
    Snippet,
}

#[derive(Default)]
struct Entry {
    title: String,
    url: String,
    snippet: String,
}

pub(super) fn read(text: &str) -> Found {
    let mut end = text.len().min(MOST_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let text = text.get(..end).unwrap_or_default();
    let results = results(text);
    let hits: Vec<Hit> = results
        .iter()
        .filter_map(|result| Hit::new(&result.title, &target(&result.url)?, &result.snippet))
        .take(MOST_RESULTS)
        .collect();
    if !hits.is_empty() {
        return Found::Hits(hits);
    }
    let lower = text.to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if says(&[
        "anomaly-modal",
        "anomaly.js",
        "captcha",
        "bots use duckduckgo",
        "challenge-form",
    ]) {
        Found::Refused("it wants to see that a person is asking".to_owned())
    } else if says(&["no-results", "no results found", "no  results."]) {
        Found::Nothing
    } else if !says(&["<html", "<body", "<div"]) {
        Found::Changed("what came is no page".to_owned())
    } else {
        Found::Changed("its page has another form than the one that is known".to_owned())
    }
}

fn results(text: &str) -> Vec<Entry> {
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    let mut results: Vec<Entry> = Vec::new();
    let mut inside = In::Nothing;
    let mut is_ad = false;
    for token in Tokenizer::new_with_emitter(text, emitter) {
        let Ok(token) = token;
        match token {
            Token::StartTag(tag) => {
                let attribute = |name: &str| {
                    let value = tag.attributes.get(name.as_bytes());
                    value
                        .map(|value| String::from_utf8_lossy(&value.value).into_owned())
                        .unwrap_or_default()
                };
                let classes = attribute("class");
                let has = |class: &str| classes.split_ascii_whitespace().any(|one| one == class);
                if has("result") {
                    is_ad = has("result--ad");
                }
                if has("result__a") && !is_ad {
                    inside = In::Title;
                    results.push(Entry {
                        url: attribute("href"),
                        ..Entry::default()
                    });
                } else if has("result__snippet") && !is_ad {
                    inside = In::Snippet;
                }
            }
            // Words within are marked with `b`; everything else ends what is being read.
            Token::EndTag(tag) if !matches!(tag.name.as_slice(), b"b" | b"em" | b"strong" | b"span") => {
                inside = In::Nothing;
            }
            Token::String(words) => {
                let words = String::from_utf8_lossy(&words.value);
                match (inside, results.last_mut()) {
                    (In::Title, Some(result)) => result.title.push_str(&words),
                    (In::Snippet, Some(result)) => result.snippet.push_str(&words),
                    _ => {}
                }
            }
            _ => {}
        }
        if results.len() > 2 * MOST_RESULTS {
            break;
        }
    }
    results
}

/// Where a result leads: links go through a counter of theirs that carries the address.
fn target(href: &str) -> Option<String> {
    let base = Url::parse("https://duckduckgo.com/").ok()?;
    let url = base.join(href).ok()?;
    if url
        .host_str()
        .is_some_and(|host| host.ends_with("duckduckgo.com"))
    {
        let (_, there) = url.query_pairs().find(|(name, _)| name == "uddg")?;
        return Some(there.into_owned());
    }
    Some(url.into())
}
