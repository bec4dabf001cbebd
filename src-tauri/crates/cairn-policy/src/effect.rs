//! Effects: what a tool call would do, in the only words the gate understands.

use std::path::PathBuf;

use crate::facts::CommandFacts;

/// Where a real path lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// Beneath the project folder.
    Inside,
    /// Anywhere else.
    Outside,
}

/// Why a path needs more care than its place says. SPEC P2, P3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Care {
    /// Nothing special.
    Plain,
    /// Holds keys or passwords: reading its content asks everywhere.
    Credential,
    /// Runs code later or configures the agent: writing asks in every mode, never by rule.
    Protected,
}

/// How much an address that is asked for could carry to its host. Case N57.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Carries {
    /// As much as an address needs.
    Little,
    /// Enough to carry out a file: asks whatever the rules allow.
    Much,
}

/// Whose words an address is; what the model composed may carry out what it read. SPEC P9.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AddressWords {
    /// The model put it together.
    #[default]
    Composed,
    /// It stood literally in a result of this request, or the person wrote it.
    Literal,
}

/// One thing a call would do. Paths are real paths: all links resolved, a missing leaf through its nearest
/// existing parent.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Reads the content of a file, or searches a folder.
    ReadPath {
        /// The real path.
        path: PathBuf,
        /// Where it lies.
        place: Place,
        /// Whether it holds credentials.
        care: Care,
    },
    /// Creates, changes, moves or deletes a file.
    WritePath {
        /// The real path.
        path: PathBuf,
        /// Where it lies.
        place: Place,
        /// Whether it is protected or holds credentials.
        care: Care,
        /// The file has more than one hard link, so the change shows elsewhere too.
        hard_linked: bool,
    },
    /// Runs a command line.
    RunCommand {
        /// The line, byte for byte.
        line: String,
        /// Real path of the folder it runs in.
        workdir: PathBuf,
        /// Whether `workdir` is beneath the project.
        place: Place,
        /// Whether it asks for the network.
        network: bool,
        /// Whether it asks to run outside the sandbox.
        outside: bool,
        /// What is known about the programs and paths in it. Without them nothing of it runs unasked but an exact line.
        facts: CommandFacts,
    },
    /// Connects to a host over HTTP.
    ReachHost {
        /// The host as an address names it after parsing: lower case, ASCII (`xn--` form), no dot at its end, IPv6 in
        /// brackets.
        host: String,
        /// The port.
        port: u16,
        /// How much the address itself could carry out.
        carries: Carries,
        /// Whose words the address is.
        words: AddressWords,
    },
    /// Puts a query to the search engine of the user's choice.
    SearchWeb,
    /// Keeps a fact about the project for later sessions.
    Remember {
        /// The request has read text from outside the user's machine: what is to be kept may be somebody else's words.
        doubtful: bool,
    },
    /// Leaves plan mode, so that a plan is carried out: only the person's answer to the plan does.
    LeavePlan,
    /// Touches only the agent's own things: plan, question, status. Never asks.
    Own,
}
