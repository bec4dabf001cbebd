//! Processes: what the window's process panel shows and asks for. SPEC T21, T22.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{CallId, CommandEnd, SessionId, UnixMillis};

/// Whether a tool call waits for a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum ProcessPlace {
    /// A call waits for its end and shows what it prints.
    Foreground,
    /// Nobody waits; it goes on until it ends, is ended, or its session closes.
    Background,
}

/// Where a command is in its life.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[ts(export)]
pub enum ProcessState {
    /// It runs.
    Running,
    /// Its shell has ended, but some of what it started still runs or is being ended.
    Left {
        /// How its shell ended.
        end: CommandEnd,
    },
    /// Nothing of it runs any more.
    Ended {
        /// How it ended.
        end: CommandEnd,
    },
}

impl ProcessState {
    /// Whether anything of it still runs.
    pub fn is_alive(&self) -> bool {
        !matches!(self, Self::Ended { .. })
    }
}

/// A port that a process listens on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ListeningPort {
    /// The port.
    pub port: u16,
    /// The address, like `127.0.0.1` or `::`; the last two of all machines.
    pub address: String,
    /// Id of a process that holds it.
    pub pid: u32,
}

/// A command that runs or ran under a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Process {
    /// Its name, like `p1`: unique in its session and never used again while that is open.
    pub handle: String,
    /// The session.
    pub session: SessionId,
    /// The tool call that started it.
    pub call: CallId,
    /// The command line, for display.
    pub command: String,
    /// Process id of its shell or program; none until it is known.
    pub pid: Option<u32>,
    /// Whether a call waits for it.
    pub place: ProcessPlace,
    /// When it started.
    pub started_at: UnixMillis,
    /// When the last of it ended.
    pub ended_at: Option<UnixMillis>,
    /// Whether it runs or how it ended.
    pub state: ProcessState,
    /// When it last printed something; its start while it has not. About a second late in the background.
    pub last_output_at: UnixMillis,
    /// A call waits for it and it has printed nothing for 90 s: it may wait for what nobody can type.
    pub silent: bool,
    /// Milliseconds it may run, counted from its start; none when it has no limit.
    pub limit_ms: Option<u64>,
    /// Bytes it printed.
    pub bytes: u64,
    /// The end of what it printed, at most 1,000 characters; only in answers to `process/list`.
    pub tail: String,
    /// Ports it listens on; only in answers to `process/list` and `process/output`.
    pub ports: Vec<ListeningPort>,
}

/// A command of a session.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ProcessParams {
    /// The session.
    pub session: SessionId,
    /// Its name.
    pub handle: String,
}

/// The commands of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ProcessListResult {
    /// Those that run and the last of those that ended, in the order in which they were started.
    pub processes: Vec<Process>,
}

/// Which part of a command's output is wanted.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ProcessOutputParams {
    /// The session.
    pub session: SessionId,
    /// Its name.
    pub handle: String,
    /// From there on: `stable` of the last answer. None for the last 64 KiB.
    pub offset: Option<u64>,
}

/// A part of what a command printed. Whoever shows it cuts what it has to `offset` and appends `text`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ProcessOutput {
    /// The command as it is now.
    pub process: Process,
    /// Bytes of text before this part.
    pub offset: u64,
    /// The part, escape sequences removed; where something is missing in it a line says so.
    pub text: String,
    /// Bytes missing in it: of much output only the beginning and the end are kept.
    pub omitted: u64,
    /// From where on to ask next: what lies before does not change any more.
    pub stable: u64,
}

/// A process that an earlier run of Cairn left behind, because its helper was killed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Leftover {
    /// Its name for [`LeftoverParams`].
    pub id: String,
    /// Its process id.
    pub pid: u32,
    /// Its command line, cut to 300 characters.
    pub command: String,
    /// When it started.
    pub started_at: UnixMillis,
}

/// Processes that earlier runs left behind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct LeftoversResult {
    /// The processes, oldest first.
    pub leftovers: Vec<Leftover>,
}

/// A process that was left behind.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct LeftoverParams {
    /// Its name.
    pub id: String,
}
