//! Judges a change to a file.

use std::path::Path;

use cairn_protocol::{Decided, Mode};

use super::judge::{Question, Verdict};
use super::{Approve, Edits, Policy};
use crate::path::runs_later;
use crate::rule::{PathGlob, Rule};
use crate::{Care, Effect, Place, RuleList};

/// Whether a file shows elsewhere too.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Links {
    One,
    Several,
}

/// A file that would change.
pub(super) struct Written<'a> {
    pub(super) path: &'a Path,
    pub(super) place: Place,
    pub(super) care: Care,
    pub(super) links: Links,
}

pub(super) fn judge(policy: &Policy, effect: &Effect, file: &Written<'_>) -> Verdict {
    let named = policy.places.named(file.path);
    let place = policy.sure_place(file.path, file.place);
    let ordinary = place == Place::Inside && file.care == Care::Plain && file.links == Links::One;
    let by_rule = policy.asked_by_rule(effect, None);
    let asks_by_rule = !by_rule.is_empty();
    if !asks_by_rule {
        if let Some(granted) = policy.rules.matching(RuleList::Allow, effect, &policy.places) {
            return Verdict::Allow(Decided::Rule {
                rule: granted.rule.to_string(),
            });
        }
        if ordinary && policy.rules.broken.is_none() {
            if policy.edits == Edits::Accepted {
                return Verdict::Allow(Decided::Person);
            }
            if matches!(policy.mode, Mode::AcceptEdits | Mode::Auto) {
                return Verdict::Allow(Decided::Mode);
            }
        }
    }
    let mut why = by_rule;
    why.extend(policy.broken_settings());
    if place == Place::Outside {
        why.push(format!("{named} is outside the project."));
    }
    match file.care {
        Care::Protected => why.push(format!(
            "{named} is protected: it runs code or decides what the agent may do."
        )),
        Care::Credential => why.push(format!("{named} may hold keys or passwords.")),
        Care::Plain => {}
    }
    if file.links == Links::Several {
        why.push(format!(
            "{named} has more than one hard link, so the change shows elsewhere too."
        ));
    }
    if why.is_empty() {
        why.push("Changes to files ask first.".to_owned());
    }
    if runs_later(file.path) {
        why.push(format!(
            "{named} runs code later, when the project is built or tested."
        ));
    }
    let may_offer = ordinary && !asks_by_rule && policy.rules.broken.is_none();
    Verdict::Ask(Question {
        why,
        offers: if may_offer {
            write_offers(policy, file.path)
        } else {
            Vec::new()
        },
        accept_edits: may_offer,
        loss: None,
        filled: ordinary,
        needs: ordinary.then_some(Approve::Edits),
    })
}

/// That path, and every file of the project.
fn write_offers(policy: &Policy, path: &Path) -> Vec<Rule> {
    let own = policy
        .places
        .relative(path)
        .and_then(PathGlob::of_path)
        .map(Rule::Write);
    own.into_iter().chain("write: **".parse()).collect()
}
