//! The connection to one supervisor process.
//!
//! Owns: the helper process, the socket, and which answer belongs to which call. Must never know: what is asked, or
//! who waits.
//!
//! A thread starts the helper and reads the socket until it ends. It has to be a thread that lives as long: the
//! helper asks the system to be ended with the thread that started it.

use std::collections::{HashMap, HashSet};
use std::io::{Read as _, Write as _};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::process::Signal;
use tokio::sync::{mpsc, oneshot, watch};

use super::HelperProgram;
use super::news::News;
use crate::command::{Finished, Slice};
use crate::error::ExecError;
use crate::leftovers::{Ledger, Mark};
use crate::sys;
use crate::wire::{self, Ask, Frames, From, Tell};

/// Live pieces that may wait for whoever shows them; more are left out, the result holds all of them.
const PIECES: usize = 64;

/// A supervisor that does not read for so long is broken.
const WRITE_LIMIT: Duration = Duration::from_secs(2);

/// The connection. Dropping it ends the supervisor and with it all that it started.
#[derive(Debug)]
pub(super) struct Link {
    socket: Mutex<UnixStream>,
    shared: Arc<Shared>,
    next: AtomicU64,
    pid: u32,
    mark: Mark,
    /// True until the helper has ended.
    alive: watch::Receiver<bool>,
}

/// What the reading thread and the callers share.
#[derive(Debug)]
struct Shared {
    routes: Mutex<HashMap<u64, Sender>>,
    /// Who waits for a part of an output.
    readers: Mutex<HashMap<u64, oneshot::Sender<Option<Slice>>>>,
    /// Commands that are still being ended.
    settling: watch::Sender<HashSet<u64>>,
    /// The connection has ended; set before anybody is told, so that whoever hears of it is given another one.
    closed: AtomicBool,
}

#[derive(Debug)]
struct Sender {
    output: mpsc::Sender<(u64, String)>,
    /// A few messages per command and one a second: never full.
    news: mpsc::UnboundedSender<News>,
}

/// What comes for one command. The news end when the command is over or the supervisor gone.
#[derive(Debug)]
pub(super) struct Events {
    pub(super) output: mpsc::Receiver<(u64, String)>,
    pub(super) news: mpsc::UnboundedReceiver<News>,
}

/// One command's place in the connection. Dropping it ends the command, unless it was forgotten.
#[derive(Debug)]
pub(super) struct Route {
    id: u64,
    link: Arc<Link>,
    open: bool,
}

impl Route {
    /// The command's number.
    pub(super) fn id(&self) -> u64 {
        self.id
    }

    /// The connection.
    pub(super) fn link(&self) -> &Arc<Link> {
        &self.link
    }

    /// Asks that the command be ended, once.
    pub(super) fn stop(&mut self) {
        if std::mem::take(&mut self.open) {
            // From here on nothing that changes files may begin, even if the answer is late.
            self.link.shared.settling.send_modify(|settling| {
                settling.insert(self.id);
            });
            // A link that is broken has ended everything already.
            if self.link.ask(&Ask::Stop { id: self.id }).is_err() {
                self.link.shared.settling.send_modify(|settling| {
                    settling.remove(&self.id);
                });
            }
        }
    }

    /// The command is over.
    pub(super) fn forget(&mut self) {
        self.open = false;
    }
}

impl Link {
    /// Starts the helper.
    pub(super) async fn start(helper: &HelperProgram, ledger: Option<&Ledger>) -> Result<Self, ExecError> {
        let failed = |error: std::io::Error| ExecError::HelperNotStarted {
            path: helper.path.clone(),
            reason: error.to_string(),
        };
        let (socket, theirs) = UnixStream::pair().map_err(failed)?;
        socket.set_write_timeout(Some(WRITE_LIMIT)).map_err(failed)?;
        let reading = socket.try_clone().map_err(failed)?;
        let shared = Arc::new(Shared {
            routes: Mutex::default(),
            readers: Mutex::default(),
            settling: watch::Sender::default(),
            closed: AtomicBool::new(false),
        });
        let (started, starting) = oneshot::channel();
        let (dying, alive) = watch::channel(true);
        let program = helper.clone();
        let for_thread = Arc::clone(&shared);
        let mark = Mark::fresh().map_err(failed)?;
        let forget = ledger.cloned().map(|ledger| (ledger, mark.clone()));
        std::thread::Builder::new()
            .name("cairn-supervisor".into())
            .spawn(move || {
                let mut child = match spawn(&program, OwnedFd::from(theirs)) {
                    Ok(child) => child,
                    Err(error) => {
                        let _told = started.send(Err(error));
                        return;
                    }
                };
                if started.send(Ok(child.id())).is_ok() {
                    read(reading, &for_thread);
                } else {
                    drop(reading);
                }
                for_thread.close();
                match child.wait() {
                    // It ended everything before itself. One that was killed may have left something.
                    Ok(status) if status.success() => {
                        if let Some((ledger, mark)) = forget {
                            ledger.forget(&mark);
                        }
                    }
                    Ok(status) => tracing::warn!(%status, "the supervisor was ended"),
                    Err(error) => tracing::warn!(%error, "the supervisor could not be waited for"),
                }
                dying.send_replace(false);
            })
            .map_err(failed)?;
        let pid = starting
            .await
            .map_err(|_| failed(std::io::Error::other("its thread ended")))?
            .map_err(failed)?;
        // Before the first command: whatever happens later, what is left of it can be found.
        if let Some(ledger) = ledger
            && let Err(error) = ledger.record(&mark, pid)
        {
            tracing::warn!(%error, "what a killed helper would leave could not be recorded");
        }
        Ok(Self {
            socket: Mutex::new(socket),
            shared,
            next: AtomicU64::new(1),
            pid,
            mark,
            alive,
        })
    }

    /// Whether it still works.
    pub(super) fn is_alive(&self) -> bool {
        *self.alive.borrow() && !self.shared.closed.load(Ordering::Acquire)
    }

    /// Process id of the supervisor.
    pub(super) fn pid(&self) -> u32 {
        self.pid
    }

    /// What all its commands carry in their environment.
    pub(super) fn mark(&self) -> &Mark {
        &self.mark
    }

    /// A place for a new command.
    pub(super) fn route(self: &Arc<Self>) -> (Route, Events) {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (output, live) = mpsc::channel(PIECES);
        let (sender, news) = mpsc::unbounded_channel();
        {
            let mut routes = lock(&self.shared.routes);
            // After the end nobody would take it out again, and whoever waits would wait for ever.
            if !self.shared.closed.load(Ordering::Acquire) {
                routes.insert(id, Sender { output, news: sender });
            }
        }
        let route = Route {
            id,
            link: Arc::clone(self),
            open: true,
        };
        (route, Events { output: live, news })
    }

    /// What a command printed from there on; none when it is over or the supervisor gone.
    pub(super) async fn read(&self, id: u64, from: From) -> Option<Slice> {
        let request = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, answer) = oneshot::channel();
        lock(&self.shared.readers).insert(request, sender);
        if !self.is_alive() || self.ask(&Ask::Read { id, request, from }).is_err() {
            lock(&self.shared.readers).remove(&request);
        }
        answer.await.ok().flatten()
    }

    /// Sends a message. What is sent is small and the supervisor always reads, so this does not wait.
    pub(super) fn ask(&self, ask: &Ask) -> Result<(), ExecError> {
        let frame = wire::encode(ask).map_err(|_| ExecError::HelperLost)?;
        lock(&self.socket)
            .write_all(&frame)
            .map_err(|_| ExecError::HelperLost)
    }

    /// Waits until no command is being ended.
    pub(super) async fn settled(&self) {
        // An error means that the connection has ended, and everything with it.
        let mut settling = self.shared.settling.subscribe();
        let _settled = settling.wait_for(HashSet::is_empty).await;
    }

    /// Lets the supervisor end everything, and itself.
    pub(super) fn close(&self) {
        // Already closed is as good.
        let _closed = lock(&self.socket).shutdown(Shutdown::Write);
    }

    /// Waits until the supervisor has ended.
    pub(super) async fn ended(&self) {
        let mut alive = self.alive.clone();
        let _ended = alive.wait_for(|alive| !alive).await;
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.close();
    }
}

impl Shared {
    fn deliver(&self, tell: Tell) {
        match tell {
            Tell::Output { id, offset, text } => {
                if let Some(sender) = lock(&self.routes).get(&id) {
                    // Full or gone: the result holds it all.
                    let _shown = sender.output.try_send((offset, text));
                }
            }
            Tell::Started { id, pid, keeper } => self.say(id, News::Started { pid, keeper }),
            Tell::Printed { id, printed } => self.say(id, News::Printed(printed)),
            Tell::Refused { id, refusal } => {
                self.unsettle(id);
                self.say(id, News::Refused(refusal));
                lock(&self.routes).remove(&id);
            }
            Tell::Finished {
                id,
                end,
                output,
                elapsed_ms,
                survivors,
                settling,
                lives,
            } => {
                if settling {
                    self.settling.send_modify(|all| {
                        all.insert(id);
                    });
                } else {
                    self.unsettle(id);
                }
                let finished = Finished {
                    end,
                    output,
                    elapsed: Duration::from_millis(elapsed_ms),
                    survivors,
                };
                self.say(id, News::Finished { finished, lives });
                if !lives {
                    lock(&self.routes).remove(&id);
                }
            }
            Tell::Over { id, end, output } => {
                self.say(id, News::Over { end, output });
                lock(&self.routes).remove(&id);
            }
            Tell::Piece { request, slice } => {
                if let Some(reader) = lock(&self.readers).remove(&request) {
                    // Whoever asked may wait no longer.
                    let _told = reader.send(slice);
                }
            }
            Tell::Settled { id } => self.unsettle(id),
        }
    }

    fn say(&self, id: u64, news: News) {
        if let Some(sender) = lock(&self.routes).get(&id) {
            // Nobody waits any more when the call was dropped.
            let _told = sender.news.send(news);
        }
    }

    fn unsettle(&self, id: u64) {
        self.settling.send_modify(|all| {
            all.remove(&id);
        });
    }

    /// The supervisor is gone: who waits learns it by the end of the channel.
    fn close(&self) {
        self.closed.store(true, Ordering::Release);
        lock(&self.routes).clear();
        lock(&self.readers).clear();
        self.settling.send_modify(HashSet::clear);
    }
}

/// Ends the command when whoever waits for it no longer does.
impl Drop for Route {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Starts the helper, with nothing of ours but one end of the socket.
fn spawn(helper: &HelperProgram, socket: OwnedFd) -> std::io::Result<Child> {
    let mut command = sys::command(&helper.path);
    command
        .args([crate::HELPER_FLAG, "supervise"])
        .envs(helper.environment.iter().map(|(name, value)| (name, value)))
        .current_dir("/")
        .stdin(Stdio::from(socket))
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    sys::detach(&mut command, Signal::TERM);
    command.spawn()
}

/// Reads until the supervisor is gone.
fn read(mut socket: UnixStream, shared: &Shared) {
    let mut frames = Frames::default();
    let mut buffer = vec![0; 64 << 10];
    loop {
        match socket.read(&mut buffer) {
            Ok(0) => return,
            Ok(length) => frames.feed(buffer.get(..length).unwrap_or_default()),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
        loop {
            match frames.next() {
                Ok(Some(tell)) => shared.deliver(tell),
                Ok(None) => break,
                Err(error) => {
                    tracing::error!(%error, "the supervisor sent what cannot be read");
                    return;
                }
            }
        }
    }
}

/// The lock, whatever happened to a thread that held it: every change made under one is whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
