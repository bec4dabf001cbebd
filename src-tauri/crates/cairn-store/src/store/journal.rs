//! Before-images, blobs, outputs, and what a crash cut off.

use std::path::PathBuf;
use std::sync::Arc;

use cairn_agent::store::{BeforeImage, Durability, Journal, StoreError};
use cairn_protocol::{BlobId, CallId, OutputId, SessionId};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use super::Store;
use crate::blobs::{self, Blobs};
use crate::fault::from_io;
use crate::table::changes::{self, Before, Change, ChangeFate, Leftover};
use crate::table::outputs::{self, Place};
use crate::table::{blob_refs, now, sessions};
use crate::writer::Writer;

/// Compressed before-images up to this size lie in the database: one sync then keeps image and plan. SPEC F2.
const BEFORE_IN_ROW: usize = 256 << 10;
/// Compressed outputs up to this size lie in the database.
const OUTPUT_IN_ROW: usize = 64 << 10;

impl Store {
    /// All file changes of a session's calls, oldest first.
    pub async fn changes(&self, session: &SessionId) -> Result<Vec<Change>, StoreError> {
        let id = session.clone();
        self.read(move |db| Ok(changes::list(db, sessions::number(db, &id)?)?))
            .await
    }

    /// The bytes of the file before change `n` of that session, checked against their hash; none when the file was
    /// not there.
    pub async fn before_image(&self, session: &SessionId, n: i64) -> Result<Option<Vec<u8>>, StoreError> {
        let id = session.clone();
        let found = self
            .read(move |db| changes::before(db, sessions::number(db, &id)?, n))
            .await?;
        let Some((hash, place)) = found else {
            return Ok(None);
        };
        let bytes = self.fetch(place).await?;
        if blobs::hash(&bytes) == hash {
            Ok(Some(bytes))
        } else {
            Err(StoreError::Database(format!(
                "the before-image of change {n} is damaged"
            )))
        }
    }

    /// File changes whose process has ended before it told what came of them.
    pub async fn leftovers(&self) -> Result<Vec<Leftover>, StoreError> {
        self.read(|db| Ok(changes::leftovers(db)?)).await
    }

    /// Keeps what came of leftovers, by their numbers.
    pub async fn resolve(&self, fates: Vec<(i64, ChangeFate)>) -> Result<(), StoreError> {
        self.write(Durability::Committed, move |db| {
            Ok(fates
                .into_iter()
                .try_for_each(|(n, fate)| changes::resolve(db, n, fate))?)
        })
        .await
    }

    async fn fetch(&self, place: Place) -> Result<Vec<u8>, StoreError> {
        let (blobs, path) = (Arc::clone(&self.inner.blobs), self.inner.path.clone());
        self.block(move || match place {
            Place::Row(packed) => blobs::decompress(&packed).map_err(|error| from_io(&error, &path)),
            Place::Blob(blob) => blobs.get(&blob),
        })
        .await
    }

    /// The writer syncs blobs that wait with its next sync; this makes sure that there is one.
    fn note_pending_blobs(&self) -> Result<(), StoreError> {
        self.order(Box::new(Writer::owe_sync))
    }
}

/// Compresses, and keeps what is too large for a row as a blob.
fn place(blobs: &Blobs, hash: &str, bytes: &[u8], in_row: usize) -> Result<Place, StoreError> {
    let blob = BlobId::from(hash);
    let packed = blobs::compress(bytes)
        .map_err(|error| StoreError::Database(format!("compressing failed: {error}")))?;
    if packed.len() <= in_row {
        return Ok(Place::Row(packed));
    }
    blobs.put_packed(&blob, &packed)?;
    Ok(Place::Blob(blob))
}

impl Journal for Store {
    fn before_change(&self, mut image: BeforeImage) -> BoxFuture<'_, Result<(), StoreError>> {
        let (blobs, own) = (Arc::clone(&self.inner.blobs), self.inner.own.clone());
        async move {
            let bytes = image.before.take();
            let before = self
                .block(move || {
                    let Some(bytes) = bytes else { return Ok(None) };
                    let hash = blobs::hash(&bytes);
                    let place = place(&blobs, &hash, &bytes, BEFORE_IN_ROW)?;
                    Ok(Some(Before { hash, place }))
                })
                .await?;
            self.write(Durability::Synced, move |db| {
                let session = sessions::number(db, &image.session)?;
                Ok(changes::plan(db, session, &image, before.as_ref(), &own, now())?)
            })
            .await
        }
        .boxed()
    }

    fn after_change(
        &self,
        call: CallId,
        path: PathBuf,
        happened: bool,
    ) -> BoxFuture<'_, Result<(), StoreError>> {
        let own = self.inner.own.clone();
        let fate = if happened {
            changes::ChangeFate::Happened
        } else {
            changes::ChangeFate::Dropped
        };
        self.write(Durability::Committed, move |db| {
            changes::settle(db, &call, &path, &own, fate)
        })
        .boxed()
    }

    fn put_blob(&self, bytes: Vec<u8>) -> BoxFuture<'_, Result<BlobId, StoreError>> {
        let blobs = Arc::clone(&self.inner.blobs);
        async move {
            let blob = self.block(move || blobs.put(&bytes)).await?;
            self.note_pending_blobs()?;
            Ok(blob)
        }
        .boxed()
    }

    fn get_blob(&self, blob: BlobId) -> BoxFuture<'_, Result<Vec<u8>, StoreError>> {
        let blobs = Arc::clone(&self.inner.blobs);
        self.block(move || blobs.get(&blob)).boxed()
    }

    fn put_output(&self, session: SessionId, text: String) -> BoxFuture<'_, Result<OutputId, StoreError>> {
        let blobs = Arc::clone(&self.inner.blobs);
        async move {
            let place = self
                .block(move || {
                    place(
                        &blobs,
                        &blobs::hash(text.as_bytes()),
                        text.as_bytes(),
                        OUTPUT_IN_ROW,
                    )
                })
                .await?;
            self.write(Durability::Committed, move |db| {
                let session = sessions::number(db, &session)?;
                if let Place::Blob(blob) = &place {
                    blob_refs::add(db, session, blob)?;
                }
                Ok(outputs::add(db, session, &place)?)
            })
            .await
        }
        .boxed()
    }

    fn get_output(&self, session: SessionId, output: OutputId) -> BoxFuture<'_, Result<String, StoreError>> {
        async move {
            let id = output.clone();
            let place = self
                .read(move |db| outputs::get(db, sessions::number(db, &session)?, &id))
                .await?;
            let bytes = self.fetch(place).await?;
            String::from_utf8(bytes).map_err(|_| StoreError::Database(format!("output {output} is damaged")))
        }
        .boxed()
    }
}
