//! What can be typed.

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};

/// A coding agent that you can watch, approve and undo.
#[derive(Debug, Parser)]
#[command(
    name = "cairn",
    version,
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true
)]
pub(crate) struct Args {
    /// Folder to open a window on. A folder named like a command is written as ./NAME.
    pub(crate) folder: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run one request without a window: the answer on standard output, everything else on standard error.
    Exec(Exec),
    /// List, show, search and delete sessions.
    Sessions(Sessions),
    /// List, add and revoke what may run without asking in a project.
    Allow(Allow),
    /// Path and state of the configuration, and keys.
    Config(ConfigArgs),
    /// What was found on this machine.
    Doctor,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Exec {
    /// What to do; - reads it from standard input.
    pub(crate) prompt: Option<String>,
    /// The project folder; the current one if not given.
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    /// Model profile from config.toml, or `demo`.
    #[arg(long, value_name = "NAME")]
    pub(crate) profile: Option<String>,
    /// How much may happen without being asked.
    #[arg(long)]
    pub(crate) mode: Option<ModeArg>,
    /// What may happen although nobody is there to ask: file changes inside the project, or also commands.
    #[arg(long, default_value = "none")]
    pub(crate) approve: ApproveArg,
    /// Trust the folder with what its own files propose, from now on.
    #[arg(long)]
    pub(crate) trust: bool,
    /// Look for no errors and warnings after file changes.
    #[arg(long)]
    pub(crate) no_diagnostics: bool,
    /// One event per line on standard output; `--json=deltas` with every piece of text.
    #[arg(long, value_name = "KIND", num_args = 0..=1, require_equals = true, default_missing_value = "events")]
    pub(crate) json: Option<JsonArg>,
    /// Go on with the newest session of the project.
    #[arg(long = "continue", conflicts_with = "session")]
    pub(crate) go_on: bool,
    /// Go on with that session.
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ModeArg {
    Manual,
    AcceptEdits,
    Auto,
    Plan,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ApproveArg {
    None,
    Edits,
    All,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum JsonArg {
    Events,
    Deltas,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Sessions {
    #[command(subcommand)]
    pub(crate) action: SessionsAction,
}

impl Sessions {
    /// Whether nothing is changed.
    pub(crate) fn only_reads(&self) -> bool {
        match self.action {
            SessionsAction::List { .. } | SessionsAction::Show { .. } | SessionsAction::Search { .. } => true,
            SessionsAction::Delete { .. } => false,
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum SessionsAction {
    /// List sessions, newest first.
    List {
        /// Only those of a project.
        #[arg(long, value_name = "DIR")]
        project: Option<PathBuf>,
    },
    /// Print a session.
    Show {
        /// Its id.
        id: String,
    },
    /// Find words in all sessions.
    Search {
        /// The words.
        text: String,
    },
    /// Delete a session.
    Delete {
        /// Its id.
        id: String,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct Allow {
    /// The project folder; the current one if not given.
    #[arg(long, value_name = "DIR", global = true)]
    pub(crate) project: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) action: AllowAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AllowAction {
    /// List the rules.
    List,
    /// Add a rule, like `run-exact: cargo test` or `write: src/**`.
    Add {
        /// The rule.
        rule: String,
    },
    /// Revoke a rule.
    Revoke {
        /// The rule as listed.
        rule: String,
    },
    /// Revoke all rules of the project.
    Reset,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    pub(crate) action: ConfigAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigAction {
    /// Print the path of config.toml.
    Path,
    /// Say whether config.toml can be read.
    Check,
    /// Keys of model profiles.
    Key {
        #[command(subcommand)]
        action: KeyAction,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeyAction {
    /// Keep the key on standard input for a profile.
    Set {
        /// The profile.
        profile: String,
        /// Keep it in a file that only you can read, where there is no keychain.
        #[arg(long)]
        file: bool,
    },
    /// Forget a profile's key.
    Delete {
        /// The profile.
        profile: String,
    },
}
