//! `cairn allow`.

use std::path::PathBuf;
use std::sync::Arc;

use cairn_host::Host;
use cairn_protocol::{ApiError, ListedRule, RuleEffect};

use crate::args::{Allow, AllowAction};
use crate::{DONE, USAGE, out};

pub(crate) async fn run(host: &Arc<Host>, allow: Allow) -> Result<u8, ApiError> {
    let folder = allow.project.unwrap_or_else(|| PathBuf::from("."));
    let project = host.project(Some(&folder)).await?;
    let mut rules = host.project_rules(&project);
    match allow.action {
        AllowAction::List => {
            let listed = host.listed_rules(&project).await;
            for rule in &listed.rules {
                out::line(&line(rule));
            }
            if let Some(problem) = listed.problem {
                out::problem(&out::safe(&problem));
                return Ok(USAGE);
            }
        }
        AllowAction::Add { rule } => {
            let meaning = host.add_rule(&project, &rule)?;
            out::note(&format!("Allowed from now on: {}.", out::safe(&meaning)));
        }
        AllowAction::Revoke { rule } => rules.revoke(&rule)?,
        AllowAction::Reset => rules.reset()?,
    }
    Ok(DONE)
}

/// `allow  run: cargo test  (card, 2026-11-30)`: the rule as `revoke` takes it, and where it is from.
fn line(listed: &ListedRule) -> String {
    let effect = match listed.effect {
        RuleEffect::Allow => "allow",
        RuleEffect::Ask => "ask  ",
        RuleEffect::Deny => "deny ",
    };
    let saved = &listed.saved;
    // What stands in a file that a person writes has no date of its own.
    let since = if listed.revocable {
        format!(", {}", cairn_host::day(saved.at))
    } else {
        String::new()
    };
    format!("{effect}  {}  ({}{since})", out::safe(&saved.rule), saved.origin)
}
