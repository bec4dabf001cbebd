//! The tool interface: a call is prepared (nothing happens, everything is known), judged, then executed.
//!
//! A tool never decides permission and never draws a card; it says what it would do and, once allowed, does
//! exactly that.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use cairn_policy::Effect;
use cairn_protocol::{
    ApprovalSubject, Ask, BlobId, CallId, ContentBlock, ContextMeter, FileChange, HunkChoice, OutputId,
    Picture, SessionId, TodoItem, TurnId, Usage,
};
use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use crate::store::Journal;

/// What kind of thing a tool does; decides what may run side by side. SPEC T4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ToolClass {
    /// Reads; runs in parallel with other reads of the same turn.
    Read,
    /// Changes files.
    Edit,
    /// Runs commands.
    Run,
    /// Touches only the agent's own things.
    Own,
}

/// What the model is told about a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// Its name: lower case letters and `_`.
    pub name: String,
    /// What the model reads.
    pub description: String,
    /// JSON schema of its arguments: a flat object without `oneOf`.
    pub schema: serde_json::Value,
    /// What kind of thing it does.
    pub class: ToolClass,
    /// Time limit of one call, waiting for a person not counted; none where it has none.
    pub limit: Option<Duration>,
}

/// Whether a tool of that name brings text from outside the user's machine.
pub fn brings_outside_text(name: &str) -> bool {
    name.starts_with("web_") || name.starts_with("mcp__")
}

/// What a call's note ends with where its text was found to hold what tries to deceive. SPEC T5.
pub const FLAGGED: &str = "flagged";

/// Whether a result with that note was flagged.
pub fn is_flagged(note: &str) -> bool {
    note.strip_suffix(FLAGGED)
        .is_some_and(|before| before.is_empty() || before.ends_with(", "))
}

/// Addresses that are not the model's own: they stood literally in what the request brought from outside, or the person
/// wrote them. SPEC P9.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Addresses(Arc<HashSet<String>>);

impl Addresses {
    /// These.
    pub fn new(addresses: Arc<HashSet<String>>) -> Self {
        Self(addresses)
    }

    /// Each of them, without what follows a `#`.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Whether that is one of them, letter by letter.
    pub fn contains(&self, address: &str) -> bool {
        self.0.contains(address)
    }
}

/// Why a call could not be prepared or failed, as a sentence the model can act on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ToolError {
    /// The sentence: what was tried, why it failed, what to do instead.
    pub message: String,
}

impl ToolError {
    /// An error with that sentence.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
        }
    }
}

/// What a call needs to know about its surroundings.
#[derive(Clone)]
pub struct CallContext {
    /// The session.
    pub session: SessionId,
    /// The request.
    pub turn: TurnId,
    /// The call.
    pub call: CallId,
    /// Characters its result may have, SPEC T3. A tool that pages (like `read_file`) fits its page to this;
    /// anything longer is cut in the middle by the driver and kept whole as an output.
    pub budget: usize,
    /// Whether the model sees pictures.
    pub vision: bool,
    /// The request has already brought in text from outside the user's machine. SPEC T26, P9.
    pub outside: bool,
    /// Addresses that are not the model's own.
    pub literal: Addresses,
    /// The line that is to run in place of the one that came in, where a command was let by a rule or mode. SPEC P10.
    pub runs: Option<String>,
    /// What the person made of an edit before allowing it: only for calls with [`Execute::takes_hunks`], one choice for
    /// each place of the difference that was shown. SPEC P4.
    pub hunks: Option<Vec<HunkChoice>>,
    /// Cancelled by Stop and by the time limit; the call must then end within 200 ms (search 100 ms).
    pub cancel: CancellationToken,
    /// Where progress goes.
    pub progress: Arc<dyn Progress>,
    /// Blobs, outputs and before-images.
    pub journal: Arc<dyn Journal>,
    /// What `context_status` tells.
    pub status: Arc<ContextStatus>,
}

/// Takes progress of a running call. Must not block.
pub trait Progress: Send + Sync {
    /// More output of a command, escape sequences removed; `offset` is the number of bytes before it.
    fn output(&self, offset: u64, text: &str);
}

/// What `context_status` tells. SPEC T29.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContextStatus {
    /// The meter.
    pub meter: ContextMeter,
    /// Requests so far.
    pub turns: u32,
    /// Model steps in this request, and how many it may have.
    pub steps: (u32, u32),
    /// Tokens and cost of the session.
    pub usage: Usage,
    /// Per tool name: calls, failures, refusals.
    pub tools: Vec<(String, u32, u32, u32)>,
}

/// A call that is ready to be judged. Nothing has happened yet.
pub struct Prepared {
    /// Heading of its card, like `Read`.
    pub title: String,
    /// What it acts on, like `docs/axis.png`.
    pub target: String,
    /// All that it would do.
    pub effects: Vec<Effect>,
    /// What an approval would show, in full; none for calls that never ask.
    pub subject: Option<ApprovalSubject>,
    /// What the model says it is for, in its own words.
    pub says: Option<String>,
    /// What its card draws before it ran, like the diff of an edit.
    pub blocks: Vec<ContentBlock>,
    /// Hex SHA-256 over all that would happen (for an edit: path, content before, content after). The answer to
    /// a card must repeat it; a second preparation with another digest replaces the card.
    pub digest: String,
    /// Time limit of this call where it differs from the tool's.
    pub limit: Option<Duration>,
    /// How to go on once allowed.
    pub action: Action,
}

/// How a prepared call goes on once allowed.
pub enum Action {
    /// Does it.
    Execute(Box<dyn Execute>),
    /// Puts questions to the person; their answers are the result.
    Ask(Vec<Ask>),
}

/// A judged call, ready to run once.
pub trait Execute: Send {
    /// Does it. Dropping the future must leave nothing half done.
    fn execute(self: Box<Self>, context: CallContext) -> BoxFuture<'static, ToolOutcome>;

    /// Whether each place of its one changed file may be taken, left or written anew; it then follows
    /// [`CallContext::hunks`] exactly or changes nothing.
    fn takes_hunks(&self) -> bool {
        false
    }

    /// Who ends it at its time limit.
    fn limit_by(&self) -> LimitBy {
        LimitBy::Driver
    }
}

/// Who ends a call at its time limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitBy {
    /// The driver cancels it.
    Driver,
    /// It watches its limit itself, because that may move while it runs: the person can give a command more time.
    Itself,
}

/// What came of a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolOutcome {
    /// Ended well.
    pub ok: bool,
    /// The tool's own time limit struck.
    pub timed_out: bool,
    /// It was stopped by the person.
    pub stopped: bool,
    /// It failed within the sandbox, which may be why.
    pub walled: bool,
    /// What it tells of changes by itself, as a running process does: asking again is no repetition. SPEC L3.
    pub unsettled: bool,
    /// The whole text for the model; the driver cuts it to the budget.
    pub content: String,
    /// Pictures for the model and the person.
    pub pictures: Vec<Picture>,
    /// What the window draws.
    pub blocks: Vec<ContentBlock>,
    /// A few words for the card's right side, like `3 matches in 2 files`.
    pub note: String,
    /// Files it changed.
    pub changes: Vec<FileChange>,
    /// Commands it ran.
    pub commands: u32,
    /// The plan, when it was written.
    pub plan: Option<Vec<TodoItem>>,
    /// The session is in plan mode from now on. A tool can only take freedom, never give any.
    pub enters_plan: bool,
    /// Set when the tool kept the whole output itself.
    pub output: Option<OutputId>,
}

impl ToolOutcome {
    /// A good end with that text.
    pub fn ok(content: impl Into<String>) -> Self {
        Self {
            ok: true,
            content: content.into(),
            ..Self::default()
        }
    }

    /// A bad end with that text.
    pub fn failed(content: impl Into<String>) -> Self {
        Self {
            content: content.into(),
            ..Self::default()
        }
    }
}

/// A tool.
pub trait Tool: Send + Sync {
    /// What the model is told.
    fn spec(&self) -> &ToolSpec;

    /// Checks the arguments and finds out what the call would do, without doing any of it.
    ///
    /// `arguments` is always a JSON object: the driver has dealt with everything else (SPEC T1). Reading files to
    /// make a diff is allowed here; telling the model their content before the call is judged is not.
    fn prepare<'a>(
        &'a self,
        arguments: serde_json::Map<String, serde_json::Value>,
        context: &'a CallContext,
    ) -> BoxFuture<'a, Result<Prepared, ToolError>>;
}

/// Bytes of a blob that a picture names, as the model gets them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PictureBytes {
    /// Which picture.
    pub blob: BlobId,
    /// Media type.
    pub media_type: String,
    /// The bytes.
    pub bytes: Arc<[u8]>,
}
