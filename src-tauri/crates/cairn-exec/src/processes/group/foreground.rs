//! A command that a call waits for: until it ends, is stopped, or is moved to the background.

use std::sync::Arc;
use std::time::Duration;

use cairn_protocol::{CommandEnd, ProcessPlace, ProcessState};
use tokio::time::Instant;

use super::super::{LATEST_ANSWER, stopped_before, until};
use super::{Facts, Group, Inner, Ran};
use crate::command::{CommandSpec, Finished, Label, LiveOutput, Output};
use crate::error::ExecError;
use crate::wire::From;

/// How late the supervisor may be with a time limit before the call no longer waits for it.
const LATE: Duration = Duration::from_secs(1);

/// What a look at the command shows.
enum Seen {
    /// The call has its answer.
    Over(Result<Ran, ExecError>),
    /// The person moved it; what it printed has to be read.
    Moved(Facts),
    /// It runs.
    Waiting {
        /// When the supervisor is too late with its limit.
        overdue: Option<Instant>,
        /// When it counts as silent.
        silent: Option<Instant>,
    },
}

impl Group {
    /// Runs a command to its end, its limit or its cancellation, or until it is moved to the background.
    ///
    /// As [`crate::Processes::run`]; what it leaves running goes on in the background under the name that is answered.
    pub async fn run(
        &self,
        spec: CommandSpec,
        label: Label,
        mut on_output: impl FnMut(LiveOutput<'_>) + Send,
    ) -> Result<Ran, ExecError> {
        let (cancel, limit) = (spec.cancel.clone(), spec.limit);
        let begun = self
            .inner
            .begin(spec, label, limit, ProcessPlace::Foreground)
            .await?;
        let Some((number, mut output)) = begun else {
            return Ok(finished(stopped_before()));
        };
        let waiter = Waiter {
            inner: Arc::clone(&self.inner),
            number,
        };
        let mut version = self.inner.lock().of(number)?.version.subscribe();
        let mut late = None;
        loop {
            version.mark_unchanged();
            let (overdue, silent) = match waiter.look() {
                Seen::Over(answer) => return answer,
                Seen::Moved(facts) => {
                    let output = waiter.told_so_far().await?;
                    return Ok(Ran::Moved { facts, output });
                }
                Seen::Waiting { overdue, silent } => (overdue, silent),
            };
            tokio::select! {
                biased;
                _ = version.changed() => {}
                () = cancel.cancelled(), if late.is_none() => {
                    late = Some((Instant::now() + LATEST_ANSWER, CommandEnd::Stopped));
                    waiter.stop();
                }
                () = until(overdue), if late.is_none() => {
                    late = Some((Instant::now() + LATEST_ANSWER, CommandEnd::TimedOut));
                    waiter.stop();
                }
                () = until(late.as_ref().map(|(at, _)| *at)), if late.is_some() => {
                    let end = late.map_or(CommandEnd::Stopped, |(_, end)| end);
                    return Ok(finished(Finished { end, ..stopped_before() }));
                }
                () = until(silent) => waiter.fell_silent(),
                Some((offset, text)) = output.recv() => {
                    waiter.printed(offset + text.len() as u64);
                    on_output(LiveOutput { offset, text: &text });
                }
            }
        }
    }
}

fn finished(finished: Finished) -> Ran {
    Ran::Finished {
        finished,
        handle: None,
    }
}

/// The call that waits. When it no longer does, the command is ended, unless it was moved.
struct Waiter {
    inner: Arc<Inner>,
    number: u32,
}

impl Waiter {
    fn look(&self) -> Seen {
        let mut table = self.inner.lock();
        let Ok(record) = table.of(self.number) else {
            return Seen::Over(Err(ExecError::Closed));
        };
        if let Some(answer) = record.answer.take() {
            let in_background = record.place == ProcessPlace::Background;
            let handle = in_background.then(|| record.facts().handle);
            return Seen::Over(answer.map(|finished| Ran::Finished { finished, handle }));
        }
        if record.place == ProcessPlace::Background {
            return Seen::Moved(record.facts());
        }
        Seen::Waiting {
            overdue: record.limit.map(|limit| record.started + limit + LATE),
            silent: (!record.silent).then(|| record.last_output + self.inner.silence),
        }
    }

    /// What it printed so far, which is not news any more.
    async fn told_so_far(&self) -> Result<Output, ExecError> {
        let slice = self.inner.slice(self.number, From::Offset(0)).await?;
        self.inner.lock().of(self.number)?.cursor.advance(&slice);
        Ok(slice.output)
    }

    fn stop(&self) {
        if let Ok(record) = self.inner.lock().of(self.number)
            && let Some(route) = &mut record.route
        {
            route.stop();
        }
    }

    fn printed(&self, bytes: u64) {
        let facts = {
            let mut table = self.inner.lock();
            let Ok(record) = table.of(self.number) else {
                return;
            };
            let was_silent = record.silent;
            record.prints(bytes);
            was_silent.then(|| record.facts())
        };
        if let Some(facts) = facts {
            (self.inner.changed)(&facts);
        }
    }

    fn fell_silent(&self) {
        self.inner.learn(self.number, |record| record.silent = true);
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let gone = {
            let mut table = self.inner.lock();
            let Ok(record) = table.of(self.number) else {
                return;
            };
            if record.place == ProcessPlace::Background {
                return;
            }
            let mut facts = record.facts();
            // With its place in the connection the command goes.
            table.remove(self.number);
            if !facts.state.is_alive() {
                return;
            }
            let end = match facts.state {
                ProcessState::Left { end } => end,
                _ => CommandEnd::Stopped,
            };
            facts.state = ProcessState::Ended { end };
            facts
        };
        (self.inner.changed)(&gone);
    }
}
