//! What holds a command in, as plain data, and the layers that enforce it. SPEC P12.
//!
//! Owns: the description of one command's walls, how each layer of the system builds them, and the trial that shows
//! which layer works here. Must never know: which files are credentials or protected, or who decides what is allowed.

mod bubblewrap;
mod landlock;
pub(crate) mod probe;
#[cfg(any(target_os = "macos", test))]
mod seatbelt;
mod seccomp;

use std::ffi::OsString;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};

pub use probe::{Gap, Walls};

use crate::sys;

/// The walls of one command. All paths are real paths; those that are not there are passed over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    /// What builds the walls.
    pub layer: Layer,
    /// Folders in which everything may be changed.
    #[serde(with = "os_paths")]
    pub writable: Vec<PathBuf>,
    /// Files and folders within those that stay as they are. Landlock alone cannot keep them: it leaves them writable.
    #[serde(with = "os_paths")]
    pub kept: Vec<PathBuf>,
    /// Files and folders whose content cannot be read. Landlock alone cannot hide what lies in a writable folder.
    #[serde(with = "os_paths")]
    pub hidden: Vec<PathBuf>,
    /// The private folder that stands in for the machine's temporary one; it has to be there.
    #[serde(with = "os_path")]
    pub temporary: PathBuf,
    /// A file of ours that nobody may read; it is shown in the place of hidden files.
    #[serde(with = "os_path")]
    pub blank: PathBuf,
    /// Whether the network can be reached.
    pub network: Network,
}

/// What builds the walls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Layer {
    /// The program at that path, with namespaces of its own and a filter of system calls.
    Bubblewrap(#[serde(with = "os_path")] PathBuf),
    /// The system's access rules and the filter, without namespaces.
    Landlock,
    /// A profile of macOS.
    #[cfg(target_os = "macos")]
    Seatbelt,
}

/// Whether a command reaches the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Network {
    /// Not at all.
    Off,
    /// As if there were no walls.
    On,
}

/// A command behind its walls.
pub(crate) struct Behind {
    /// Starts it.
    pub(crate) command: Command,
    /// What it puts on itself.
    pub(crate) entry: sys::Entry,
    /// Tells whether the walls were built.
    pub(crate) built: Built,
}

/// Whether the walls of a command were built before it ended.
pub(crate) enum Built {
    /// What builds them reports in this file, and only then that the program in them ended.
    Reported(std::fs::File),
    /// They stand before the program begins, or it is not begun.
    Always,
}

impl Built {
    /// Whether the program in the walls was never begun, though what builds them ran: something that was to be hidden
    /// or kept vanished in that instant.
    pub(crate) fn failed(&self) -> bool {
        let Self::Reported(file) = self else { return false };
        let mut told = [0; 4096];
        let read = file.read_at(&mut told, 0).unwrap_or(0);
        let ended = b"\"exit-code\"";
        let told = told.get(..read).unwrap_or_default();
        !told.windows(ended.len()).any(|part| part == ended)
    }
}

/// A command for `program` behind the walls, and what it puts on itself ([`sys::enter`], after [`sys::detach`]). To be
/// started by a process with a single thread.
pub(crate) fn command(
    walls: &Confinement,
    program: OsString,
    arguments: Vec<OsString>,
    workdir: &Path,
) -> std::io::Result<Behind> {
    match &walls.layer {
        Layer::Bubblewrap(bwrap) => bubblewrap::command(walls, bwrap, program, arguments, workdir),
        Layer::Landlock => {
            let mut command = sys::command(program);
            command.args(arguments);
            Ok(Behind {
                command,
                entry: landlock::entry(walls)?,
                built: Built::Always,
            })
        }
        #[cfg(target_os = "macos")]
        Layer::Seatbelt => seatbelt::command(walls, program, arguments),
    }
}

/// Paths of the operating system, which need not be UTF-8, in a message.
mod os_paths {
    use super::{OsString, PathBuf};
    use crate::wire::OsText;
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    pub(super) fn serialize<S: Serializer>(paths: &[PathBuf], serializer: S) -> Result<S::Ok, S::Error> {
        let texts: Vec<OsText> = paths.iter().map(|path| OsText::from(path.as_os_str())).collect();
        texts.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<PathBuf>, D::Error> {
        let texts = Vec::<OsText>::deserialize(deserializer)?;
        Ok(texts
            .into_iter()
            .map(|text| OsString::from(text).into())
            .collect())
    }
}

/// The same for one path.
mod os_path {
    use super::{OsString, Path, PathBuf};
    use crate::wire::OsText;
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    pub(super) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        OsText::from(path.as_os_str()).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
        Ok(OsString::from(OsText::deserialize(deserializer)?).into())
    }
}
