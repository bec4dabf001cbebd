//! Every package that is built here is under a licence of the list in `.cargo/deny.toml`, and none is banned there.
//!
//! cargo-deny checks the same and advisories too, but takes long to build; this needs nothing.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test may fail loudly, also in its own functions"
)]

#[path = "support/cargo.rs"]
mod cargo;
#[allow(dead_code, reason = "its sources are for the other tests")]
#[path = "support/tree.rs"]
mod tree;

use toml_edit::{DocumentMut, Item};
use tree::{none_found, root};

#[test]
fn every_package_is_under_an_allowed_licence() {
    let deny = deny();
    let allowed = strings(deny.get("licenses").and_then(|licences| licences.get("allow")));
    assert!(
        allowed.iter().any(|licence| licence == "MIT"),
        "the list was read"
    );
    let metadata = cargo::metadata_here(&root());
    let packages = cargo::list(&metadata, "packages");
    assert!(packages.len() > 50, "the packages were read");
    let wrong: Vec<String> = packages
        .iter()
        .map(|package| {
            (
                cargo::text(package, "name"),
                cargo::text(package, "version"),
                cargo::text(package, "license"),
            )
        })
        .filter(|(_, _, licence)| !is_allowed(licence, &allowed))
        .map(|(name, version, licence)| format!("{name} {version}: {licence:?}"))
        .collect();
    none_found(
        "Not on the list of .cargo/deny.toml; take another package, or add the licence if GPL-3.0 can include it:",
        &wrong,
    );
}

#[test]
fn no_banned_package_is_built() {
    let deny = deny();
    let banned: Vec<String> = deny
        .get("bans")
        .and_then(|bans| bans.get("deny"))
        .and_then(Item::as_array)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.as_inline_table())
        // Those with wrappers may come in by others.
        .filter(|entry| !entry.contains_key("wrappers"))
        .filter_map(|entry| entry.get("crate")?.as_str().map(ToOwned::to_owned))
        .collect();
    assert!(banned.iter().any(|name| name == "openssl"), "the list was read");
    let metadata = cargo::metadata_here(&root());
    let wrong: Vec<String> = cargo::list(&metadata, "packages")
        .iter()
        .map(|package| cargo::text(package, "name").to_owned())
        .filter(|name| banned.contains(name))
        .collect();
    none_found("Banned in .cargo/deny.toml, which says why:", &wrong);
}

#[test]
fn licence_expressions_are_understood() {
    let allowed = [
        "MIT".to_owned(),
        "ISC".to_owned(),
        "Apache-2.0 WITH LLVM-exception".to_owned(),
    ];
    for (expression, good) in [
        ("MIT", true),
        ("MIT OR GPL-2.0-only", true),
        ("GPL-2.0-only OR MIT", true),
        ("MIT/Apache-2.0", true),
        ("MIT AND ISC", true),
        ("MIT AND GPL-2.0-only", false),
        ("(GPL-2.0-only OR MIT) AND ISC", true),
        ("(GPL-2.0-only OR MIT) AND OpenSSL", false),
        ("Apache-2.0 WITH LLVM-exception OR GPL-2.0-only", true),
        ("Apache-2.0", false),
        ("ISC AND (MIT OR (A AND B))", true),
        ("", false),
    ] {
        assert_eq!(is_allowed(expression, &allowed), good, "{expression}");
    }
}

fn deny() -> DocumentMut {
    let text =
        std::fs::read_to_string(root().join(".cargo/deny.toml")).expect(".cargo/deny.toml is readable");
    text.parse().expect(".cargo/deny.toml is TOML")
}

fn strings(list: Option<&Item>) -> Vec<String> {
    list.and_then(Item::as_array)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.as_str().map(ToOwned::to_owned))
        .collect()
}

/// Whether an SPDX expression can be met from the list: every part of an AND, any part of an OR.
fn is_allowed(expression: &str, allowed: &[String]) -> bool {
    // Before SPDX expressions were asked for, a slash meant OR.
    let expression = expression.replace('/', " OR ");
    let expression = expression.trim();
    if let Some(parts) = split(expression, " OR ") {
        return parts.iter().any(|part| is_allowed(part, allowed));
    }
    if let Some(parts) = split(expression, " AND ") {
        return parts.iter().all(|part| is_allowed(part, allowed));
    }
    match expression
        .strip_prefix('(')
        .and_then(|inner| inner.strip_suffix(')'))
    {
        Some(inner) => is_allowed(inner, allowed),
        None => allowed.iter().any(|licence| licence == expression),
    }
}

/// The parts between a word that stands outside brackets; none when it does not.
fn split<'a>(expression: &'a str, word: &str) -> Option<Vec<&'a str>> {
    let mut parts = Vec::new();
    let (mut depth, mut from) = (0_i32, 0);
    for (at, c) in expression.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ if depth == 0 && expression[at..].starts_with(word) => {
                parts.push(&expression[from..at]);
                from = at + word.len();
            }
            _ => {}
        }
    }
    parts.push(&expression[from..]);
    (parts.len() > 1).then_some(parts)
}
