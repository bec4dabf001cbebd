//! Sessions and turns: what the sidebar, the trail and the end card show.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{
    Activity, ApiError, Approval, ChangeKind, ContextMeter, Item, MarkedItem, ProjectKey, Question, QueueId,
    RichBlock, SessionId, TodoItem, TurnId, UnixMillis, Usage,
};

/// How much may happen without a click. SPEC P8.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "kebab-case")]
#[ts(export)]
pub enum Mode {
    /// Asks before changes.
    #[default]
    Manual,
    /// Asks for commands; edits inside the project pass.
    AcceptEdits,
    /// Asks for risky things; sandboxed commands without network pass where a sandbox is enforced.
    Auto,
    /// Changes nothing.
    Plan,
}

/// What a session is doing, for the sidebar and the window title.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum SessionState {
    /// No request yet.
    #[default]
    New,
    /// The model or a tool works.
    Running,
    /// An approval or a question waits for the person.
    Waiting,
    /// The last request ended.
    Done,
    /// The person stopped the last request, or denied without a note.
    Stopped,
    /// The last request failed.
    Failed,
    /// The step limit paused the last request.
    Paused,
    /// The program ended while the last request ran.
    Interrupted,
}

/// Files and lines changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ChangeCount {
    /// Files touched.
    pub files: u32,
    /// Lines added.
    pub added: u32,
    /// Lines removed.
    pub removed: u32,
}

/// One conversation, as listed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Session {
    /// Its id.
    pub id: SessionId,
    /// The project it belongs to.
    pub project: ProjectKey,
    /// Real path of the project folder, as text for display; may hold replacement characters.
    pub project_path: String,
    /// Shown in the list; the first words of the first message until somebody names it better.
    pub title: String,
    /// When it was made.
    pub created_at: UnixMillis,
    /// When its last event was stored.
    pub updated_at: UnixMillis,
    /// What it is doing.
    pub state: SessionState,
    /// How much may happen without a click.
    pub mode: Mode,
    /// Name of the model profile it uses; none until one is chosen.
    pub profile: Option<String>,
    /// What it changed in all.
    pub changes: ChangeCount,
    /// What it used in all.
    pub usage: Usage,
    /// Hidden from the list, reachable by search and filter.
    pub archived: bool,
}

/// How a request ended. SPEC P13: stated from our own log, whatever the model claims.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[ts(export)]
pub enum TurnOutcome {
    /// The model finished.
    Done,
    /// The person pressed Stop.
    Stopped,
    /// The person denied a call without a note.
    Denied,
    /// Something outside failed and could not be retried.
    Failed {
        /// What was tried, why it failed, what to do.
        error: ApiError,
    },
    /// The step limit was reached; the person may continue.
    Paused {
        /// Model steps taken so far.
        steps: u32,
    },
    /// The program ended while it ran.
    Interrupted,
}

/// One file that a request changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct FileChange {
    /// Path relative to the project, or absolute outside it.
    pub path: String,
    /// What happened to it over the whole request.
    pub change: ChangeKind,
    /// Lines added.
    pub added: u32,
    /// Lines removed.
    pub removed: u32,
}

/// What a request did, counted from the log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct TurnSummary {
    /// Files changed, in the order of their first change.
    pub files: Vec<FileChange>,
    /// Commands that ran.
    pub commands: u32,
    /// Tool calls that ended well.
    pub done: u32,
    /// Tool calls that failed.
    pub failed: u32,
    /// Tool calls the person skipped.
    pub skipped: u32,
    /// Tool calls the person or the rules denied.
    pub denied: u32,
    /// Model steps taken.
    pub steps: u32,
}

/// One request of the person and all that followed from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Turn {
    /// Its id.
    pub id: TurnId,
    /// Counted from 1 within the session.
    pub number: u32,
    /// When the message was sent.
    pub started_at: UnixMillis,
    /// When it ended; none while it runs.
    pub ended_at: Option<UnixMillis>,
    /// How it ended; none while it runs.
    pub outcome: Option<TurnOutcome>,
    /// What it did so far.
    pub summary: TurnSummary,
    /// What it used so far.
    pub usage: Usage,
}

/// A message typed while a request runs, waiting for its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct QueuedMessage {
    /// Its id.
    pub id: QueueId,
    /// What will be sent.
    pub text: String,
    /// When it was typed.
    pub at: UnixMillis,
}

/// Who holds a session, when it is not this process. SPEC S3.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct LeaseHolder {
    /// Process id of the holder.
    pub pid: u32,
    /// `window` or `exec`.
    pub program: String,
    /// Since when.
    pub since: UnixMillis,
}

/// Characters a plan may have.
pub const MOST_PLAN: usize = 20_000;

/// A plan in words that the person accepted. SPEC T32.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct AcceptedPlan {
    /// The whole plan, Markdown, as the person left it.
    pub text: String,
    /// When it was accepted.
    pub at: UnixMillis,
    /// Its typed tree; made by the host for windows, never stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub rendered: Option<Vec<RichBlock>>,
}

/// All that a window needs to draw a session; events with a larger `seq` go on from here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SessionSnapshot {
    /// The session.
    pub session: Session,
    /// Its requests, oldest first.
    pub turns: Vec<Turn>,
    /// Its transcript, oldest first.
    pub items: Vec<Item>,
    /// Cards that wait, oldest first.
    pub approvals: Vec<Approval>,
    /// The question that waits.
    pub question: Option<Question>,
    /// The plan as last written.
    pub plan: Vec<TodoItem>,
    /// The plan that the person accepted last.
    #[serde(default)]
    pub accepted_plan: Option<AcceptedPlan>,
    /// Messages that wait for the running request.
    pub queue: Vec<QueuedMessage>,
    /// Items of which the model gets something else than the plain item, in the order of the transcript.
    #[serde(default)]
    pub marks: Vec<MarkedItem>,
    /// What was typed and not sent.
    pub draft: String,
    /// The context meter.
    pub meter: ContextMeter,
    /// What happens right now.
    pub activity: Activity,
    /// Set when another process writes this session: shown read-only.
    pub held_by: Option<LeaseHolder>,
    /// The `seq` of the last stored event that this snapshot contains.
    pub last_seq: u64,
}
