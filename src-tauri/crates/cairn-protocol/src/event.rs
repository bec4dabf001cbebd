//! Events: what happened, in order. The window, the headless command and the database read the same ones.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{
    AcceptedPlan, Approval, ApprovalId, ApprovalResolution, CallId, ContextMeter, Item, ItemId, Mark, Notice,
    Process, Question, QuestionAnswer, QuestionId, QueuedMessage, RichBlock, Session, SessionId, TodoItem,
    Turn, UnixMillis,
};

/// One thing that happened in one session.
///
/// Stored events have consecutive rising `seq`. Transient ones ([`EventBody::is_stored`] is false) repeat the
/// `seq` of the stored event before them; they are safe to lose and safe to see twice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Event {
    /// [`crate::WIRE_VERSION`].
    pub v: u32,
    /// Position within the session, from 1.
    pub seq: u64,
    /// The session.
    pub session: SessionId,
    /// When.
    pub at: UnixMillis,
    /// What.
    #[serde(flatten)]
    pub body: EventBody,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export)]
pub enum EventBody {
    /// A request began.
    TurnStarted {
        /// The request.
        turn: Turn,
    },
    /// An item appeared.
    ItemStarted {
        /// The item.
        item: Item,
    },
    /// An item grew.
    ItemDelta {
        /// The item.
        item: ItemId,
        /// How.
        delta: Delta,
    },
    /// An item changed; replaces the former.
    ItemUpdated {
        /// The item.
        item: Item,
    },
    /// An item is final; replaces the former.
    ItemCompleted {
        /// The item.
        item: Item,
    },
    /// A card waits for the person.
    ApprovalRequested {
        /// The card.
        approval: Approval,
    },
    /// A card was answered or withdrawn.
    ApprovalResolved {
        /// The card.
        approval: ApprovalId,
        /// How.
        resolution: ApprovalResolution,
    },
    /// A question waits for the person.
    QuestionAsked {
        /// The question.
        question: Question,
    },
    /// A question was answered or withdrawn.
    QuestionResolved {
        /// The question.
        question: QuestionId,
        /// The answers in the order of the questions; none when it was withdrawn.
        answers: Option<Vec<QuestionAnswer>>,
    },
    /// Summary or usage of the running request moved, or a paused request goes on; replaces the former.
    TurnUpdated {
        /// The request as it is now.
        turn: Turn,
    },
    /// A request ended.
    TurnCompleted {
        /// The request with outcome and summary.
        turn: Turn,
    },
    /// Title, mode, profile, state or counts changed.
    SessionChanged {
        /// The session as it is now. On the wire `now`: `session` is the id beside it, and one object cannot hold both.
        #[serde(rename = "now")]
        session: Session,
    },
    /// The plan changed.
    PlanChanged {
        /// All entries.
        plan: Vec<TodoItem>,
    },
    /// The person accepted a plan, which is carried out from now on.
    PlanAccepted {
        /// The plan as it is carried out.
        accepted: AcceptedPlan,
    },
    /// Messages were queued, edited, sent or dropped.
    QueueChanged {
        /// All that wait.
        queue: Vec<QueuedMessage>,
    },
    /// What the model gets of an item changed.
    ItemMarked {
        /// The item.
        item: ItemId,
        /// Its mark; none when it is plain again.
        mark: Option<Mark>,
    },
    /// The context meter moved. Transient.
    MeterChanged {
        /// Its new reading.
        meter: ContextMeter,
    },
    /// What happens right now. Transient.
    ActivityChanged {
        /// What.
        activity: Activity,
    },
    /// A command that runs or ran under the session started, printed, fell silent, moved or ended. Transient.
    ProcessChanged {
        /// The command as it is now.
        process: Process,
    },
    /// Something the person must know that belongs to no request. Transient.
    Notice {
        /// What.
        notice: Notice,
    },
    /// The person wants to close a window whose sessions work: it asks what becomes of the work. Transient, to that
    /// window only.
    CloseAsked {
        /// Sessions that work.
        working: u32,
    },
    /// What waits for the person changed, in whatever window. Transient.
    InboxChanged {
        /// How many things wait over all windows.
        waiting: u32,
    },
    /// Another window's inbox leads to a session of this window's project. Transient.
    SessionWanted {
        /// The session to open.
        wanted: SessionId,
    },
    /// Written by a newer build; kept as it is.
    Unknown {
        /// The kind as the newer build named it.
        name: String,
        /// Its version.
        version: u32,
        /// Its JSON text.
        json: String,
    },
}

impl EventBody {
    /// Whether the event is stored and takes a `seq` of its own.
    pub fn is_stored(&self) -> bool {
        !matches!(
            self,
            Self::ItemDelta { .. }
                | Self::MeterChanged { .. }
                | Self::ActivityChanged { .. }
                | Self::ProcessChanged { .. }
                | Self::Notice { .. }
                | Self::CloseAsked { .. }
                | Self::InboxChanged { .. }
                | Self::SessionWanted { .. }
        )
    }
}

/// How an item grew.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[ts(export)]
pub enum Delta {
    /// Text was added to a message or thought.
    Text {
        /// Length in bytes of the item's text before this piece; a piece that does not fit is a repeat.
        offset: u64,
        /// The piece.
        text: String,
    },
    /// The same for windows: blocks from `keep` on are replaced.
    Rich {
        /// Blocks that stay.
        keep: u32,
        /// Blocks that follow them.
        blocks: Vec<RichBlock>,
    },
    /// A command printed something.
    Output {
        /// Bytes printed before this piece.
        offset: u64,
        /// The piece, escape sequences removed.
        text: String,
    },
}

/// What happens right now, for the line under the transcript.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[ts(export)]
pub enum Activity {
    /// Nothing.
    #[default]
    Idle,
    /// A request was sent; nothing came back yet.
    WaitingForModel {
        /// Since when.
        since: UnixMillis,
    },
    /// The server loads the model.
    LoadingModel {
        /// Its name.
        model: String,
        /// Since when.
        since: UnixMillis,
    },
    /// The server reads the prompt.
    ReadingPrompt {
        /// Tokens read.
        done: u64,
        /// Tokens in all.
        total: u64,
    },
    /// Older parts of the conversation are being summarised.
    Summarising {
        /// Since when.
        since: UnixMillis,
    },
    /// The model writes.
    Writing {
        /// Tokens per second, where it can be told.
        tokens_per_second: Option<f32>,
    },
    /// A tool runs.
    RunningTool {
        /// Its call.
        call: CallId,
    },
    /// The person is asked.
    WaitingForYou,
    /// The request failed and is sent again by itself.
    Retrying {
        /// Counted from 1.
        attempt: u32,
        /// When it is sent.
        at: UnixMillis,
        /// Why it failed.
        reason: String,
    },
    /// Work is being ended.
    Stopping,
}
