//! Judges connections to hosts and searches of the web. SPEC P3, P7, cases N38, N57, N58.

use cairn_protocol::Decided;

use super::judge::{Question, Verdict};
use super::{Approve, Policy};
use crate::host::shared_domain;
use crate::rule::{HostName, Rule};
use crate::{AddressWords, Carries, Effect, Granted, RuleOrigin, Taint};

/// A connection that would be made.
pub(super) struct Reached<'a> {
    pub(super) host: &'a str,
    pub(super) port: u16,
    pub(super) carries: Carries,
    pub(super) words: AddressWords,
}

pub(super) fn judge_host(policy: &Policy, effect: &Effect, reached: &Reached<'_>) -> Verdict {
    let holds = |granted: &Granted| {
        policy.holds_in_taint(granted)
            && (policy.taint == Taint::None || reached.words == AddressWords::Literal)
    };
    let mut why = match by_rule(policy, effect, holds) {
        Ok(verdict) => return verdict,
        Err(why) => why,
    };
    let asks_by_rule = !why.is_empty();
    why.extend(policy.tainted());
    why.extend(policy.broken_settings());
    if !matches!(reached.port, 80 | 443) {
        why.push(format!("It connects to port {}, not to 80 or 443.", reached.port));
    }
    if reached.carries == Carries::Much {
        why.push(
            "The address itself carries a lot of text, which its host would get; so it asks whatever the rules allow."
                .to_owned(),
        );
    }
    let shared = shared_domain(reached.host);
    if let Some(domain) = shared {
        why.push(format!(
            "Anybody can publish at {domain}, so no rule is offered for it."
        ));
    }
    if why.is_empty() {
        why.push("Connecting to a host asks first.".to_owned());
    }
    // An address of the model's own asks again whatever is saved now.
    let answers = policy.taint == Taint::None || reached.words == AddressWords::Literal;
    let may_offer = !asks_by_rule
        && answers
        && reached.carries == Carries::Little
        && shared.is_none()
        && policy.rules.broken.is_none();
    let offers = HostName::exactly(reached.host, reached.port)
        .filter(|_| may_offer)
        .map(Rule::Host);
    Verdict::Ask(Question {
        why,
        offers: offers.into_iter().collect(),
        needs: Some(Approve::All),
        ..Question::bare("")
    })
}

pub(super) fn judge_search(policy: &Policy, effect: &Effect) -> Verdict {
    let mut why = match by_rule(policy, effect, |granted| policy.holds_in_taint(granted)) {
        Ok(verdict) => return verdict,
        Err(why) => why,
    };
    let may_offer = why.is_empty() && policy.rules.broken.is_none();
    why.extend(policy.tainted());
    why.extend(policy.broken_settings());
    if may_offer {
        why.push("Searching the web asks once in a session.".to_owned());
    }
    Verdict::Ask(Question {
        why,
        offers: Some(Rule::WebSearch).filter(|_| may_offer).into_iter().collect(),
        needs: Some(Approve::All),
        ..Question::bare("")
    })
}

/// Memory shapes every later session, so it asks; what may be somebody else's words asks whatever the rules allow.
/// SPEC T26.
pub(super) fn judge_memory(policy: &Policy, effect: &Effect, doubtful: bool) -> Verdict {
    let mut why = match by_rule(policy, effect, |granted| policy.holds_in_taint(granted)) {
        Ok(verdict) => return verdict,
        Err(why) => why,
    };
    let doubtful = doubtful || policy.taint != Taint::None;
    let may_offer = why.is_empty() && !doubtful && policy.rules.broken.is_none();
    why.extend(policy.broken_settings());
    if doubtful {
        why.push(
            "This request has read text from outside your machine. Allow it only if these are your own words.".to_owned(),
        );
    } else if may_offer {
        why.push("What is remembered is told to the model in every later session.".to_owned());
    }
    Verdict::Ask(Question {
        why,
        offers: Some(Rule::Remember).filter(|_| may_offer).into_iter().collect(),
        filled: may_offer,
        needs: Some(Approve::All).filter(|_| !doubtful),
        ..Question::bare("")
    })
}

/// What a rule says: it allows, or the reasons to ask.
fn by_rule(
    policy: &Policy,
    effect: &Effect,
    holds: impl Fn(&Granted) -> bool,
) -> Result<Verdict, Vec<String>> {
    let why = policy.asked_by_rule(effect, None);
    if !why.is_empty() {
        return Err(why);
    }
    let granted = policy
        .rules
        .allowing(effect, &policy.places)
        .find(|granted| holds(granted));
    match granted {
        Some(granted) => Ok(Verdict::Allow(Decided::Rule {
            rule: granted.rule.to_string(),
        })),
        None => Err(why),
    }
}

impl Policy {
    /// Whether a rule for the network, for writes outside or for memory still holds: in a tainted request only what
    /// was answered after it was tainted. SPEC P9.
    pub(super) fn holds_in_taint(&self, granted: &Granted) -> bool {
        match self.taint {
            Taint::None => true,
            Taint::Since(at) => granted.at >= at && granted.origin == RuleOrigin::Card,
        }
    }

    /// The sentence on the card of a tainted request.
    pub(super) fn tainted(&self) -> Option<String> {
        (self.taint != Taint::None).then(|| {
            "This request has read text from outside your machine, so rules for the network, for files outside and for memory ask again."
                .to_owned()
        })
    }
}

#[cfg(test)]
mod tests;
