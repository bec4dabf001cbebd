//! Makes one decision of several judgements.

use cairn_protocol::{Decided, RuleOffer};

use super::judge::{Question, Verdict};
use super::{Approve, Asked, Decision, Policy, Presence};

/// One decision of all judgements: the first denial, else one card for all that asks, else what let it run.
pub(super) fn combine(policy: &Policy, verdicts: Vec<Verdict>) -> Decision {
    let mut allowed: Option<Decided> = None;
    let mut line = None;
    let mut questions = Vec::new();
    for verdict in verdicts {
        match verdict {
            Verdict::Deny { why, by } => return Decision::Deny { why, by },
            Verdict::Ask(question) => questions.push(question),
            Verdict::Run { by, line: runs } => {
                line = Some(runs);
                if matches!(allowed, None | Some(Decided::Free)) {
                    allowed = Some(by);
                }
            }
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
            runs: line,
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
        return Decision::Allow {
            by: Decided::Flag,
            runs: None,
        };
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
