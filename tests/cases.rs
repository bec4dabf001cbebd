//! Which test holds which behaviour, fault or attack: `./dev cases` prints the lists. Of behaviours and faults an id
//! without a test fails; of attacks it is listed as open.

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
        .map(|word| shown(word))
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

/// `G02b` for `g02b`: as the collections write it.
fn shown(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().map(|c| c.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// A letter and a number, as `x31`, `n07` or `g02b`.
fn is_id(word: &str) -> bool {
    let number = word
        .strip_prefix(|c: char| c.is_ascii_lowercase())
        .unwrap_or_default();
    let digits = number.strip_suffix('b').unwrap_or(number);
    !digits.is_empty() && digits.bytes().all(|c| c.is_ascii_digit())
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
        // Another collection may have the same id.
        let there = word.strip_prefix("in ");
        let names: Vec<&str> = tests
            .get(id)
            .into_iter()
            .flatten()
            .map(String::as_str)
            .filter(|name| name.contains(there.unwrap_or_default()))
            .collect();
        match (names.as_slice(), word) {
            (names @ [_, ..], _) => {
                held += 1;
                println!("{id:<5} held       {}", names.join(", "));
            }
            ([], word) if word.is_empty() || there.is_some() => open.push(id.to_owned()),
            ([], word) => {
                waiting += 1;
                println!("{id:<5} {word}");
            }
        }
    }
    println!("{held} held, {waiting} waiting or elsewhere, {} open", open.len());
    assert!(open.is_empty(), "no test has these ids in its name: {open:?}");
    assert!(held > 100, "the list is there and is read");
}

#[test]
fn every_attack_is_held_waits_for_a_part_by_name_or_is_listed_as_open() {
    let tests = tests_by_id();
    let list = std::fs::read_to_string(tree::root().join("tests/security.txt")).unwrap();
    let (mut held, mut waiting, mut open) = (0, 0, Vec::new());
    for line in list
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
    {
        let (id, word) = line.split_once(' ').unwrap_or((line, ""));
        if word.starts_with("waits: ") {
            waiting += 1;
            println!("{id:<5} {word}");
            continue;
        }
        let there = word.strip_prefix("in ").unwrap_or_default();
        assert!(word.is_empty() || !there.is_empty(), "{line}");
        let names: Vec<&str> = tests
            .get(id)
            .into_iter()
            .flatten()
            .map(String::as_str)
            .filter(|name| name.contains(there))
            .collect();
        if names.is_empty() {
            println!("{id:<5} open");
            open.push(id);
        } else {
            held += 1;
            println!("{id:<5} held       {}", names.join(", "));
        }
    }
    println!(
        "attacks: {held} held, {waiting} waiting for parts that are not built, {} open: {}",
        open.len(),
        open.join(" ")
    );
    assert!(held > 200, "the list is there and is read");
    // What belongs to the gate for commands is held as a whole.
    let gate = |id: &&&str| id.starts_with(['S', 'P']);
    let missing: Vec<_> = open.iter().filter(gate).collect();
    assert!(
        missing.is_empty(),
        "no test has these ids in its name: {missing:?}"
    );
}
