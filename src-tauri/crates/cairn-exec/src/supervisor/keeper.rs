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

use rustix::process::{Pid, Signal, WaitOptions, WaitStatus};

use crate::sandbox::Built;
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
    /// The program was never begun, as its walls could not be built; what was printed says why.
    NoWalls,
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
            Self::NoWalls => (4, 0),
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
            4 => Self::NoWalls,
            _ => Self::Signalled(number),
        }
    }

    fn not_started(error: &std::io::Error) -> Self {
        Self::NotStarted(error.raw_os_error().unwrap_or(0))
    }

    fn ended(ended: WaitStatus) -> Option<Self> {
        let exited = ended.exit_status().map(Self::Exited);
        exited.or_else(|| ended.terminating_signal().map(Self::Signalled))
    }
}

/// How often the walls of a command are built at most: what is to be hidden or kept may vanish between the look at it
/// and the mount over it.
const ATTEMPTS: u8 = 3;

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
    let mut attempts = Attempts {
        start,
        output,
        left: ATTEMPTS,
    };
    let mut shell = match attempts.spawn() {
        Ok(shell) => shell,
        Err(error) => {
            let report = Report::not_started(&error);
            return u8::from(status.write_all(&report.encode()).is_err());
        }
    };
    // A supervisor that no longer listens is dealt with below.
    let _told = status.write_all(&shell.report().encode());
    // Held only while it may be needed: the supervisor reads until nobody holds the pipe.
    let mut attempts = shell.may_fail().then_some(attempts);
    loop {
        match rustix::process::wait(WaitOptions::NOHANG) {
            Ok(Some((pid, ended))) if pid == shell.pid => {
                let report = match attempts.take() {
                    Some(again) if shell.never_began(ended) => match start_again(again) {
                        Ok((anew, rest)) => {
                            shell = anew;
                            attempts = rest;
                            Some(shell.report())
                        }
                        Err(report) => Some(report),
                    },
                    _ => Report::ended(ended),
                };
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

/// Starts a program once more whose walls could not be built. The error is what is reported instead.
fn start_again(mut attempts: Attempts) -> Result<(Shell, Option<Attempts>), Report> {
    if attempts.left == 0 {
        return Err(Report::NoWalls);
    }
    if let Ok(output) = attempts.output.try_clone() {
        // What says so stands among what the command prints; without it the command runs all the same.
        let _said = File::from(output).write_all(b"(the sandbox is set up once more)\n");
    }
    let shell = attempts.spawn().map_err(|error| Report::not_started(&error))?;
    Ok((shell, Some(attempts)))
}

/// A shell, and whether its walls were built.
struct Shell {
    pid: Pid,
    built: Built,
}

impl Shell {
    /// Whether its walls may turn out not to have been built.
    fn may_fail(&self) -> bool {
        matches!(self.built, Built::Reported(_))
    }

    /// Whether it ended before the program began.
    fn never_began(&self, ended: WaitStatus) -> bool {
        ended.exit_status() == Some(1) && self.built.failed()
    }

    fn report(&self) -> Report {
        Report::Started(self.pid.as_raw_nonzero().get())
    }
}

/// What is needed to start the program, for as long as it may have to be started again.
struct Attempts {
    start: StartCommand,
    output: OwnedFd,
    left: u8,
}

impl Attempts {
    /// Starts the program: nothing to read, one pipe for both outputs, the environment that was given and no other.
    fn spawn(&mut self) -> std::io::Result<Shell> {
        self.left = self.left.saturating_sub(1);
        let start = &self.start;
        let program = OsString::from(start.program.clone());
        let arguments: Vec<OsString> = start.arguments.iter().cloned().map(OsString::from).collect();
        let workdir = PathBuf::from(OsString::from(start.workdir.clone()));
        let (mut command, entry, built) = if let Some(walls) = &start.walls {
            let behind = sandbox::command(walls, program, arguments, &workdir)?;
            (behind.command, Some(behind.entry), behind.built)
        } else {
            let mut command = sys::command(program);
            command.args(arguments);
            (command, None, Built::Always)
        };
        let environment = start.environment.iter().cloned();
        command
            .envs(environment.map(|(name, value)| (OsString::from(name), OsString::from(value))))
            .current_dir(workdir)
            .stdin(Stdio::null())
            .stderr(Stdio::from(self.output.try_clone()?))
            .stdout(Stdio::from(self.output.try_clone()?));
        sys::detach(&mut command, Signal::KILL);
        if let Some(entry) = entry {
            sys::enter(&mut command, entry);
        }
        let child = command.spawn()?;
        Ok(Shell {
            pid: Pid::from_child(&child),
            built,
        })
    }
}
