//! Table `projects`: one row per folder that a session was ever made for.

use cairn_protocol::{ProjectKey, UnixMillis};
use rusqlite::{Connection, OptionalExtension, params};

use crate::schema::Step;

pub(crate) const STEP: Step = Step {
    version: 1,
    sql: "CREATE TABLE projects (
        n INTEGER PRIMARY KEY,
        key TEXT NOT NULL UNIQUE,
        path TEXT NOT NULL,
        used_at INTEGER NOT NULL
    )",
};

/// The number of a project, made when it is new.
pub(crate) fn number(db: &Connection, key: &ProjectKey, path: &str, at: UnixMillis) -> rusqlite::Result<i64> {
    if let Some(n) = find(db, key)? {
        return Ok(n);
    }
    db.prepare_cached("INSERT INTO projects (key, path, used_at) VALUES (?1, ?2, ?3)")?
        .insert(params![key.as_str(), path, at])
}

/// The number of a project, if it is known.
pub(crate) fn find(db: &Connection, key: &ProjectKey) -> rusqlite::Result<Option<i64>> {
    db.prepare_cached("SELECT n FROM projects WHERE key = ?1")?
        .query_row([key.as_str()], |row| row.get(0))
        .optional()
}

/// Tells that the project was opened.
pub(crate) fn touch(db: &Connection, key: &ProjectKey, path: &str, at: UnixMillis) -> rusqlite::Result<()> {
    db.prepare_cached(
        "INSERT INTO projects (key, path, used_at) VALUES (?1, ?2, ?3)
         ON CONFLICT (key) DO UPDATE SET path = excluded.path, used_at = excluded.used_at",
    )?
    .execute(params![key.as_str(), path, at])?;
    Ok(())
}

/// All projects, the last used first: key, path, last use.
pub(crate) fn list(db: &Connection) -> rusqlite::Result<Vec<(ProjectKey, String, UnixMillis)>> {
    db.prepare_cached("SELECT key, path, used_at FROM projects ORDER BY used_at DESC, n DESC")?
        .query_map([], |row| Ok((ProjectKey(row.get(0)?), row.get(1)?, row.get(2)?)))?
        .collect()
}
