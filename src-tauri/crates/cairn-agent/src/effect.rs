//! What goes into the turn machine and what comes out of it.

use std::time::Duration;

use cairn_protocol::{
    ApiError, ApprovalAnswer, ApprovalId, ApprovalSubject, Ask, Attachment, CallId, ContentBlock,
    ContextChoice, EventBody, HunkChoice, ItemId, Mode, QuestionAnswer, QuestionId, QueueId, SendWhen,
    TodoItem, TurnId, UnixMillis,
};

use crate::model::{ModelError, ModelEvent, ModelInfo};
use crate::store::Durability;
use crate::summary::Cut;
use crate::tool::{ToolClass, ToolOutcome};

/// When an input happened, and a number from 0 up to 1 for jitter: all that the machine knows of time and chance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    /// Now.
    pub now: UnixMillis,
    /// From 0 up to and without 1.
    pub chance: f64,
}

/// What the machine is told.
#[derive(Clone, Debug)]
pub enum Input {
    /// The person sent a message.
    Send {
        /// The words.
        text: String,
        /// Files and pictures.
        attachments: Vec<Attachment>,
        /// When a request runs.
        when: SendWhen,
        /// Id for the request it may begin.
        turn: TurnId,
        /// Id for the queued message it may become.
        queue: QueueId,
    },
    /// The person changed, dropped (`text` none) or sent a queued message.
    QueueEdit {
        /// Which.
        id: QueueId,
        /// Its new words; none drops it.
        text: Option<String>,
        /// Send it with the next model step.
        now: bool,
    },
    /// Id for the request that the next queued message begins.
    NextFromQueue {
        /// The id.
        turn: TurnId,
    },
    /// The person pressed Stop.
    Stop,
    /// The person pressed Continue or Retry after a pause or failure.
    Continue,
    /// The person wants older parts of the conversation summarised.
    Summarise,
    /// The person changed what the model gets of an item.
    Mark {
        /// The item.
        item: ItemId,
        /// What was chosen.
        choice: ContextChoice,
    },
    /// The prompt is larger than was known when the request was to be sent.
    NeedsRoom,
    /// The person ended the wait before a retry.
    RetryNow,
    /// The wait before a retry is over.
    Woke,
    /// The person chose a mode.
    SetMode(Mode),
    /// The person chose a model.
    SetModel {
        /// Name of its profile.
        profile: String,
        /// What is known about it.
        info: ModelInfo,
    },
    /// The person gave the session a title.
    Rename(String),
    /// The person hid the session or showed it again.
    Archive(Archived),
    /// The person changed the plan.
    SetPlan(Vec<TodoItem>),
    /// The person answered a card; checked with `TurnMachine::check_answer` first.
    AnswerApproval {
        /// The card.
        approval: ApprovalId,
        /// The answer.
        answer: ApprovalAnswer,
    },
    /// The person wants a command that failed within the sandbox asked about to run outside; checked with
    /// `TurnMachine::check_outside` first.
    RunOutside {
        /// Its item.
        item: ItemId,
        /// Id for the request that this begins when none runs.
        turn: TurnId,
    },
    /// The person answered a question.
    AnswerQuestion {
        /// The question.
        question: QuestionId,
        /// The answers.
        answers: Vec<QuestionAnswer>,
    },
    /// The model said something.
    Model(ModelEvent),
    /// The request to the model failed.
    ModelFailed(ModelError),
    /// The server refused something of the request. SPEC M8.
    Refused {
        /// The failure, with what was refused.
        error: ModelError,
        /// The item that it is about, where the server tells.
        item: Option<ItemId>,
    },
    /// The request could not even be put together.
    RequestFailed(ApiError),
    /// A call is ready to be judged.
    Prepared {
        /// The call.
        call: CallId,
        /// All about it.
        facts: Box<PreparedFacts>,
    },
    /// A call cannot be carried out as written.
    Unprepared {
        /// The call.
        call: CallId,
        /// A sentence the model can act on.
        message: String,
    },
    /// A call ended.
    Finished {
        /// The call.
        call: CallId,
        /// What came of it.
        outcome: Box<ToolOutcome>,
    },
    /// The session was opened again; what had begun is closed, what waited is shown again.
    Restore,
}

/// Whether a session is hidden from the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Archived {
    /// Hidden.
    Yes,
    /// Shown.
    No,
}

/// The part of a prepared call that can be judged and shown.
#[derive(Clone, Debug, PartialEq)]
pub struct PreparedFacts {
    /// Heading of its card.
    pub title: String,
    /// What it acts on.
    pub target: String,
    /// What it would do.
    pub effects: Vec<cairn_policy::Effect>,
    /// What an approval shows.
    pub subject: Option<ApprovalSubject>,
    /// The model's own words about it.
    pub says: Option<String>,
    /// What its card draws before it ran.
    pub blocks: Vec<ContentBlock>,
    /// Digest over all that would happen.
    pub digest: String,
    /// Its time limit.
    pub limit: Option<Duration>,
    /// Whether its places may be taken one by one; see [`crate::tool::Execute::takes_hunks`].
    pub takes_hunks: bool,
    /// Set when it puts questions instead of doing something.
    pub asks: Option<Vec<Ask>>,
}

/// What the driver is to do, in this order.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Store, then show.
    Record(Box<EventBody>, Durability),
    /// Show only.
    Show(Box<EventBody>),
    /// Keep and show a piece of a growing item.
    Grow {
        /// The item.
        item: ItemId,
        /// Bytes before the piece.
        offset: u64,
        /// The piece.
        text: String,
    },
    /// Put the request together and send it.
    AskModel,
    /// Have a summary written of what is cut off.
    AskSummary {
        /// What stays.
        cut: Cut,
        /// Estimated tokens of the transcript.
        room: u64,
        /// Tokens of the summary.
        most: u64,
    },
    /// Send the request as if these were set aside, to see whether it is taken: what comes of it is not shown.
    Probe {
        /// Items to leave out.
        without: Vec<ItemId>,
    },
    /// Drop the running request.
    DropModel,
    /// Send [`Input::Woke`] at that time, unless told otherwise meanwhile.
    WakeAt(UnixMillis),
    /// Prepare a call.
    Prepare {
        /// The call.
        call: CallId,
        /// The tool.
        name: String,
        /// Arguments as written.
        arguments: String,
        /// Characters its result may have.
        budget: usize,
    },
    /// Carry out a prepared call.
    Execute {
        /// The call.
        call: CallId,
        /// Its time limit.
        limit: Option<Duration>,
        /// The line that is to run in place of the one that came in; see [`crate::tool::CallContext::runs`].
        runs: Option<String>,
        /// What the person made of it; see [`crate::tool::CallContext::hunks`].
        hunks: Option<Vec<HunkChoice>>,
    },
    /// Drop a prepared call.
    Forget {
        /// The call.
        call: CallId,
    },
    /// Cancel every running call; each still reports [`Input::Finished`].
    CancelCalls,
    /// Save rules for the project.
    SaveRules(Vec<String>),
    /// Send [`Input::NextFromQueue`].
    StartNext,
}

/// What the machine knows about a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolFacts {
    /// Its name.
    pub name: String,
    /// What kind of thing it does.
    pub class: ToolClass,
}
