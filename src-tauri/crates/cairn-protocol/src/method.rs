//! Methods: what a front end may ask of the host. One line each in the table at the end.
//!
//! The project is never a parameter: the host knows which project a window belongs to. A session id names one
//! of that project's sessions; anything else is `not_found`. Methods that change something carry a client-made
//! id in their envelope, and a repeat of it is dropped.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{
    ApprovalAnswer, ApprovalId, Attachment, ClientId, InboxResult, ItemId, LeftoverParams, LeftoversResult,
    Mode, Picture, Process, ProcessListResult, ProcessOutput, ProcessOutputParams, ProcessParams,
    QuestionAnswer, QuestionId, QueueId, SandboxView, Session, SessionId, SessionSnapshot, SettingsView,
    TodoItem, TrustParams, TrustView, UnixMillis,
};

mod settings;

pub use settings::*;

/// No parameters, or no result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Nothing {}

/// Which sessions to list.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[serde(default)]
#[ts(export)]
pub struct SessionListParams {
    /// Also the archived ones.
    pub archived: bool,
    /// Go on after this session; all are reachable.
    pub after: Option<SessionId>,
    /// At most this many; 100 when 0.
    pub limit: u32,
}

/// Sessions, newest first.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SessionListResult {
    /// The sessions.
    pub sessions: Vec<Session>,
    /// Whether there are more.
    pub more: bool,
}

/// Words to find.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SessionSearchParams {
    /// The words, literal.
    pub text: String,
}

/// One hit of a search over all sessions of the project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SearchHit {
    /// The session.
    pub session: Session,
    /// Text around the hit; the found words stand between U+0002 and U+0003.
    pub excerpt: String,
    /// When it was said.
    pub at: UnixMillis,
}

/// One session by id.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SessionParams {
    /// The session.
    pub session: SessionId,
}

/// A session with a new title.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SessionRenameParams {
    /// The session.
    pub session: SessionId,
    /// Its new title, at most 200 characters.
    pub title: String,
}

/// A session with a flag.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SessionArchiveParams {
    /// The session.
    pub session: SessionId,
    /// Hidden from the list.
    pub archived: bool,
}

/// A session with a mode.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SessionModeParams {
    /// The session.
    pub session: SessionId,
    /// Its new mode.
    pub mode: Mode,
}

/// A session with a model profile.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SessionProfileParams {
    /// The session.
    pub session: SessionId,
    /// Name of the profile.
    pub profile: String,
}

/// A session with what was typed and not sent.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct DraftParams {
    /// The session.
    pub session: SessionId,
    /// The text.
    pub text: String,
}

/// What to do with a message when a request runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum SendWhen {
    /// After the running request.
    #[default]
    Queue,
    /// With the next model step of the running request.
    Now,
}

/// A command to be run outside the sandbox.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct RunOutsideParams {
    /// The session.
    pub session: SessionId,
    /// The call's item.
    pub item: ItemId,
}

/// What the model is to get of an item.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ContextMarkParams {
    /// The session.
    pub session: SessionId,
    /// The item: a message, a reply or a tool call.
    pub item: ItemId,
    /// What the person chose.
    pub choice: ContextChoice,
}

/// What the person chose for an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum ContextChoice {
    /// The model gets a sentence in its place.
    TakeOut,
    /// The model gets it again, also when it had been set aside.
    PutBack,
    /// The model keeps it, whatever is summarised.
    Pin,
}

/// A message to send.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SendParams {
    /// The session.
    pub session: SessionId,
    /// The message, at most 1,000,000 characters.
    pub text: String,
    /// Files and pictures.
    #[serde(default)]
    pub attachments: Vec<Attachment>,
    /// When a request runs.
    #[serde(default)]
    pub when: SendWhen,
}

/// A queued message to change.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct QueueEditParams {
    /// The session.
    pub session: SessionId,
    /// The message.
    pub id: QueueId,
    /// Its new text; none drops it.
    pub text: Option<String>,
    /// Send it now, with the next model step.
    #[serde(default)]
    pub now: bool,
}

/// An answer to a card. The owning window is known to the host, never an argument.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ApprovalAnswerParams {
    /// The session.
    pub session: SessionId,
    /// The card.
    pub approval: ApprovalId,
    /// The card's digest, repeated.
    pub digest: String,
    /// The answer.
    pub answer: ApprovalAnswer,
}

/// Answers to a question.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct QuestionAnswerParams {
    /// The session.
    pub session: SessionId,
    /// The question.
    pub question: QuestionId,
    /// One answer per question, in their order.
    pub answers: Vec<QuestionAnswer>,
}

/// The plan as the person changed it.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct PlanParams {
    /// The session.
    pub session: SessionId,
    /// All entries.
    pub plan: Vec<TodoItem>,
}

/// A picture pasted or dropped.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct PictureParams {
    /// Base64 of the bytes; at most 20 MB decoded.
    pub base64: String,
    /// Its name, for display.
    pub name: String,
}

/// What a front end sends: the request, and an id by which a repeat is recognised.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Envelope {
    /// Made by the sender, unique.
    pub client: ClientId,
    /// The request.
    #[serde(flatten)]
    pub request: Request,
}

macro_rules! methods {
    ($($(#[doc = $doc:literal])* $variant:ident $field:ident $name:literal $params:ident => $result:ident;)*) => {
        /// A method with its parameters.
        #[derive(Clone, Debug, Serialize, Deserialize, TS)]
        #[serde(tag = "method", content = "params")]
        #[ts(export)]
        pub enum Request {
            $($(#[doc = $doc])* #[serde(rename = $name)] $variant($params),)*
        }

        impl Request {
            /// Every method by its wire name.
            pub const NAMES: &[&str] = &[$($name),*];

            /// Its wire name.
            pub fn name(&self) -> &'static str {
                match self { $(Self::$variant(_) => $name,)* }
            }
        }

        /// Result type of each method, by wire name; read by the page's types only.
        #[derive(Clone, Debug, Serialize, Deserialize, TS)]
        #[ts(export)]
        pub struct MethodResults {
            $($(#[doc = $doc])* #[serde(rename = $name)] pub $field: $result,)*
        }
    };
}

methods! {
    /// What the window's project is.
    ProjectGet project_get "project/get" Nothing => ProjectView;
    /// Lists sessions of the project.
    SessionList session_list "session/list" SessionListParams => SessionListResult;
    /// Finds words in all sessions of the project: the first 50 hits, newest first.
    SessionSearch session_search "session/search" SessionSearchParams => SearchResult;
    /// Makes a session.
    SessionCreate session_create "session/create" Nothing => Session;
    /// Opens a session: the snapshot; its events follow on the window's channel.
    SessionOpen session_open "session/open" SessionParams => SessionSnapshot;
    /// Brings the window to the front in which a session runs that another process holds.
    SessionShow session_show "session/show" SessionParams => Nothing;
    /// Gives a session a title.
    SessionRename session_rename "session/rename" SessionRenameParams => Session;
    /// Hides a session from the list or shows it again.
    SessionArchive session_archive "session/archive" SessionArchiveParams => Session;
    /// Deletes a session; it can be put back until the program ends.
    SessionDelete session_delete "session/delete" SessionParams => Nothing;
    /// Puts a deleted session back.
    SessionUndelete session_undelete "session/undelete" SessionParams => Session;
    /// Sets the mode.
    SessionMode session_mode "session/mode" SessionModeParams => Session;
    /// Sets the model profile.
    SessionProfile session_profile "session/profile" SessionProfileParams => Session;
    /// Keeps what was typed and not sent.
    DraftSet draft_set "draft/set" DraftParams => Nothing;
    /// Sends a message, or queues it while a request runs.
    TurnSend turn_send "turn/send" SendParams => Nothing;
    /// Stops the running request.
    TurnStop turn_stop "turn/stop" SessionParams => Nothing;
    /// Goes on after the step limit, or sends the last request again after a failure.
    TurnContinue turn_continue "turn/continue" SessionParams => Nothing;
    /// Ends the wait before a retry.
    TurnRetryNow turn_retry_now "turn/retry_now" SessionParams => Nothing;
    /// Has a command that failed within the sandbox asked about to run outside of it; nothing runs without that answer.
    CallRunOutside call_run_outside "call/run_outside" RunOutsideParams => Nothing;
    /// Summarises the older part of the conversation now.
    ContextSummarise context_summarise "context/summarise" SessionParams => Nothing;
    /// Takes an item out of what the model gets, puts it back, or pins it.
    ContextMark context_mark "context/mark" ContextMarkParams => Nothing;
    /// Changes, drops or sends a queued message.
    QueueEdit queue_edit "queue/edit" QueueEditParams => Nothing;
    /// Answers a card.
    ApprovalAnswer approval_answer "approval/answer" ApprovalAnswerParams => Nothing;
    /// Answers a question.
    QuestionAnswer question_answer "question/answer" QuestionAnswerParams => Nothing;
    /// Everything that waits for the person, over all windows.
    InboxList inbox_list "inbox/list" Nothing => InboxResult;
    /// Brings the window to the front in which a session runs; any session that waits, of any project.
    InboxShow inbox_show "inbox/show" SessionParams => Nothing;
    /// Changes the plan; the model is told.
    PlanSet plan_set "plan/set" PlanParams => Nothing;
    /// Keeps a pasted picture.
    PictureAdd picture_add "picture/add" PictureParams => Picture;
    /// Lists the commands of a session, with their ports.
    ProcessList process_list "process/list" SessionParams => ProcessListResult;
    /// What a command printed, from an offset on.
    ProcessOutput process_output "process/output" ProcessOutputParams => ProcessOutput;
    /// Ends a command and all that it started; answers once it is dead.
    ProcessStop process_stop "process/stop" ProcessParams => Process;
    /// Gives a command that a call waits for five minutes more.
    ProcessMoreTime process_more_time "process/more_time" ProcessParams => Process;
    /// Lets a command that a call waits for go on in the background; the call ends.
    ProcessToBackground process_to_background "process/to_background" ProcessParams => Process;
    /// Lists what earlier runs left behind, because their helper was killed.
    ProcessLeftovers process_leftovers "process/leftovers" Nothing => LeftoversResult;
    /// Ends a process that was left behind, with what it started; answers what is left then.
    ProcessEndLeftover process_end_leftover "process/end_leftover" LeftoverParams => LeftoversResult;
    /// What holds commands in on this machine; found by trying, once per process.
    SandboxGet sandbox_get "sandbox/get" Nothing => SandboxView;
    /// Settings as they hold.
    SettingsGet settings_get "settings/get" Nothing => SettingsView;
    /// Changes appearance and defaults.
    SettingsSet settings_set "settings/set" SettingsSetParams => SettingsView;
    /// Saves a model profile.
    ProfileSave profile_save "profile/save" ProfileParams => SettingsView;
    /// Deletes a model profile.
    ProfileDelete profile_delete "profile/delete" ProfileNameParams => SettingsView;
    /// Tells how many tokens a profile's model can hold.
    ProfileWindow profile_window "profile/window" ProfileWindowParams => SettingsView;
    /// Keeps a key.
    KeySet key_set "key/set" KeySetParams => SettingsView;
    /// Forgets a key.
    KeyDelete key_delete "key/delete" ProfileNameParams => SettingsView;
    /// Tries a model's server.
    ModelTest model_test "model/test" ModelTestParams => ModelTestResult;
    /// Looks for model servers on their usual ports.
    ModelDiscover model_discover "model/discover" Nothing => DiscoverResult;
    /// What is remembered about the project, newest first.
    MemoryList memory_list "memory/list" Nothing => FactsResult;
    /// Changes, shares or forgets a fact.
    MemoryChange memory_change "memory/change" FactParams => FactsResult;
    /// What the folder proposes, and whether the person trusts it.
    TrustGet trust_get "trust/get" Nothing => TrustView;
    /// Trusts the folder with exactly what was shown.
    TrustGive trust_give "trust/give" TrustParams => TrustView;
    /// Trusts the folder no longer.
    TrustWithdraw trust_withdraw "trust/withdraw" Nothing => TrustView;
    /// Lists the rules that hold.
    RuleList rule_list "rule/list" Nothing => RuleListResult;
    /// Says what a rule means before it is saved, or what is wrong with it.
    RuleCheck rule_check "rule/check" RuleTextParams => RuleMeaning;
    /// Saves a rule for the project.
    RuleAdd rule_add "rule/add" RuleTextParams => RuleListResult;
    /// Revokes a rule.
    RuleRevoke rule_revoke "rule/revoke" RuleParams => RuleListResult;
    /// Opens a link in the person's browser.
    LinkOpen link_open "link/open" LinkParams => Nothing;
    /// Closes the window that asked whether its work may go on.
    WindowClose window_close "window/close" WindowCloseParams => Nothing;
}

/// Hits of a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SearchResult {
    /// The hits, newest first.
    pub hits: Vec<SearchHit>,
}
