//! Table `texts`: pieces of items that still grow. Gone when the item's completion is stored.

use std::collections::HashMap;

use cairn_protocol::ItemId;
use rusqlite::{Connection, params};

use crate::schema::Step;

pub(crate) const STEP: Step = Step {
    version: 4,
    sql: "CREATE TABLE texts (
        n INTEGER PRIMARY KEY,
        session INTEGER NOT NULL,
        item TEXT NOT NULL,
        offset INTEGER NOT NULL,
        text TEXT NOT NULL
    );
    CREATE INDEX texts_by_item ON texts (session, item)",
};

/// Keeps one piece.
pub(crate) fn add(
    db: &Connection,
    session: i64,
    item: &ItemId,
    offset: u64,
    text: &str,
) -> rusqlite::Result<()> {
    db.prepare_cached("INSERT INTO texts (session, item, offset, text) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![session, item.as_str(), offset as i64, text])?;
    Ok(())
}

/// Forgets the pieces of an item that is final.
pub(crate) fn merge_away(db: &Connection, session: i64, item: &ItemId) -> rusqlite::Result<()> {
    db.prepare_cached("DELETE FROM texts WHERE session = ?1 AND item = ?2")?
        .execute(params![session, item.as_str()])?;
    Ok(())
}

/// Grows the texts in `begun` by what is kept; items that are not in it begin empty.
pub(crate) fn grow(
    db: &Connection,
    session: i64,
    begun: &mut HashMap<ItemId, String>,
) -> rusqlite::Result<()> {
    let mut statement =
        db.prepare_cached("SELECT item, offset, text FROM texts WHERE session = ?1 ORDER BY n")?;
    let mut rows = statement.query([session])?;
    while let Some(row) = rows.next()? {
        let whole = begun.entry(ItemId(row.get(0)?)).or_default();
        let offset = row.get::<_, i64>(1)? as usize;
        let piece = row.get_ref(2)?.as_str()?;
        // A piece may be sent twice; only what goes on from the end counts.
        if let Some(fresh) = whole
            .len()
            .checked_sub(offset)
            .and_then(|known| piece.get(known..))
        {
            whole.push_str(fresh);
        }
    }
    Ok(())
}

/// Removes all of a session.
pub(crate) fn purge(db: &Connection, session: i64) -> rusqlite::Result<()> {
    db.prepare_cached("DELETE FROM texts WHERE session = ?1")?
        .execute([session])?;
    Ok(())
}
