//! The transcript: one item per message, thought, tool call, question or notice.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{
    CallId, ContentBlock, ItemId, OutputId, Picture, Question, RichBlock, Summary, TurnId, UnixMillis,
};

/// State of an item, shown as a word and an icon. SPEC U13.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum ItemState {
    /// Accepted, not begun.
    Queued,
    /// An approval or question about it waits for the person.
    Waiting,
    /// Works.
    Running,
    /// Ended well.
    Done,
    /// Ended badly.
    Failed,
    /// The person skipped it; it did not run.
    Skipped,
    /// The person or the rules denied it; it did not run.
    Denied,
    /// The person stopped it.
    Stopped,
    /// The program ended while it ran.
    Interrupted,
    /// Its time limit struck.
    TimedOut,
}

/// One entry of the transcript.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Item {
    /// Its id.
    pub id: ItemId,
    /// The request it belongs to.
    pub turn: TurnId,
    /// When it began.
    pub at: UnixMillis,
    /// How far it is.
    pub state: ItemState,
    /// The model step of its request that made it, from 1; none for what no model step made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub step: Option<u32>,
    /// What it is.
    pub body: ItemBody,
    /// Markdown of `body` as a typed tree; made by the host for windows, never stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub rendered: Option<Vec<RichBlock>>,
}

/// What an item is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[ts(export)]
pub enum ItemBody {
    /// What the person wrote.
    User {
        /// The words.
        text: String,
        /// Files and pictures sent along.
        attachments: Vec<Attachment>,
    },
    /// What the model wrote, Markdown.
    Assistant {
        /// The words.
        text: String,
    },
    /// What the model thought, where it tells.
    Thinking {
        /// The words; empty where the provider keeps them to itself.
        text: String,
        /// What the provider wants back, unread.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        data: Option<Box<ReasoningData>>,
    },
    /// A tool call with its result.
    Tool(Box<ToolItem>),
    /// A question with its answers.
    Question(Question),
    /// Something the person must know: a repaired history, a cut prompt, a nudge.
    Notice(Notice),
    /// From here on the model gets a summary in the place of older items. SPEC C2.
    Summary(Summary),
    /// Written by a newer build; kept as it is and drawn as a plain row.
    Unknown {
        /// The kind as the newer build named it.
        name: String,
        /// Its version.
        version: u32,
    },
}

/// Bytes that the data of one thought may have; what is longer is not kept.
pub const MAX_REASONING_BYTES: usize = 1024 * 1024;

/// What a provider wants back of a model's thinking: signatures, encrypted thoughts. Never read, never shown as text,
/// sent only to where it came from. SPEC M7.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ReasoningData {
    /// Protocol, address and model that made it.
    pub origin: String,
    /// A JSON value, exactly as it came; at most [`MAX_REASONING_BYTES`].
    pub json: String,
}

/// A file or picture sent along with a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[ts(export)]
pub enum Attachment {
    /// A picture in the blob store.
    Picture(Picture),
    /// A file by path, relative to the project.
    File {
        /// The path.
        path: String,
    },
}

/// Who let a call run, or did not. SPEC P10: shown also for what ran by rule or mode.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[ts(export)]
pub enum Decided {
    /// Never asks: reads inside the project and the agent's own tools.
    Free,
    /// The person clicked.
    Person,
    /// A saved or granted rule, in its text form.
    Rule {
        /// The rule text.
        rule: String,
    },
    /// The mode of the session.
    Mode,
    /// The headless command's `--approve`.
    Flag,
    /// Nobody was there to ask.
    Nobody,
    /// The policy forbids it whatever anybody says.
    Policy,
}

/// A tool call with its result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ToolItem {
    /// The call.
    pub call: CallId,
    /// Name of the tool as the model wrote it.
    pub name: String,
    /// The arguments exactly as the model wrote them; not always JSON.
    pub arguments: String,
    /// Heading of its card, like `Read`.
    pub title: String,
    /// What it acts on, like `docs/axis.png`; empty when there is nothing to name.
    pub target: String,
    /// Set when the call was recognised in plain text of a small model.
    pub from_text: bool,
    /// It failed within the sandbox, which may be why: the person can have it run outside. SPEC P12.
    #[serde(default)]
    pub walled: bool,
    /// Who let it run, or did not; none until judged.
    pub decided: Option<Decided>,
    /// When work began, waiting for a person not counted; none until it runs.
    pub started_at: Option<UnixMillis>,
    /// When it ended.
    pub ended_at: Option<UnixMillis>,
    /// Its time limit; none where it has none.
    pub limit_ms: Option<u32>,
    /// A few words for the card's right side, like `3 matches in 2 files`.
    pub note: String,
    /// What the window draws.
    pub blocks: Vec<ContentBlock>,
    /// What the model got; none until it ended.
    pub result: Option<ToolResult>,
}

/// What the model got back from a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ToolResult {
    /// Ended well.
    pub ok: bool,
    /// Its time limit struck.
    pub timed_out: bool,
    /// It did not run, because the person or the rules said no.
    pub denied: bool,
    /// The text the model got, already cut to its budget.
    pub content: String,
    /// Pictures the model got.
    pub pictures: Vec<Picture>,
    /// Where the whole is, when `content` was cut.
    pub output: Option<OutputId>,
}

/// How serious a notice is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum NoticeLevel {
    /// Good to know.
    Info,
    /// Should be looked at.
    Warning,
    /// Something failed.
    Error,
}

/// Something the person must know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Notice {
    /// How serious.
    pub level: NoticeLevel,
    /// Stable name for tests and for the page, like `history_repaired`.
    pub code: String,
    /// What happened, in plain words.
    pub text: String,
}
