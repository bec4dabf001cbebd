//! Table `drafts`: what was typed and not sent.

use rusqlite::{Connection, OptionalExtension, params};

use crate::schema::Step;

pub(crate) const STEP: Step = Step {
    version: 6,
    sql: "CREATE TABLE drafts (session INTEGER PRIMARY KEY, text TEXT NOT NULL)",
};

/// Keeps the draft; an empty one is forgotten.
pub(crate) fn set(db: &Connection, session: i64, text: &str) -> rusqlite::Result<()> {
    if text.is_empty() {
        return purge(db, session);
    }
    db.prepare_cached(
        "INSERT INTO drafts (session, text) VALUES (?1, ?2) ON CONFLICT (session) DO UPDATE SET text = excluded.text",
    )?
    .execute(params![session, text])?;
    Ok(())
}

/// The draft; empty when there is none.
pub(crate) fn get(db: &Connection, session: i64) -> rusqlite::Result<String> {
    let found = db
        .prepare_cached("SELECT text FROM drafts WHERE session = ?1")?
        .query_row([session], |row| row.get(0))
        .optional()?;
    Ok(found.unwrap_or_default())
}

/// Removes the draft.
pub(crate) fn purge(db: &Connection, session: i64) -> rusqlite::Result<()> {
    db.prepare_cached("DELETE FROM drafts WHERE session = ?1")?
        .execute([session])?;
    Ok(())
}
