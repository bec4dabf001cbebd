//! Opening the database file: making it, bringing an older one up to date, never touching a newer one.
//!
//! Owns: the order of migrations, the copy before each, settings of every connection.
//! Must never know: what the tables mean.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cairn_agent::store::StoreError;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::fault::{from_io, from_sql};
use crate::folder;
use crate::table;

/// How long SQLite itself waits for another program's lock. SPEC S1.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// The log file is cut back to this many bytes when it starts anew.
const LOG_LIMIT: u64 = 4 << 20;

/// One step from one version of the schema to the next. Steps are never changed once released, only added.
pub(crate) struct Step {
    /// The version that the step leads to; counted from 1 without gaps.
    pub version: u32,
    /// What it runs.
    pub sql: &'static str,
}

/// All steps, in order; each belongs to the file of its table.
pub(crate) const STEPS: &[Step] = &[
    table::projects::STEP,
    table::sessions::STEP,
    table::events::STEP,
    table::texts::STEP,
    table::messages::STEP,
    table::drafts::STEP,
    table::leases::STEP,
    table::changes::STEP,
    table::outputs::STEP,
    table::blob_refs::STEP,
];

/// Opens the database at `path`, made or migrated first where needed.
pub(crate) fn open(path: &Path, steps: &[Step]) -> Result<Connection, StoreError> {
    if !path.try_exists().map_err(|error| from_io(&error, path))? {
        let _guard = guard(path)?;
        // Another process may have been faster.
        if !path.exists() {
            create(path, steps)?;
        }
    }
    let sql = |error: rusqlite::Error| from_sql(&error, path);
    let mut connection = connect(path).map_err(sql)?;
    // SQLite quietly opens for reading only what it may not write.
    if connection.is_readonly("main").map_err(sql)? {
        return Err(StoreError::NotWritable(path.display().to_string()));
    }
    let newest = newest(steps);
    if version(&connection).map_err(sql)? < newest {
        let _guard = guard(path)?;
        migrate(&mut connection, path, steps)?;
    }
    let found = version(&connection).map_err(sql)?;
    if found > newest {
        return Err(StoreError::Database(format!(
            "{} was written by a newer Cairn (format {found}, this one knows {newest}). Nothing in it was changed. \
             Update Cairn, or set CAIRN_HOME to another folder",
            path.display()
        )));
    }
    folder::tighten(path, 0o600).map_err(|error| from_io(&error, path))?;
    Ok(connection)
}

/// A connection to a database that is there, with the settings that every connection has.
pub(crate) fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    // The writer decides when the log is brought in: neither the end of a program nor a reader pays for it.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.execute_batch(&format!(
        "PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = {LOG_LIMIT};
         PRAGMA temp_store = MEMORY"
    ))?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

/// Makes a new database beside its place and moves it there when it is whole, so that no crash leaves half of one.
fn create(path: &Path, steps: &[Step]) -> Result<(), StoreError> {
    let temporary = beside(path, ".new");
    remove(&temporary)?;
    let made = fill(&temporary, steps)
        .map_err(|error| from_sql(&error, path))
        .and_then(|()| put_in_place(&temporary, path).map_err(|error| from_io(&error, path)));
    if made.is_err() {
        remove(&temporary)?;
    }
    made
}

fn fill(temporary: &Path, steps: &[Step]) -> rusqlite::Result<()> {
    // Made by us first, because SQLite would let others read it; its companions take over the mode.
    if let Err(error) = folder::new_private_file().open(temporary) {
        tracing::warn!(%error, "the new database was not made");
    }
    let mut connection = Connection::open_with_flags(temporary, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    // Nothing is in it yet: one sync of the finished file replaces the dozen on the way. auto_vacuum can only be
    // chosen now and lets deleted sessions give their space back (cases D2).
    connection.execute_batch(
        "PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY; PRAGMA auto_vacuum = INCREMENTAL",
    )?;
    let transaction = connection.transaction()?;
    for step in steps {
        transaction.execute_batch(step.sql)?;
    }
    transaction.pragma_update(None, "user_version", newest(steps))?;
    transaction.commit()?;
    connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    connection.close().map_err(|(_, error)| error)
}

fn put_in_place(temporary: &Path, path: &Path) -> io::Result<()> {
    File::open(temporary)?.sync_all()?;
    fs::rename(temporary, path)?;
    path.parent().map_or(Ok(()), folder::sync_folder)
}

/// Runs the missing steps, each in its own transaction, after a copy of what was there.
fn migrate(connection: &mut Connection, path: &Path, steps: &[Step]) -> Result<(), StoreError> {
    let sql = |error: rusqlite::Error| from_sql(&error, path);
    let from = version(connection).map_err(sql)?;
    if from >= newest(steps) {
        return Ok(());
    }
    back_up(connection, path, from)?;
    for step in steps.iter().filter(|step| step.version > from) {
        let transaction = connection.transaction().map_err(sql)?;
        transaction.execute_batch(step.sql).map_err(sql)?;
        transaction
            .pragma_update(None, "user_version", step.version)
            .map_err(sql)?;
        transaction.commit().map_err(sql)?;
    }
    Ok(())
}

/// Where the copy of a database of that version is kept.
pub(crate) fn backup_path(path: &Path, version: u32) -> PathBuf {
    beside(path, &format!(".v{version}.backup"))
}

/// Copies the whole database, log included, synced before anything changes.
fn back_up(connection: &Connection, path: &Path, version: u32) -> Result<(), StoreError> {
    let copy = backup_path(path, version);
    let temporary = beside(&copy, ".new");
    remove(&temporary)?;
    let io = |error: io::Error| from_io(&error, &copy);
    folder::new_private_file().open(&temporary).map_err(io)?;
    // VACUUM INTO takes an empty file as its target and keeps its mode.
    connection
        .execute("VACUUM INTO ?1", [temporary.to_string_lossy()])
        .map_err(|error| from_sql(&error, &copy))?;
    put_in_place(&temporary, &copy).map_err(io)
}

/// Keeps other processes out while the file is made or migrated.
fn guard(path: &Path) -> Result<File, StoreError> {
    let lock = beside(path, ".lock");
    let io = |error: io::Error| from_io(&error, &lock);
    let file = match folder::new_private_file().open(&lock) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            fs::OpenOptions::new().write(true).open(&lock)
        }
        made => made,
    }
    .map_err(io)?;
    file.lock().map_err(io)?;
    Ok(file)
}

fn version(connection: &Connection) -> rusqlite::Result<u32> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}

fn newest(steps: &[Step]) -> u32 {
    steps.last().map_or(0, |step| step.version)
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn remove(path: &Path) -> Result<(), StoreError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(from_io(&error, path)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
