//! Which test holds which behaviour or fault: `./dev cases` prints the list. An id without a test fails.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test may fail loudly, and prints its list"
)]

#[path = "support/tree.rs"]
#[allow(dead_code, reason = "each test uses its part")]
mod tree;

use std::collections::BTreeMap;

/// Names of tests by the ids in them: `x31_names_…`, `n01_to_n26_…`, `n39_n41_…`.
fn tests_by_id() -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for source in tree::sources(".", &["rs"]) {
        let mut is_test = false;
        for line in source.text.lines().map(str::trim) {
            if line.starts_with("#[test]")
                || line.starts_with("#[tokio::test")
                || line.starts_with("proptest!")
            {
                is_test = true;
            }
            let Some(name) = name_of(line).filter(|_| is_test) else {
                continue;
            };
            for id in ids_of(name) {
                found
                    .entry(id)
                    .or_default()
                    .push(format!("{} ({})", name, source.path));
            }
        }
    }
    found
}

fn name_of(line: &str) -> Option<&str> {
    let rest = line
        .strip_prefix("async fn ")
        .or_else(|| line.strip_prefix("fn "))?;
    rest.split(['(', '<']).next()
}

fn ids_of(name: &str) -> Vec<String> {
    let words: Vec<&str> = name.split('_').collect();
    let mut ids: Vec<String> = words
        .iter()
        .filter(|word| is_id(word))
        .map(|word| word.to_uppercase())
        .collect();
    for three in words.windows(3) {
        let [from, "to", until] = three else { continue };
        let number = |word: &str| word.get(1..).and_then(|digits| digits.parse::<u32>().ok());
        if let (true, true, Some(from_number), Some(until_number)) =
            (is_id(from), is_id(until), number(from), number(until))
        {
            let letter = from.chars().next().unwrap().to_ascii_uppercase();
            ids.extend((from_number..=until_number).map(|number| format!("{letter}{number:02}")));
        }
    }
    ids
}

/// A letter and a number, as `x31` or `n07`.
fn is_id(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next().is_some_and(|c| c.is_ascii_lowercase())
        && word.len() > 1
        && letters.all(|c| c.is_ascii_digit())
}

#[test]
fn every_listed_case_is_held_by_a_test_of_its_name() {
    let tests = tests_by_id();
    let list = std::fs::read_to_string(tree::root().join("tests/cases.txt")).unwrap();
    let mut open = Vec::new();
    let (mut held, mut waiting) = (0, 0);
    for line in list
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
    {
        let (id, word) = line.split_once(' ').unwrap_or((line, ""));
        match (tests.get(id), word) {
            (Some(names), _) => {
                held += 1;
                println!("{id:<5} held       {}", names.join(", "));
            }
            (None, "") => open.push(id.to_owned()),
            (None, word) => {
                waiting += 1;
                println!("{id:<5} {word}");
            }
        }
    }
    println!("{held} held, {waiting} waiting or elsewhere, {} open", open.len());
    assert!(open.is_empty(), "no test has these ids in its name: {open:?}");
    assert!(held > 100, "the list is there and is read");
}
