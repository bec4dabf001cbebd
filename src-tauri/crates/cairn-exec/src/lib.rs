//! Processes: the tree, the supervisor, the helper role. The only crate that spawns.
//!
//! Owns: starting, watching and ending every process that Cairn starts, what they inherit, and what is kept of what
//! they print. Must never know: tools, models, sessions, or whether a command may run.
//!
//! Everything dangerous happens in a *helper*: our own program started again as `--cairn-helper ROLE`. A helper may
//! die without taking anything with it, and it outlives the app just long enough to clean up after it.

mod command;
mod environment;
mod error;
#[cfg(feature = "fuzz")]
pub mod fuzz;
mod html;
mod leftovers;
mod oneshot;
mod picture;
mod ports;
mod processes;
mod sandbox;
mod screen;
mod successor;
mod supervisor;
mod sys;
mod tree;
mod wire;

use std::process::ExitCode;

pub use command::{CommandSpec, Finished, Label, LiveOutput, Output, Program, Shell, Slice, Survivor};
pub use environment::child_environment;
pub use error::ExecError;
pub use html::{HtmlError, MAX_HTML_BYTES, ReadPage};
pub use leftovers::Ledger;
pub use picture::{
    Dimensions, MAX_PICTURE_BYTES, MAX_PICTURE_EDGE, MAX_PICTURE_PIXELS, PictureError, PictureKind,
    ScaledPicture, Sniffed, dimensions, sniff,
};
pub use processes::group::{Facts, Group, Printed, Ran};
pub use processes::{HelperProgram, Processes};
pub use sandbox::{Confinement, Gap, Layer, Network, Walls};
pub use successor::{Inherited, become_program, inherited, restart};

/// The argument that makes a program of ours a helper; the role follows it.
pub const HELPER_FLAG: &str = "--cairn-helper";

/// Plays the helper role when the arguments ask for one, and says with which status to exit.
///
/// Every program that is used as a [`HelperProgram`] calls this first in `main`, before any thread, runtime or
/// window exists: the supervisor forks, which only a process with a single thread may do.
/// `arguments` are those of the process, the program's own name included.
pub fn helper_main(arguments: impl IntoIterator<Item = std::ffi::OsString>) -> Option<ExitCode> {
    let mut arguments = arguments.into_iter().skip(1);
    if arguments.next()? != HELPER_FLAG {
        return None;
    }
    let role = arguments.next().unwrap_or_default();
    Some(match role.to_str() {
        Some("supervise") => supervisor::main(),
        Some("picture") => picture::helper::main(),
        Some("html") => html::helper::main(),
        Some("walls") => sandbox::probe::main(),
        _ => ExitCode::from(2),
    })
}
