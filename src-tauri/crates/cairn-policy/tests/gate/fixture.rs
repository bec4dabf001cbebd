//! The project `/w/p` of the cases, and what the gate says about a line in it.

use std::path::{Path, PathBuf};

use cairn_policy::{
    Asked, CommandFacts, Decision, Edits, Effect, Granted, Place, Places, Policy, Presence, Reading,
    RuleOrigin, RuleSet, Sandbox, Taint, decide,
};
use cairn_protocol::{Mode, RuleScope};

use crate::machine::PlainMachine;

/// The standing grants of the cases.
pub(crate) const GRANTS: &[&str] = &[
    "run: cargo test",
    "run: cargo build",
    "run: ls",
    "run: cat",
    "run: echo",
    "run: grep",
    "run: rg",
    "run: find",
    "run: git status",
    "run: git diff",
    "run: printf",
    "run: test",
];

pub(crate) fn places() -> Places {
    Places {
        root: PathBuf::from("/w/p"),
        home: Some(PathBuf::from("/h/u")),
        own: vec![PathBuf::from("/h/u/.config/cairn")],
    }
}

pub(crate) fn granted(rules: &[&str]) -> Vec<Granted> {
    let grant = |text: &&str| Granted {
        rule: text.parse().unwrap_or_else(|error| panic!("{text}: {error}")),
        scope: RuleScope::Project,
        origin: RuleOrigin::Card,
        at: 0,
    };
    rules.iter().map(grant).collect()
}

pub(crate) fn policy(rules: &[&str]) -> Policy {
    Policy {
        places: places(),
        mode: Mode::Manual,
        rules: RuleSet {
            allow: granted(rules),
            ..RuleSet::default()
        },
        edits: Edits::AsMode,
        presence: Presence::Person,
        sandbox: Sandbox::NotEnforced,
        reading: Reading::InSandbox,
        taint: Taint::None,
    }
}

/// A machine with all programs, and the project's usual files and folders.
pub(crate) fn machine() -> PlainMachine {
    let paths = |names: &[&str]| names.iter().map(|name| Path::new("/w/p").join(name)).collect();
    PlainMachine {
        folders: paths(&[
            "",
            ".git",
            "src",
            "tests",
            "docs",
            "ui",
            "target",
            "node_modules",
            "scripts",
            "build",
        ]),
        files: paths(&[
            "README.md",
            "Cargo.toml",
            "package.json",
            "src/main.rs",
            "src/lib.rs",
            "ui/app.ts",
            "go.mod",
            ".env",
            "f",
            "pyproject.toml",
            "Makefile",
            "docs/a.md",
            "scripts/gen.sh",
            "tests/a.rs",
            "src/app.py",
            "x.sed",
        ]),
        links: vec![(PathBuf::from("/w/p/link"), PathBuf::from("/h/u/.ssh"))],
        ..PlainMachine::default()
    }
}

pub(crate) fn effect_on(machine: &PlainMachine, line: &str) -> Effect {
    let workdir = PathBuf::from("/w/p");
    Effect::RunCommand {
        line: line.to_owned(),
        facts: CommandFacts::gather(line, &workdir, &places(), machine),
        workdir,
        place: Place::Inside,
        network: false,
        outside: false,
    }
}

pub(crate) fn effect(line: &str) -> Effect {
    effect_on(&machine(), line)
}

pub(crate) fn decided(policy: &Policy, line: &str) -> Decision {
    decide(policy, &[effect(line)])
}

/// `auto`, `ask` or `deny`.
pub(crate) fn word(policy: &Policy, line: &str) -> &'static str {
    word_of(&decided(policy, line))
}

pub(crate) fn word_of(decision: &Decision) -> &'static str {
    match decision {
        Decision::Allow { .. } => "auto",
        Decision::Ask(_) => "ask",
        Decision::Deny { .. } => "deny",
    }
}

/// The line that would run unasked.
pub(crate) fn runs(policy: &Policy, line: &str) -> Option<String> {
    match decided(policy, line) {
        Decision::Allow { runs, .. } => runs,
        _ => None,
    }
}

pub(crate) fn asked(policy: &Policy, line: &str) -> Asked {
    match decided(policy, line) {
        Decision::Ask(asked) => asked,
        other => panic!("{line} did not ask: {other:?}"),
    }
}

pub(crate) fn offers(policy: &Policy, line: &str) -> Vec<String> {
    asked(policy, line)
        .offers
        .into_iter()
        .map(|offer| offer.rule)
        .collect()
}
