//! Table `changes`: every file change of a call, with what the file was, kept before it happens. SPEC S6, A5.

use std::path::{Path, PathBuf};

use cairn_agent::store::{BeforeImage, StoreError};
use cairn_protocol::{BlobId, CallId, TurnId, UnixMillis};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::blob_refs;
use super::outputs::Place;
use crate::fault::Fault;
use crate::process::ProcessMark;
use crate::schema::Step;

pub(crate) const STEP: Step = Step {
    version: 8,
    // Paths are bytes: not every path is text. `fate` is [`ChangeFate`].
    sql: "CREATE TABLE changes (
        n INTEGER PRIMARY KEY,
        session INTEGER NOT NULL,
        turn TEXT NOT NULL,
        call TEXT NOT NULL,
        path BLOB NOT NULL,
        at INTEGER NOT NULL,
        before_hash TEXT,
        packed BLOB,
        mode INTEGER,
        after_hash TEXT,
        temporary BLOB,
        fate INTEGER NOT NULL DEFAULT 0,
        pid INTEGER NOT NULL,
        start TEXT NOT NULL
    );
    CREATE INDEX changes_by_session ON changes (session, n);
    CREATE INDEX changes_by_call ON changes (call, n);
    CREATE INDEX changes_planned ON changes (n) WHERE fate = 0",
};

/// What came of a planned change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeFate {
    /// The program ended between plan and completion: the next sweep finds out.
    Planned,
    /// It happened.
    Happened,
    /// It did not happen.
    Dropped,
    /// The program ended in between, and the file is by now neither what it was nor what it was to become.
    Unclear,
}

/// One file change of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Rises with every change of every session; names its before-image.
    pub n: i64,
    /// The request.
    pub turn: TurnId,
    /// The call.
    pub call: CallId,
    /// Real path of the file.
    pub path: PathBuf,
    /// When it was planned.
    pub at: UnixMillis,
    /// Hex SHA-256 of what the file was; none when it was not there.
    pub before: Option<String>,
    /// Permission bits of the file; none when it was not there.
    pub mode: Option<u32>,
    /// Hex SHA-256 of what the file became; none when it was to be gone.
    pub after: Option<String>,
    /// What came of it.
    pub fate: ChangeFate,
}

/// A planned change whose process has ended before it told what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leftover {
    /// Its number.
    pub n: i64,
    /// Real path of the file.
    pub path: PathBuf,
    /// Its temporary file, where one was planned.
    pub temporary: Option<PathBuf>,
    /// Hex SHA-256 of what the file was; none when it was not there.
    pub before: Option<String>,
    /// Hex SHA-256 of what it was to become; none when it was to be gone.
    pub after: Option<String>,
}

/// What the file was, ready to be kept.
pub(crate) struct Before {
    pub hash: String,
    pub place: Place,
}

const COLUMNS: &str = "n, turn, call, path, at, before_hash, mode, after_hash, fate";

/// Keeps a planned change.
pub(crate) fn plan(
    db: &Connection,
    session: i64,
    image: &BeforeImage,
    before: Option<&Before>,
    own: &ProcessMark,
    at: UnixMillis,
) -> rusqlite::Result<()> {
    let packed = match before.map(|before| &before.place) {
        Some(Place::Row(packed)) => Some(packed.as_slice()),
        Some(Place::Blob(blob)) => {
            blob_refs::add(db, session, blob)?;
            None
        }
        None => None,
    };
    db.prepare_cached(
        "INSERT INTO changes (session, turn, call, path, at, before_hash, packed, mode, after_hash, temporary,
             pid, start)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
    )?
    .execute(params![
        session,
        image.turn.as_str(),
        image.call.as_str(),
        to_bytes(&image.path),
        at,
        before.map(|before| before.hash.as_str()),
        packed,
        image.mode,
        image.after,
        image.temporary.as_deref().map(to_bytes),
        own.pid,
        own.start,
    ])?;
    Ok(())
}

/// Tells what came of the last planned change of that call to that path.
pub(crate) fn settle(
    db: &Connection,
    call: &CallId,
    path: &Path,
    own: &ProcessMark,
    fate: ChangeFate,
) -> Result<(), Fault> {
    let settled = db
        .prepare_cached(
            "UPDATE changes SET fate = ?4 WHERE n = (
                SELECT max(n) FROM changes WHERE call = ?1 AND path = ?2 AND fate = 0 AND pid = ?3)",
        )?
        .execute(params![call.as_str(), to_bytes(path), own.pid, fate as i64])?;
    if settled == 0 {
        return Err(
            StoreError::Missing(format!("a planned change of {} by call {call}", path.display())).into(),
        );
    }
    Ok(())
}

/// All changes of a session, oldest first.
pub(crate) fn list(db: &Connection, session: i64) -> rusqlite::Result<Vec<Change>> {
    db.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM changes WHERE session = ?1 ORDER BY n"
    ))?
    .query_map([session], read)?
    .collect()
}

/// Where the bytes before a change are; none when the file was not there.
pub(crate) fn before(db: &Connection, session: i64, n: i64) -> Result<Option<(String, Place)>, Fault> {
    let found: Option<(Option<String>, Option<Vec<u8>>)> = db
        .prepare_cached("SELECT before_hash, packed FROM changes WHERE n = ?1 AND session = ?2")?
        .query_row([n, session], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let (hash, packed) = found.ok_or_else(|| StoreError::Missing(format!("change {n}")))?;
    Ok(hash.map(|hash| {
        let place = packed.map_or_else(|| Place::Blob(BlobId(hash.clone())), Place::Row);
        (hash, place)
    }))
}

/// Planned changes whose process has ended.
pub(crate) fn leftovers(db: &Connection) -> rusqlite::Result<Vec<Leftover>> {
    let planned: Vec<(ProcessMark, Leftover)> = db
        .prepare("SELECT pid, start, n, path, temporary, before_hash, after_hash FROM changes WHERE fate = 0 ORDER BY n")?
        .query_map([], |row| {
            let leftover = Leftover {
                n: row.get(2)?,
                path: to_path(row.get(3)?),
                temporary: row.get::<_, Option<Vec<u8>>>(4)?.map(to_path),
                before: row.get(5)?,
                after: row.get(6)?,
            };
            Ok((ProcessMark { pid: row.get(0)?, start: row.get(1)? }, leftover))
        })?
        .collect::<rusqlite::Result<_>>()?;
    Ok(planned
        .into_iter()
        .filter(|(mark, _)| !mark.is_alive())
        .map(|(_, leftover)| leftover)
        .collect())
}

/// Tells what was found to have come of a leftover.
pub(crate) fn resolve(db: &Connection, n: i64, fate: ChangeFate) -> rusqlite::Result<()> {
    db.prepare_cached("UPDATE changes SET fate = ?2 WHERE n = ?1")?
        .execute(params![n, fate as i64])?;
    Ok(())
}

/// Removes all of a session.
pub(crate) fn purge(db: &Connection, session: i64) -> rusqlite::Result<()> {
    db.prepare_cached("DELETE FROM changes WHERE session = ?1")?
        .execute([session])?;
    Ok(())
}

fn read(row: &Row<'_>) -> rusqlite::Result<Change> {
    Ok(Change {
        n: row.get(0)?,
        turn: TurnId(row.get(1)?),
        call: CallId(row.get(2)?),
        path: to_path(row.get(3)?),
        at: row.get(4)?,
        before: row.get(5)?,
        mode: row.get(6)?,
        after: row.get(7)?,
        fate: match row.get::<_, i64>(8)? {
            1 => ChangeFate::Happened,
            2 => ChangeFate::Dropped,
            3 => ChangeFate::Unclear,
            _ => ChangeFate::Planned,
        },
    })
}

#[cfg(unix)]
fn to_bytes(path: &Path) -> Vec<u8> {
    use std::os::unix::ffi::OsStrExt;

    path.as_os_str().as_bytes().to_vec()
}

#[cfg(unix)]
fn to_path(bytes: Vec<u8>) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;

    std::ffi::OsString::from_vec(bytes).into()
}

#[cfg(not(unix))]
fn to_bytes(path: &Path) -> Vec<u8> {
    path.to_string_lossy().into_owned().into_bytes()
}

#[cfg(not(unix))]
fn to_path(bytes: Vec<u8>) -> PathBuf {
    String::from_utf8_lossy(&bytes).into_owned().into()
}
