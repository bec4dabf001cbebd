//! Becoming another program of ours, or the same anew.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::Path;

use crate::sys;

/// Replaces this process by another program, with the same environment, folder and terminal. Returns only when that
/// failed. Only for a process that has nothing open that must be closed in order.
pub fn become_program(program: &Path, arguments: &[OsString]) -> io::Error {
    sys::command(program)
        .args(arguments)
        .envs(std::env::vars_os())
        .exec()
}

/// Starts this program anew in the place of this process, with the same arguments, without these variables. Returns
/// only when that failed. Only for a process that has nothing open that must be closed in order.
pub fn restart_without(variables: &[&str]) -> io::Error {
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(error) => return error,
    };
    let kept = std::env::vars_os().filter(|(name, _)| !variables.iter().any(|gone| name == gone));
    sys::command(program)
        .args(std::env::args_os().skip(1))
        .envs(kept)
        .exec()
}
