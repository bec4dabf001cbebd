//! Tables `messages` and `words`: the full-text index over what both sides said, and over titles. SPEC S4.
//!
//! The index holds words, not texts: the texts stay in their events. Row ids rise with time, so "newest first" is
//! the index's own order, and the project is a word of its own, so a query never walks through other projects.

use std::hash::{DefaultHasher, Hash, Hasher};

use cairn_agent::store::StoreError;
use cairn_protocol::{Item, ProjectKey, SearchHit, UnixMillis};
use rusqlite::{Connection, OptionalExtension, params};

use super::{events, projects, sessions};
use crate::fault::Fault;
use crate::schema::Step;
use crate::words;

pub(crate) const STEP: Step = Step {
    version: 5,
    // Folding is done before (see words.rs), so the tokenizer only splits at blanks.
    sql: "CREATE TABLE messages (
        n INTEGER PRIMARY KEY,
        session INTEGER NOT NULL,
        item TEXT NOT NULL,
        seq INTEGER NOT NULL,
        at INTEGER NOT NULL,
        hash INTEGER NOT NULL
    );
    CREATE UNIQUE INDEX messages_by_item ON messages (session, item);
    CREATE VIRTUAL TABLE words USING fts5 (
        text, scope, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 0'
    )",
};

/// Hits of one search.
const HITS: u32 = 50;

/// The item of a title; no item's id is empty.
const TITLE: &str = "";

/// Makes a message findable; a message that was there already is replaced when its words changed.
pub(crate) fn put(
    db: &Connection,
    position: sessions::Position,
    item: &Item,
    seq: u64,
    text: &str,
) -> Result<(), Fault> {
    let row = Row {
        session: position.n,
        item: item.id.as_str(),
        seq,
        at: item.at,
    };
    Ok(put_row(db, &row, position.project, text)?)
}

/// Makes a title findable instead of the former one.
pub(crate) fn put_title(
    db: &Connection,
    session: i64,
    project: i64,
    title: &str,
    at: UnixMillis,
) -> rusqlite::Result<()> {
    put_row(
        db,
        &Row {
            session,
            item: TITLE,
            seq: 0,
            at,
        },
        project,
        title,
    )
}

struct Row<'a> {
    session: i64,
    item: &'a str,
    seq: u64,
    at: UnixMillis,
}

fn put_row(db: &Connection, row: &Row<'_>, project: i64, text: &str) -> rusqlite::Result<()> {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    let hash = hasher.finish() as i64;
    let found: Option<(i64, i64)> = db
        .prepare_cached("SELECT n, hash FROM messages WHERE session = ?1 AND item = ?2")?
        .query_row(params![row.session, row.item], |found| {
            Ok((found.get(0)?, found.get(1)?))
        })
        .optional()?;
    match found {
        Some((_, same)) if same == hash => return Ok(()),
        Some((n, _)) => remove(db, n)?,
        None => {}
    }
    let n = db
        .prepare_cached("INSERT INTO messages (session, item, seq, at, hash) VALUES (?1, ?2, ?3, ?4, ?5)")?
        .insert(params![row.session, row.item, row.seq as i64, row.at, hash])?;
    db.prepare_cached("INSERT INTO words (rowid, text, scope) VALUES (?1, ?2, ?3)")?
        .execute(params![n, words::indexed(text), scope(project)])?;
    Ok(())
}

fn remove(db: &Connection, n: i64) -> rusqlite::Result<()> {
    db.prepare_cached("DELETE FROM words WHERE rowid = ?1")?
        .execute([n])?;
    db.prepare_cached("DELETE FROM messages WHERE n = ?1")?
        .execute([n])?;
    Ok(())
}

/// The word that stands for a project.
fn scope(project: i64) -> String {
    format!("p{project}")
}

/// The newest hits, in one project or in all.
pub(crate) fn search(
    db: &Connection,
    project: Option<&ProjectKey>,
    typed: &str,
) -> Result<Vec<SearchHit>, Fault> {
    let scope = match project {
        Some(key) => match projects::find(db, key)? {
            Some(n) => scope(n),
            None => return Ok(Vec::new()),
        },
        None => String::new(),
    };
    let Some(query) = words::query(typed, &scope) else {
        return Ok(Vec::new());
    };
    let found: Vec<(i64, u64, UnixMillis)> = db
        .prepare_cached(
            // CROSS JOIN keeps the order: the index leads, newest first, and stops at the limit.
            "SELECT m.session, m.seq, m.at FROM words w
             CROSS JOIN messages m ON m.n = w.rowid
             CROSS JOIN sessions s ON s.n = m.session
             WHERE w.words MATCH ?1 AND s.deleted_at IS NULL
             ORDER BY w.rowid DESC LIMIT ?2",
        )?
        .query_map(params![query, HITS], |row| {
            Ok((row.get(0)?, row.get::<_, i64>(1)? as u64, row.get(2)?))
        })?
        .collect::<rusqlite::Result<_>>()?;
    found
        .into_iter()
        .map(|(session, seq, at)| hit(db, session, seq, at, typed))
        .collect()
}

fn hit(db: &Connection, session: i64, seq: u64, at: UnixMillis, typed: &str) -> Result<SearchHit, Fault> {
    let session_n = session;
    let session = sessions::seen(db, sessions::by_number(db, session_n)?)?.session;
    let text = if seq == 0 {
        session.title.clone()
    } else {
        events::message_text(&events::raw(db, session_n, seq)?).ok_or_else(|| {
            StoreError::Database(format!("event {seq} of session {} holds no message", session.id))
        })?
    };
    Ok(SearchHit {
        excerpt: words::excerpt(&text, typed),
        session,
        at,
    })
}

/// Removes all of a session.
pub(crate) fn purge(db: &Connection, session: i64) -> rusqlite::Result<()> {
    let all: Vec<i64> = db
        .prepare_cached("SELECT n FROM messages WHERE session = ?1")?
        .query_map([session], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    all.into_iter().try_for_each(|n| remove(db, n))
}

/// Drops deleted words from the index itself, a few megabytes at a time.
pub(crate) fn tidy(db: &Connection) -> rusqlite::Result<()> {
    db.execute_batch("INSERT INTO words (words, rank) VALUES ('merge', -500)")
}
