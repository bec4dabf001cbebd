//! What can go wrong before a command runs. A command that ran always has a [`crate::Finished`].

use std::path::PathBuf;

/// Why a command was not run, or what it did is not known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExecError {
    /// The helper could not be started. The person recovers: the program file may be gone or not executable.
    #[error(
        "Cairn could not start its helper process from {path}: {reason}. Restart Cairn, or install it again"
    )]
    HelperNotStarted {
        /// The program that was started.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// The helper ended while the command ran; what it had started was ended with it. Whoever asked may ask again.
    #[error(
        "the helper process ended while the command ran, and the command was ended with it; run it again"
    )]
    HelperLost,
    /// The program is not there or cannot be run. The model recovers by naming another.
    #[error("{program} could not be started: {reason}")]
    NotStarted {
        /// The program.
        program: String,
        /// What the system said.
        reason: String,
    },
    /// The folder to run in is not there or not a folder. The model recovers by naming another.
    #[error("the folder to run in, {path}, cannot be used: {reason}")]
    Workdir {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// A program, argument or variable holds a NUL byte, which no process can be given. The model recovers.
    #[error("the command holds a NUL byte, which no program can be given; leave it out")]
    Nul,
    /// There is no command with that handle. The model or the person recovers by naming one that there is.
    #[error("there is no process `{handle}`{}", known_ones(.known))]
    Unknown {
        /// What was named.
        handle: String,
        /// What could have been.
        known: Vec<String>,
    },
    /// No call waits for that command, so it has neither a limit nor a place to leave. The person sees it run on.
    #[error("no call waits for `{handle}` any more")]
    NotWaitedFor {
        /// The command.
        handle: String,
    },
    /// As many commands run in the background as may. The model recovers by ending one.
    #[error("{running} processes run in the background already, and no more may; end one of them first")]
    TooMany {
        /// How many run.
        running: usize,
    },
    /// Cairn is ending. Nobody recovers.
    #[error("Cairn is ending; no command is started any more")]
    Closed,
}

fn known_ones(known: &[String]) -> String {
    if known.is_empty() {
        "; none was started in the background".to_owned()
    } else {
        format!("; there are: {}", known.join(", "))
    }
}
