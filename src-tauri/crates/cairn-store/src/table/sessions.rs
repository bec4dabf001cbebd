//! Table `sessions`: one row per session, kept up to date by the same transaction that appends its events.

use cairn_agent::store::StoreError;
use cairn_protocol::{ProjectKey, Session, SessionId, SessionState, UnixMillis};
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{leases, messages, projects};
use crate::fault::Fault;
use crate::process::ProcessMark;
use crate::schema::Step;

pub(crate) const STEP: Step = Step {
    version: 2,
    // `json` is the whole session as last told; title, state, times and the flag are the row's own columns and win.
    // The deleter is named so that only its end makes a deletion final.
    sql: "CREATE TABLE sessions (
        n INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        project INTEGER NOT NULL REFERENCES projects (n),
        title TEXT NOT NULL,
        state TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL,
        archived INTEGER NOT NULL,
        last_seq INTEGER NOT NULL DEFAULT 0,
        json TEXT NOT NULL,
        deleted_at INTEGER,
        deleter_pid INTEGER,
        deleter_start TEXT
    );
    CREATE INDEX sessions_by_project ON sessions (project, updated_at DESC, n DESC) WHERE deleted_at IS NULL;
    CREATE INDEX sessions_by_time ON sessions (updated_at DESC, n DESC) WHERE deleted_at IS NULL;
    CREATE INDEX sessions_deleted ON sessions (deleted_at) WHERE deleted_at IS NOT NULL",
};

const COLUMNS: &str = "s.n, s.json, s.title, s.state, s.updated_at, s.archived, s.last_seq";

/// A session with what only the database knows of it.
pub(crate) struct Stored {
    /// Its number.
    pub n: i64,
    /// The session.
    pub session: Session,
    /// `seq` of its last event; 0 when there is none.
    pub last_seq: u64,
}

/// Which sessions to list.
pub(crate) struct Filter<'a> {
    pub project: Option<&'a ProjectKey>,
    pub archived: bool,
    pub after: Option<&'a SessionId>,
    pub limit: u32,
}

/// Reads a row whose first columns are [`COLUMNS`].
fn read(row: &Row<'_>) -> rusqlite::Result<Stored> {
    let json = row.get_ref(1)?.as_str()?;
    let mut session: Session = serde_json::from_str(json)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(1, Type::Text, Box::new(error)))?;
    session.title = row.get(2)?;
    session.state = state_from(row.get_ref(3)?.as_str()?);
    session.updated_at = row.get(4)?;
    session.archived = row.get(5)?;
    Ok(Stored {
        n: row.get(0)?,
        session,
        last_seq: row.get::<_, i64>(6)? as u64,
    })
}

/// The session with that id, deleted ones not; `Missing` otherwise.
pub(crate) fn get(db: &Connection, id: &SessionId) -> Result<Stored, Fault> {
    db.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM sessions s WHERE s.id = ?1 AND s.deleted_at IS NULL"
    ))?
    .query_row([id.as_str()], read)
    .optional()?
    .ok_or_else(|| missing(id))
}

/// The session with that number, deleted or not.
pub(crate) fn by_number(db: &Connection, n: i64) -> rusqlite::Result<Stored> {
    db.prepare_cached(&format!("SELECT {COLUMNS} FROM sessions s WHERE s.n = ?1"))?
        .query_row([n], read)
}

/// Where a session stands.
#[derive(Clone, Copy)]
pub(crate) struct Position {
    /// Its number.
    pub n: i64,
    /// Its project's number.
    pub project: i64,
    /// `seq` of its last event; 0 when there is none.
    pub last_seq: u64,
}

/// Where a session stands; none when there is no such session.
pub(crate) fn position(db: &Connection, id: &SessionId) -> Result<Option<Position>, Fault> {
    Ok(db
        .prepare_cached("SELECT n, project, last_seq FROM sessions WHERE id = ?1")?
        .query_row([id.as_str()], |row| {
            Ok(Position {
                n: row.get(0)?,
                project: row.get(1)?,
                last_seq: row.get::<_, i64>(2)? as u64,
            })
        })
        .optional()?)
}

/// The number of a session that must be there.
pub(crate) fn number(db: &Connection, id: &SessionId) -> Result<i64, Fault> {
    position(db, id)?.map(|found| found.n).ok_or_else(|| missing(id))
}

/// Sessions, newest first, and whether there are more.
pub(crate) fn list(db: &Connection, filter: &Filter<'_>) -> Result<(Vec<Stored>, bool), Fault> {
    let project = match filter.project {
        Some(key) => match projects::find(db, key)? {
            Some(n) => Some(n),
            None => return Ok((Vec::new(), false)),
        },
        None => None,
    };
    let after = match filter.after {
        Some(id) => db
            .prepare_cached("SELECT updated_at, n FROM sessions WHERE id = ?1")?
            .query_row([id.as_str()], |row| {
                Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?))
            })
            .optional()?
            .ok_or_else(|| missing(id))?,
        None => (i64::MAX, i64::MAX),
    };
    // Written out so that each form has its own index.
    let place = if project.is_some() {
        "s.project = ?1"
    } else {
        "?1 IS NULL"
    };
    let archived = if filter.archived { "" } else { "AND s.archived = 0" };
    let mut found: Vec<Stored> = db
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM sessions s
             WHERE {place} AND s.deleted_at IS NULL {archived} AND (s.updated_at, s.n) < (?2, ?3)
             ORDER BY s.updated_at DESC, s.n DESC LIMIT ?4"
        ))?
        .query_map(
            params![project, after.0, after.1, i64::from(filter.limit) + 1],
            read,
        )?
        .collect::<rusqlite::Result<_>>()?;
    let more = found.len() > filter.limit as usize;
    found.truncate(filter.limit as usize);
    Ok((found, more))
}

/// Writes the session as told; makes its row when it is new. The number is returned.
pub(crate) fn put(db: &Connection, session: &Session) -> Result<i64, Fault> {
    let project = projects::number(db, &session.project, &session.project_path, session.created_at)?;
    let json = serde_json::to_string(session).map_err(|error| StoreError::Database(error.to_string()))?;
    let n: i64 = db
        .prepare_cached(
            "INSERT INTO sessions (id, project, title, state, created_at, updated_at, archived, json)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
             ON CONFLICT (id) DO UPDATE SET title = excluded.title, state = excluded.state,
                 updated_at = excluded.updated_at, archived = excluded.archived, json = excluded.json
             RETURNING n",
        )?
        .query_row(
            params![
                session.id.as_str(),
                project,
                session.title,
                state_name(session.state),
                session.created_at,
                session.updated_at,
                session.archived,
                json
            ],
            |row| row.get(0),
        )?;
    messages::put_title(db, n, project, &session.title, session.updated_at)?;
    Ok(n)
}

/// Moves the session on to its last event.
pub(crate) fn advance(
    db: &Connection,
    n: i64,
    last_seq: u64,
    at: UnixMillis,
    state: Option<SessionState>,
) -> rusqlite::Result<()> {
    db.prepare_cached(
        "UPDATE sessions SET last_seq = ?2, updated_at = max(updated_at, ?3), state = coalesce(?4, state) WHERE n = ?1",
    )?
    .execute(params![n, last_seq as i64, at, state.map(state_name)])?;
    Ok(())
}

/// Gives a title.
pub(crate) fn rename(db: &Connection, id: &SessionId, title: &str) -> Result<Session, Fault> {
    let mut stored = get(db, id)?;
    db.prepare_cached("UPDATE sessions SET title = ?2 WHERE n = ?1")?
        .execute(params![stored.n, title])?;
    let project = projects::number(db, &stored.session.project, &stored.session.project_path, 0)?;
    messages::put_title(db, stored.n, project, title, stored.session.updated_at)?;
    title.clone_into(&mut stored.session.title);
    Ok(stored.session)
}

/// Hides a session from the list or shows it again.
pub(crate) fn archive(db: &Connection, id: &SessionId, archived: bool) -> Result<Session, Fault> {
    let mut stored = get(db, id)?;
    db.prepare_cached("UPDATE sessions SET archived = ?2 WHERE n = ?1")?
        .execute(params![stored.n, archived])?;
    stored.session.archived = archived;
    Ok(stored.session)
}

/// Marks as deleted by that process.
pub(crate) fn delete(
    db: &Connection,
    id: &SessionId,
    own: &ProcessMark,
    at: UnixMillis,
) -> Result<(), Fault> {
    let n = get(db, id)?.n;
    db.prepare_cached(
        "UPDATE sessions SET deleted_at = ?2, deleter_pid = ?3, deleter_start = ?4 WHERE n = ?1",
    )?
    .execute(params![n, at, own.pid, own.start])?;
    Ok(())
}

/// Takes a deletion back.
pub(crate) fn undelete(db: &Connection, id: &SessionId) -> Result<Session, Fault> {
    db.prepare_cached(
        "UPDATE sessions SET deleted_at = NULL, deleter_pid = NULL, deleter_start = NULL WHERE id = ?1",
    )?
    .execute([id.as_str()])?;
    Ok(get(db, id)?.session)
}

/// Numbers of deleted sessions whose deleter has ended: nobody can take that back any more.
pub(crate) fn purgeable(db: &Connection) -> rusqlite::Result<Vec<i64>> {
    let deleted: Vec<(i64, ProcessMark)> = db
        .prepare("SELECT n, deleter_pid, deleter_start FROM sessions WHERE deleted_at IS NOT NULL")?
        .query_map([], |row| {
            Ok((
                row.get(0)?,
                ProcessMark {
                    pid: row.get(1)?,
                    start: row.get(2)?,
                },
            ))
        })?
        .collect::<rusqlite::Result<_>>()?;
    Ok(deleted
        .into_iter()
        .filter(|(_, deleter)| !deleter.is_alive())
        .map(|(n, _)| n)
        .collect())
}

/// Removes the row itself, after all that belongs to it.
pub(crate) fn remove(db: &Connection, n: i64) -> rusqlite::Result<()> {
    db.prepare_cached("DELETE FROM sessions WHERE n = ?1")?
        .execute([n])?;
    Ok(())
}

/// A session that runs or waits while nobody holds it was left behind by a program that ended. SPEC S2.
pub(crate) fn seen(db: &Connection, mut stored: Stored) -> Result<Stored, Fault> {
    let open = matches!(
        stored.session.state,
        SessionState::Running | SessionState::Waiting
    );
    if open && leases::holder(db, stored.n)?.is_none() {
        stored.session.state = SessionState::Interrupted;
    }
    Ok(stored)
}

pub(crate) fn missing(id: &SessionId) -> Fault {
    Fault::Refused(StoreError::Missing(format!("session {id}")))
}

fn state_name(state: SessionState) -> &'static str {
    match state {
        SessionState::New => "new",
        SessionState::Running => "running",
        SessionState::Waiting => "waiting",
        SessionState::Done => "done",
        SessionState::Stopped => "stopped",
        SessionState::Failed => "failed",
        SessionState::Paused => "paused",
        SessionState::Interrupted => "interrupted",
    }
}

/// A state that a newer build wrote reads as done: it is listed and can be opened.
fn state_from(name: &str) -> SessionState {
    match name {
        "new" => SessionState::New,
        "running" => SessionState::Running,
        "waiting" => SessionState::Waiting,
        "stopped" => SessionState::Stopped,
        "failed" => SessionState::Failed,
        "paused" => SessionState::Paused,
        "interrupted" => SessionState::Interrupted,
        _ => SessionState::Done,
    }
}
