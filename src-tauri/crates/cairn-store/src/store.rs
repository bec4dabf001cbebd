//! The store as the rest of the program sees it: a handle that any task may clone and use.
//!
//! Owns: which work goes to the writer and which to a reader, leases, the end of the writer.
//! Must never know: SQL; that is in `table/`.

mod journal;
mod sessions;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use cairn_agent::store::{Durability, EventStore, StoreError};
use cairn_protocol::{Event, ItemId, LeaseHolder, QueuedMessage, Session, SessionId};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::blobs::Blobs;
use crate::fault::{Fault, from_io};
use crate::folder;
use crate::process::ProcessMark;
use crate::readers::Readers;
use crate::schema;
use crate::table::{events, leases, now, sessions as rows, texts};
use crate::writer::{Job, Order, Writer};

/// The database and the blobs beside it. Cheap to clone; the last clone's end writes what is left and ends the
/// writer.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    // Unbounded, because every sender awaits its answer: the queue is never longer than there are tasks.
    orders: Sender<Order>,
    writer: Mutex<Option<JoinHandle<()>>>,
    readers: Arc<Readers>,
    blobs: Arc<Blobs>,
    syncs: Arc<AtomicU64>,
    own: ProcessMark,
    /// Sessions whose lease was given back although that could not be stored: the disk was full, say. They are free.
    owed: Arc<Mutex<HashSet<i64>>>,
    path: PathBuf,
}

/// All that is stored of a session.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// The session; its state is `interrupted` when it was left running by a program that has ended.
    pub session: Session,
    /// Its events, oldest first, without gaps.
    pub events: Vec<Event>,
    /// Whole texts of items that have begun, are not complete, and have grown since the last event about them.
    pub partial_texts: HashMap<ItemId, String>,
    /// Messages that wait.
    pub queue: Vec<QueuedMessage>,
    /// What was typed and not sent; may be empty.
    pub draft: String,
    /// The process that writes this session, if it is another one.
    pub held_by: Option<LeaseHolder>,
    /// `seq` of the last event; 0 when there is none.
    pub last_seq: u64,
}

/// The right to write a session, given back when it is dropped.
pub struct Lease {
    inner: Arc<Inner>,
    session: i64,
    id: SessionId,
}

impl Lease {
    /// The session it is for.
    pub fn session(&self) -> &SessionId {
        &self.id
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let (session, own, owed) = (self.session, self.inner.own.clone(), self.inner.owed.clone());
        let job: Job = Box::new(move |writer| {
            let released = writer.commit(Durability::Committed, |db| {
                Ok(leases::release(db, session, &own)?)
            });
            // Nothing is lost: a lease of a process that has ended counts for nothing, and this one knows better.
            if let Err(error) = released {
                tracing::warn!(%error, "a lease was not given back yet");
                owed.lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .insert(session);
            }
        });
        if self.inner.orders.send(Order::Work(job)).is_err() {
            tracing::warn!("the writer has ended before a lease was given back");
        }
    }
}

impl Store {
    /// Opens `data/cairn.db` in the given folder; both are made where they are missing (0700, 0600). Blocks for a few
    /// milliseconds, longer only when an older database is brought up to date.
    ///
    /// Errors name the file; a damaged or newer database is left as it is.
    pub fn open(data: &Path) -> Result<Self, StoreError> {
        folder::make_private(data).map_err(|error| from_io(&error, data))?;
        let path = data.join("cairn.db");
        let connection = schema::open(&path, schema::STEPS)?;
        let blobs = Arc::new(Blobs::new(data));
        let syncs = Arc::new(AtomicU64::new(0));
        let writer = Writer::new(connection, &path, Arc::clone(&blobs), Arc::clone(&syncs));
        let (orders, inbox) = mpsc::channel();
        let thread = thread::Builder::new()
            .name("store-writer".to_owned())
            .spawn(move || writer.run(&inbox))
            .map_err(|error| from_io(&error, &path))?;
        let inner = Inner {
            orders,
            writer: Mutex::new(Some(thread)),
            readers: Arc::new(Readers::new(&path)),
            blobs,
            syncs,
            own: ProcessMark::own(),
            owed: Arc::default(),
            path,
        };
        let store = Self {
            inner: Arc::new(inner),
        };
        store.purge_in_background()?;
        Ok(store)
    }

    /// The database file.
    pub fn path(&self) -> &Path {
        &self.inner.path
    }

    /// How many syncs to disk this store has asked for since it was opened. SPEC F2. One more, which SQLite does
    /// itself when it begins a new log file, is not in it.
    pub fn sync_count(&self) -> u64 {
        self.inner.syncs.load(Ordering::Relaxed)
    }

    /// Takes the right to write a session; `program` is `window` or `exec`. `Held` when a living process has it, this
    /// one included.
    pub async fn lease(&self, session: &SessionId, program: &str) -> Result<Lease, StoreError> {
        let (id, own, program) = (session.clone(), self.inner.own.clone(), program.to_owned());
        let owed = self.inner.owed.clone();
        let number = self
            .write(Durability::Committed, move |db| {
                let n = rows::get(db, &id)?.n;
                if owed.lock().unwrap_or_else(PoisonError::into_inner).contains(&n) {
                    leases::release(db, n, &own)?;
                }
                leases::take(db, n, &own, &program, now())?;
                Ok(n)
            })
            .await?;
        self.owed().remove(&number);
        Ok(Lease {
            inner: Arc::clone(&self.inner),
            session: number,
            id: session.clone(),
        })
    }

    fn owed(&self) -> MutexGuard<'_, HashSet<i64>> {
        self.inner.owed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does it in one transaction on the writer's thread.
    async fn write<T: Send + 'static>(
        &self,
        durability: Durability,
        work: impl FnOnce(&Connection) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        self.order(Box::new(move |writer| {
            // Whoever asked may have been cancelled; the write stands all the same.
            reply.send(writer.commit(durability, |db| work(db))).ok();
        }))?;
        answer.await.map_err(|_| self.closed())?
    }

    /// Reads on a blocking thread, in one consistent view.
    async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, StoreError> {
        let readers = Arc::clone(&self.inner.readers);
        self.block(move || readers.read(work)).await
    }

    /// Runs what blocks where blocking is allowed.
    async fn block<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        tokio::task::spawn_blocking(work)
            .await
            .map_err(|_| self.closed())?
    }

    fn order(&self, job: Job) -> Result<(), StoreError> {
        self.inner
            .orders
            .send(Order::Work(job))
            .map_err(|_| self.closed())
    }

    fn closed(&self) -> StoreError {
        StoreError::Database(format!(
            "{} is closed: the program is ending",
            self.inner.path.display()
        ))
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.orders.send(Order::Stop).ok();
        let thread = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        if thread.is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the writer has ended by a fault");
        }
    }
}

impl EventStore for Store {
    fn append(&self, new: Vec<Event>, durability: Durability) -> BoxFuture<'_, Result<(), StoreError>> {
        let own = self.inner.own.clone();
        self.write(durability, move |db| events::append(db, &new, &own))
            .boxed()
    }

    fn append_text(
        &self,
        session: SessionId,
        item: ItemId,
        offset: u64,
        text: String,
    ) -> BoxFuture<'_, Result<(), StoreError>> {
        let own = self.inner.own.clone();
        self.write(Durability::Committed, move |db| {
            let n = rows::number(db, &session)?;
            leases::refuse_others(db, n, &own)?;
            Ok(texts::add(db, n, &item, offset, &text)?)
        })
        .boxed()
    }
}
