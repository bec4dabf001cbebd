//! Becoming another program of ours, or the same anew.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsRawFd as _, RawFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;

use crate::environment::is_secret_variable;
use crate::sys;

/// Replaces this process by another program, with the same environment, folder and terminal. Returns only when that
/// failed. Only for a process that has nothing open that must be closed in order.
pub fn become_program(program: &Path, arguments: &[OsString]) -> io::Error {
    sys::command(program)
        .args(arguments)
        .envs(std::env::vars_os())
        .exec()
}

/// Names, in the environment of a process that was started anew, the descriptor of what is kept from its children.
const HANDED: &str = "CAIRN_HANDED";
/// Name of the file in memory behind it, so that no other descriptor is ever taken for it.
const FILE: &str = "cairn-environment";

/// What this process was started with.
pub struct Inherited {
    /// All variables, those included that a former start of this process has handed over.
    pub variables: Vec<(OsString, OsString)>,
    /// Names of secrets that stand where every program which this process starts, and every library in it, finds them.
    pub exposed: Vec<OsString>,
}

/// Looks at the environment. Once, before anything else is open: what was handed over is closed, and gone, after that.
pub fn inherited() -> Inherited {
    let mut variables: Vec<(OsString, OsString)> = std::env::vars_os().collect();
    let exposed = variables
        .iter()
        .map(|(name, _)| name)
        .filter(|name| is_secret_variable(name))
        .cloned()
        .collect();
    let number = variables.iter().position(|(name, _)| name == HANDED);
    if let Some((_, number)) = number.map(|at| variables.swap_remove(at)) {
        variables.extend(take_handed(&number));
    }
    Inherited { variables, exposed }
}

/// Starts this program anew in the place of this process, with the same arguments. The variables `without` are gone for
/// it; the `handed` ones reach it through [`inherited`] alone, in memory that no other program sees. Returns only when
/// that failed. Only for a process that has nothing open that must be closed in order.
pub fn restart(without: &[&str], handed: &[OsString]) -> io::Error {
    start_anew(without, handed).map_or_else(|error| error, |never| match never {})
}

fn start_anew(without: &[&str], handed: &[OsString]) -> io::Result<std::convert::Infallible> {
    let program = std::env::current_exe()?;
    let (kept_back, kept): (Vec<_>, Vec<_>) = std::env::vars_os()
        .filter(|(name, _)| name != HANDED && !without.iter().any(|gone| name == gone))
        .partition(|(name, _)| handed.contains(name));
    let mut command = sys::command(program);
    command.args(std::env::args_os().skip(1)).envs(kept);
    // Open until the program is replaced: the new one finds it by its number.
    let file = if kept_back.is_empty() {
        None
    } else {
        Some(hand_over(&kept_back)?)
    };
    if let Some(file) = &file {
        command.env(HANDED, file.as_raw_fd().to_string());
    }
    Err(command.exec())
}

/// A file in memory with these variables, which lives through the start of another program.
#[cfg(target_os = "linux")]
fn hand_over(variables: &[(OsString, OsString)]) -> io::Result<File> {
    use std::io::{Seek as _, Write as _};
    let mut file = File::from(rustix::fs::memfd_create(FILE, rustix::fs::MemfdFlags::empty())?);
    for (name, value) in variables {
        for part in [name, value] {
            file.write_all(part.as_bytes())?;
            file.write_all(&[0])?;
        }
    }
    file.rewind()?;
    Ok(file)
}

#[cfg(not(target_os = "linux"))]
fn hand_over(_variables: &[(OsString, OsString)]) -> io::Result<File> {
    Err(io::Error::from(io::ErrorKind::Unsupported))
}

/// The variables in the file with that number; none where the number is not ours.
fn take_handed(number: &OsStr) -> Vec<(OsString, OsString)> {
    let Some(number) = number.to_str().and_then(|number| number.parse::<RawFd>().ok()) else {
        return Vec::new();
    };
    let is_ours = std::fs::read_link(format!("/proc/self/fd/{number}")).is_ok_and(|target| {
        target
            .as_os_str()
            .as_bytes()
            .starts_with(format!("/memfd:{FILE}").as_bytes())
    });
    if !is_ours {
        return Vec::new();
    }
    let mut bytes = Vec::new();
    if sys::take_descriptor(number).read_to_end(&mut bytes).is_err() {
        return Vec::new();
    }
    let parts: Vec<&[u8]> = bytes.split(|byte| *byte == 0).collect();
    let own = |part: &[u8]| OsStr::from_bytes(part).to_owned();
    parts
        .chunks_exact(2)
        .filter_map(|pair| Some((own(pair.first()?), own(pair.get(1)?))))
        .collect()
}
