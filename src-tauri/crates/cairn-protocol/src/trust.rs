//! What a folder's own files propose, and whether the person trusts the folder with it. SPEC P11, A6.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::UnixMillis;

/// What kind of thing a folder proposes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum ProposalKind {
    /// A rule that lets something run unasked.
    Rule,
    /// A server that would be started or reached.
    Server,
    /// A command that would run by itself at certain moments.
    Hook,
    /// A command, role or skill: words that the model would be given.
    Command,
    /// A program that would look for errors, and runs code of the project for it.
    Checker,
    /// What git would read, and what the repository makes it run.
    Git,
    /// A setting that Cairn never takes from a folder, trusted or not.
    Setting,
}

/// One thing that a folder proposes, whole: nothing of it is cut.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Proposal {
    /// What kind of thing.
    pub kind: ProposalKind,
    /// Its name in the file; empty where the text says all.
    pub name: String,
    /// The command line, rule or value exactly as it stands there. May hold anything: draw hidden characters.
    pub text: String,
    /// The file that proposes it, relative to the folder.
    pub file: String,
}

/// How one proposal changed since the folder was trusted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ProposalChange {
    /// As it was trusted; none for a new one.
    pub before: Option<Proposal>,
    /// As it is now; none for one that is gone.
    pub after: Option<Proposal>,
}

/// Whether the person trusts a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[ts(export)]
pub enum TrustState {
    /// Nobody said so.
    New,
    /// Yes, with exactly what it proposes now.
    Trusted {
        /// Since when.
        at: UnixMillis,
    },
    /// It was trusted with other proposals.
    Changed {
        /// Since when it was.
        at: UnixMillis,
    },
    /// Another folder or repository of this path was trusted.
    Replaced {
        /// Since when it was.
        at: UnixMillis,
    },
}

/// What a folder proposes and whether it is in force.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct TrustView {
    /// Whether the person trusts it.
    pub state: TrustState,
    /// All that it proposes, in the order of kinds, files and lines.
    pub proposals: Vec<Proposal>,
    /// What changed since it was trusted, where it was.
    pub changes: Vec<ProposalChange>,
    /// Why it cannot be trusted as it is: something in it cannot be read, so nobody can be shown what it says.
    pub problem: Option<String>,
    /// Whether there is something to ask.
    pub asks: bool,
    /// Hex SHA-256 over all that is listed; trusting must repeat it.
    pub digest: String,
}

/// The person trusts the folder with what was shown.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct TrustParams {
    /// [`TrustView::digest`], repeated.
    pub digest: String,
}
