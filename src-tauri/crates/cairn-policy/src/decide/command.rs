//! Judges a command line.

use std::path::Path;

use cairn_protocol::{Decided, Mode};

use super::judge::{Question, Verdict};
use super::{Approve, Policy, Sandbox};
use crate::line::{Cover, Line, LossKind};
use crate::rule::{ExactLine, Rule};
use crate::{Effect, Place, RuleList};

/// Whether a command wants the network.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Network {
    None,
    Wanted,
}

/// A command that would run.
pub(super) struct Ran<'a> {
    pub(super) line: &'a str,
    pub(super) workdir: &'a Path,
    pub(super) place: Place,
    pub(super) network: Network,
}

pub(super) fn judge(policy: &Policy, effect: &Effect, command: &Ran<'_>) -> Verdict {
    let line = command.line;
    let place = policy.sure_place(command.workdir, command.place);
    let parsed = Line::read(line);
    let cover = parsed.cover();
    let by_rule = policy.asked_by_rule(effect);
    let asks_by_rule = !by_rule.is_empty();
    let may_be_covered = matches!(cover, Cover::Offered | Cover::NotOffered(_)) && !asks_by_rule;
    if may_be_covered && let Some(granted) = policy.rules.matching(RuleList::Allow, effect, &policy.places) {
        return Verdict::Allow(Decided::Rule {
            rule: granted.rule.to_string(),
        });
    }
    let mut why = by_rule;
    why.extend(policy.broken_settings());
    if place == Place::Outside {
        why.push("It runs in a folder outside the project.".to_owned());
    }
    if command.network == Network::Wanted {
        why.push("It wants the network.".to_owned());
    }
    let loss = parsed.loss();
    let mut needs = Some(Approve::All).filter(|_| place == Place::Inside);
    match &cover {
        Cover::Never(reason) => {
            why.push(reason.to_string());
            // What only runs as another user or sets a variable is still a command; the rest cannot be judged or
            // changes what is allowed.
            if !parsed.is_judged_command() {
                needs = None;
            }
        }
        Cover::NotOffered(reason) => why.push(reason.to_string()),
        Cover::Offered | Cover::Refused(_) => {}
    }
    if loss.as_ref().is_some_and(|loss| loss.kind == LossKind::Git) {
        needs = None;
    }
    if why.is_empty() {
        why.push(match (policy.mode, policy.sandbox) {
            (Mode::Auto, Sandbox::NotEnforced) => {
                "Commands are not sandboxed here, so each one asks.".to_owned()
            }
            _ => "Commands ask first.".to_owned(),
        });
    }
    let may_offer = cover == Cover::Offered
        && !asks_by_rule
        && policy.places.is_root(command.workdir)
        && command.network == Network::None
        && policy.rules.broken.is_none();
    let offers = if may_offer {
        ExactLine::new(line).map(Rule::RunExact).into_iter().collect()
    } else {
        Vec::new()
    };
    Verdict::Ask(Question {
        why,
        offers,
        accept_edits: false,
        loss: loss.map(|loss| loss.sentence),
        filled: match policy.sandbox {
            Sandbox::NotEnforced => false,
        },
        needs,
    })
}
