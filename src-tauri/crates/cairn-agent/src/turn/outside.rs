//! Text from outside the person's machine that the running request has read, and the addresses that stood in it.
//! SPEC P9.
//!
//! Owns: when a request counts as tainted, and whose words an address is. Must never know: how the gate decides.
//! Kept as results come in, so that no call costs a walk over all that came before.

use std::collections::HashSet;
use std::sync::Arc;

use cairn_protocol::{ItemBody, ToolItem, TurnId, UnixMillis};
use serde_json::Value;

use super::TurnMachine;
use super::calls::tool_of;
use crate::tool::{Addresses, brings_outside_text, is_flagged};

/// More addresses than these of one request are not told apart from the model's own.
const MOST: usize = 2_000;
/// An address longer than this is none that a person would have let through.
const LONGEST: usize = 2_048;

/// What the running request has read.
#[derive(Debug, Default)]
pub(super) struct Outside {
    /// Which request.
    turn: Option<TurnId>,
    since: Option<UnixMillis>,
    addresses: Arc<HashSet<String>>,
}

impl TurnMachine {
    /// When this request first read text from outside the user's machine; none while it has not. SPEC P9.
    pub(crate) fn outside_text_since(&self) -> Option<UnixMillis> {
        self.outside_now().and_then(|outside| outside.since)
    }

    /// Addresses that stood literally in what this request brought from outside, or in what the person wrote.
    pub(crate) fn literal_addresses(&self) -> Addresses {
        let known = self.outside_now().map(|outside| outside.addresses.clone());
        Addresses::new(known.unwrap_or_default())
    }

    fn outside_now(&self) -> Option<&Outside> {
        let turn = self.log.last_turn()?;
        (self.outside.turn.as_ref() == Some(&turn.id)).then_some(&self.outside)
    }

    fn outside_mut(&mut self) -> &mut Outside {
        let turn = self.log.last_turn().map(|turn| turn.id.clone());
        if self.outside.turn != turn {
            self.outside = Outside {
                turn,
                ..Outside::default()
            };
        }
        &mut self.outside
    }

    /// The person's own words name addresses too.
    pub(super) fn person_wrote(&mut self, text: &str) {
        let found = addresses(text);
        self.outside_mut().add(found);
    }

    /// A call ended with this result.
    pub(super) fn note_outside(&mut self, tool: &ToolItem) {
        let Some(result) = &tool.result else { return };
        let from_outside = brings_outside_text(&tool.name);
        if !from_outside && !is_flagged(&tool.note) {
            return;
        }
        let at = tool.ended_at.unwrap_or(self.now);
        // What the model wrote before comes back in many ways: as the title of a page, as the query of a search.
        let found = if from_outside && result.ok {
            let mut found = addresses(&result.content);
            let written = self.written();
            found.retain(|address| !written.iter().any(|text| text.contains(address.as_str())));
            found
        } else {
            Vec::new()
        };
        let outside = self.outside_mut();
        outside.since = Some(outside.since.map_or(at, |since| since.min(at)));
        outside.add(found);
    }

    /// All that the model wrote in the calls of this request.
    fn written(&self) -> Vec<String> {
        let turn = self.log.last_turn().map(|turn| turn.id.clone());
        let mut texts = Vec::new();
        let of_turn = self.log.items().iter().rev();
        for item in of_turn.take_while(|item| Some(&item.turn) == turn.as_ref()) {
            if let Some(tool) = tool_of(item) {
                match serde_json::from_str(&tool.arguments) {
                    Ok(value) => strings(&value, &mut texts),
                    Err(_) => texts.push(tool.arguments.clone()),
                }
            }
        }
        texts
    }

    /// After a restart: what the last request had read before it.
    pub(super) fn restore_outside(&mut self) {
        let Some(turn) = self.log.last_turn().map(|turn| turn.id.clone()) else {
            return;
        };
        let of_turn = self.log.items().iter().rev();
        let mut items: Vec<_> = of_turn
            .take_while(|item| item.turn == turn)
            .map(|item| item.body.clone())
            .collect();
        items.reverse();
        for body in items {
            match body {
                ItemBody::User { text, .. } => self.person_wrote(&text),
                ItemBody::Tool(tool) => self.note_outside(&tool),
                _ => {}
            }
        }
    }
}

impl Outside {
    fn add(&mut self, found: Vec<String>) {
        if found.is_empty() {
            return;
        }
        let known = Arc::make_mut(&mut self.addresses);
        let room = MOST.saturating_sub(known.len());
        known.extend(found.into_iter().take(room));
    }
}

fn strings(value: &Value, into: &mut Vec<String>) {
    match value {
        Value::String(text) => into.push(text.clone()),
        Value::Array(values) => values.iter().for_each(|value| strings(value, into)),
        Value::Object(values) => values.values().for_each(|value| strings(value, into)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Whole addresses in a text, each as it stands there and without the marks of the sentence around it. Never a part of
/// one: what the model cuts off an address says something too.
fn addresses(text: &str) -> Vec<String> {
    let ends = |c: char| c.is_whitespace() || c.is_control() || "\"'<>`\\|^{}".contains(c);
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("http") {
        let from = rest.get(at..).unwrap_or_default();
        if !from.starts_with("http://") && !from.starts_with("https://") {
            rest = from.get("http".len()..).unwrap_or_default();
            continue;
        }
        let whole = from.split(ends).next().unwrap_or_default();
        if whole.len() <= LONGEST {
            add_forms(whole, &mut found);
        }
        rest = from.get(whole.len()..).unwrap_or_default();
    }
    found
}

/// The address itself, as far as its own brackets go, and each of the two without a full stop or comma behind it.
fn add_forms(whole: &str, found: &mut Vec<String>) {
    let marks = ['.', ',', ';', ':', '!', '?', '*', '_', ')', ']'];
    for form in [whole, own_brackets(whole)] {
        for form in [form, form.trim_end_matches(marks)] {
            let form = form.split('#').next().unwrap_or_default();
            if form.len() > "https://".len() && !found.iter().any(|known| known == form) {
                found.push(form.to_owned());
            }
        }
    }
}

/// Up to the first bracket that closes what the address did not open, as at the end of a Markdown link.
fn own_brackets(whole: &str) -> &str {
    let mut open = 0_i32;
    for (at, c) in whole.char_indices() {
        match c {
            '(' | '[' => open += 1,
            ')' | ']' if open == 0 => return whole.get(..at).unwrap_or(whole),
            ')' | ']' => open -= 1,
            _ => {}
        }
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p9_an_address_is_found_whole_and_never_in_part() {
        for (text, stands, never) in [
            (
                "see https://a.example/x.",
                "https://a.example/x",
                "https://a.example",
            ),
            (
                "[t](https://a.example/x_(y)) z",
                "https://a.example/x_(y)",
                "https://a.example/",
            ),
            (
                "<https://a.example/?q=1#part>",
                "https://a.example/?q=1",
                "https://a.example/?q=",
            ),
            ("\"http://a.example\",", "http://a.example", "http://a.exampl"),
            ("httphttps://a.example/x", "https://a.example/x", "http"),
            (
                "https://a.example/a,b;c",
                "https://a.example/a,b;c",
                "https://a.example/a",
            ),
        ] {
            let found = addresses(text);
            assert!(found.contains(&stands.to_owned()), "{text}: {found:?}");
            assert!(!found.contains(&never.to_owned()), "{text}: {found:?}");
        }
        assert_eq!(addresses("ftp://a.example http:/ https:// http"), [""; 0]);
        assert_eq!(
            addresses(&format!("https://a.example/{}", "x".repeat(3_000))),
            [""; 0]
        );
    }
}
