//! The one writer of this process: a thread that owns the writing connection and takes jobs in order.
//!
//! Owns: transactions, how surely a commit is on disk, the size of the write-ahead log.
//! Must never know: what is written.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use cairn_agent::store::{Durability, StoreError};
use rusqlite::{Connection, ErrorCode, Transaction, TransactionBehavior};

use crate::blobs::Blobs;
use crate::fault::{Fault, from_io, from_sql};
use crate::folder;
use crate::schema::BUSY_TIMEOUT;

/// A job for the writer.
pub(crate) type Job = Box<dyn FnOnce(&mut Writer) + Send>;

/// What the writer is told.
pub(crate) enum Order {
    /// Do this.
    Work(Job),
    /// End: nothing follows.
    Stop,
}

/// What was written but not synced is synced after this long at the latest. SPEC S1.
const SYNC_EVERY: Duration = Duration::from_secs(1);
/// Without work for this long, the log is brought into the database.
const IDLE: Duration = Duration::from_millis(400);
/// A log below this size is left alone: the next start reads it in about a millisecond.
const IDLE_LOG: u64 = 1 << 20;
/// A log of this size is brought into the database even while work goes on.
const BUSY_LOG: u64 = 8 << 20;
/// How often another 5 s are waited for a lock before the person hears of it.
const BUSY_ROUNDS: u32 = 6;

/// The writing side of the database.
pub(crate) struct Writer {
    connection: Connection,
    path: PathBuf,
    log: PathBuf,
    blobs: Arc<Blobs>,
    syncs: Arc<AtomicU64>,
    level: Durability,
    unsynced_since: Option<Instant>,
    wrote_since_settling: bool,
    /// Length of the log from which on it is cut even while work goes on.
    cut_from: u64,
}

impl Writer {
    pub(crate) fn new(connection: Connection, path: &Path, blobs: Arc<Blobs>, syncs: Arc<AtomicU64>) -> Self {
        let mut log = path.as_os_str().to_owned();
        log.push("-wal");
        Self {
            connection,
            path: path.to_owned(),
            log: log.into(),
            blobs,
            syncs,
            level: Durability::Committed,
            unsynced_since: None,
            wrote_since_settling: true,
            cut_from: BUSY_LOG,
        }
    }

    /// Does jobs until told to stop; in between syncs and keeps the log small.
    pub(crate) fn run(mut self, orders: &Receiver<Order>) {
        loop {
            match orders.recv_timeout(self.next_chore()) {
                Ok(Order::Work(job)) => {
                    job(&mut self);
                    self.sync_when_due();
                    self.cut_log_while_busy();
                }
                Ok(Order::Stop) | Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    self.sync_when_due();
                    self.settle();
                }
            }
        }
        self.sync_now();
        self.settle();
    }

    /// One short transaction: all of `work` or nothing of it.
    pub(crate) fn commit<T>(
        &mut self,
        durability: Durability,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        if durability == Durability::Synced {
            self.sync_blobs()?;
        }
        self.set_level(durability)
            .map_err(|error| from_sql(&error, &self.path))?;
        let result = self.transact(work).map_err(|fault| fault.at(&self.path))?;
        self.wrote_since_settling = true;
        match durability {
            Durability::Synced => {
                self.syncs.fetch_add(1, Ordering::Relaxed);
                self.unsynced_since = None;
            }
            Durability::Committed => {
                self.unsynced_since.get_or_insert_with(Instant::now);
            }
        }
        Ok(result)
    }

    /// Reads without a transaction of its own.
    pub(crate) fn look<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        work(&self.connection).map_err(|fault| fault.at(&self.path))
    }

    /// Something outside the database waits for the next sync.
    pub(crate) fn owe_sync(&mut self) {
        self.unsynced_since.get_or_insert_with(Instant::now);
    }

    /// Space of deleted rows back to the disk, at most `pages` pages of it.
    pub(crate) fn give_back(&mut self, pages: u32) {
        // Every step of the statement frees one page.
        let freed = self
            .connection
            .prepare(&format!("PRAGMA incremental_vacuum({pages})"))
            .and_then(|mut statement| {
                let mut rows = statement.query([])?;
                while rows.next()?.is_some() {}
                Ok(())
            });
        if let Err(error) = freed {
            tracing::warn!(%error, "free pages were not given back");
        }
        // Only now does the file itself get shorter.
        self.checkpoint("TRUNCATE");
    }

    fn transact<T>(&mut self, work: impl FnOnce(&Transaction<'_>) -> Result<T, Fault>) -> Result<T, Fault> {
        let transaction = begin(&self.connection)?;
        let result = work(&transaction)?;
        transaction.commit()?;
        Ok(result)
    }

    /// In WAL mode a commit is synced at FULL and only written at NORMAL (sqlite.org/pragma.html#pragma_synchronous).
    fn set_level(&mut self, level: Durability) -> rusqlite::Result<()> {
        if self.level != level {
            self.connection.execute_batch(match level {
                Durability::Committed => "PRAGMA synchronous = NORMAL",
                Durability::Synced => "PRAGMA synchronous = FULL",
            })?;
            self.level = level;
        }
        Ok(())
    }

    fn next_chore(&self) -> Duration {
        let sync = self
            .unsynced_since
            .map(|since| SYNC_EVERY.saturating_sub(since.elapsed()));
        match (sync, self.wrote_since_settling) {
            (Some(sync), true) => sync.min(IDLE),
            (Some(sync), false) => sync,
            (None, true) => IDLE,
            // Nothing to do: an idle program must not wake up.
            (None, false) => Duration::from_hours(1),
        }
    }

    fn sync_when_due(&mut self) {
        if self
            .unsynced_since
            .is_some_and(|since| since.elapsed() >= SYNC_EVERY)
        {
            self.sync_now();
        }
    }

    fn sync_now(&mut self) {
        if let Err(error) = self.sync_blobs() {
            tracing::warn!(%error, "blobs were not synced");
        }
        if self.unsynced_since.take().is_none() {
            return;
        }
        // Opening for writing is what Windows wants of whoever flushes a file.
        match OpenOptions::new()
            .write(true)
            .open(&self.log)
            .and_then(|log| log.sync_data())
        {
            Ok(()) => {
                self.syncs.fetch_add(1, Ordering::Relaxed);
            }
            // Gone: another process has brought it into the database, which syncs.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => tracing::warn!(%error, path = %self.log.display(), "the log was not synced"),
        }
    }

    fn sync_blobs(&self) -> Result<(), StoreError> {
        let synced = self
            .blobs
            .sync_pending()
            .map_err(|(error, path)| from_io(&error, &path))?;
        self.syncs.fetch_add(synced, Ordering::Relaxed);
        Ok(())
    }

    /// A reader that stays may keep the log from starting anew: then it is tried again only after it has grown as
    /// much once more, because every try syncs.
    fn cut_log_while_busy(&mut self) {
        let length = self.log_length();
        if length <= BUSY_LOG {
            self.cut_from = BUSY_LOG;
        } else if length > self.cut_from {
            self.checkpoint("PASSIVE");
            self.cut_from = length + BUSY_LOG;
        }
    }

    /// With nothing else to do: cuts a long log, then sleeps until the next write.
    fn settle(&mut self) {
        if self.wrote_since_settling && self.log_length() > IDLE_LOG {
            self.checkpoint("TRUNCATE");
        }
        self.wrote_since_settling = false;
    }

    /// Brings the log into the database, so that it starts anew with the next write. PASSIVE never waits;
    /// TRUNCATE waits a moment for readers.
    fn checkpoint(&mut self, mode: &str) {
        let waits = self.connection.busy_timeout(Duration::from_millis(100));
        let done = self
            .connection
            .query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |row| {
                row.get::<_, i64>(0)
            });
        let back = self.connection.busy_timeout(BUSY_TIMEOUT);
        // The log and the database.
        self.syncs.fetch_add(2, Ordering::Relaxed);
        if let Err(error) = waits.and(back).and(done) {
            tracing::debug!(%error, "the log stays for now");
        }
    }

    fn log_length(&self) -> u64 {
        folder::length(&self.log).unwrap_or(0)
    }
}

/// Begins a writing transaction. Only beginning can meet a lock, so only beginning is tried again.
fn begin(connection: &Connection) -> rusqlite::Result<Transaction<'_>> {
    let mut round = 1;
    loop {
        match Transaction::new_unchecked(connection, TransactionBehavior::Immediate) {
            Err(error)
                if round < BUSY_ROUNDS && error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) =>
            {
                round += 1;
            }
            begun => return begun,
        }
    }
}
