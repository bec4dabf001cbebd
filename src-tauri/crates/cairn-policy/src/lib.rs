//! What may happen: effects, rules, modes and the one pure decision.
//!
//! Owns: the judgement. Must never know: how anything is done, or who asks. No input or output.

pub mod address;
mod decide;
mod effect;
mod facts;
mod git;
mod host;
mod line;
mod path;
mod program;
mod rule;
mod script;
mod show;
mod study;

pub use decide::{Approve, Asked, Decision, Edits, Policy, Presence, Reading, Sandbox, Taint, decide};
pub use effect::*;
pub use facts::{CommandFacts, Found, Looked, RealKind, RealPath, Repository, Surroundings};
pub use git::{GitRead, git_read};
pub use host::{is_this_machine, shared_domain};
pub use path::{FolderNames, NameCare, Places, credential_places, is_credential, is_protected, runs_later};
pub use rule::{
    ExactLine, Granted, HostName, LeadingWords, MAX_RULE_BYTES, PathGlob, ReadBars, Rule, RuleError,
    RuleList, RuleOrigin, RuleSet, ServerTool,
};
pub use show::{Show, has_hidden, is_unseen, show, show_path, shown_text};
