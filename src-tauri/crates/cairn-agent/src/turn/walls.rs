//! What a command's card says about the sandbox: always what is enforced, never what is hoped for. SPEC P12.

use cairn_policy::{Effect, Sandbox, Show, show};
use cairn_protocol::{ApprovalRow, RowLabel};

/// The rows *Reads*, *Writes* and *Network*.
pub(super) fn rows(sandbox: Sandbox, effects: &[Effect]) -> Vec<ApprovalRow> {
    let mut rows = Vec::new();
    let wanted = effects.iter().find_map(|effect| match effect {
        Effect::RunCommand { network, outside, .. } => Some((*network, *outside)),
        _ => None,
    });
    let (network, outside) = wanted.unwrap_or((true, true));
    let held = if outside { Sandbox::NotEnforced } else { sandbox };
    let (reads, writes) = match held {
        Sandbox::NotEnforced if sandbox.is_enforced() => (None, "anything you can: outside the sandbox"),
        Sandbox::NotEnforced => (None, "anything you can: not sandboxed"),
        Sandbox::Enforced => (
            Some("no credentials"),
            "only the project, temporary and cache folders; no protected files",
        ),
        Sandbox::WithoutProtected => (
            Some("no credentials outside the project"),
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
    use cairn_policy::{CommandFacts, Place};

    fn told(sandbox: Sandbox, network: bool, outside: bool) -> Vec<String> {
        let effect = Effect::RunCommand {
            line: "make".to_owned(),
            workdir: "/w/p".into(),
            place: Place::Inside,
            network,
            outside,
            facts: CommandFacts::default(),
        };
        let text = |row: ApprovalRow| {
            let text: String = row.shown.iter().map(|span| span.text.as_str()).collect();
            format!("{:?}: {text}", row.label)
        };
        rows(sandbox, &[effect]).into_iter().map(text).collect()
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
}
