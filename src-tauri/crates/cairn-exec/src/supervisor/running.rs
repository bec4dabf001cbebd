//! One command while the supervisor has anything to do with it.
//!
//! Owns: what its output, its end and the passing of time mean for it. Must never know: other commands, the socket.

use std::collections::HashSet;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};

use cairn_protocol::{CommandEnd, ProcessPlace};
use rustix::pipe::PipeFlags;
use rustix::process::{Pid, Signal};

use super::SWEEP;
use super::keeper::{self, Report};
use crate::command::{Output, Slice, Survivor};
use crate::screen::Screen;
use crate::sys;
use crate::tree::{self, Process};
use crate::wire::{From, Refusal, StartCommand, Tell};

/// Time between two live pieces.
const LIVE: Duration = Duration::from_millis(30);

/// Time between two messages about how much a command printed that nobody watches.
const COUNTED: Duration = Duration::from_secs(1);

/// How long the pipe is read once the shell has ended, when a child still holds it. SPEC T21.
const PIPE_GRACE: Duration = Duration::from_millis(100);

/// How long children that end together with the shell may take before they count as left running.
const CHILD_GRACE: Duration = Duration::from_millis(20);

/// How long a command that is being ended may still print into its result. Stop answers within 200 ms.
const ANSWER: Duration = Duration::from_millis(120);

/// From TERM to KILL.
const TERM_GRACE: Duration = Duration::from_secs(2);

/// From TERM until nobody waits any longer for what cannot be ended.
const GIVEN_UP: Duration = Duration::from_millis(2450);

/// Bytes read at once.
const PIECE: usize = 64 << 10;

/// How long one command is read before limits, Stop and other commands have their turn: one that floods must not
/// delay its own end.
const TURN: Duration = Duration::from_millis(10);

/// Where a command is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Its shell runs.
    Running,
    /// Its shell has ended by itself.
    Ended { at: Instant },
    /// It is being ended.
    Ending { since: Instant, timed_out: bool },
}

/// One command.
pub(super) struct Running {
    keeper: Pid,
    keeper_ended: bool,
    output: Option<OwnedFd>,
    status: Option<OwnedFd>,
    report: Option<Report>,
    screen: Screen,
    started: Instant,
    limit: Option<Instant>,
    phase: Phase,
    /// The app has its answer.
    answered: bool,
    /// The app knows that nothing is left, or need not be told.
    settled: bool,
    /// The app was told that some of its processes live, and is told once none does.
    lives: bool,
    place: ProcessPlace,
    /// Its shell's id, until the app knows it.
    pid: Option<i32>,
    /// Something was printed since the last live piece, which went at that time.
    unseen: bool,
    shown: Option<Instant>,
    /// Whom TERM was sent to, and when the tree was last looked at.
    asked: HashSet<Process>,
    swept: Option<Instant>,
}

impl Running {
    /// Starts it.
    pub(super) fn start(start: StartCommand) -> Result<Self, Refusal> {
        match Path::new(&OsString::from(start.workdir.clone())).metadata() {
            Ok(metadata) if metadata.is_dir() => {}
            Ok(_) => return Err(Refusal::Workdir("it is not a folder".into())),
            Err(error) => return Err(Refusal::Workdir(error.to_string())),
        }
        let (limit, place) = (start.limit_ms.map(Duration::from_millis), start.place);
        let refuse = |error: std::io::Error| Refusal::Program(error.to_string());
        let (output, output_end) =
            rustix::pipe::pipe_with(PipeFlags::CLOEXEC).map_err(|error| refuse(error.into()))?;
        let (status, status_end) =
            rustix::pipe::pipe_with(PipeFlags::CLOEXEC).map_err(|error| refuse(error.into()))?;
        for end in [&output, &status] {
            rustix::io::ioctl_fionbio(end, true).map_err(|error| refuse(error.into()))?;
        }
        let keeper = keeper::fork(start, output_end, status_end).map_err(refuse)?;
        let started = Instant::now();
        Ok(Self {
            keeper,
            keeper_ended: false,
            output: Some(output),
            status: Some(status),
            report: None,
            screen: Screen::default(),
            started,
            limit: limit.map(|limit| started + limit),
            phase: Phase::Running,
            answered: false,
            settled: true,
            lives: false,
            place,
            pid: None,
            unseen: false,
            shown: None,
            asked: HashSet::new(),
            swept: None,
        })
    }

    /// Id of its keeper.
    pub(super) fn keeper(&self) -> Pid {
        self.keeper
    }

    /// Where its output is read, while there may be some.
    pub(super) fn output(&self) -> Option<&OwnedFd> {
        self.output.as_ref()
    }

    /// Where its keeper reports, until it has.
    pub(super) fn status(&self) -> Option<&OwnedFd> {
        self.status.as_ref()
    }

    /// Reads what is there, and no more than its turn allows.
    pub(super) fn read_output(&mut self) {
        let Some(pipe) = &self.output else { return };
        let mut buffer = vec![0; PIECE];
        let since = Instant::now();
        while since.elapsed() < TURN {
            match rustix::io::read(pipe, &mut buffer) {
                Ok(0) => {
                    self.output = None;
                    return;
                }
                Ok(length) => {
                    self.screen.feed(buffer.get(..length).unwrap_or_default());
                    self.unseen = true;
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(_) => {
                    self.output = None;
                    return;
                }
            }
        }
    }

    /// Reads its keeper's report.
    pub(super) fn read_status(&mut self) {
        let Some(pipe) = &self.status else { return };
        let mut bytes = [0; Report::LENGTH];
        loop {
            match rustix::io::read(pipe, &mut bytes) {
                Ok(Report::LENGTH) => match Report::decode(bytes) {
                    Report::Started(pid) => self.pid = Some(pid),
                    report => {
                        self.report = Some(report);
                        break;
                    }
                },
                Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => return,
                // The keeper was killed before it could tell.
                Ok(_) | Err(_) => break,
            }
        }
        self.status = None;
        if self.phase == Phase::Running {
            self.phase = Phase::Ended { at: Instant::now() };
        }
    }

    /// Its keeper has ended: nothing of it is left, unless the keeper was killed.
    pub(super) fn keeper_ended(&mut self) {
        self.read_status();
        self.keeper_ended = true;
    }

    /// It is stopped, with what its shell left running.
    pub(super) fn stop(&mut self) {
        if matches!(self.phase, Phase::Running | Phase::Ended { .. }) {
            self.end(false);
        }
    }

    /// It may run so long, counted from its start.
    pub(super) fn set_limit(&mut self, limit: Duration) {
        if self.place == ProcessPlace::Foreground {
            self.limit = Some(self.started + limit);
        }
    }

    /// Nobody waits for it any more.
    pub(super) fn move_to_background(&mut self) {
        self.place = ProcessPlace::Background;
        self.limit = None;
    }

    /// What it printed from there on.
    pub(super) fn slice(&self, from: From) -> Slice {
        let output = self.screen.so_far();
        let offset = match from {
            From::Offset(offset) => offset,
            From::Last(bytes) => output.length().saturating_sub(bytes),
        };
        output.since(offset)
    }

    fn end(&mut self, timed_out: bool) {
        self.phase = Phase::Ending {
            since: Instant::now(),
            timed_out,
        };
        self.settled = false;
    }

    /// When it has to be looked at again, whatever happens until then.
    pub(super) fn due(&self) -> Option<Instant> {
        let phase = match self.phase {
            Phase::Running => self.limit,
            Phase::Ended { .. } if self.answered => None,
            Phase::Ended { at } if self.output.is_none() => Some(at + CHILD_GRACE),
            Phase::Ended { at } => Some(at + PIPE_GRACE),
            Phase::Ending { .. } => Some(self.swept.map_or(self.started, |swept| swept + self.pause())),
        };
        let live = self
            .shown
            .filter(|_| self.unseen && self.is_shown())
            .map(|shown| shown + self.between());
        phase.into_iter().chain(live).min()
    }

    /// Does what is due; false when there is nothing more to do with it.
    pub(super) fn tick(&mut self, id: u64, now: Instant, may_show: bool, tells: &mut Vec<Tell>) -> bool {
        if self.phase == Phase::Running && self.limit.is_some_and(|limit| now >= limit) {
            self.end(true);
        }
        if let Some(pid) = self.pid.take() {
            let keeper = self.keeper.as_raw_nonzero().get();
            tells.push(Tell::Started { id, pid, keeper });
        }
        if self.is_shown() {
            self.show(id, now, may_show, tells);
        }
        match self.phase {
            Phase::Running => {}
            Phase::Ended { at } => {
                let all_read = self.output.is_none();
                let over =
                    (all_read && (self.keeper_ended || now >= at + CHILD_GRACE)) || now >= at + PIPE_GRACE;
                if over && !self.answered {
                    self.read_output();
                    self.answer(id, None, now, tells);
                }
            }
            Phase::Ending { since, timed_out } => {
                if !self.keeper_ended {
                    self.sweep(now, since);
                }
                let end = if timed_out {
                    CommandEnd::TimedOut
                } else {
                    CommandEnd::Stopped
                };
                if !self.answered && (self.keeper_ended || now >= since + ANSWER) {
                    self.read_output();
                    self.answer(id, Some(end), now, tells);
                }
                if self.answered && !self.settled && (self.keeper_ended || now >= since + GIVEN_UP) {
                    self.settled = true;
                    tells.push(Tell::Settled { id });
                }
            }
        }
        if self.answered && self.keeper_ended && std::mem::take(&mut self.lives) {
            self.read_output();
            let end = matches!(self.phase, Phase::Ending { .. }).then_some(CommandEnd::Stopped);
            let output = self.screen.output();
            tells.push(Tell::Over { id, end, output });
        }
        !(self.answered && self.settled && self.keeper_ended)
    }

    /// Whether what it prints is told while it runs: until its end, and of what it left running.
    fn is_shown(&self) -> bool {
        self.phase == Phase::Running || (self.lives && matches!(self.phase, Phase::Ended { .. }))
    }

    /// Time between two messages about what it printed.
    fn between(&self) -> Duration {
        match self.place {
            ProcessPlace::Foreground => LIVE,
            ProcessPlace::Background => COUNTED,
        }
    }

    /// Sends a live piece when one is due.
    fn show(&mut self, id: u64, now: Instant, may_show: bool, tells: &mut Vec<Tell>) {
        if !self.unseen || !may_show || self.shown.is_some_and(|shown| now < shown + self.between()) {
            return;
        }
        self.unseen = false;
        self.shown = Some(now);
        match self.place {
            ProcessPlace::Foreground => {
                if let Some((offset, text)) = self.screen.live() {
                    tells.push(Tell::Output { id, offset, text });
                }
            }
            ProcessPlace::Background => {
                let printed = self.screen.printed();
                tells.push(Tell::Printed { id, printed });
            }
        }
    }

    /// Time between two looks at what is left: long once nobody waits for it any more.
    fn pause(&self) -> Duration {
        if self.answered && self.settled {
            SWEEP * 25
        } else {
            SWEEP
        }
    }

    /// Signals all that is left of it: each once with TERM, after the grace everything with KILL.
    fn sweep(&mut self, now: Instant, since: Instant) {
        if self.swept.is_some_and(|swept| now < swept + self.pause()) {
            return;
        }
        self.swept = Some(now);
        for process in tree::descendants(self.keeper.as_raw_nonzero().get()) {
            if now >= since + TERM_GRACE {
                tree::signal(process, Signal::KILL);
            } else if self.asked.insert(process) {
                tree::signal(process, Signal::TERM);
                // A stopped process takes no TERM until it goes on.
                tree::signal(process, Signal::CONT);
            }
        }
    }

    /// Tells the app how it ended; `forced` when not by itself.
    fn answer(&mut self, id: u64, forced: Option<CommandEnd>, now: Instant, tells: &mut Vec<Tell>) {
        self.answered = true;
        let by_itself = forced.is_none();
        let end = match (forced, self.report) {
            (Some(end), _) => end,
            (None, Some(Report::Exited(code))) => CommandEnd::Exited { code },
            (None, Some(Report::Signalled(number))) => CommandEnd::Signalled {
                signal: sys::signal_name(number),
            },
            (None, Some(Report::NotStarted(number))) => {
                let reason = std::io::Error::from_raw_os_error(number).to_string();
                tells.push(refused(id, reason));
                return;
            }
            (None, Some(Report::NoWalls)) => {
                let output = self.output_now();
                let said = [&output.tail, &output.head]
                    .into_iter()
                    .find_map(|part| part.lines().last());
                let said = said.unwrap_or("nothing was said");
                tells.push(refused(id, format!("its sandbox could not be set up: {said}")));
                return;
            }
            // `Started` is taken out where reports are read.
            (None, Some(Report::Started(_)) | None) => CommandEnd::Interrupted,
        };
        let survivors = if by_itself && !self.keeper_ended {
            self.survivors()
        } else {
            Vec::new()
        };
        self.lives = !self.keeper_ended && (!by_itself || !survivors.is_empty());
        if by_itself && self.lives {
            self.move_to_background();
        }
        let output = self.output_now();
        tells.push(Tell::Finished {
            id,
            end,
            output,
            elapsed_ms: now.saturating_duration_since(self.started).as_millis() as u64,
            survivors,
            settling: !self.settled && !self.keeper_ended,
            lives: self.lives,
        });
        if self.keeper_ended {
            self.settled = true;
        }
    }

    /// What it printed until now, in the end or while more may come.
    fn output_now(&mut self) -> Output {
        if self.lives {
            self.screen.so_far()
        } else {
            self.screen.output()
        }
    }

    fn survivors(&self) -> Vec<Survivor> {
        tree::descendants(self.keeper.as_raw_nonzero().get())
            .into_iter()
            .filter(|process| !tree::is_first_of_namespace(process.pid))
            .map(|process| Survivor {
                pid: process.pid.unsigned_abs(),
                command: tree::command_line(process.pid),
            })
            .collect()
    }
}

/// What the app is told about a command that was never begun.
fn refused(id: u64, reason: String) -> Tell {
    let refusal = Refusal::Program(reason);
    Tell::Refused { id, refusal }
}
