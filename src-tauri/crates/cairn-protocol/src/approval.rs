//! Approval cards: what is asked, what may be answered, what became of it.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{ApprovalId, CallId, Decided, FileDiff, ItemId, Mode, RichBlock, ShownSpan, TurnId, UnixMillis};

/// One card that waits for the person.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Approval {
    /// Its id, new for each recomputed card.
    pub id: ApprovalId,
    /// The request it belongs to.
    pub turn: TurnId,
    /// The tool item it is about.
    pub item: ItemId,
    /// The call it is about.
    pub call: CallId,
    /// When it was put.
    pub at: UnixMillis,
    /// Its title, like `Run this command?`.
    pub title: String,
    /// What would happen, in full.
    pub subject: ApprovalSubject,
    /// Rows under it.
    pub rows: Vec<ApprovalRow>,
    /// Rules that *Always allow…* may save; empty when it must not be offered.
    pub offers: Vec<RuleOffer>,
    /// Whether *Accept edits for this request* is offered.
    pub offers_accept_edits: bool,
    /// Whether each changed place of its one file may be taken, left or written anew. False in events of older builds.
    #[serde(default)]
    pub offers_hunks: bool,
    /// What would be lost, for destructive things: no letter, no filled button.
    pub loss: Option<String>,
    /// Whether *Allow once* is the filled button; false outside the project, for the network and for tainted requests.
    pub filled: bool,
    /// Hidden or misleading characters were made visible.
    pub has_hidden: bool,
    /// Hex SHA-256 over all that would happen; an answer must repeat it.
    pub digest: String,
}

/// What would happen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[ts(export)]
pub enum ApprovalSubject {
    /// A command would run.
    Command {
        /// The line byte for byte, drawn safely.
        shown: Vec<ShownSpan>,
        /// Folder it would run in, relative to the project.
        workdir: String,
    },
    /// Files would change.
    Edit {
        /// The full changes.
        diffs: Vec<FileDiff>,
    },
    /// A file or folder would be read.
    Read {
        /// Its real path.
        path: Vec<ShownSpan>,
    },
    /// A host would be connected to.
    Connect {
        /// Its name in ASCII, with the port where it is not the usual one.
        host: Vec<ShownSpan>,
        /// The whole address that would be asked for.
        address: Vec<ShownSpan>,
    },
    /// The web would be searched.
    Search {
        /// The whole query.
        query: Vec<ShownSpan>,
        /// Who would get it: a host, or the user's own command.
        engine: Vec<ShownSpan>,
    },
    /// A fact would be kept for later sessions.
    Remember {
        /// The whole fact.
        fact: Vec<ShownSpan>,
    },
    /// A plan would be carried out, and plan mode left. Answered with [`ApprovalAnswer::CarryOut`] or
    /// [`ApprovalAnswer::Deny`], which keeps planning.
    Plan {
        /// The whole plan, Markdown.
        text: String,
        /// Its typed tree; only in what is sent to a window.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        rendered: Option<Vec<RichBlock>>,
    },
    /// Anything else, in words.
    Other {
        /// The words.
        shown: Vec<ShownSpan>,
    },
}

/// Label of a row. SPEC U13.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum RowLabel {
    /// *In*.
    In,
    /// *Reads*.
    Reads,
    /// *Writes*.
    Writes,
    /// *Network*.
    Network,
    /// *Time limit*.
    TimeLimit,
    /// *Why asked*.
    WhyAsked,
    /// *It says*: the model's own words.
    ItSays,
}

/// One row of a card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ApprovalRow {
    /// Its label.
    pub label: RowLabel,
    /// Its text, drawn safely.
    pub shown: Vec<ShownSpan>,
}

/// How long a rule holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum RuleScope {
    /// Until the request ends.
    Request,
    /// Until the session is deleted.
    Session,
    /// For the project, saved outside it.
    Project,
}

/// A rule that *Always allow…* may save.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct RuleOffer {
    /// The exact text that would be saved. SPEC P7.
    pub rule: String,
    /// What it means, in plain words.
    pub meaning: String,
}

/// A rule with its origin, as listed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SavedRule {
    /// The rule text.
    pub rule: String,
    /// How long it holds.
    pub scope: RuleScope,
    /// When it was granted.
    pub at: UnixMillis,
    /// Where it was granted: `card`, `settings page`, `command line`, `config.toml` or `.cairn/config.toml`.
    pub origin: String,
}

/// What the person says to a card. SPEC P4.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[ts(export)]
pub enum ApprovalAnswer {
    /// Run it, this once.
    AllowOnce,
    /// Run it, and save these rules of those offered.
    AllowAlways {
        /// Texts out of [`Approval::offers`].
        rules: Vec<String>,
        /// How long they hold.
        scope: RuleScope,
    },
    /// Run it, and let edits inside the project pass until the request ends.
    AcceptEdits,
    /// Make only this of an edit: one choice for each of its changed places, in order. Only where
    /// [`Approval::offers_hunks`], and not with all of them left.
    AllowChanged {
        /// The choices.
        hunks: Vec<HunkChoice>,
    },
    /// Leave plan mode and carry the plan out. SPEC T32.
    CarryOut {
        /// Manual or accept-edits.
        mode: Mode,
        /// The plan as the person changed it; none where it was taken as it is.
        plan: Option<String>,
    },
    /// Do not run it; the agent goes on.
    Skip,
    /// Do not run it; the agent stops, or with a note gets the note and goes on.
    Deny {
        /// What to do instead.
        note: Option<String>,
    },
}

/// What becomes of one changed place of an edit. SPEC P4.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[ts(export)]
pub enum HunkChoice {
    /// It is made as proposed.
    Take,
    /// The file stays there as it is.
    Leave,
    /// These lines stand there instead: for all that the place shows of the new file, the unchanged lines around the
    /// change included. Line ends are `\n`, whatever the file's are. Not for places that show a chip, since what it
    /// stands for is not in the text.
    Replace {
        /// The lines.
        text: String,
    },
}

/// What became of a card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[ts(export)]
pub enum ApprovalResolution {
    /// It was allowed.
    Allowed {
        /// By whom.
        by: Decided,
    },
    /// It was skipped.
    Skipped,
    /// It was denied.
    Denied {
        /// What the person said.
        note: Option<String>,
    },
    /// What it was about changed; another card takes its place.
    Replaced,
    /// The request ended or the program did.
    Withdrawn,
}
