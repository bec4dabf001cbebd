//! The supervisor: a helper that starts commands, watches them, and ends them with all that they started.
//!
//! Owns: the loop that serves the app, and the end of everything when the app is gone. Must never know: why a command
//! is run. One thread, no runtime: it forks.
//!
//! Each command has a *keeper* of its own: a process that the command's processes fall to when their parents end,
//! wherever they hide. So it is always known which process belongs to which command, and that a command is over
//! exactly when its keeper is.

mod keeper;
mod running;

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Signal, WaitOptions};

use crate::wire::{Ask, Frames, Tell};
use crate::{sys, tree};
use running::Running;

/// Bytes that may wait for the app before live output is left out.
const WAITING: usize = 1 << 20;

/// How long everything has to end by itself once the app is gone.
const LAST_GRACE: Duration = Duration::from_millis(500);

/// When the supervisor stops trying to end what cannot be ended.
const LAST_TRY: Duration = Duration::from_secs(4);

/// How often it looks again while something has to end.
pub(crate) const SWEEP: Duration = Duration::from_millis(20);

/// The role. Standard input is a socket to the app; the process ends when the socket does.
pub(crate) fn main() -> ExitCode {
    match Supervisor::new() {
        Ok(mut supervisor) => {
            supervisor.serve();
            match supervisor.end_everything() {
                Left::Nothing => ExitCode::SUCCESS,
                Left::Something => ExitCode::FAILURE,
            }
        }
        Err(_) => ExitCode::FAILURE,
    }
}

/// All that the loop knows.
struct Supervisor {
    app: UnixStream,
    frames: Frames,
    outgoing: Vec<u8>,
    signals: std::os::fd::OwnedFd,
    commands: BTreeMap<u64, Running>,
    /// Processes of a keeper that was killed fell to us: they belong to no command any more.
    strays: bool,
}

/// What is left when the supervisor ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Left {
    Nothing,
    Something,
}

/// What became ready.
#[derive(Clone, Copy)]
enum Ready {
    App,
    Signals,
    Output(u64),
    Status(u64),
}

impl Supervisor {
    fn new() -> std::io::Result<Self> {
        let app = UnixStream::from(rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?);
        app.set_nonblocking(true)?;
        let null = rustix::fs::open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
        rustix::stdio::dup2_stdin(&null)?;
        sys::ignore_signals(&[Signal::INT, Signal::QUIT, Signal::HUP, Signal::PIPE]);
        let signals = sys::watch_signals(&[Signal::CHILD, Signal::TERM])?;
        rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
        let _named = rustix::thread::set_name(c"cairn-helper");
        Ok(Self {
            app,
            frames: Frames::default(),
            outgoing: Vec::new(),
            signals,
            commands: BTreeMap::new(),
            strays: false,
        })
    }

    /// Serves the app until it is gone.
    fn serve(&mut self) {
        loop {
            let Ok(ready) = self.wait() else { return };
            for ready in ready {
                let goes_on = match ready {
                    Ready::App => self.read_app(),
                    Ready::Signals => self.take_signals(),
                    Ready::Output(id) => {
                        self.with(id, Running::read_output);
                        true
                    }
                    Ready::Status(id) => {
                        self.with(id, Running::read_status);
                        true
                    }
                };
                if !goes_on {
                    return;
                }
            }
            self.tick();
            if self.write_app().is_err() {
                return;
            }
        }
    }

    fn with(&mut self, id: u64, act: impl FnOnce(&mut Running)) {
        if let Some(running) = self.commands.get_mut(&id) {
            act(running);
        }
    }

    /// Waits until something is ready or due.
    fn wait(&self) -> std::io::Result<Vec<Ready>> {
        let app_wants = if self.outgoing.is_empty() {
            PollFlags::IN
        } else {
            PollFlags::IN | PollFlags::OUT
        };
        let mut polled = vec![
            PollFd::new(&self.app, app_wants),
            PollFd::new(&self.signals, PollFlags::IN),
        ];
        let mut names = vec![Ready::App, Ready::Signals];
        for (&id, running) in &self.commands {
            for (descriptor, name) in [
                (running.output(), Ready::Output(id)),
                (running.status(), Ready::Status(id)),
            ] {
                if let Some(descriptor) = descriptor {
                    polled.push(PollFd::new(descriptor, PollFlags::IN));
                    names.push(name);
                }
            }
        }
        let now = Instant::now();
        let strays_due = self.strays.then(|| now + SWEEP);
        let due = self
            .commands
            .values()
            .filter_map(Running::due)
            .chain(strays_due)
            .min();
        let timeout = due.and_then(|due| Timespec::try_from(due.saturating_duration_since(now)).ok());
        match rustix::event::poll(&mut polled, timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let ready = polled
            .iter()
            .zip(names)
            .filter(|(polled, _)| !polled.revents().is_empty());
        Ok(ready.map(|(_, name)| name).collect())
    }

    /// Reads what the app asks; false when it is gone.
    fn read_app(&mut self) -> bool {
        let mut buffer = [0; 16 << 10];
        loop {
            match self.app.read(&mut buffer) {
                Ok(0) => return false,
                Ok(length) => self.frames.feed(buffer.get(..length).unwrap_or_default()),
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => return false,
            }
        }
        loop {
            match self.frames.next() {
                Ok(Some(Ask::Start(start))) => {
                    let id = start.id;
                    match Running::start(*start) {
                        Ok(running) => {
                            self.commands.insert(id, running);
                        }
                        Err(refusal) => self.tell(&Tell::Refused { id, refusal }),
                    }
                }
                Ok(Some(Ask::Stop { id })) => self.with(id, Running::stop),
                Ok(Some(Ask::Limit { id, limit_ms })) => {
                    self.with(id, |running| running.set_limit(Duration::from_millis(limit_ms)));
                }
                Ok(Some(Ask::Background { id })) => self.with(id, Running::move_to_background),
                Ok(Some(Ask::Read { id, request, from })) => {
                    let slice = self.commands.get(&id).map(|running| running.slice(from));
                    self.tell(&Tell::Piece { request, slice });
                }
                Ok(None) => return true,
                Err(_) => return false,
            }
        }
    }

    fn write_app(&mut self) -> std::io::Result<()> {
        while !self.outgoing.is_empty() {
            match self.app.write(&self.outgoing) {
                Ok(written) => {
                    self.outgoing.drain(..written);
                }
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn tell(&mut self, tell: &Tell) {
        if let Ok(frame) = crate::wire::encode(tell) {
            self.outgoing.extend_from_slice(&frame);
        }
    }

    /// Takes note of ended children; false when we are told to end.
    fn take_signals(&mut self) -> bool {
        let numbers = sys::take_signals(&self.signals);
        while let Some((pid, by_itself)) = reap() {
            if let Some(running) = self.commands.values_mut().find(|running| running.keeper() == pid) {
                running.keeper_ended();
                self.strays |= !by_itself;
            }
        }
        // The signal of our parent's end is the same: the app has gone without closing the socket.
        !numbers.contains(&Signal::TERM.as_raw())
    }

    /// Does what is due and tells the app.
    fn tick(&mut self) {
        let now = Instant::now();
        let mut tells = Vec::new();
        let may_show = self.outgoing.len() < WAITING;
        self.commands
            .retain(|&id, running| running.tick(id, now, may_show, &mut tells));
        for tell in tells {
            self.tell(&tell);
        }
        if self.strays {
            let own: Vec<_> = self
                .commands
                .values()
                .map(|running| running.keeper().as_raw_nonzero().get())
                .collect();
            let mut strays = tree::descendants(rustix::process::getpid().as_raw_nonzero().get());
            for keeper in own {
                let kept = tree::descendants(keeper);
                strays.retain(|process| process.pid != keeper && !kept.contains(process));
            }
            for &process in &strays {
                tree::signal(process, Signal::KILL);
            }
            self.strays = !strays.is_empty();
        }
    }

    /// The app is gone: nothing that it had started stays.
    fn end_everything(&mut self) -> Left {
        let since = Instant::now();
        let own = rustix::process::getpid().as_raw_nonzero().get();
        let mut asked = std::collections::HashSet::new();
        loop {
            let none_left = loop {
                match rustix::process::wait(WaitOptions::NOHANG) {
                    Ok(Some(_)) => {}
                    Ok(None) => break false,
                    Err(_) => break true,
                }
            };
            if none_left {
                return Left::Nothing;
            }
            if since.elapsed() > LAST_TRY {
                return Left::Something;
            }
            let kill = since.elapsed() > LAST_GRACE;
            let keepers: Vec<_> = self
                .commands
                .values()
                .map(|one| one.keeper().as_raw_nonzero().get())
                .collect();
            for process in tree::descendants(own) {
                // A keeper ends by itself when it has nothing left; ended sooner, it would let go of what it holds.
                if keepers.contains(&process.pid) {
                    continue;
                }
                if kill {
                    tree::signal(process, Signal::KILL);
                } else if asked.insert(process) {
                    tree::signal(process, Signal::TERM);
                    tree::signal(process, Signal::CONT);
                }
            }
            self.drain();
        }
    }

    /// Keeps pipes from filling up and waits a moment, or until a child ends.
    fn drain(&mut self) {
        for running in self.commands.values_mut() {
            running.read_output();
        }
        let mut polled = [PollFd::new(&self.signals, PollFlags::IN)];
        let pause = Timespec {
            tv_sec: 0,
            tv_nsec: 20_000_000,
        };
        if rustix::event::poll(&mut polled, Some(&pause)).is_ok_and(|ready| ready > 0) {
            sys::take_signals(&self.signals);
        }
    }
}

/// A child that has ended, and whether by itself.
fn reap() -> Option<(Pid, bool)> {
    let (pid, status) = rustix::process::wait(WaitOptions::NOHANG).ok()??;
    Some((pid, status.exited()))
}
