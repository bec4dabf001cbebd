//! Content by its hash: `blobs/ab/cd/HEX`, compressed with zstd, written once, never changed.
//!
//! Owns: the folder `blobs/`. Must never know: what the bytes are or who needs them.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use cairn_agent::store::StoreError;
use cairn_protocol::BlobId;
use sha2::{Digest, Sha256};

use crate::fault::from_io;
use crate::folder;

/// zstd's own default: text shrinks to a quarter at some hundred MB/s.
const LEVEL: i32 = 3;
/// A blob used this recently is never removed: another process may be about to name it.
const FRESH: Duration = Duration::from_hours(1);

/// The blob store.
pub(crate) struct Blobs {
    root: PathBuf,
    /// Files whose bytes and names are not known to be on disk.
    pending: Mutex<Vec<(File, PathBuf)>>,
}

/// Lowercase hex SHA-256.
pub(crate) fn hash(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Bytes as lowercase hex.
pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: [char; 16] = [
        '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f',
    ];
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|half| DIGITS.get(usize::from(half)))
        .collect()
}

/// Compresses with the level of the store.
pub(crate) fn compress(bytes: &[u8]) -> io::Result<Vec<u8>> {
    zstd::bulk::compress(bytes, LEVEL)
}

/// Undoes [`compress`]; a frame always says how long its content is.
pub(crate) fn decompress(bytes: &[u8]) -> io::Result<Vec<u8>> {
    zstd::decode_all(bytes)
}

impl Blobs {
    pub(crate) fn new(data: &Path) -> Self {
        Self {
            root: data.join("blobs"),
            pending: Mutex::new(Vec::new()),
        }
    }

    /// Keeps the bytes; they are synced with the next synced commit, or within a second.
    pub(crate) fn put(&self, bytes: &[u8]) -> Result<BlobId, StoreError> {
        let blob = BlobId(hash(bytes));
        let path = self.path(&blob)?;
        let packed = compress(bytes).map_err(|error| from_io(&error, &path))?;
        self.put_packed(&blob, &packed)?;
        Ok(blob)
    }

    /// Keeps bytes that are compressed already.
    pub(crate) fn put_packed(&self, blob: &BlobId, packed: &[u8]) -> Result<(), StoreError> {
        let path = self.path(blob)?;
        let kept = if self.keeps(blob, &path) {
            File::open(&path)
        } else {
            self.write(&path, packed)
        };
        let file = kept.map_err(|error| from_io(&error, &path))?;
        self.pending
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push((file, path));
        Ok(())
    }

    /// The bytes, checked against their name.
    pub(crate) fn get(&self, blob: &BlobId) -> Result<Vec<u8>, StoreError> {
        let path = self.path(blob)?;
        let packed = fs::read(&path).map_err(|error| from_io(&error, &path))?;
        let broken = || StoreError::Database(format!("{} is damaged; what it held is lost", path.display()));
        let bytes = decompress(&packed).map_err(|_| broken())?;
        if hash(&bytes) == blob.0 {
            Ok(bytes)
        } else {
            Err(broken())
        }
    }

    /// Syncs what waits; how many syncs that took.
    pub(crate) fn sync_pending(&self) -> Result<u64, (io::Error, PathBuf)> {
        let pending = std::mem::take(&mut *self.pending.lock().unwrap_or_else(PoisonError::into_inner));
        let mut synced = 0;
        for (file, path) in pending {
            // One sync for bytes and name: the rename came first, and a file's sync takes its own new name along on
            // the file systems in use. Should it not, the hash tells, and the next put writes the file again.
            file.sync_all().map_err(|error| (error, path))?;
            synced += 1;
        }
        Ok(synced)
    }

    /// Removes a blob that nobody names any more.
    pub(crate) fn remove(&self, blob: &BlobId) {
        let Ok(path) = self.path(blob) else { return };
        let used = fs::metadata(&path).and_then(|found| found.modified());
        if used.is_ok_and(|used| used.elapsed().is_ok_and(|age| age > FRESH))
            && let Err(error) = fs::remove_file(&path)
        {
            tracing::warn!(%error, path = %path.display(), "a blob was not removed");
        }
    }

    /// Whether the bytes are there and whole; a file torn by loss of power is not.
    fn keeps(&self, blob: &BlobId, path: &Path) -> bool {
        // Its time is renewed so that no other process removes it before it is named.
        let renewed = File::open(path).and_then(|file| file.set_modified(SystemTime::now()));
        renewed.is_ok() && self.get(blob).is_ok()
    }

    fn write(&self, path: &Path, packed: &[u8]) -> io::Result<File> {
        let parent = path.parent().unwrap_or(&self.root);
        folder::make_private(parent)?;
        let temporary = parent.join(format!(".{}.tmp", unique()?));
        let written = folder::new_private_file().open(&temporary).and_then(|mut file| {
            file.write_all(packed)?;
            fs::rename(&temporary, path)?;
            Ok(file)
        });
        if written.is_err() && temporary.exists() {
            fs::remove_file(&temporary)?;
        }
        written
    }

    /// Where a blob is. An id comes from a model or a page: only 64 hex digits ever become a path.
    fn path(&self, blob: &BlobId) -> Result<PathBuf, StoreError> {
        let hex = blob.as_str();
        let valid = hex.len() == 64 && hex.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        match (hex.get(..2), hex.get(2..4)) {
            (Some(first), Some(second)) if valid => Ok(self.root.join(first).join(second).join(hex)),
            _ => Err(StoreError::Missing(format!("blob {hex:?}"))),
        }
    }
}

/// A name that no other writer uses.
fn unique() -> io::Result<String> {
    Ok(format!(
        "{:016x}",
        getrandom::u64().map_err(|error| io::Error::other(error.to_string()))?
    ))
}

#[cfg(test)]
mod tests;
