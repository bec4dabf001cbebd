//! After a crash: what became of a change that was journaled but not told to be complete.

use std::os::fd::AsFd as _;
use std::path::Path;

use rustix::fs::AtFlags;

use super::calls::{Calls, Kernel, Rename};
use super::temporary;
use crate::{FileError, Root};

/// A journaled change. Hashes are hex SHA-256; none for a file that is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unfinished<'a> {
    /// Real path of the file.
    pub path: &'a Path,
    /// Its temporary file.
    pub temporary: &'a Path,
    /// What it was.
    pub before: Option<&'a str>,
    /// What it was to be.
    pub after: Option<&'a str>,
}

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovered {
    /// The change happened.
    Happened,
    /// It did not; the file is what it was.
    NotHappened,
    /// The file is neither: somebody else changed it since, or before. It was left as it is.
    Changed,
}

/// Removes the temporary file of an unfinished change and finds out whether the change happened.
///
/// What came out of an exchange and is nobody's copy but this one is put back under its name, never removed.
pub fn recover(root: &Root, change: &Unfinished<'_>) -> Result<Recovered, FileError> {
    let parent = change.path.parent().unwrap_or(Path::new("/"));
    let name = change.path.file_name().map_or(change.path, Path::new);
    let leftover = change.temporary.file_name().map_or(change.temporary, Path::new);
    let folder = match root.open_folder(parent) {
        Ok(folder) => folder,
        // The folder was never made, or is gone with all that was in it.
        Err(FileError::Missing(_)) => return Ok(Recovered::NotHappened),
        Err(error) => return Err(error),
    };
    let fail = |errno| FileError::from_errno("sweep", &root.show(change.temporary), errno);
    let in_temporary = temporary::hash_at(&folder, leftover);
    let in_place = temporary::hash_at(&folder, name);
    if let Some(found) = in_temporary.as_deref() {
        let known = Some(found) == change.before || Some(found) == change.after;
        let dir = folder.as_fd();
        if !known && in_place.as_deref() == change.after && change.after.is_some() {
            // The exchange brought out somebody's version and there was no time to put it back.
            Kernel
                .rename(dir, leftover, name, Rename::Exchange)
                .map_err(fail)?;
            rustix::fs::unlinkat(dir, leftover, AtFlags::empty()).map_err(fail)?;
            return Ok(Recovered::Changed);
        }
        if !known && in_place.is_none() && change.after.is_none() {
            // A removal took somebody's version away.
            Kernel
                .rename(dir, leftover, name, Rename::NoReplace)
                .map_err(fail)?;
            return Ok(Recovered::Changed);
        }
        rustix::fs::unlinkat(dir, leftover, AtFlags::empty()).map_err(fail)?;
    }
    Ok(match in_place.as_deref() {
        found if found == change.after => Recovered::Happened,
        found if found == change.before => Recovered::NotHappened,
        _ => Recovered::Changed,
    })
}
