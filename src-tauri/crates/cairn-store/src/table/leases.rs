//! Table `leases`: which process writes which session. SPEC S3.

use cairn_agent::store::StoreError;
use cairn_protocol::{LeaseHolder, UnixMillis};
use rusqlite::{Connection, OptionalExtension, params};

use crate::fault::Fault;
use crate::process::ProcessMark;
use crate::schema::Step;

pub(crate) const STEP: Step = Step {
    version: 7,
    sql: "CREATE TABLE leases (
        session INTEGER PRIMARY KEY,
        pid INTEGER NOT NULL,
        start TEXT NOT NULL,
        program TEXT NOT NULL,
        since INTEGER NOT NULL
    )",
};

/// Who holds the session; a process that has ended holds nothing.
pub(crate) fn holder(db: &Connection, session: i64) -> Result<Option<(ProcessMark, LeaseHolder)>, Fault> {
    let found = db
        .prepare_cached("SELECT pid, start, program, since FROM leases WHERE session = ?1")?
        .query_row([session], |row| {
            let mark = ProcessMark {
                pid: row.get(0)?,
                start: row.get(1)?,
            };
            let holder = LeaseHolder {
                pid: mark.pid,
                program: row.get(2)?,
                since: row.get(3)?,
            };
            Ok((mark, holder))
        })
        .optional()?;
    Ok(found.filter(|(mark, _)| mark.is_alive()))
}

/// Fails when another living process holds the session.
pub(crate) fn refuse_others(db: &Connection, session: i64, own: &ProcessMark) -> Result<(), Fault> {
    match holder(db, session)? {
        Some((mark, _)) if mark != *own => Err(StoreError::Held { pid: mark.pid }.into()),
        _ => Ok(()),
    }
}

/// Takes the session; also from a process that has ended, never from a living one, this one included.
pub(crate) fn take(
    db: &Connection,
    session: i64,
    own: &ProcessMark,
    program: &str,
    at: UnixMillis,
) -> Result<(), Fault> {
    if let Some((mark, _)) = holder(db, session)? {
        return Err(StoreError::Held { pid: mark.pid }.into());
    }
    db.prepare_cached(
        "INSERT OR REPLACE INTO leases (session, pid, start, program, since) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?
    .execute(params![session, own.pid, own.start, program, at])?;
    Ok(())
}

/// Gives the session back, if this process still holds it.
pub(crate) fn release(db: &Connection, session: i64, own: &ProcessMark) -> rusqlite::Result<()> {
    db.prepare_cached("DELETE FROM leases WHERE session = ?1 AND pid = ?2 AND start = ?3")?
        .execute(params![session, own.pid, own.start])?;
    Ok(())
}

/// Removes the lease of a session.
pub(crate) fn purge(db: &Connection, session: i64) -> rusqlite::Result<()> {
    db.prepare_cached("DELETE FROM leases WHERE session = ?1")?
        .execute([session])?;
    Ok(())
}
