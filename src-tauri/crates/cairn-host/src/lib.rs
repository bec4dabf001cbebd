//! The composition root: sessions, methods, fan-out of events, rendering, settings.
//!
//! Owns: which parts make a program. Must never know: window toolkits, terminals. Both front ends, the window and the
//! headless command, stand on [`Host`].

mod api;
mod config;
mod demo;
mod doctor;
mod environment;
mod fanout;
mod files;
mod git;
mod headless;
mod home;
mod host;
mod inbox;
mod logs;
mod memory;
mod models;
mod processes;
mod project;
mod render;
mod rules;
mod sandbox;
mod seen;
mod session;
mod surroundings;
mod sweep;
mod trust;
mod world;

pub use api::{Desk, Needed, Window};
pub use config::{Config, ConfigError};
pub use demo::sample_project;
pub use doctor::{Finding, doctor};
pub use environment::Environment;
pub use fanout::Subscription;
pub use home::Home;
pub use host::Host;
pub use logs::start_logs;
pub use project::Project;
pub use rules::ProjectRules;
pub use session::OpenSession;
pub use world::day;

/// What the front ends need of the crates below, so that neither names them.
pub mod parts {
    pub use cairn_agent::driver::SessionHandle;
    pub use cairn_agent::effect::{Archived, Input};
    pub use cairn_exec::{HelperProgram, become_program, helper_main, inherited, restart};
    pub use cairn_files::diff::unified;
    pub use cairn_models::demo::Pace;
    /// Media type of a picture by its first bytes; none for anything else.
    pub fn picture_type(bytes: &[u8]) -> Option<&'static str> {
        match cairn_exec::sniff(bytes) {
            cairn_exec::Sniffed::Picture(kind) => Some(kind.media_type()),
            _ => None,
        }
    }

    pub use cairn_policy::{Approve, Presence, Sandbox, Show, show, shown_text};
}
