//! What a line of the strict language would do: command by command, with what each reads and writes.
//!
//! Owns: which program each command starts, in which folder it runs, which files it touches, and every reason why no
//! rule may cover it. Must never know: the rules and modes; it is a pure function of the line and the facts.

mod folders;
mod part;

use std::path::Path;

use crate::Places;
use crate::facts::Surroundings;
use crate::script::{Joint, Opaque, Script};
use folders::Folders;
pub(crate) use part::{Named, Part};

/// Each word may be a path, and where each leads must be found out: longer lists ask.
const MOST_WORDS: usize = 200;

/// A line that was understood.
#[derive(Debug)]
pub(crate) struct Study {
    pub script: Script,
    /// One for each command, in order.
    pub parts: Vec<Part>,
}

impl Study {
    /// Studies a line; the error says why it is opaque.
    pub(crate) fn of(
        line: &str,
        workdir: &Path,
        places: &Places,
        facts: &dyn Surroundings,
    ) -> Result<Self, Opaque> {
        let script = Script::read(line)?;
        let mut folders = Folders::new(workdir);
        let mut budget = MOST_WORDS;
        let mut parts = Vec::with_capacity(script.commands.len());
        for (at, command) in script.commands.iter().enumerate() {
            let next = script.commands.get(at + 1).map(|next| next.joint);
            folders.follow(command.joint);
            let piped = Piped {
                from: command.joint == Joint::Pipe,
                to: next == Some(Joint::Pipe),
            };
            budget = budget.saturating_sub(command.words.len() + command.redirects.len());
            let study = part::Studied {
                command,
                too_many: budget == 0,
                piped,
                places,
                facts,
            };
            parts.push(study.part(&mut folders));
        }
        Ok(Self { script, parts })
    }
}

/// Whether a command is one of a pipe.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piped {
    /// It reads what another one prints.
    pub from: bool,
    /// Another one reads what it prints.
    pub to: bool,
}
