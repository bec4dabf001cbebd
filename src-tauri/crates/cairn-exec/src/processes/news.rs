//! What is learnt about one command while it lives.

use cairn_protocol::CommandEnd;

use crate::command::{Finished, Output};
use crate::wire::Refusal;

/// One thing that is learnt. After `Refused`, `Over`, or `Finished` of which nothing lives, nothing follows.
#[derive(Debug)]
pub(super) enum News {
    /// It runs.
    Started {
        /// Process id of its shell or program.
        pid: i32,
        /// Process id of the root of all its processes.
        keeper: i32,
    },
    /// It printed so many bytes in all.
    Printed(u64),
    /// It was not started.
    Refused(Refusal),
    /// Its shell ended, or it was given up.
    Finished {
        /// How.
        finished: Finished,
        /// Some of its processes live; `Over` follows.
        lives: bool,
    },
    /// The last of its processes ended.
    Over {
        /// How, when it was ended.
        end: Option<CommandEnd>,
        /// What it printed in all.
        output: Output,
    },
}
