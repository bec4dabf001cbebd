//! The house rules that no linter knows: sizes, names, what stands where, what is never written down.

#![allow(
    clippy::expect_used,
    reason = "a test may fail loudly, also in its own functions"
)]

#[path = "support/tree.rs"]
mod tree;

use std::collections::BTreeSet;

use tree::{Source, is_test_file, none_found, production, root, sources};

/// The most production lines of a Rust file.
const RUST_LINES: usize = 500;
/// The most lines of a Svelte component.
const SVELTE_LINES: usize = 400;
/// The most lines of a function, signature and braces included.
const FUNCTION_LINES: usize = 70;

#[test]
fn files_are_short_enough_to_be_read_at_once() {
    let mut found = Vec::new();
    for file in rust() {
        let lines = production(&file.text).len();
        if !is_test_file(&file.path) && lines > RUST_LINES {
            found.push(format!("{}: {lines} lines, {RUST_LINES} at most", file.path));
        }
    }
    for file in sources("ui", &[".svelte"]) {
        let lines = file.text.lines().count();
        if lines > SVELTE_LINES {
            found.push(format!("{}: {lines} lines, {SVELTE_LINES} at most", file.path));
        }
    }
    none_found("Split by what belongs together:", &found);
}

#[test]
fn functions_are_short_enough_to_be_seen_at_once() {
    let mut found = Vec::new();
    for file in rust() {
        if is_test_file(&file.path) {
            continue;
        }
        for (name, at, lines) in functions(&production(&file.text)) {
            if lines > FUNCTION_LINES {
                found.push(format!(
                    "{}:{at}: {name} has {lines} lines, {FUNCTION_LINES} at most",
                    file.path
                ));
            }
        }
    }
    none_found("Name the steps and make them functions:", &found);
}

#[test]
fn functions_are_measured() {
    let text = "impl A {\n    pub(crate) async fn one(\n        a: u8,\n    ) -> u8 {\n        a\n    }\n\n    fn two();\n    fn three() {}\n}\nfn four() {\n}\n";
    let lines: Vec<&str> = text.lines().collect();
    let measured: Vec<(String, usize)> = functions(&lines)
        .into_iter()
        .map(|(name, _, lines)| (name, lines))
        .collect();
    assert_eq!(
        measured,
        [
            ("one".to_owned(), 5),
            ("three".to_owned(), 1),
            ("four".to_owned(), 2)
        ]
    );
}

/// Name, first line and number of lines of each function with a body. Relies on rustfmt: the closing brace stands under
/// the first letter.
fn functions(lines: &[&str]) -> Vec<(String, usize, usize)> {
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some((indent, name)) = function_start(line) else {
            continue;
        };
        let Some(opens) = lines
            .iter()
            .skip(at)
            .position(|line| line.ends_with(['{', '}', ';']))
        else {
            continue;
        };
        let opening = lines.get(at + opens).copied().unwrap_or_default();
        if opening.ends_with(';') {
            continue;
        }
        let closing = format!("{indent}}}");
        let rest = if opening.ends_with('}') {
            Some(0)
        } else {
            lines.iter().skip(at + opens).position(|line| *line == closing)
        };
        found.push((name.to_owned(), at + 1, opens + rest.unwrap_or_default() + 1));
    }
    found
}

fn function_start(line: &str) -> Option<(&str, &str)> {
    let code = line.trim_start();
    let indent = line.get(..line.len() - code.len())?;
    let (before, after) = code.split_once("fn ")?;
    let words = ["pub", "const", "async", "unsafe", "extern", "\"C\"", "default"];
    let keywords = before
        .split_whitespace()
        .all(|word| words.contains(&word) || word.starts_with("pub(") || word.ends_with(')'));
    let name = after.split(['(', '<']).next()?;
    (keywords && !code.starts_with("//")).then_some((indent, name))
}

#[test]
fn modules_are_files_named_after_them() {
    let found: Vec<String> = rust()
        .into_iter()
        .map(|file| file.path)
        .filter(|path| path.ends_with("/mod.rs"))
        .collect();
    none_found("Name the file after the module, `foo.rs` beside `foo/`:", &found);
}

#[test]
fn every_rust_file_says_what_it_owns() {
    let found: Vec<String> = rust()
        .into_iter()
        .filter(|file| is_module(&file.path) && !file.text.starts_with("//!"))
        .map(|file| file.path)
        .collect();
    none_found(
        "Begin the file with `//!`: what it owns and what it must never know:",
        &found,
    );
}

/// The tests of a module stand beside it and need no introduction.
fn is_module(path: &str) -> bool {
    !path.starts_with("src-tauri/") || !is_test_file(path)
}

#[test]
fn the_top_level_holds_what_the_map_says() {
    let wanted: BTreeSet<String> = [
        "Cargo.toml",
        "Cargo.lock",
        "tauri.conf.json",
        "README.md",
        "LICENSE",
        "dev",
        "icons",
        "src-tauri",
        "tests",
        "ui",
    ]
    .into_iter()
    .map(ToOwned::to_owned)
    .collect();
    let made = ["target", "gen"];
    let there: BTreeSet<String> = std::fs::read_dir(root())
        .expect("the repository is readable")
        .map(|entry| {
            entry
                .expect("a readable entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .filter(|name| !name.starts_with('.') && !made.contains(&name.as_str()))
        .collect();
    let found: Vec<String> = there.symmetric_difference(&wanted).cloned().collect();
    none_found("Too much or too little at the top level:", &found);
}

#[test]
fn nothing_is_left_for_later() {
    let words = [
        concat!("TO", "DO"),
        concat!("FIX", "ME"),
        concat!("XX", "X"),
        concat!("HA", "CK"),
    ];
    let mut found = Vec::new();
    for file in written() {
        for (at, line) in file.text.lines().enumerate() {
            let whole_word = |word: &str| {
                line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                    .any(|part| part == word)
            };
            let ignored = line.trim() == concat!("#[", "ignore]");
            let skipped = [concat!(".on", "ly("), concat!(".sk", "ip(")]
                .iter()
                .any(|call| line.contains(call))
                && file.path.contains(".test.");
            if words.iter().any(|word| whole_word(word)) || ignored || skipped {
                found.push(format!("{}:{}: {}", file.path, at + 1, line.trim()));
            }
        }
    }
    none_found(
        "Do it now, or file it where work is filed; an ignored test says why:",
        &found,
    );
}

#[test]
fn nothing_names_one_machine_or_a_registry() {
    let machine = [
        concat!("/wo", "rk/"),
        concat!("/var/", "tmp/"),
        concat!("/root", "/."),
        concat!("/home/", "ubuntu"),
    ];
    let registries = [
        concat!("registry.", "npmjs"),
        concat!("crates", ".io"),
        concat!("py", "pi.org"),
        concat!("proxy.", "golang"),
        concat!("ruby", "gems.org"),
    ];
    let mut found = Vec::new();
    for file in sources("", &[]) {
        // Cargo writes where each package came from into its lock files; there is no other way.
        if file.path.ends_with("Cargo.lock") {
            continue;
        }
        for (at, line) in file.text.lines().enumerate() {
            if machine.iter().chain(&registries).any(|word| line.contains(word)) {
                let shown: String = line.trim().chars().take(120).collect();
                found.push(format!("{}:{}: {shown}", file.path, at + 1));
            }
        }
    }
    none_found("Written for one machine or one registry:", &found);
}

fn rust() -> Vec<Source> {
    let mut files = sources("src-tauri", &[".rs"]);
    files.extend(sources("tests", &[".rs"]));
    assert!(files.len() > 20, "the sources are there");
    files
}

/// Everything that people write, and no lock file or licence text.
fn written() -> Vec<Source> {
    let mut files = sources(
        "",
        &[
            ".rs", ".ts", ".svelte", ".js", ".mjs", ".css", ".html", ".toml", ".md", ".json", "dev", "run",
        ],
    );
    files.retain(|file| !file.path.ends_with("-lock.json"));
    files
}
