//! How much of what agents usually run needs no question: `useful.txt` by kind of project, with five usual grants each.

use std::collections::BTreeMap;

use cairn_policy::{Policy, Sandbox};

use crate::fixture::{policy, word};

const LINES: &str = include_str!("useful.txt");

#[derive(Default)]
struct Kind {
    grants: Vec<&'static str>,
    lines: Vec<&'static str>,
}

fn kinds() -> (BTreeMap<&'static str, Kind>, Vec<&'static str>) {
    let mut kinds: BTreeMap<&str, Kind> = BTreeMap::new();
    let mut unsafe_lines = Vec::new();
    let mut name = "";
    for line in LINES
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        if let Some(kind) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            name = kind;
        } else if let Some(grant) = line.strip_prefix("grant ") {
            kinds.entry(name).or_default().grants.push(grant);
        } else if name == "unsafe" {
            unsafe_lines.push(line);
        } else {
            kinds.entry(name).or_default().lines.push(line);
        }
    }
    (kinds, unsafe_lines)
}

fn with(sandbox: Sandbox, grants: &[&str]) -> Policy {
    Policy {
        sandbox,
        ..policy(grants)
    }
}

#[test]
fn most_of_what_agents_usually_run_needs_no_question_and_nothing_unsafe_runs() {
    let (kinds, unsafe_lines) = kinds();
    let (mut all, mut on, mut off) = (0, 0, 0);
    let mut asks: Vec<&str> = Vec::new();
    println!("{:<22} {:>5} {:>10} {:>10}", "kind", "lines", "sandboxed", "not");
    for (name, kind) in &kinds {
        assert!(kind.grants.len() <= 5, "{name} has more than five grants");
        let unasked = |sandbox| {
            let policy = with(sandbox, &kind.grants);
            kind.lines
                .iter()
                .filter(|line| word(&policy, line) == "auto")
                .count()
        };
        let (sandboxed, bare) = (unasked(Sandbox::Enforced), unasked(Sandbox::NotEnforced));
        println!("{name:<22} {:>5} {sandboxed:>10} {bare:>10}", kind.lines.len());
        all += kind.lines.len();
        on += sandboxed;
        off += bare;
        let policy = with(Sandbox::Enforced, &kind.grants);
        asks.extend(
            kind.lines
                .iter()
                .filter(|line| word(&policy, line) != "auto")
                .copied(),
        );
    }
    println!("{:<22} {all:>5} {on:>10} {off:>10}", "all");
    println!(
        "{:<22} {:>5} {:>9}% {:>9}%",
        "",
        "",
        on * 100 / all,
        off * 100 / all
    );
    println!("\nthese ask even in the sandbox:");
    for line in &asks {
        println!("  {line}");
    }
    assert!(all >= 400, "{all} lines");
    assert!(on * 100 >= all * 70, "{on} of {all} run unasked in the sandbox");

    let grants: Vec<&str> = kinds
        .values()
        .flat_map(|kind| kind.grants.iter().copied())
        .collect();
    assert!(unsafe_lines.len() >= 60, "{}", unsafe_lines.len());
    for line in unsafe_lines {
        for sandbox in [Sandbox::Enforced, Sandbox::WithoutProtected, Sandbox::NotEnforced] {
            assert_ne!(
                word(&with(sandbox, &grants), line),
                "auto",
                "{line} in {sandbox:?}"
            );
        }
    }
}

#[test]
fn the_lines_are_no_examples_of_the_rules_themselves() {
    let table = include_str!("../../src/program/programs.txt");
    let examples: Vec<&str> = table
        .lines()
        .filter_map(|line| line.strip_prefix("fits "))
        .collect();
    let (kinds, _) = kinds();
    for line in kinds.values().flat_map(|kind| &kind.lines) {
        assert!(!examples.contains(line), "{line} is an example of the table");
    }
}
