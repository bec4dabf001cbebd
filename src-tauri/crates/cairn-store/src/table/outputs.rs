//! Table `outputs`: whole results that were cut for the model, readable by their own session only. SPEC T3.

use cairn_agent::store::StoreError;
use cairn_protocol::{BlobId, OutputId};
use rusqlite::{Connection, OptionalExtension, params};

use crate::fault::Fault;
use crate::schema::Step;

pub(crate) const STEP: Step = Step {
    version: 9,
    sql: "CREATE TABLE outputs (
        session INTEGER NOT NULL,
        n INTEGER NOT NULL,
        packed BLOB,
        blob TEXT,
        PRIMARY KEY (session, n)
    ) WITHOUT ROWID",
};

/// Where content is: small in the row, so that it is synced with it; large in the blob store.
pub(crate) enum Place {
    /// Compressed, in the row.
    Row(Vec<u8>),
    /// In the blob store.
    Blob(BlobId),
}

/// Keeps an output under the next number of its session.
pub(crate) fn add(db: &Connection, session: i64, place: &Place) -> rusqlite::Result<OutputId> {
    let (packed, blob) = match place {
        Place::Row(packed) => (Some(packed.as_slice()), None),
        Place::Blob(blob) => (None, Some(blob.as_str())),
    };
    let n: i64 = db
        .prepare_cached(
            "INSERT INTO outputs (session, n, packed, blob)
             VALUES (?1, 1 + (SELECT coalesce(max(n), 0) FROM outputs WHERE session = ?1), ?2, ?3) RETURNING n",
        )?
        .query_row(params![session, packed, blob], |row| row.get(0))?;
    Ok(OutputId(n.to_string()))
}

/// Where an output of that session is.
pub(crate) fn get(db: &Connection, session: i64, id: &OutputId) -> Result<Place, Fault> {
    let missing = || Fault::Refused(StoreError::Missing(format!("output {id}")));
    let n: i64 = id.as_str().parse().map_err(|_| missing())?;
    db.prepare_cached("SELECT packed, blob FROM outputs WHERE session = ?1 AND n = ?2")?
        .query_row(params![session, n], |row| place(row.get(0)?, row.get(1)?))
        .optional()?
        .ok_or_else(missing)
}

/// Removes all of a session.
pub(crate) fn purge(db: &Connection, session: i64) -> rusqlite::Result<()> {
    db.prepare_cached("DELETE FROM outputs WHERE session = ?1")?
        .execute([session])?;
    Ok(())
}

fn place(packed: Option<Vec<u8>>, blob: Option<String>) -> rusqlite::Result<Place> {
    match (packed, blob) {
        (Some(packed), _) => Ok(Place::Row(packed)),
        (None, Some(blob)) => Ok(Place::Blob(BlobId(blob))),
        (None, None) => Err(rusqlite::Error::QueryReturnedNoRows),
    }
}
