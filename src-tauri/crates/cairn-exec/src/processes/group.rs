//! The commands of one owner: each has a name, can be looked at and ended, and ends with the group at the latest.
//!
//! Owns: names, what is known about each command, and who waits for it. Must never know: sessions, tools, models.

mod foreground;
mod record;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, SystemTime};

use cairn_protocol::{CommandEnd, ListeningPort, ProcessPlace, ProcessState};
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::link::Link;
use super::news::News;
use super::{Call, Processes};
use crate::command::{CommandSpec, Finished, Label, Output, Slice};
use crate::error::ExecError;
use crate::ports;
use crate::wire::{Ask, From};
use record::{Record, Table};

/// No output for so long is worth saying while a call waits. SPEC T21.
const SILENCE: Duration = Duration::from_secs(90);

/// How long whoever ends a command waits until it is dead: TERM, 2 s, KILL.
const DEAD: Duration = Duration::from_secs(3);

/// How long the last output of a command that has just ended may be on its way.
const ON_ITS_WAY: Duration = Duration::from_secs(1);

/// Commands that may run in the background at the same time.
const RUNNING: usize = 32;

/// The commands of one owner. Clones are the same group; when the last is dropped, all of them are ended.
#[derive(Clone)]
pub struct Group {
    inner: Arc<Inner>,
}

struct Inner {
    processes: Processes,
    table: Mutex<Table>,
    changed: Box<dyn Fn(&Facts) + Send + Sync>,
    silence: Duration,
}

/// What is known about a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Its name, like `p1`; never used again in its group.
    pub handle: String,
    /// What it is called by whoever started it.
    pub label: Label,
    /// Process id of its shell or program, once it is known.
    pub pid: Option<u32>,
    /// Whether a call waits for it.
    pub place: ProcessPlace,
    /// Whether it runs or how it ended.
    pub state: ProcessState,
    /// When it started.
    pub started_at: SystemTime,
    /// When the last of it ended.
    pub ended_at: Option<SystemTime>,
    /// When it last printed; its start while it has not. About a second late in the background.
    pub last_output_at: SystemTime,
    /// A call waits for it, and it has printed nothing for 90 s.
    pub silent: bool,
    /// How long it may run, counted from its start.
    pub limit: Option<Duration>,
    /// Bytes it printed.
    pub printed: u64,
}

/// What came of a command that a call waited for.
#[derive(Clone, Debug, PartialEq)]
pub enum Ran {
    /// It ended.
    Finished {
        /// How.
        finished: Finished,
        /// The name under which what it left running goes on in the background.
        handle: Option<String>,
    },
    /// It goes on in the background: the person did not want to wait.
    Moved {
        /// The command.
        facts: Facts,
        /// What it printed until then; the next ask tells what came after.
        output: Output,
    },
}

/// What a command printed since the last ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Printed {
    /// The command.
    pub facts: Facts,
    /// The text, with a line that says how much is missing where something is.
    pub text: String,
}

impl Group {
    /// A group without commands. `changed` is told whenever one starts, prints in the background, falls silent, moves
    /// or ends; it must not block.
    pub fn new(processes: Processes, changed: impl Fn(&Facts) + Send + Sync + 'static) -> Self {
        Self::with_silence(processes, changed, SILENCE)
    }

    /// The same, which calls a command silent after another time than 90 s.
    pub fn with_silence(
        processes: Processes,
        changed: impl Fn(&Facts) + Send + Sync + 'static,
        silence: Duration,
    ) -> Self {
        Self {
            inner: Arc::new(Inner {
                processes,
                table: Mutex::default(),
                changed: Box::new(changed),
                silence,
            }),
        }
    }

    /// The processes it stands on.
    pub fn processes(&self) -> &Processes {
        &self.inner.processes
    }

    /// Starts a command that nobody waits for; answers once it runs.
    pub async fn start(&self, spec: CommandSpec, label: Label) -> Result<Facts, ExecError> {
        let (cancel, limit) = (spec.cancel.clone(), spec.limit);
        let running = self.inner.lock().running();
        if running >= RUNNING {
            return Err(ExecError::TooMany { running });
        }
        let begun = self
            .inner
            .begin(spec, label, limit, ProcessPlace::Background)
            .await?;
        let Some((number, _)) = begun else {
            return Err(ExecError::Closed);
        };
        loop {
            let mut version = {
                let mut table = self.inner.lock();
                let record = table.of(number)?;
                if let Some(error) = record.refusal() {
                    table.remove(number);
                    return Err(error);
                }
                if record.pid.is_some() || !record.state.is_alive() {
                    return Ok(record.facts());
                }
                record.version.subscribe()
            };
            tokio::select! {
                _ = version.changed() => {}
                () = cancel.cancelled() => return self.stop_number(number).await,
            }
        }
    }

    /// The commands that run, and the last of those that ended in the background, in the order of their start.
    pub fn list(&self) -> Vec<Facts> {
        self.inner.lock().records.values().map(Record::facts).collect()
    }

    /// What is known about a command.
    pub fn get(&self, handle: &str) -> Result<Facts, ExecError> {
        Ok(self.inner.lock().find(handle)?.facts())
    }

    /// What a command printed since the last ask, the line that is still open included. Waits at most so long until
    /// there is something new or it has ended.
    pub async fn printed(
        &self,
        handle: &str,
        wait: Duration,
        cancel: &CancellationToken,
    ) -> Result<Printed, ExecError> {
        let until = Instant::now() + wait;
        let number = self.inner.lock().find(handle)?.number;
        loop {
            let (mut version, facts, from) = {
                let mut table = self.inner.lock();
                let record = table.of(number)?;
                (record.version.subscribe(), record.facts(), record.cursor.from)
            };
            let slice = self.inner.slice(number, From::Offset(from)).await?;
            let text = self.inner.lock().of(number)?.cursor.advance(&slice);
            let over = !facts.state.is_alive() || cancel.is_cancelled() || Instant::now() >= until;
            if over || !text.is_empty() {
                return Ok(Printed { facts, text });
            }
            tokio::select! {
                _ = version.changed() => {}
                () = tokio::time::sleep_until(until) => {}
                () = cancel.cancelled() => {}
            }
        }
    }

    /// What a command printed from an offset on, without touching what [`Group::printed`] tells next.
    pub async fn read(&self, handle: &str, offset: u64) -> Result<Slice, ExecError> {
        let number = self.inner.lock().find(handle)?.number;
        self.inner.slice(number, From::Offset(offset)).await
    }

    /// The last bytes that a command printed.
    pub async fn tail(&self, handle: &str, bytes: u64) -> Result<Slice, ExecError> {
        let number = self.inner.lock().find(handle)?.number;
        self.inner.slice(number, From::Last(bytes)).await
    }

    /// Ports that a command and all that it started listen on now. Reads the system's tables, so it is asked for only
    /// when somebody looks.
    pub async fn ports(&self, handle: &str) -> Result<Vec<ListeningPort>, ExecError> {
        let keeper = {
            let mut table = self.inner.lock();
            let record = table.find(handle)?;
            record.keeper.filter(|_| record.state.is_alive())
        };
        let Some(keeper) = keeper else {
            return Ok(Vec::new());
        };
        let asked = tokio::task::spawn_blocking(move || ports::listening(keeper));
        Ok(asked.await.unwrap_or_default())
    }

    /// Ends a command and all that it started; answers once they are dead, after 3 s at the latest.
    pub async fn stop(&self, handle: &str) -> Result<Facts, ExecError> {
        let number = self.inner.lock().find(handle)?.number;
        self.stop_number(number).await
    }

    async fn stop_number(&self, number: u32) -> Result<Facts, ExecError> {
        let (link, mut facts) = {
            let mut table = self.inner.lock();
            let record = table.of(number)?;
            if let Some(route) = &mut record.route {
                route.stop();
            }
            (record.link(), record.facts())
        };
        let dead = async {
            while facts.state.is_alive() {
                let Some((now, mut version)) = self.inner.look(number) else {
                    // The call that waited for it has its answer.
                    facts.state = ProcessState::Ended {
                        end: CommandEnd::Stopped,
                    };
                    break;
                };
                facts = now;
                if facts.state.is_alive() {
                    // An error means that it is no longer known: the next look tells.
                    let _changed = version.changed().await;
                }
            }
            if let Some(link) = link {
                link.settled().await;
            }
        };
        if tokio::time::timeout(DEAD, dead).await.is_err() {
            tracing::warn!(handle = facts.handle, "a command could not be ended");
        }
        Ok(facts)
    }

    /// Lets a command that a call waits for run longer by that.
    pub fn more_time(&self, handle: &str, more: Duration) -> Result<Facts, ExecError> {
        let facts = {
            let mut table = self.inner.lock();
            let record = table.waited_for(handle)?;
            let limit = record.limit.map(|limit| limit + more);
            record.limit = limit;
            if let (Some(limit), Some(route)) = (limit, &record.route) {
                let limit_ms = limit.as_millis() as u64;
                let id = route.id();
                route.link().ask(&Ask::Limit { id, limit_ms })?;
            }
            record.bump();
            record.facts()
        };
        (self.inner.changed)(&facts);
        Ok(facts)
    }

    /// Lets a command that a call waits for go on in the background: the call ends with what it printed so far.
    pub fn to_background(&self, handle: &str) -> Result<Facts, ExecError> {
        let facts = {
            let mut table = self.inner.lock();
            let running = table.running();
            if running >= RUNNING {
                return Err(ExecError::TooMany { running });
            }
            let record = table.waited_for(handle)?;
            if let Some(route) = &record.route {
                route.link().ask(&Ask::Background { id: route.id() })?;
            }
            record.move_to_background();
            record.facts()
        };
        (self.inner.changed)(&facts);
        Ok(facts)
    }

    /// Ends all commands and waits until they are dead, 3 s at most. None is started afterwards.
    pub async fn close(&self) {
        let numbers: Vec<_> = {
            let mut table = self.inner.lock();
            table.closed = true;
            let alive = table.records.values().filter(|record| record.state.is_alive());
            alive.map(|record| record.number).collect()
        };
        let stops = numbers.into_iter().map(|number| {
            let group = self.clone();
            tokio::spawn(async move { group.stop_number(number).await })
        });
        for stop in stops.collect::<Vec<_>>() {
            // One that has ended meanwhile is what was wanted.
            let _ended = stop.await;
        }
    }
}

impl std::fmt::Debug for Group {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Group").finish_non_exhaustive()
    }
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, Table> {
        // Every change made under the lock is whole.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks for a command and gives it a name; none when it was cancelled before.
    async fn begin(
        self: &Arc<Self>,
        spec: CommandSpec,
        label: Label,
        limit: Option<Duration>,
        place: ProcessPlace,
    ) -> Result<Option<(u32, mpsc::Receiver<(u64, String)>)>, ExecError> {
        if self.lock().closed {
            return Err(ExecError::Closed);
        }
        let Some(call) = self.processes.begin(spec, place).await? else {
            return Ok(None);
        };
        let Call {
            route,
            mut events,
            name,
            workdir,
        } = call;
        let record = Record::new(route, label, limit, place);
        let number = {
            let mut table = self.lock();
            if table.closed {
                // Dropped, and so ended.
                return Err(ExecError::Closed);
            }
            table.insert(record)
        };
        let output = std::mem::replace(&mut events.output, mpsc::channel(1).1);
        let weak: Weak<Self> = Arc::downgrade(self);
        tokio::spawn(async move {
            loop {
                let news = events.news.recv().await;
                let Some(inner) = weak.upgrade() else { return };
                let goes_on = match news {
                    Some(News::Refused(refusal)) => {
                        inner.learn(number, |record| record.refuse(refusal.explain(&name, &workdir)))
                    }
                    Some(news) => inner.learn(number, |record| record.take(news)),
                    None => inner.learn(number, Record::lose),
                };
                if !goes_on {
                    return;
                }
            }
        });
        Ok(Some((number, output)))
    }

    /// Changes what is known about a command and tells it; false when nothing more can come.
    fn learn(&self, number: u32, change: impl FnOnce(&mut Record)) -> bool {
        let facts = {
            let mut table = self.lock();
            let Ok(record) = table.of(number) else {
                return false;
            };
            change(record);
            record.bump();
            let facts = record.facts();
            table.trim();
            facts
        };
        (self.changed)(&facts);
        facts.state.is_alive()
    }

    /// What is known about a command, and how to hear of the next change; none when it is not known any more.
    fn look(&self, number: u32) -> Option<(Facts, watch::Receiver<()>)> {
        let mut table = self.lock();
        let record = table.of(number).ok()?;
        Some((record.facts(), record.version.subscribe()))
    }

    /// A part of what a command printed.
    async fn slice(&self, number: u32, from: From) -> Result<Slice, ExecError> {
        loop {
            let (link, id, mut version): (Arc<Link>, u64, watch::Receiver<()>) = {
                let mut table = self.lock();
                let record = table.of(number)?;
                let Some(route) = record.route.as_ref().filter(|_| record.kept.is_none()) else {
                    return Ok(record.kept_from(from));
                };
                (Arc::clone(route.link()), route.id(), record.version.subscribe())
            };
            if let Some(slice) = link.read(id, from).await {
                return Ok(slice);
            }
            // It has ended this moment: its last output is on its way, or the helper is gone.
            let came = tokio::time::timeout(ON_ITS_WAY, version.changed()).await;
            if came.is_err() {
                return Ok(Slice::default());
            }
        }
    }
}
