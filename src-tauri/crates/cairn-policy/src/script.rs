//! Command lines in the strict small language: the only ones that may run without a question. DESIGN 4.8.
//!
//! Owns: what a line of bare words, plain quotes, `&& || ; |`, newlines and a handful of redirections means, and the
//! one way to write it down again. Must never know: programs, rules, files. Whatever bash and dash could read in any
//! other way is opaque: substitutions, globs, braces, tildes, here-documents, subshells, functions, the background.

mod print;
mod read;

use crate::line::MAX_LINE_BYTES;

/// The most commands of one line.
pub(crate) const MAX_COMMANDS: usize = 64;

/// A line that is fully understood.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Script {
    /// Its commands, in order; at least one.
    pub commands: Vec<Simple>,
}

/// How a command follows the one before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Joint {
    /// After its end; also the first one's.
    #[default]
    Then,
    /// Only if it succeeded.
    And,
    /// Only if it failed.
    Or,
    /// Reads what it prints.
    Pipe,
}

/// One command without any operator.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Simple {
    /// How it follows the one before.
    pub joint: Joint,
    /// Variables set for it, in order.
    pub assignments: Vec<(String, String)>,
    /// Program and arguments, quotes removed; at least the program.
    pub words: Vec<String>,
    /// Redirections, in order.
    pub redirects: Vec<Redirect>,
}

/// Where standard input comes from, or output or errors go to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Redirect {
    /// `<file`.
    Read(String),
    /// `>file`.
    Write(Stream, String),
    /// `>>file`.
    Append(Stream, String),
    /// `2>&1` or `1>&2`: the first goes where the second goes.
    Join(Stream, Stream),
}

/// One of the two streams a program prints to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    /// Standard output.
    Output,
    /// Standard error.
    Errors,
}

/// Why a line is not of the language, as a sentence for the card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Opaque(pub &'static str);

impl Script {
    /// Reads a line.
    pub(crate) fn read(line: &str) -> Result<Self, Opaque> {
        if line.len() > MAX_LINE_BYTES {
            return Err(Opaque("It is longer than 8,192 bytes, too long to be judged."));
        }
        read::script(line)
    }
}

#[cfg(test)]
mod tests;
