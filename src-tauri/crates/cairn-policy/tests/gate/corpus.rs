//! The corpus of shell lines: only `good` is allowed, so nothing else may run.

use cairn_policy::Policy;
use serde_json::Value;

use crate::fixture::{policy, runs, word};
use crate::shells::{run_all, shells};

const CORPUS: &str = include_str!("shell-corpus.json");

struct Row {
    id: String,
    line: String,
    must_ask: bool,
}

fn rows() -> Vec<Row> {
    let corpus: Value = serde_json::from_str(CORPUS).unwrap();
    let rows = corpus["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 120);
    rows.iter()
        .map(|row| Row {
            id: row["id"].as_str().unwrap().to_owned(),
            line: row["cmd"].as_str().unwrap().to_owned(),
            must_ask: row["must_ask_if_only_good_is_allowed"].as_bool().unwrap(),
        })
        .collect()
}

fn only_good() -> Policy {
    policy(&["run: good"])
}

#[test]
fn s80_every_row_that_must_ask_asks() {
    let policy = only_good();
    let mut wrong = Vec::new();
    let mut auto = 0;
    for row in rows() {
        let word = word(&policy, &row.line);
        auto += usize::from(word == "auto");
        if row.must_ask && word == "auto" {
            wrong.push(format!("{} {:?}", row.id, row.line));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(auto >= 6, "the gate lets plain lines through: {auto}");
}

#[test]
fn s80_what_runs_unasked_runs_nothing_but_what_is_granted_in_both_shells() {
    let policy = only_good();
    let unasked: Vec<(String, String)> = rows()
        .into_iter()
        .filter_map(|row| Some((row.id, runs(&policy, &row.line)?)))
        .collect();
    let lines: Vec<String> = unasked.iter().map(|(_, line)| line.clone()).collect();
    for shell in shells() {
        for (ran, (id, line)) in run_all(shell, &lines).into_iter().zip(&unasked) {
            assert!(
                ran.wrote.is_empty(),
                "{id} {line:?} in {shell} wrote {:?}",
                ran.wrote
            );
            assert!(
                !ran.programs().contains("evil"),
                "{id} {line:?} in {shell}: {ran:?}"
            );
            assert!(!ran.calls.is_empty(), "{id} {line:?} in {shell} ran nothing");
        }
    }
}

#[test]
fn s80_the_stubs_tell_when_something_else_runs() {
    let lines = [
        "good;evil".to_owned(),
        "good > evil.txt".to_owned(),
        "good a 'b c'".to_owned(),
    ];
    for shell in shells() {
        let ran = run_all(shell, &lines);
        assert!(ran[0].programs().contains("evil"), "{shell}");
        assert_eq!(ran[1].wrote, ["evil.txt"], "{shell}");
        assert_eq!(ran[2].calls, ["good\u{1f}a\u{1f}b c"], "{shell}");
    }
}
