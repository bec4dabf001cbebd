//! The inbox: everything that waits for the person, over all windows of the program. SPEC U3.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{SessionId, ShownSpan, UnixMillis};

/// What kind of thing waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum WaitingKind {
    /// A command would run.
    Command,
    /// Files would change.
    Edit,
    /// A file or folder would be read.
    Read,
    /// A host would be connected to.
    Connect,
    /// The web would be searched.
    Search,
    /// A fact would be remembered.
    Remember,
    /// A plan would be carried out.
    Plan,
    /// Anything else.
    Other,
    /// A question of the model's.
    Question,
}

/// One thing that waits for the person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Waiting {
    /// Id of the card or question, unique in the program.
    pub id: String,
    /// The session that asks.
    pub session: SessionId,
    /// Title of that session, empty for one without.
    pub title: String,
    /// Name of the project's folder.
    pub project: String,
    /// Whether it waits in a session of the window that asks for the list. Only there it can be answered; elsewhere
    /// `inbox/show` brings the right window to the front.
    pub here: bool,
    /// What kind of thing.
    pub kind: WaitingKind,
    /// What it is about: the command, the file, the host, the first question; cut after 200 characters.
    pub target: Vec<ShownSpan>,
    /// Since when it waits.
    pub at: UnixMillis,
}

/// Everything that waits, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct InboxResult {
    /// The entries.
    pub waiting: Vec<Waiting>,
}
