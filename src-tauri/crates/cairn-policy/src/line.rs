//! Command lines, read widely: which commands may be in there, and what must never be settled beforehand.
//!
//! Owns: finding trouble. Must never know: how to allow anything. It sees too much rather than too little, and what
//! it does not see asks, because only a byte-for-byte saved line runs unasked.

mod loss;
mod programs;
mod read;

use std::borrow::Cow;

pub(crate) use loss::{Loss, LossKind};

use crate::program::{Class, form_of};
use crate::show::has_hidden;

/// The longest line that is taken apart, in bytes.
pub(crate) const MAX_LINE_BYTES: usize = 8 * 1024;

/// The most places in one line where a command may begin: what is looked for at each of them is looked for in all that
/// follows, so more would take too long.
const MAX_STARTS: usize = 256;

/// The deepest nesting that is not refused.
pub(crate) const MAX_NESTING: usize = 64;

/// How far a saved line may go for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Cover {
    /// A card may offer the exact line.
    Offered,
    /// No card offers it, for that reason; an exact line that the person wrote down covers it all the same.
    NotOffered(Cow<'static, str>),
    /// Asks every time, for that reason.
    Never(Cow<'static, str>),
    /// Never runs, for that reason.
    Refused(Cow<'static, str>),
}

/// A command line taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Line {
    /// Stretches between separators, as words without their quotes.
    stretches: Vec<Vec<String>>,
    /// Where a command may begin: stretch and word.
    starts: Vec<(usize, usize)>,
    /// Names set in front of a command.
    assigned: Vec<String>,
    has_nul: bool,
    too_deep: bool,
    too_long: bool,
    /// More commands may begin in it than are looked at.
    too_many: bool,
    unclosed: bool,
    hidden: bool,
}

impl Line {
    /// Takes a line apart. Never fails; what it could not read is noted.
    pub(crate) fn read(text: &str) -> Self {
        let mut line = Self {
            has_nul: text.contains('\0'),
            ..Self::default()
        };
        if text.len() > MAX_LINE_BYTES {
            line.too_long = true;
            return line;
        }
        line.hidden = has_hidden(text);
        read::take_apart(text, &mut line, 0);
        line
    }

    /// Whether a command that begins with these words may be in the line; its program may be given by path.
    pub(crate) fn has_command(&self, words: &[String]) -> bool {
        let Some((program, leading)) = words.split_first() else {
            return false;
        };
        self.commands().any(|command| {
            command.split_first().is_some_and(|(first, rest)| {
                (first == program || programs::base_name(first) == *program)
                    && rest.len() >= leading.len()
                    && rest.iter().zip(leading).all(|(have, want)| have == want)
            })
        })
    }

    /// What the line would lose for good.
    pub(crate) fn loss(&self) -> Option<Loss> {
        loss::of(self.commands())
    }

    /// How far a saved line may go for it.
    pub(crate) fn cover(&self) -> Cover {
        if self.has_nul {
            return Cover::Refused("It holds a NUL byte, which no command line can.".into());
        }
        if self.too_deep {
            return Cover::Refused("It is nested more than 64 deep. Write it as separate commands.".into());
        }
        if let Some(reason) = self.never() {
            return Cover::Never(reason);
        }
        if let Some(loss) = self.loss() {
            return match loss.kind {
                LossKind::Git => Cover::Never("Git commands that lose work ask every time.".into()),
                LossKind::Files => Cover::NotOffered(
                    "It deletes for good, so it is not offered to be allowed always.".into(),
                ),
            };
        }
        match self.commands().find_map(programs::runs_given_text) {
            Some(program) => Cover::NotOffered(
                format!(
                    "{program} runs whatever text it is given, so it is not offered to be allowed always."
                )
                .into(),
            ),
            None => Cover::Offered,
        }
    }

    /// Whether the line could be read and starts nothing of ours, whatever else is to be said about it.
    pub(crate) fn is_judged_command(&self) -> bool {
        !self.hidden
            && !self.too_long
            && !self.too_many
            && !self.unclosed
            && self.commands().find_map(programs::own).is_none()
    }

    /// Whether a command of that class may be in the line.
    pub(crate) fn commands_of(&self, class: Class) -> bool {
        self.commands().any(|command| {
            // No form has more words than that.
            let mut words = command.get(..command.len().min(4)).unwrap_or_default().to_vec();
            if let Some(first) = words.first_mut() {
                *first = programs::base_name(first);
            }
            form_of(&words).is_some_and(|form| form.class == Some(class))
        })
    }

    fn never(&self) -> Option<Cow<'static, str>> {
        if let Some(program) = self.commands().find_map(programs::own) {
            return Some(format!("It starts {program} itself, which could change what is allowed.").into());
        }
        if self.hidden {
            return Some("It holds hidden or misleading characters.".into());
        }
        if self.too_long {
            return Some("It is longer than 8,192 bytes, too long to be judged.".into());
        }
        if self.too_many {
            return Some("It holds more commands, or words that may be some, than can be judged.".into());
        }
        if self.unclosed {
            return Some("A quote or bracket in it is not closed, so it cannot be judged.".into());
        }
        if let Some(program) = self.commands().find_map(programs::raises_rights) {
            return Some(format!("{program} runs it as another user.").into());
        }
        let loaded = self
            .assigned
            .iter()
            .find(|name| programs::changes_what_runs(name));
        loaded.map(|name| format!("It sets {name}, which decides what really runs.").into())
    }

    fn commands(&self) -> impl Iterator<Item = &[String]> {
        self.starts
            .iter()
            .filter_map(|(stretch, word)| self.stretches.get(*stretch)?.get(*word..))
    }
}

#[cfg(test)]
mod tests;
