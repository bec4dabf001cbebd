//! Judges a command line: as text for what must never pass, as a study for what may. SPEC P5, P6, P8, P10.

use std::path::Path;

use cairn_protocol::{Decided, Mode};

use super::cover::{Covered, covered, offer, only_reads, reads_unasked, rule_barrier, runs_in_auto};
use super::judge::{Question, Verdict, judge_one, plan_denies};
use super::{Approve, Policy, Sandbox, Taint};
use crate::facts::{CommandFacts, Looked};
use crate::line::{Cover, Line, LossKind};
use crate::program::Class;
use crate::rule::{ExactLine, Rule};
use crate::script::Opaque;
use crate::study::{Part, Study};
use crate::{Care, Effect, Place, RuleList};

/// Whether a command wants the network.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Network {
    None,
    Wanted,
}

/// Whether a command stays in the sandbox that there is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Bounds {
    Kept,
    Left,
}

/// A command that would run.
pub(super) struct Ran<'a> {
    pub(super) line: &'a str,
    pub(super) workdir: &'a Path,
    pub(super) place: Place,
    pub(super) network: Network,
    pub(super) bounds: Bounds,
    pub(super) facts: &'a CommandFacts,
}

/// A line, as it was read in both ways.
struct Judged<'a> {
    policy: &'a Policy,
    ran: &'a Ran<'a>,
    place: Place,
    wide: Line,
    cover: Cover,
    study: Result<Study, Opaque>,
    asked_by_rule: Vec<String>,
}

pub(super) fn judge(
    policy: &Policy,
    effect: &Effect,
    ran: &Ran<'_>,
    wide: Line,
    cover: Cover,
) -> Vec<Verdict> {
    let judged = Judged {
        policy,
        ran,
        place: policy.sure_place(ran.workdir, ran.place),
        study: Study::of(ran.line, ran.workdir, &policy.places, ran.facts),
        asked_by_rule: policy.asked_by_rule(effect, Some(&wide)),
        cover,
        wide,
    };
    if policy.mode == Mode::Plan {
        return vec![judged.in_plan()];
    }
    let mut verdicts = judged.files();
    if verdicts
        .iter()
        .any(|verdict| matches!(verdict, Verdict::Deny { .. }))
    {
        return verdicts;
    }
    if let Some(rule) = judged.exact_rule(effect) {
        return vec![Verdict::Allow(Decided::Rule { rule })];
    }
    let verdict = judged
        .unasked()
        .unwrap_or_else(|| judged.question(!verdicts.is_empty()));
    // The command comes first on the card, then what it touches.
    verdicts.insert(0, verdict);
    verdicts
}

impl Judged<'_> {
    /// Plan mode passes what cannot change anything: git that reads, and P6's where they hold.
    fn in_plan(&self) -> Verdict {
        let passes = |part: &Part| {
            let git = part.reads_git
                && only_reads(part)
                && (!part.searches || self.policy.sandbox.hides_credentials());
            part.free || git || reads_unasked(self.policy, part)
        };
        match &self.study {
            Ok(study)
                if self.may_be_covered()
                    && self.ran.bounds == Bounds::Kept
                    && study
                        .parts
                        .iter()
                        .all(|part| passes(part) && part.redirected.is_empty())
                    && self.files().is_empty() =>
            {
                Verdict::Run {
                    by: Decided::Mode,
                    line: study.script.to_string(),
                }
            }
            _ => plan_denies("no command runs but those that are known to only read"),
        }
    }

    /// What the line does to files is judged like what the file tools do. What a rule about the command already
    /// settled is not asked again, as far as it is nothing special.
    fn files(&self) -> Vec<Verdict> {
        let Ok(study) = &self.study else {
            return Vec::new();
        };
        let mut verdicts = Vec::new();
        for part in &study.parts {
            for effect in &part.effects {
                let verdict = judge_one(self.policy, effect);
                let settled = is_ordinary_write(effect) && self.policy.asked_by_rule(effect, None).is_empty();
                if matches!(verdict, Verdict::Deny { .. }) || !settled {
                    verdicts.push(verdict);
                }
            }
            verdicts.extend(
                part.redirected
                    .iter()
                    .map(|effect| judge_one(self.policy, effect)),
            );
        }
        verdicts.retain(|verdict| !matches!(verdict, Verdict::Allow(_) | Verdict::Run { .. }));
        verdicts
    }

    /// No rule and no mode covers a line that could not be read well, or that a rule wants asked about.
    fn may_be_covered(&self) -> bool {
        let judged = matches!(self.cover, Cover::Offered | Cover::NotOffered(_));
        judged && self.asked_by_rule.is_empty()
    }

    /// The rule about exactly this line. It runs as it came in: that is what the person saw.
    fn exact_rule(&self, effect: &Effect) -> Option<String> {
        // Leaving the sandbox is approved on its own and never remembered. SPEC P12.
        if !self.may_be_covered() || self.ran.bounds == Bounds::Left {
            return None;
        }
        // What stands in the project under the name of a program is not what was meant when the rule was saved.
        let shadowed = self.study.as_ref().is_ok_and(|study| {
            study.parts.iter().flat_map(|part| &part.blocked).any(|why| {
                why.contains("lies inside the project") || why.contains("configuration of its own")
            })
        });
        let granted = self
            .policy
            .rules
            .matching(RuleList::Allow, effect, &self.policy.places)?;
        let holds = !self.reaches_network() || self.policy.holds_in_taint(granted);
        (holds && !shadowed).then(|| granted.rule.to_string())
    }

    fn reaches_network(&self) -> bool {
        self.ran.network == Network::Wanted || self.wide.commands_of(Class::Network)
    }

    /// What lets the whole line run without a question.
    fn unasked(&self) -> Option<Verdict> {
        let study = self.study.as_ref().ok()?;
        let there = self.may_be_covered()
            && self.ran.network == Network::None
            && self.ran.bounds == Bounds::Kept
            && self.place == Place::Inside;
        if !there {
            return None;
        }
        let line = || study.script.to_string();
        let mut rules: Vec<String> = Vec::new();
        let all = study.parts.iter().all(|part| match covered(self.policy, part) {
            Covered::Free | Covered::Reading => true,
            Covered::Rule(rule) => {
                if !rules.contains(&rule) {
                    rules.push(rule);
                }
                true
            }
            Covered::No => false,
        });
        if all && (self.policy.rules.broken.is_none()) {
            let by = if rules.is_empty() {
                Decided::Free
            } else {
                Decided::Rule {
                    rule: rules.join(", "),
                }
            };
            return Some(Verdict::Run { by, line: line() });
        }
        let auto = self.policy.mode == Mode::Auto
            && self.policy.sandbox.is_enforced()
            && self.policy.rules.broken.is_none()
            && self.wide.loss().is_none()
            && study
                .parts
                .iter()
                .all(|part| part.free || runs_in_auto(self.policy, part));
        auto.then(|| Verdict::Run {
            by: Decided::Mode,
            line: line(),
        })
    }

    /// The question, with all that speaks against running it unasked.
    fn question(&self, files_ask: bool) -> Verdict {
        let loss = self.wide.loss();
        let mut needs = Some(Approve::All).filter(|_| self.place == Place::Inside);
        if matches!(self.cover, Cover::Never(_)) && !self.wide.is_judged_command()
            || loss.as_ref().is_some_and(|loss| loss.kind == LossKind::Git)
            || self.ran.bounds == Bounds::Left
        {
            // What cannot be judged, changes what is allowed, loses work or leaves the sandbox. SPEC A2.
            needs = None;
        }
        let held = self.policy.sandbox.is_enforced()
            && self.ran.network == Network::None
            && self.ran.bounds == Bounds::Kept
            && self.place == Place::Inside
            && self.policy.taint == Taint::None
            && !matches!(self.cover, Cover::Never(_))
            && !self.reaches_network();
        Verdict::Ask(Question {
            why: self.why(files_ask),
            offers: self.offers(files_ask),
            accept_edits: false,
            loss: loss.map(|loss| loss.sentence),
            filled: held,
            needs,
        })
    }

    fn why(&self, files_ask: bool) -> Vec<String> {
        let mut why = self.asked_by_rule.clone();
        why.extend(self.policy.broken_settings());
        if self.place == Place::Outside {
            why.push("It runs in a folder outside the project.".to_owned());
        }
        if self.ran.bounds == Bounds::Left {
            why.push("It wants to run outside the sandbox, where it can do what you can.".to_owned());
        }
        if let (Looked::InPart(reason), Bounds::Kept) = (self.ran.facts.looked(), self.ran.bounds) {
            why.push(reason.clone());
        }
        if self.ran.network == Network::Wanted {
            why.push("It wants the network.".to_owned());
        }
        if self.reaches_network() {
            why.extend(self.policy.tainted());
        }
        match &self.cover {
            Cover::Never(reason) | Cover::NotOffered(reason) => why.push(reason.to_string()),
            Cover::Offered | Cover::Refused(_) => {}
        }
        match &self.study {
            Err(opaque) => why.push(opaque.0.to_owned()),
            Ok(study) => {
                for part in &study.parts {
                    if matches!(covered(self.policy, part), Covered::No) {
                        why.extend(part.blocked.iter().cloned());
                        why.extend(part.strays.iter().cloned());
                        why.extend(rule_barrier(self.policy, part));
                    }
                }
            }
        }
        let unheld = self.policy.mode == Mode::Auto && !self.policy.sandbox.is_enforced();
        if unheld || (why.is_empty() && !files_ask) {
            why.push(self.of_mode().to_owned());
        }
        why
    }

    fn of_mode(&self) -> &'static str {
        match (self.policy.mode, self.policy.sandbox) {
            (Mode::Auto, Sandbox::NotEnforced) => "Commands are not sandboxed here, so each one asks.",
            (Mode::Auto, Sandbox::WithoutProtected) => {
                "The sandbox here does not protect files that run code later, so what runs project code asks."
            }
            (Mode::Auto, Sandbox::Enforced) => {
                "It could reach something outside the sandbox or lose something."
            }
            _ => "Commands ask first.",
        }
    }

    /// One rule for each part that is not covered yet; where one has none, the exact line or nothing.
    fn offers(&self, files_ask: bool) -> Vec<Rule> {
        let may_offer = self.cover == Cover::Offered
            && self.asked_by_rule.is_empty()
            && self.ran.network == Network::None
            && self.ran.bounds == Bounds::Kept
            && self.policy.rules.broken.is_none()
            && !(self.policy.taint != Taint::None && self.reaches_network());
        if !may_offer {
            return Vec::new();
        }
        if let Ok(study) = &self.study
            && self.place == Place::Inside
        {
            let open = study
                .parts
                .iter()
                .filter(|part| matches!(covered(self.policy, part), Covered::No));
            let rules: Option<Vec<Rule>> = open.map(|part| offer(self.policy, part)).collect();
            if let Some(rules) = rules.filter(|rules| !rules.is_empty()) {
                return rules;
            }
        }
        if files_ask || !self.policy.places.is_root(self.ran.workdir) {
            return Vec::new();
        }
        ExactLine::new(self.ran.line)
            .map(Rule::RunExact)
            .into_iter()
            .collect()
    }
}

/// Whether a change is nothing but what the command is for: inside the project, no credential, not protected, one name.
fn is_ordinary_write(effect: &Effect) -> bool {
    matches!(
        effect,
        Effect::WritePath {
            place: Place::Inside,
            care: Care::Plain,
            hard_linked: false,
            ..
        }
    )
}
