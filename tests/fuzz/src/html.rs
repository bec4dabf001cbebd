//! The way of a page: harmless and small before a tree is made of it, and Markdown in bounded time and memory after.

use std::time::Duration;

use cairn_exec::fuzz::read_html;
use html5gum::{Token, Tokenizer};
use url::Url;

use crate::measure::measured;

/// Elements that the converter may get.
const ELEMENTS: &[&str] = &[
    "a",
    "p",
    "div",
    "li",
    "ul",
    "ol",
    "code",
    "br",
    "img",
    "b",
    "i",
    "em",
    "strong",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "pre",
    "blockquote",
    "hr",
    "s",
    "del",
];
/// What no reader sees, and no model may get.
const UNSEEN: &str = "qqunseenqq";

/// Reads any bytes as a page.
pub fn check(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let base = Url::parse("https://a.example/docs/page.html").ok();
    let (stages, used) = measured(|| read_html(&text, base.clone()));
    let length = text.len();
    // 5 s are allowed for 32 MB; what grows faster than its page is found long before.
    let most = Duration::from_millis(100) + Duration::from_micros(20) * u32::try_from(length).unwrap();
    assert!(used.time < most, "{length} bytes took {:?}", used.time);
    assert!(
        used.bytes < (4 << 20) + 400 * length,
        "{length} bytes took {} bytes",
        used.bytes
    );
    assert!(
        stages.tamed.len() <= 1_000_000,
        "{} bytes of tamed HTML",
        stages.tamed.len()
    );
    assert!(stages.page.title.chars().count() <= 300 && !stages.page.title.contains(['\n', '\r']));
    tamed(&stages.tamed);
    assert!(
        !stages
            .page
            .markdown
            .chars()
            .any(|c| ('\u{e000}'..='\u{e005}').contains(&c)),
        "a stand-in was left"
    );
    assert!(!stages.page.markdown.contains("\n\n\n"), "empty lines in a row");

    // The engine learns the word out of the comparison.
    if text.contains(UNSEEN) || stages.page.markdown.contains(UNSEEN) || stages.page.title.contains(UNSEEN) {
        return;
    }
    // One of them each time: the converter takes most of the time there is.
    let (before, after) = match data.len() % 4 {
        0 => ("<div hidden>", "</div>"),
        1 => ("<script>", "</script>"),
        2 => ("<!--", "-->"),
        _ => ("<p style='display:none'>", "</p>"),
    };
    let page = format!("{before}{UNSEEN}{after}{text}");
    let stages = read_html(&page, base);
    assert!(!stages.page.markdown.contains(UNSEEN), "{before} was seen");
    assert!(
        !stages.page.title.contains(UNSEEN),
        "{before} was seen in the title"
    );
}

/// Closed in order, not deep, few elements, addresses of three schemes.
fn tamed(html: &str) {
    let mut open: Vec<String> = Vec::new();
    for token in Tokenizer::new(html) {
        let Ok(token) = token;
        match token {
            Token::StartTag(tag) => {
                let name = String::from_utf8_lossy(&tag.name).into_owned();
                assert!(ELEMENTS.contains(&name.as_str()), "<{name}> in {html}");
                for (attribute, value) in &tag.attributes {
                    let value = String::from_utf8_lossy(&value.value);
                    match (name.as_str(), &***attribute) {
                        ("a", b"href") | ("img", b"src") => address(&value),
                        ("img", b"alt") => assert!(value.chars().count() <= 300),
                        ("code", b"class") => assert!(value.starts_with("language-")),
                        _ => panic!("{attribute:?} of <{name}>"),
                    }
                }
                if !matches!(name.as_str(), "br" | "img" | "hr") {
                    open.push(name);
                }
                assert!(open.len() <= 128, "{} deep", open.len());
            }
            Token::EndTag(tag) => {
                let name = String::from_utf8_lossy(&tag.name).into_owned();
                assert_eq!(open.pop(), Some(name), "closed out of order: {html}");
            }
            Token::Comment(_) | Token::Doctype(_) => panic!("a comment or a document type in {html}"),
            Token::String(_) | Token::Error(_) => {}
        }
    }
    assert!(open.is_empty(), "{open:?} stay open in {html}");
}

fn address(value: &str) {
    let url = Url::parse(value).unwrap_or_else(|error| panic!("{value}: {error}"));
    assert!(matches!(url.scheme(), "http" | "https" | "mailto"), "{value}");
    assert!(value.len() <= 6_000 && !value.contains(['(', ')']), "{value}");
}
