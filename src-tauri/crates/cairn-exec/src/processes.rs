//! The app's side of running things: one supervisor per app, started when the first command comes.
//!
//! Owns: asking the supervisor and waiting for it. Must never know: what the commands are for, or who may run them.

mod link;
mod news;

pub(crate) mod group;

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use cairn_protocol::{CommandEnd, ProcessPlace};
use tokio::sync::{Mutex, OnceCell};
use tokio_util::sync::CancellationToken;

use crate::command::{CommandSpec, Finished, LiveOutput, Output, Program};
use crate::environment::helper_environment;
use crate::error::ExecError;
use crate::leftovers::{Ledger, MARK};
use crate::picture::{self, PictureError, ScaledPicture};
use crate::sandbox::{Walls, probe};
use crate::wire::{Ask, OsText, Refusal, StartCommand};
use link::{Events, Link, Route};
use news::News;

/// When a stopped call is answered although the supervisor says nothing. Stop answers within 200 ms. SPEC T2.
const LATEST_ANSWER: Duration = Duration::from_millis(180);

/// How long the end of everything may take.
const SHUTDOWN: Duration = Duration::from_secs(5);

/// The program that is started as a helper: one whose `main` calls [`crate::helper_main`] first.
#[derive(Clone, Debug)]
pub struct HelperProgram {
    pub(crate) path: PathBuf,
    pub(crate) environment: Vec<(OsString, OsString)>,
}

impl HelperProgram {
    /// The running program itself, even when its file was replaced or deleted since.
    pub fn this_program() -> Self {
        Self::at("/proc/self/exe")
    }

    /// The program at an absolute path.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            environment: helper_environment(std::env::vars_os()),
        }
    }
}

/// Runs commands and decodes pictures, all in helpers. Clones are the same thing.
///
/// Starts no process until one is needed. When the last clone is dropped, or [`Processes::shutdown`] is called, or
/// the app dies in any way, everything that was started is ended.
#[derive(Clone, Debug)]
pub struct Processes {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    helper: HelperProgram,
    ledger: Option<Ledger>,
    state: Mutex<State>,
    walls: OnceCell<Walls>,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Unused,
    Linked(Arc<Link>),
    Closed,
}

impl Processes {
    /// Will start that program as its helper.
    pub fn new(helper: HelperProgram) -> Self {
        Self::made(helper, None)
    }

    /// The same, and notes down each supervisor that it starts, so that what a killed one leaves can be found.
    pub fn recorded(helper: HelperProgram, ledger: Ledger) -> Self {
        Self::made(helper, Some(ledger))
    }

    fn made(helper: HelperProgram, ledger: Option<Ledger>) -> Self {
        Self {
            inner: Arc::new(Inner {
                helper,
                ledger,
                state: Mutex::default(),
                walls: OnceCell::new(),
            }),
        }
    }

    /// Runs a command to its end, its limit or its cancellation.
    ///
    /// `on_output` gets what is printed while it runs; it must not block. A command that cannot be ended at once is
    /// given up after 200 ms and goes on being ended; the next one waits for that, see [`Processes::settled`].
    /// Dropping the future ends the command, too.
    pub async fn run(
        &self,
        spec: CommandSpec,
        mut on_output: impl FnMut(LiveOutput<'_>) + Send,
    ) -> Result<Finished, ExecError> {
        let cancel = spec.cancel.clone();
        let Some(mut call) = self.begin(spec, ProcessPlace::Foreground).await? else {
            return Ok(stopped_before());
        };
        let mut late = None;
        loop {
            tokio::select! {
                biased;
                news = call.events.news.recv() => match news {
                    Some(News::Finished { finished, .. }) => {
                        // What it left running stays; what is left in the queue of pieces is in the result too.
                        call.route.forget();
                        return Ok(finished);
                    }
                    Some(News::Refused(refusal)) => {
                        call.route.forget();
                        return Err(call.explain(refusal));
                    }
                    Some(News::Started { .. } | News::Printed(_) | News::Over { .. }) => {}
                    None => return Err(ExecError::HelperLost),
                },
                () = cancel.cancelled(), if late.is_none() => {
                    late = Some(tokio::time::Instant::now() + LATEST_ANSWER);
                    call.route.stop();
                }
                () = until(late), if late.is_some() => {
                    return Ok(stopped_before());
                }
                Some((offset, text)) = call.events.output.recv() => on_output(LiveOutput { offset, text: &text }),
            }
        }
    }

    /// Asks for a command once nothing is being ended any more; none when it was cancelled before.
    async fn begin(&self, spec: CommandSpec, place: ProcessPlace) -> Result<Option<Call>, ExecError> {
        let cancel = spec.cancel.clone();
        if cancel.is_cancelled() {
            return Ok(None);
        }
        let workdir = spec.workdir.clone();
        let (name, mut start) = translate(spec, place)?;
        let link = self.link().await?;
        tokio::select! {
            () = cancel.cancelled() => return Ok(None),
            () = link.settled() => {}
        }
        let mark = (
            OsText::from(OsStr::new(MARK)),
            OsText::from(OsStr::new(link.mark().text())),
        );
        start.environment.push(mark);
        let (route, events) = link.route();
        start.id = route.id();
        link.ask(&Ask::Start(Box::new(start)))?;
        Ok(Some(Call {
            route,
            events,
            name,
            workdir,
        }))
    }

    /// Waits until nothing is left of commands that were stopped or ran into their limit; at most 2.5 s after that.
    /// What changes files waits for this, so that no dying process changes them at the same time. SPEC T2.
    pub async fn settled(&self) {
        let link = match &*self.inner.state.lock().await {
            State::Linked(link) => Arc::clone(link),
            State::Unused | State::Closed => return,
        };
        link.settled().await;
    }

    /// Decodes a picture in a helper of its own, scales it for a model and encodes it again where it has to.
    ///
    /// At most 2 s of processor time and 10 s by the clock. Refused pictures cost next to nothing, because sizes are
    /// looked at first.
    pub async fn scale_picture(
        &self,
        bytes: Arc<[u8]>,
        cancel: CancellationToken,
    ) -> Result<ScaledPicture, PictureError> {
        let helper = self.inner.helper.clone();
        let decoding = tokio::task::spawn_blocking(move || picture::client::scale(&helper, &bytes, &cancel));
        decoding
            .await
            .unwrap_or_else(|error| Err(PictureError::Helper(error.to_string())))
    }

    /// Which walls hold commands in on this machine: tried out in a helper of its own, once per program.
    pub async fn walls(&self) -> Walls {
        let helper = self.inner.helper.clone();
        let tried = self.inner.walls.get_or_init(|| async move {
            let trying = tokio::task::spawn_blocking(move || probe::try_out(&helper));
            trying
                .await
                .unwrap_or_else(|error| Walls::none(error.to_string()))
        });
        tried.await.clone()
    }

    /// The program that is started as a helper.
    pub(crate) fn helper(&self) -> &HelperProgram {
        &self.inner.helper
    }

    /// Process id of the supervisor, for diagnostics; none while it does not run.
    pub async fn supervisor(&self) -> Option<u32> {
        match &*self.inner.state.lock().await {
            State::Linked(link) if link.is_alive() => Some(link.pid()),
            _ => None,
        }
    }

    /// Ends everything and waits until it has ended. No command is started afterwards.
    pub async fn shutdown(&self) {
        let state = std::mem::replace(&mut *self.inner.state.lock().await, State::Closed);
        if let State::Linked(link) = state {
            link.close();
            if tokio::time::timeout(SHUTDOWN, link.ended()).await.is_err() {
                tracing::warn!("the supervisor did not end within {} s", SHUTDOWN.as_secs());
            }
        }
    }

    /// The link to the supervisor, made anew when there is none or it broke.
    async fn link(&self) -> Result<Arc<Link>, ExecError> {
        let mut state = self.inner.state.lock().await;
        match &*state {
            State::Closed => return Err(ExecError::Closed),
            State::Linked(link) if link.is_alive() => return Ok(Arc::clone(link)),
            State::Linked(_) | State::Unused => {}
        }
        let link = Arc::new(Link::start(&self.inner.helper, self.inner.ledger.as_ref()).await?);
        *state = State::Linked(Arc::clone(&link));
        Ok(link)
    }
}

/// Waits until then; for ever when there is no such time.
async fn until(instant: Option<tokio::time::Instant>) {
    match instant {
        Some(instant) => tokio::time::sleep_until(instant).await,
        None => std::future::pending().await,
    }
}

/// The answer for a command of which nothing is known but that it was stopped.
fn stopped_before() -> Finished {
    Finished {
        end: CommandEnd::Stopped,
        output: Output::default(),
        elapsed: Duration::ZERO,
        survivors: Vec::new(),
    }
}

/// The command as it crosses the socket, and what it is called in messages.
fn translate(spec: CommandSpec, place: ProcessPlace) -> Result<(String, StartCommand), ExecError> {
    let (program, arguments) = match spec.program {
        Program::Line { shell, line } => shell.arguments(&line),
        Program::Direct { program, arguments } => (program, arguments),
    };
    let variables = spec
        .environment
        .iter()
        .flat_map(|(name, value)| [name.as_os_str(), value.as_os_str()]);
    let mut all = arguments
        .iter()
        .map(OsString::as_os_str)
        .chain([program.as_os_str(), spec.workdir.as_os_str()]);
    if all.any(has_nul) || variables.into_iter().any(has_nul) {
        return Err(ExecError::Nul);
    }
    let text = |text: &OsString| OsText::from(text.as_os_str());
    let start = StartCommand {
        id: 0,
        program: text(&program),
        arguments: arguments.iter().map(text).collect(),
        workdir: OsText::from(spec.workdir.as_os_str()),
        environment: spec
            .environment
            .iter()
            .map(|(name, value)| (text(name), text(value)))
            .collect(),
        limit_ms: spec.limit.map(|limit| limit.as_millis() as u64),
        place,
        walls: spec.walls,
    };
    Ok((program.to_string_lossy().into_owned(), start))
}

fn has_nul(text: &OsStr) -> bool {
    text.as_bytes().contains(&0)
}

/// A command that was asked for.
struct Call {
    route: Route,
    events: Events,
    /// Program and folder, for messages.
    name: String,
    workdir: PathBuf,
}

impl Call {
    fn explain(&self, refusal: Refusal) -> ExecError {
        refusal.explain(&self.name, &self.workdir)
    }
}

impl Refusal {
    fn explain(self, program: &str, workdir: &Path) -> ExecError {
        match self {
            Self::Workdir(reason) => ExecError::Workdir {
                path: workdir.to_owned(),
                reason,
            },
            Self::Program(reason) => ExecError::NotStarted {
                program: program.to_owned(),
                reason,
            },
        }
    }
}
