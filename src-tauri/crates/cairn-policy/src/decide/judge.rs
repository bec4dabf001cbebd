//! Judges one effect, and makes one decision of several judgements.

use std::path::Path;

use cairn_protocol::{Decided, Mode, RuleOffer};

use super::{Approve, Asked, Decision, Edits, Policy, Presence, Sandbox};
use crate::line::{Cover, Line, LossKind};
use crate::path::{has_nul, runs_later};
use crate::rule::{ExactLine, PathGlob, Rule};
use crate::{Care, Effect, Place, RuleList};

/// What was found about one effect.
pub(super) enum Verdict {
    Allow(Decided),
    Ask(Question),
    Deny { why: String, by: Decided },
}

/// Why one effect asks and what may be offered.
pub(super) struct Question {
    why: Vec<String>,
    offers: Vec<Rule>,
    accept_edits: bool,
    loss: Option<&'static str>,
    filled: bool,
    /// The least `--approve` that covers it; none when nothing does.
    needs: Option<Approve>,
}

impl Question {
    /// A question that nothing answers beforehand.
    fn bare(why: impl Into<String>) -> Self {
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

pub(super) fn judge(policy: &Policy, effect: &Effect) -> Verdict {
    if let Some(verdict) = refused(policy, effect) {
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
            judge_write(
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
        Effect::RunCommand {
            line, place, network, ..
        } => {
            let network = if *network { Network::Wanted } else { Network::None };
            judge_command(policy, effect, line, *place, network)
        }
    }
}

/// What is forbidden whatever else holds: impossible input, deny rules, and the wall of plan mode.
fn refused(policy: &Policy, effect: &Effect) -> Option<Verdict> {
    if let Effect::ReadPath { path, .. } | Effect::WritePath { path, .. } = effect
        && has_nul(path)
    {
        let why = "A path cannot hold a NUL byte. Name the file as it is listed.".to_owned();
        return Some(Verdict::Deny {
            why,
            by: Decided::Policy,
        });
    }
    if let Effect::RunCommand { line, .. } = effect
        && let Cover::Refused(why) = Line::read(line).cover()
    {
        return Some(Verdict::Deny {
            why: format!("The command was refused. {why}"),
            by: Decided::Policy,
        });
    }
    if let Some(granted) = policy.rules.matching(RuleList::Deny, effect, &policy.places) {
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
            Effect::RunCommand { .. } => "no command runs",
            Effect::ReadPath { .. } | Effect::Own => return None,
        };
        let why = format!(
            "Plan mode changes nothing: {what} until the person leaves it. Go on reading and write down what you would do."
        );
        return Some(Verdict::Deny {
            why,
            by: Decided::Mode,
        });
    }
    None
}

fn judge_read(policy: &Policy, effect: &Effect, path: &Path, place: Place, care: Care) -> Verdict {
    let named = policy.places.named(path);
    let place = policy.sure_place(path, place);
    let mut why = policy.asked_by_rule(effect);
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

/// Whether a file shows elsewhere too.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Links {
    One,
    Several,
}

/// Whether a command wants the network.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Network {
    None,
    Wanted,
}

/// A file that would change.
struct Written<'a> {
    path: &'a Path,
    place: Place,
    care: Care,
    links: Links,
}

fn judge_write(policy: &Policy, effect: &Effect, file: &Written<'_>) -> Verdict {
    let named = policy.places.named(file.path);
    let place = policy.sure_place(file.path, file.place);
    let ordinary = place == Place::Inside && file.care == Care::Plain && file.links == Links::One;
    let by_rule = policy.asked_by_rule(effect);
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

fn judge_command(policy: &Policy, effect: &Effect, line: &str, place: Place, network: Network) -> Verdict {
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
    if network == Network::Wanted {
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
        && place == Place::Inside
        && network == Network::None
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

impl Policy {
    /// The place a tool declared, unless the path itself says it is further out.
    fn sure_place(&self, path: &Path, declared: Place) -> Place {
        if self.places.place(path) == Place::Outside {
            Place::Outside
        } else {
            declared
        }
    }

    fn asked_by_rule(&self, effect: &Effect) -> Vec<String> {
        let granted = self.rules.matching(RuleList::Ask, effect, &self.places);
        granted
            .map(|granted| format!("The rule `{}` asks for it.", granted.rule))
            .into_iter()
            .collect()
    }

    fn broken_settings(&self) -> Option<String> {
        let reason = self.rules.broken.as_ref()?;
        Some(format!(
            "The settings file cannot be read, so everything asks: {reason}"
        ))
    }
}

/// One decision of all judgements: the first denial, else one card for all that asks, else what let it run.
pub(super) fn combine(policy: &Policy, verdicts: Vec<Verdict>) -> Decision {
    let mut allowed: Option<Decided> = None;
    let mut questions = Vec::new();
    for verdict in verdicts {
        match verdict {
            Verdict::Deny { why, by } => return Decision::Deny { why, by },
            Verdict::Ask(question) => questions.push(question),
            Verdict::Allow(by) => {
                // A rule or a mode says more than "never asks".
                if matches!(allowed, None | Some(Decided::Free)) {
                    allowed = Some(by);
                }
            }
        }
    }
    if questions.is_empty() {
        return Decision::Allow {
            by: allowed.unwrap_or(Decided::Free),
        };
    }
    match policy.presence {
        Presence::Person => Decision::Ask(one_card(questions)),
        Presence::Headless { approve } => headless(approve, questions),
    }
}

fn one_card(questions: Vec<Question>) -> Asked {
    // A saved rule that would not spare the next card is a trap, so either all parts have an offer or none is made.
    let all_offered = questions.iter().all(|question| !question.offers.is_empty());
    let mut asked = Asked {
        why: Vec::new(),
        offers: Vec::new(),
        offers_accept_edits: questions.iter().all(|question| question.accept_edits),
        loss: questions
            .iter()
            .find_map(|question| question.loss)
            .map(ToOwned::to_owned),
        filled: questions
            .iter()
            .all(|question| question.filled && question.loss.is_none()),
    };
    for question in questions {
        for why in question.why.into_iter().filter(|why| !why.is_empty()) {
            if !asked.why.contains(&why) {
                asked.why.push(why);
            }
        }
        for rule in question.offers.into_iter().filter(|_| all_offered) {
            let offer = RuleOffer {
                rule: rule.to_string(),
                meaning: rule.meaning(),
            };
            if !asked.offers.contains(&offer) {
                asked.offers.push(offer);
            }
        }
    }
    asked
}

fn headless(approve: Approve, questions: Vec<Question>) -> Decision {
    let covers = |needs: Option<Approve>| match needs {
        None => false,
        Some(Approve::None) => true,
        Some(Approve::Edits) => approve != Approve::None,
        Some(Approve::All) => approve == Approve::All,
    };
    let open: Vec<Question> = questions
        .into_iter()
        .filter(|question| !covers(question.needs))
        .collect();
    if open.is_empty() {
        return Decision::Allow { by: Decided::Flag };
    }
    let reasons: Vec<String> = one_card(open).why;
    let why = format!(
        "It needs an approval, nobody is there to give it, and --approve does not cover it. {} Go on without it, and say so at the end.",
        reasons.join(" ")
    );
    Decision::Deny {
        why,
        by: Decided::Nobody,
    }
}
