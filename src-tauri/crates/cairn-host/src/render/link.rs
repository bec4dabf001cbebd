//! Which links are alive, and how an address is shown.

use cairn_policy::{Show, show, shown_text};
use cairn_protocol::RichInline;
use url::Url;

/// Longest address that is opened.
const LONGEST: usize = 2_048;

/// A link that may be opened outside, or one that is only shown.
pub(super) fn link(target: &str, inlines: Vec<RichInline>) -> RichInline {
    match alive(target) {
        Some(href) => RichInline::Link { href, inlines },
        None => RichInline::DeadLink {
            href: shown(target),
            inlines,
        },
    }
}

/// The address in its canonical form, the host in ASCII so that look-alike letters show; none when it must not be
/// opened: only http, https and mailto leave, by way of the system, never within the window. Case W22.
pub(crate) fn alive(target: &str) -> Option<String> {
    if target.len() > LONGEST || target.chars().any(char::is_control) {
        return None;
    }
    let url = Url::parse(target.trim()).ok()?;
    let fine = match url.scheme() {
        "http" | "https" => url.host_str().is_some_and(|host| !host.is_empty()),
        // Some mail programs attach whichever file such an address names.
        "mailto" => !url
            .query_pairs()
            .any(|(name, _)| name.to_ascii_lowercase().starts_with("attach")),
        _ => false,
    };
    fine.then(|| url.to_string())
}

/// An address as text that is safe to draw.
pub(super) fn shown(target: &str) -> String {
    let short: String = target.chars().take(LONGEST).collect();
    shown_text(&show(&short, Show::Name))
}
