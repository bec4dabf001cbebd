//! Judges one effect.

use std::path::Path;

use cairn_protocol::{Decided, Mode};

use super::command::{self, Bounds, Network, Ran};
use super::reach::{self, Reached};
use super::write::{self, Links, Written};
use super::{Approve, Policy};
use crate::line::{Cover, Line};
use crate::path::has_nul;
use crate::rule::Rule;
use crate::{Care, Effect, Place, RuleList};

/// What was found about one effect.
pub(super) enum Verdict {
    Allow(Decided),
    /// A command runs, in these words.
    Run {
        by: Decided,
        line: String,
    },
    Ask(Question),
    Deny {
        why: String,
        by: Decided,
    },
}

/// Why one effect asks and what may be offered.
pub(super) struct Question {
    pub(super) why: Vec<String>,
    pub(super) offers: Vec<Rule>,
    pub(super) accept_edits: bool,
    pub(super) loss: Option<&'static str>,
    pub(super) filled: bool,
    /// The least `--approve` that covers it; none when nothing does.
    pub(super) needs: Option<Approve>,
}

impl Question {
    /// A question that nothing answers beforehand.
    pub(super) fn bare(why: impl Into<String>) -> Self {
        Self {
            why: vec![why.into()],
            offers: Vec::new(),
            accept_edits: false,
            loss: None,
            filled: false,
            needs: None,
        }
    }
}

pub(super) fn unknown() -> Verdict {
    Verdict::Ask(Question::bare("What it would do is not known."))
}

pub(super) fn failed() -> Verdict {
    Verdict::Ask(Question::bare(
        "Cairn could not judge it: a fault of Cairn's own. Look at it closely.",
    ))
}

/// All that is to be said about an effect: a command has a verdict of its own and one for each file it touches.
pub(super) fn judge(policy: &Policy, effect: &Effect) -> Vec<Verdict> {
    if let Effect::RunCommand {
        line,
        workdir,
        place,
        network,
        outside,
        facts,
    } = effect
    {
        let wide = Line::read(line);
        let cover = wide.cover();
        // Where not all of the project could be looked through, less is enforced than the session counts on.
        let weaker;
        let policy = if facts.held_by(policy.sandbox) == policy.sandbox {
            policy
        } else {
            weaker = Policy {
                sandbox: facts.held_by(policy.sandbox),
                ..policy.clone()
            };
            &weaker
        };
        if let Some(verdict) = refused(policy, effect, Some((&wide, &cover))) {
            return vec![verdict];
        }
        let network = if *network { Network::Wanted } else { Network::None };
        // Where nothing holds commands in there is nothing to leave.
        let bounds = if *outside && policy.sandbox.is_enforced() {
            Bounds::Left
        } else {
            Bounds::Kept
        };
        let ran = Ran {
            line,
            workdir,
            place: *place,
            network,
            bounds,
            facts,
        };
        return command::judge(policy, effect, &ran, wide, cover);
    }
    vec![judge_one(policy, effect)]
}

/// Judges anything but a command.
pub(super) fn judge_one(policy: &Policy, effect: &Effect) -> Verdict {
    if let Some(verdict) = refused(policy, effect, None) {
        return verdict;
    }
    match effect {
        Effect::Own => Verdict::Allow(Decided::Free),
        Effect::ReadPath { path, place, care } => judge_read(policy, effect, path, *place, *care),
        Effect::WritePath {
            path,
            place,
            care,
            hard_linked,
        } => {
            let links = if *hard_linked { Links::Several } else { Links::One };
            write::judge(
                policy,
                effect,
                &Written {
                    path,
                    place: *place,
                    care: *care,
                    links,
                },
            )
        }
        Effect::RunCommand { .. } => unknown(),
        Effect::ReachHost {
            host,
            port,
            carries,
            words,
        } => {
            let reached = Reached {
                host,
                port: *port,
                carries: *carries,
                words: *words,
            };
            reach::judge_host(policy, effect, &reached)
        }
        Effect::SearchWeb => reach::judge_search(policy, effect),
        Effect::LeavePlan => judge_plan(policy),
        Effect::Remember { doubtful } => reach::judge_memory(policy, effect, *doubtful),
    }
}

/// What is forbidden whatever else holds: impossible input, deny rules, and the wall of plan mode.
fn refused(policy: &Policy, effect: &Effect, line: Option<(&Line, &Cover)>) -> Option<Verdict> {
    if let Effect::ReadPath { path, .. } | Effect::WritePath { path, .. } = effect
        && has_nul(path)
    {
        let why = "A path cannot hold a NUL byte. Name the file as it is listed.".to_owned();
        return Some(Verdict::Deny {
            why,
            by: Decided::Policy,
        });
    }
    if let Some((_, Cover::Refused(why))) = line {
        return Some(Verdict::Deny {
            why: format!("The command was refused. {why}"),
            by: Decided::Policy,
        });
    }
    let wide = line.map(|(wide, _)| wide);
    if let Some(granted) = policy
        .rules
        .matching_in(RuleList::Deny, effect, wide, &policy.places)
    {
        let rule = granted.rule.to_string();
        let why = format!(
            "The rule `{rule}` from {} denies it. Find another way, or say what is needed.",
            granted.origin.as_str()
        );
        return Some(Verdict::Deny {
            why,
            by: Decided::Rule { rule },
        });
    }
    if policy.mode == Mode::Plan {
        let what = match effect {
            Effect::WritePath { .. } => "no file is changed",
            Effect::Remember { .. } => "nothing is remembered",
            Effect::RunCommand { .. }
            | Effect::ReadPath { .. }
            | Effect::ReachHost { .. }
            | Effect::SearchWeb
            | Effect::LeavePlan
            | Effect::Own => {
                return None;
            }
        };
        return Some(plan_denies(what));
    }
    None
}

/// Whether a plan is carried out is the person's word, whatever mode, rules and flags say. SPEC T32.
fn judge_plan(policy: &Policy) -> Verdict {
    if policy.mode == Mode::Plan {
        return Verdict::Ask(Question::bare("Only you can leave plan mode."));
    }
    Verdict::Deny {
        why: "Plan mode is not on, so there is no plan to accept. Go on, or call `enter_plan_mode` first."
            .to_owned(),
        by: Decided::Mode,
    }
}

/// The wall of plan mode.
pub(super) fn plan_denies(what: &str) -> Verdict {
    Verdict::Deny {
        why: format!(
            "Plan mode changes nothing: {what} until the person leaves it. Go on reading and write down what you would do."
        ),
        by: Decided::Mode,
    }
}

fn judge_read(policy: &Policy, effect: &Effect, path: &Path, place: Place, care: Care) -> Verdict {
    let named = policy.places.named(path);
    let place = policy.sure_place(path, place);
    let mut why = policy.asked_by_rule(effect, None);
    if why.is_empty()
        && let Some(granted) = policy.rules.reading_barred_beneath(path, &policy.places)
    {
        why.push(format!(
            "It searches a folder in which the rule `{}` speaks about files.",
            granted.rule
        ));
    }
    if why.is_empty() {
        if let Some(granted) = policy.rules.matching(RuleList::Allow, effect, &policy.places) {
            return Verdict::Allow(Decided::Rule {
                rule: granted.rule.to_string(),
            });
        }
        if place == Place::Inside && care != Care::Credential && policy.rules.broken.is_none() {
            return Verdict::Allow(Decided::Free);
        }
    }
    why.extend(policy.broken_settings());
    if place == Place::Outside {
        why.push(format!("{named} is outside the project."));
    }
    if care == Care::Credential {
        why.push(format!("{named} may hold keys or passwords."));
    }
    let plain = place == Place::Inside && care != Care::Credential;
    // A flag covers no read: what of them asks is outside or a credential, or asks by the person's own rule.
    Verdict::Ask(Question {
        why,
        filled: plain,
        ..Question::bare("")
    })
}

impl Policy {
    /// The place a tool declared, unless the path itself says it is further out.
    pub(super) fn sure_place(&self, path: &Path, declared: Place) -> Place {
        if self.places.place(path) == Place::Outside {
            Place::Outside
        } else {
            declared
        }
    }

    /// Why a rule wants it asked. A command is barred by what its line was taken apart into.
    pub(super) fn asked_by_rule(&self, effect: &Effect, line: Option<&Line>) -> Vec<String> {
        let granted = self.rules.matching_in(RuleList::Ask, effect, line, &self.places);
        granted
            .map(|granted| format!("The rule `{}` asks for it.", granted.rule))
            .into_iter()
            .collect()
    }

    pub(super) fn broken_settings(&self) -> Option<String> {
        let reason = self.rules.broken.as_ref()?;
        Some(format!(
            "The settings file cannot be read, so everything asks: {reason}"
        ))
    }
}
