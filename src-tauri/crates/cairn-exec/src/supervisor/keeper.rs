//! The keeper: starts one command and stays until nothing of it is left.
//!
//! Owns: being the process to which the command's processes fall. Must never know: output, limits, the app. It ends
//! when it has no child any more; if the supervisor is killed, it ends them itself.

use std::ffi::OsString;
use std::fs::File;
use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::Stdio;

use rustix::process::{Pid, Signal, WaitOptions};

use crate::wire::StartCommand;
use crate::{sandbox, sys, tree};

/// What a keeper reports, as one byte and a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Report {
    /// The program could not be started; holds the system's error number.
    NotStarted(i32),
    /// The program exited; holds the status.
    Exited(i32),
    /// A signal ended the program; holds its number.
    Signalled(i32),
    /// The program runs; holds its process id. Another report follows.
    Started(i32),
}

impl Report {
    /// Length of a report, bytes.
    pub(super) const LENGTH: usize = 5;

    fn encode(self) -> [u8; Self::LENGTH] {
        let (kind, number) = match self {
            Self::NotStarted(number) => (0, number),
            Self::Exited(number) => (1, number),
            Self::Signalled(number) => (2, number),
            Self::Started(number) => (3, number),
        };
        let [a, b, c, d] = number.to_le_bytes();
        [kind, a, b, c, d]
    }

    /// The report in these bytes.
    pub(super) fn decode([kind, a, b, c, d]: [u8; Self::LENGTH]) -> Self {
        let number = i32::from_le_bytes([a, b, c, d]);
        match kind {
            0 => Self::NotStarted(number),
            1 => Self::Exited(number),
            3 => Self::Started(number),
            _ => Self::Signalled(number),
        }
    }
}

/// Forks the keeper of a command. The ends are those that the keeper gets: where the command prints, where the keeper
/// reports.
pub(super) fn fork(start: StartCommand, output: OwnedFd, status: OwnedFd) -> std::io::Result<Pid> {
    let supervisor = rustix::process::getpid();
    sys::fork(move || keep(supervisor, start, output, status))
}

/// The life of a keeper. Signals are blocked as in the supervisor.
fn keep(supervisor: Pid, start: StartCommand, output: OwnedFd, status: OwnedFd) -> u8 {
    sys::close_all_but(&[sys::raw(&output), sys::raw(&status)]);
    let own = rustix::process::getpid();
    let mut status = File::from(status);
    let prepared = rustix::process::set_child_subreaper(Some(own))
        .and_then(|()| rustix::process::set_parent_process_death_signal(Some(Signal::TERM)));
    if prepared.is_err() || rustix::process::getppid() != Some(supervisor) {
        return 1;
    }
    let shell = match spawn(start, output) {
        Ok(shell) => shell,
        Err(error) => {
            let report = Report::NotStarted(error.raw_os_error().unwrap_or(0));
            return u8::from(status.write_all(&report.encode()).is_err());
        }
    };
    // A supervisor that no longer listens is dealt with below.
    let _told = status.write_all(&Report::Started(shell.as_raw_nonzero().get()).encode());
    loop {
        match rustix::process::wait(WaitOptions::NOHANG) {
            Ok(Some((pid, ended))) if pid == shell => {
                let report = ended.exit_status().map(Report::Exited);
                let report = report.or_else(|| ended.terminating_signal().map(Report::Signalled));
                if let Some(report) = report {
                    // A supervisor that no longer listens is dealt with below.
                    let _written = status.write_all(&report.encode());
                }
            }
            Ok(Some(_)) => {}
            // Nothing is left.
            Err(_) => return 0,
            Ok(None) => {
                if rustix::process::getppid() != Some(supervisor) {
                    for process in tree::descendants(own.as_raw_nonzero().get()) {
                        tree::signal(process, Signal::KILL);
                    }
                }
                sys::wait_for_signal(&[Signal::CHILD, Signal::TERM]);
            }
        }
    }
}

/// Starts the program: nothing to read, one pipe for both outputs, the environment that was given and no other.
fn spawn(start: StartCommand, output: OwnedFd) -> std::io::Result<Pid> {
    let program: OsString = start.program.into();
    let arguments = start.arguments.into_iter().map(OsString::from);
    let workdir = PathBuf::from(OsString::from(start.workdir));
    let (mut command, entry) = if let Some(walls) = &start.walls {
        let (command, entry) = sandbox::command(walls, program, arguments.collect(), &workdir)?;
        (command, Some(entry))
    } else {
        let mut command = sys::command(program);
        command.args(arguments);
        (command, None)
    };
    let environment = start.environment.into_iter();
    command
        .envs(environment.map(|(name, value)| (OsString::from(name), OsString::from(value))))
        .current_dir(workdir)
        .stdin(Stdio::null())
        .stderr(Stdio::from(output.try_clone()?))
        .stdout(Stdio::from(output));
    sys::detach(&mut command, Signal::KILL);
    if let Some(entry) = entry {
        sys::enter(&mut command, entry);
    }
    let child = command.spawn()?;
    Ok(Pid::from_child(&child))
}
