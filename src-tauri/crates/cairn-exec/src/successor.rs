//! Becoming another program of ours: the command that opens the window.

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
