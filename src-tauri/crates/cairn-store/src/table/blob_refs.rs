//! Table `blob_refs`: which session names which blob, so that a deleted session takes its pictures along.

use cairn_protocol::BlobId;
use rusqlite::{Connection, params};

use crate::schema::Step;

pub(crate) const STEP: Step = Step {
    version: 10,
    sql: "CREATE TABLE blob_refs (
        blob TEXT NOT NULL,
        session INTEGER NOT NULL,
        PRIMARY KEY (blob, session)
    ) WITHOUT ROWID;
    CREATE INDEX blob_refs_by_session ON blob_refs (session)",
};

/// Notes the blob as named by the session.
pub(crate) fn add(db: &Connection, session: i64, blob: &BlobId) -> rusqlite::Result<()> {
    db.prepare_cached("INSERT OR IGNORE INTO blob_refs (blob, session) VALUES (?1, ?2)")?
        .execute(params![blob.as_str(), session])?;
    Ok(())
}

/// Notes all blobs that an event's JSON names, in whatever field. Other hashes are noted too, which does no harm.
pub(crate) fn add_all(db: &Connection, session: i64, json: &str) -> rusqlite::Result<()> {
    let mut rest = json;
    while let Some(at) = rest.find('"') {
        rest = rest.get(at + 1..).unwrap_or_default();
        if let Some(hex) = rest.get(..64)
            && rest.as_bytes().get(64) == Some(&b'"')
            && hex.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        {
            add(db, session, &BlobId::from(hex))?;
        }
    }
    Ok(())
}

/// Forgets what the session names; the blobs that nobody names any more are returned.
pub(crate) fn purge(db: &Connection, session: i64) -> rusqlite::Result<Vec<BlobId>> {
    let orphans = db
        .prepare_cached(
            "SELECT a.blob FROM blob_refs a WHERE a.session = ?1
             AND NOT EXISTS (SELECT 1 FROM blob_refs b WHERE b.blob = a.blob AND b.session <> ?1)",
        )?
        .query_map([session], |row| row.get(0).map(BlobId))?
        .collect::<rusqlite::Result<_>>()?;
    db.prepare_cached("DELETE FROM blob_refs WHERE session = ?1")?
        .execute([session])?;
    Ok(orphans)
}
