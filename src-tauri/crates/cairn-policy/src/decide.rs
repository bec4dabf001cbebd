//! The one decision: what a call's effects mean under the mode, the rules and who is there. Pure.
//!
//! Owns: the order of things (deny wins over ask, ask over allow; what cannot be judged asks). Must never know: how a
//! card looks or how anything is done.

mod card;
mod command;
mod cover;
mod judge;
mod reach;
mod write;

use std::panic::{AssertUnwindSafe, catch_unwind};

use cairn_protocol::{Decided, Mode, RuleOffer, UnixMillis};

use crate::{Effect, Places, RuleSet};

/// Everything that decides, but the call itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// The folders.
    pub places: Places,
    /// The session's mode.
    pub mode: Mode,
    /// The rules that hold.
    pub rules: RuleSet,
    /// Whether the person accepted edits until this request ends.
    pub edits: Edits,
    /// Who can be asked.
    pub presence: Presence,
    /// What holds commands in.
    pub sandbox: Sandbox,
    /// Where commands that only read run unasked.
    pub reading: Reading,
    /// Whether the request has read text from outside the person's machine.
    pub taint: Taint,
}

/// Whether edits inside the project pass until the request ends. SPEC P4.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Edits {
    /// As the mode says.
    #[default]
    AsMode,
    /// The person clicked *Accept edits for this request*.
    Accepted,
}

/// Who can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// A person, by a card.
    Person,
    /// Nobody: what would ask is denied unless the flag covers it. SPEC A2.
    Headless {
        /// `--approve`.
        approve: Approve,
    },
}

/// What `--approve` covers. Never credentials, protected files, writes outside, destructive git, our own programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Approve {
    /// Nothing.
    #[default]
    None,
    /// File changes inside the project.
    Edits,
    /// Those, and commands.
    All,
}

/// What holds commands in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sandbox {
    /// Nothing does: in `auto` every command asks, and no command card has a filled button. SPEC P8, P10.
    #[default]
    NotEnforced,
    /// It writes only to the project and to temporary folders, reads no credentials and reaches no network.
    Enforced,
    /// The same, but inside the project protected files can be written and credential files read: commands that run
    /// project code ask in `auto`, and searches ask as without a sandbox.
    WithoutProtected,
}

impl Sandbox {
    /// Whether commands are held in at all.
    pub fn is_enforced(self) -> bool {
        self != Self::NotEnforced
    }

    /// Whether commands can read no credential file, inside the project neither.
    pub fn hides_credentials(self) -> bool {
        self == Self::Enforced
    }
}

/// Where commands that only read run unasked. SPEC P6.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reading {
    /// Where the sandbox is enforced.
    #[default]
    InSandbox,
    /// Everywhere: the person turned it on.
    Everywhere,
}

/// Whether a request has read text from outside the person's machine, which may want something of the model. SPEC P9.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Taint {
    /// It has not.
    #[default]
    None,
    /// It has, first at that time: rules for the network, writes outside and memory that were granted before ask again.
    Since(UnixMillis),
}

/// What was decided about a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It runs.
    Allow {
        /// What let it. Of several effects the one that says most.
        by: Decided,
        /// The line that is to run, where a command was let by a rule or mode: written down again from its words, to be
        /// run and shown in place of the one that came in. None: as it came in. SPEC P10.
        runs: Option<String>,
    },
    /// The person is asked.
    Ask(Asked),
    /// It does not run.
    Deny {
        /// A sentence for the person and the model: why not, and what can be done.
        why: String,
        /// What forbade it.
        by: Decided,
    },
}

/// What a card says and offers. All texts are as they are: put them through `show` before they are drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Why it asks, in plain sentences, none twice.
    pub why: Vec<String>,
    /// Rules that *Always allow…* may save; empty when it must not be offered.
    pub offers: Vec<RuleOffer>,
    /// Whether *Accept edits for this request* is offered.
    pub offers_accept_edits: bool,
    /// What would be lost for good.
    pub loss: Option<String>,
    /// Whether *Allow once* may be the filled button: not for what is outside, unsandboxed, destructive, protected or
    /// a credential.
    pub filled: bool,
}

/// Decides about a call by all that it would do.
///
/// Deny wins over ask, ask over allow. A call that declares nothing cannot be judged and asks; one that touches only
/// the agent's own things declares [`Effect::Own`]. A fault inside asks as well: failing to judge never lets anything
/// run, and never ends the session.
pub fn decide(policy: &Policy, effects: &[Effect]) -> Decision {
    combined(policy, || {
        if effects.is_empty() {
            return vec![judge::unknown()];
        }
        effects
            .iter()
            .flat_map(|effect| judge::judge(policy, effect))
            .collect()
    })
}

fn combined(policy: &Policy, judge: impl FnOnce() -> Vec<judge::Verdict>) -> Decision {
    // What is judged is only looked at, so nothing is left half changed.
    let verdicts = catch_unwind(AssertUnwindSafe(judge)).unwrap_or_else(|_| vec![judge::failed()]);
    card::combine(policy, verdicts)
}

#[cfg(test)]
mod tests;
