//! What a command's card says about the sandbox: always what is enforced, never what is hoped for. SPEC P12.

use cairn_policy::{Effect, ReadBars, Sandbox, Show, show};
use cairn_protocol::{ApprovalRow, RowLabel};

/// The rows *Reads*, *Writes* and *Network*.
pub(super) fn rows(sandbox: Sandbox, bars: &ReadBars, effects: &[Effect]) -> Vec<ApprovalRow> {
    let mut rows = Vec::new();
    let wanted = effects.iter().find_map(|effect| match effect {
        Effect::RunCommand {
            network,
            outside,
            facts,
            ..
        } => Some((*network, *outside, facts.held_by(sandbox))),
        _ => None,
    });
    let (network, outside, held) = wanted.unwrap_or((true, true, sandbox));
    let held = if outside { Sandbox::NotEnforced } else { held };
    let (reads, writes) = match held {
        Sandbox::NotEnforced if sandbox.is_enforced() => (None, "anything you can: outside the sandbox"),
        Sandbox::NotEnforced => (None, "anything you can: not sandboxed"),
        Sandbox::Enforced => (
            Some("no credentials"),
            "only the project, temporary and cache folders; no protected files",
        ),
        Sandbox::WithoutProtected => (
            Some(if bars.is_empty() {
                "no credentials outside the project"
            } else {
                "no credentials outside the project; your rules that deny reading are not enforced inside it"
            }),
            "only the project, temporary and cache folders; protected files inside the project not enforced",
        ),
    };
    rows.extend(reads.map(|reads| row(RowLabel::Reads, reads)));
    rows.push(row(RowLabel::Writes, writes));
    let reach = match (held, network) {
        (Sandbox::NotEnforced, _) => "not restricted",
        (_, true) => "wanted: not restricted",
        (_, false) => "none",
    };
    rows.push(row(RowLabel::Network, reach));
    rows
}

fn row(label: RowLabel, text: &str) -> ApprovalRow {
    ApprovalRow {
        label,
        shown: show(text, Show::Name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_policy::{CommandFacts, Granted, Looked, Place, RuleOrigin, RuleSet};
    use cairn_protocol::RuleScope;

    fn told(sandbox: Sandbox, network: bool, outside: bool) -> Vec<String> {
        told_of(
            sandbox,
            &ReadBars::default(),
            CommandFacts::default(),
            network,
            outside,
        )
    }

    fn told_of(
        sandbox: Sandbox,
        bars: &ReadBars,
        facts: CommandFacts,
        network: bool,
        outside: bool,
    ) -> Vec<String> {
        let effect = Effect::RunCommand {
            line: "make".to_owned(),
            workdir: "/w/p".into(),
            place: Place::Inside,
            network,
            outside,
            facts,
        };
        let text = |row: ApprovalRow| {
            let text: String = row.shown.iter().map(|span| span.text.as_str()).collect();
            format!("{:?}: {text}", row.label)
        };
        rows(sandbox, bars, &[effect]).into_iter().map(text).collect()
    }

    #[test]
    fn p12_a_card_says_what_is_enforced() {
        let unheld = [
            "Writes: anything you can: not sandboxed",
            "Network: not restricted",
        ];
        assert_eq!(told(Sandbox::NotEnforced, false, false), unheld);
        assert_eq!(told(Sandbox::NotEnforced, true, true), unheld);
        assert_eq!(
            told(Sandbox::Enforced, false, false),
            [
                "Reads: no credentials",
                "Writes: only the project, temporary and cache folders; no protected files",
                "Network: none",
            ]
        );
        let landlock = told(Sandbox::WithoutProtected, true, false);
        assert!(
            landlock
                .iter()
                .any(|row| row.contains("protected files inside the project not enforced"))
        );
        assert!(landlock.contains(&"Network: wanted: not restricted".to_owned()));
        assert_eq!(
            told(Sandbox::Enforced, false, true),
            [
                "Writes: anything you can: outside the sandbox",
                "Network: not restricted"
            ]
        );
    }

    #[test]
    fn p12_a_card_says_what_is_not_enforced_of_a_project_that_was_not_wholly_looked_through() {
        let facts = CommandFacts::default().with_looked(Looked::InPart("Too large.".to_owned()));
        let bars = ReadBars::default();
        assert_eq!(
            told_of(Sandbox::Enforced, &bars, facts.clone(), false, false),
            told(Sandbox::WithoutProtected, false, false)
        );
        assert_eq!(
            told_of(Sandbox::Enforced, &bars, facts, false, true),
            told(Sandbox::Enforced, false, true)
        );
    }

    #[test]
    fn p12_a_card_says_where_rules_that_deny_reading_hold_for_no_command() {
        let granted = Granted {
            rule: "read: secrets/**".parse().unwrap(),
            scope: RuleScope::Project,
            origin: RuleOrigin::Card,
            at: 0,
        };
        let rules = RuleSet {
            deny: vec![granted],
            ..RuleSet::default()
        };
        let says = |sandbox| {
            told_of(sandbox, &rules.read_bars(), CommandFacts::default(), false, false)
                .iter()
                .any(|row| row.contains("deny reading are not enforced"))
        };
        assert!(says(Sandbox::WithoutProtected) && !says(Sandbox::Enforced));
    }
}
