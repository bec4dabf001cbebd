//! Rules: what a person settled beforehand, in the one text form of window, command and settings file. SPEC P7.
//!
//! Owns: reading and printing rules, and which rule speaks about which effect. Must never know: what follows from
//! a match; that is `decide`'s.

mod bars;
mod glob;
mod name;
mod set;
mod words;

use std::fmt;
use std::str::FromStr;

use crate::program::{Class, form_of};
use crate::show::has_hidden;

pub use bars::ReadBars;
pub use glob::PathGlob;
pub use name::{HostName, ServerTool};
pub use set::{Granted, RuleList, RuleOrigin, RuleSet};
pub use words::LeadingWords;

/// One rule. Printing and reading again gives the same rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rule {
    /// `run: cargo test`: a program and its leading words.
    Run(LeadingWords),
    /// `run-exact: LINE`: a command line, byte for byte.
    RunExact(ExactLine),
    /// `read: GLOB`, relative to the project.
    Read(PathGlob),
    /// `write: GLOB`, relative to the project.
    Write(PathGlob),
    /// `host: docs.rs`.
    Host(HostName),
    /// `web_search`.
    WebSearch,
    /// `mcp: server/tool`.
    Mcp(ServerTool),
    /// `remember`.
    Remember,
}

/// The longest rule text, in bytes: as long as the longest command line that the gate reads.
pub const MAX_RULE_BYTES: usize = 8 * 1024;

/// Why a rule text is none. The person mends the text; the message says what was expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// The word before the colon is no kind of rule.
    #[error(
        "`{0}` is no kind of rule; expected `run:`, `run-exact:`, `read:`, `write:`, `host:`, `mcp:`, `web_search` or `remember`"
    )]
    Kind(String),
    /// A kind that needs something after its colon has nothing there.
    #[error("`{kind}:` needs {expected} after it, like `{example}`")]
    Empty {
        /// The kind.
        kind: &'static str,
        /// What belongs there.
        expected: &'static str,
        /// A good one.
        example: &'static str,
    },
    /// `web_search` and `remember` stand alone.
    #[error("`{kind}` stands alone; remove `{rest}`")]
    Alone {
        /// The kind.
        kind: &'static str,
        /// What follows it.
        rest: String,
    },
    /// What follows the colon cannot be read.
    #[error("`{value}` cannot be read as {expected}: {problem}")]
    Value {
        /// What is there.
        value: String,
        /// What belongs there.
        expected: &'static str,
        /// What is wrong with it.
        problem: String,
    },
    /// Control or invisible characters, which no reader of the list would see.
    #[error(
        "the rule holds a line break, a control character or an invisible or misleading character; write it without"
    )]
    Hidden,
    /// Longer than [`MAX_RULE_BYTES`].
    #[error("the rule is longer than 8,192 bytes; make it shorter")]
    TooLong,
}

impl FromStr for Rule {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Self, RuleError> {
        if text.len() > MAX_RULE_BYTES {
            return Err(RuleError::TooLong);
        }
        if has_line_break(text) || has_hidden(text) {
            return Err(RuleError::Hidden);
        }
        let (kind, value) = match text.split_once(':') {
            Some((kind, value)) => (kind.trim(), Some(value)),
            None => (text.trim(), None),
        };
        match kind {
            "run" => LeadingWords::read(value.unwrap_or_default()).map(Rule::Run),
            "run-exact" => {
                let value = value.unwrap_or_default();
                ExactLine::new(value.strip_prefix(' ').unwrap_or(value)).map(Rule::RunExact)
            }
            "read" => PathGlob::read("read", value.unwrap_or_default()).map(Rule::Read),
            "write" => PathGlob::read("write", value.unwrap_or_default()).map(Rule::Write),
            "host" => HostName::read(value.unwrap_or_default()).map(Rule::Host),
            "mcp" => ServerTool::read(value.unwrap_or_default()).map(Rule::Mcp),
            "web_search" => alone("web_search", value, Rule::WebSearch),
            "remember" => alone("remember", value, Rule::Remember),
            other => Err(RuleError::Kind(other.to_owned())),
        }
    }
}

fn alone(kind: &'static str, value: Option<&str>, rule: Rule) -> Result<Rule, RuleError> {
    match value {
        None => Ok(rule),
        Some(rest) => Err(RuleError::Alone {
            kind,
            rest: format!(":{rest}"),
        }),
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Run(words) => write!(f, "run: {words}"),
            Self::RunExact(line) => write!(f, "run-exact: {}", line.as_str()),
            Self::Read(glob) => write!(f, "read: {glob}"),
            Self::Write(glob) => write!(f, "write: {glob}"),
            Self::Host(host) => write!(f, "host: {host}"),
            Self::WebSearch => f.write_str("web_search"),
            Self::Mcp(tool) => write!(f, "mcp: {tool}"),
            Self::Remember => f.write_str("remember"),
        }
    }
}

impl Rule {
    /// What a rule means, in plain words, for the card that offers it and the list that shows it.
    pub fn meaning(&self) -> String {
        match self {
            Self::Run(words) => {
                let form = form_of(words.words());
                let runs = match form.and_then(|form| form.class) {
                    Some(Class::Project) => "; they run code from this project",
                    Some(Class::Network) => "; they reach the network",
                    _ => "",
                };
                format!("Commands that begin with `{words}`{runs}")
            }
            Self::RunExact(_) => "Exactly this command line".to_owned(),
            Self::Read(glob) => format!("Reading {}", glob.meaning()),
            Self::Write(glob) => format!("Changing {}", glob.meaning()),
            Self::Host(host) => format!("Connecting to {host}"),
            Self::WebSearch => "Searching the web".to_owned(),
            Self::Mcp(tool) => format!("Using {tool}"),
            Self::Remember => "Remembering facts about this project".to_owned(),
        }
    }
}

/// A command line of a rule: one line, no invisible characters, compared byte for byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExactLine(String);

impl ExactLine {
    /// The line as a rule can hold it.
    ///
    /// # Errors
    /// [`RuleError::Empty`] for a blank line, [`RuleError::Hidden`] for one that does not show all it is,
    /// [`RuleError::TooLong`] for one that does not fit a rule.
    pub fn new(line: &str) -> Result<Self, RuleError> {
        if line.trim().is_empty() {
            return Err(RuleError::Empty {
                kind: "run-exact",
                expected: "a command line",
                example: "run-exact: npm run build",
            });
        }
        if has_line_break(line) || has_hidden(line) {
            return Err(RuleError::Hidden);
        }
        if line.len() + "run-exact: ".len() > MAX_RULE_BYTES {
            return Err(RuleError::TooLong);
        }
        Ok(Self(line.to_owned()))
    }

    /// The line.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn has_line_break(text: &str) -> bool {
    text.contains(['\n', '\r'])
}

#[cfg(test)]
mod tests;
