//! After a crash: what came of planned file changes, and which temporary files may go. SPEC A5, R1.
//!
//! Owns: the judgement. Must never remove anything whose content is not known to be kept elsewhere: a write by
//! exchange (SPEC T17) may leave in its temporary file what somebody else had just saved.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::table::changes::{ChangeFate, Leftover};

/// What a sweep did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Temporary files that are gone now.
    pub removed: Vec<PathBuf>,
    /// Temporary files that were left alone.
    pub kept: Vec<Kept>,
}

/// A temporary file that was left alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// The file.
    pub path: PathBuf,
    /// Why, in words for the person.
    pub why: String,
}

/// Judges all leftovers: what to tell, and the fate of each change by its number.
pub(crate) fn sweep(leftovers: &[Leftover]) -> (Swept, Vec<(i64, ChangeFate)>) {
    let mut swept = Swept::default();
    let mut fates = Vec::with_capacity(leftovers.len());
    for leftover in leftovers {
        let now = content(&leftover.path);
        if let Some(temporary) = &leftover.temporary {
            match judge(leftover, temporary, now.as_deref()) {
                Verdict::Gone => {}
                Verdict::Remove => match fs::remove_file(temporary) {
                    Ok(()) => swept.removed.push(temporary.clone()),
                    Err(error) => swept.kept.push(Kept {
                        path: temporary.clone(),
                        why: error.to_string(),
                    }),
                },
                Verdict::Keep(why) => swept.kept.push(Kept {
                    path: temporary.clone(),
                    why: why.to_owned(),
                }),
            }
        }
        fates.push((leftover.n, fate(leftover, now.as_deref())));
    }
    (swept, fates)
}

enum Verdict {
    Gone,
    Remove,
    Keep(&'static str),
}

fn judge(leftover: &Leftover, temporary: &Path, now: Option<&str>) -> Verdict {
    let Ok(found) = fs::symlink_metadata(temporary) else {
        return Verdict::Gone;
    };
    if !is_ours(temporary, &leftover.path) || !found.is_file() {
        return Verdict::Keep("it is not a temporary file of this program");
    }
    let held = content(temporary);
    let known = held.is_some() && (held == leftover.after || held == leftover.before);
    let untouched = now == leftover.before.as_deref();
    match () {
        // What it would become, or what it was: the one can be made again, the other is in the database.
        () if known => Verdict::Remove,
        // The file is still what it was, so this is the unfinished new content.
        () if untouched => Verdict::Remove,
        () => Verdict::Keep("it may hold what somebody saved while the program was writing"),
    }
}

fn fate(leftover: &Leftover, now: Option<&str>) -> ChangeFate {
    if now == leftover.after.as_deref() {
        ChangeFate::Happened
    } else if now == leftover.before.as_deref() {
        ChangeFate::Dropped
    } else {
        ChangeFate::Unclear
    }
}

/// Only `.cairn-*.tmp` beside the file of the change, in a folder that is still where it was.
fn is_ours(temporary: &Path, target: &Path) -> bool {
    let named = temporary
        .file_name()
        .and_then(|name| name.to_str())
        .is_some_and(|name| {
            name.strip_suffix(".tmp")
                .is_some_and(|rest| rest.starts_with(".cairn-"))
        });
    let Some(folder) = temporary.parent() else {
        return false;
    };
    named && Some(folder) == target.parent() && fs::canonicalize(folder).is_ok_and(|real| real == folder)
}

/// Hex SHA-256 of a regular file; none when there is none, links included.
fn content(path: &Path) -> Option<String> {
    if !fs::symlink_metadata(path).ok()?.is_file() {
        return None;
    }
    hash_file(path).ok()
}

fn hash_file(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        let read = file.read(&mut buffer)?;
        let Some(piece) = buffer.get(..read).filter(|piece| !piece.is_empty()) else {
            break;
        };
        hasher.update(piece);
    }
    Ok(crate::blobs::hex(&hasher.finalize()))
}
