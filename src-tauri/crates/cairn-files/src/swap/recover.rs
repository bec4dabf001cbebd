//! After a crash: what became of a change that was journaled but not told to be complete. SPEC A5, R1.
//!
//! Must never remove anything whose content is not known to be kept elsewhere: a write by exchange (SPEC T17) may
//! leave in its temporary file what somebody else had just saved.

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
    /// Its temporary file, where one was planned.
    pub temporary: Option<&'a Path>,
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

/// What was found, and what was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Swept {
    /// What became of the change.
    pub found: Recovered,
    /// Why the temporary file was left where it is, in words for the person; none when it is gone.
    pub kept: Option<&'static str>,
}

const NOT_OURS: &str = "it is not a temporary file of this program";
const MAY_BE_THEIRS: &str = "it may hold what somebody saved while the program was writing";

/// Removes the temporary file of an unfinished change and finds out whether the change happened.
///
/// What came out of an exchange and is nobody's copy but this one is put back under its name where that undoes the
/// exchange, and left alone otherwise. No link is followed.
pub fn recover(change: &Unfinished<'_>) -> Result<Swept, FileError> {
    let parent = change.path.parent().unwrap_or(Path::new("/"));
    let root = match Root::open(parent) {
        Ok(root) => root,
        // The folder was never made, or is gone with all that was in it.
        Err(FileError::Missing(_)) => return Ok(gone(change)),
        Err(error) => return Err(error),
    };
    // A folder that has since become a link is another folder.
    if root.path() != parent {
        return Ok(Swept {
            found: Recovered::Changed,
            kept: change.temporary.map(|_| NOT_OURS),
        });
    }
    let folder = root.open_folder(parent)?;
    let name = change.path.file_name().map_or(change.path, Path::new);
    let in_place = temporary::hash_at(&folder, name);
    let found = match in_place.as_deref() {
        found if found == change.after => Recovered::Happened,
        found if found == change.before => Recovered::NotHappened,
        _ => Recovered::Changed,
    };
    let swept = |kept| Ok(Swept { found, kept });
    let Some(leftover) = change.temporary else {
        return swept(None);
    };
    let ours = leftover.parent() == Some(parent) && leftover.file_name().is_some_and(temporary::is_temporary);
    let leftover_name = leftover.file_name().map_or(leftover, Path::new);
    if !ours {
        return swept(leftover.symlink_metadata().is_ok().then_some(NOT_OURS));
    }
    let Some(held) = temporary::hash_at(&folder, leftover_name) else {
        // Not there; or a link, a folder, something unreadable, which this program never made.
        return swept(leftover.symlink_metadata().is_ok().then_some(NOT_OURS));
    };
    let fail = |errno| FileError::from_errno("sweep", &root.show(leftover), errno);
    let dir = folder.as_fd();
    let known = [change.before, change.after].contains(&Some(&held));
    // Either one: what it would become or what it was, both kept elsewhere; or the file is still what it was, so that
    // this can only be the unfinished new content.
    if known || in_place.as_deref() == change.before {
        rustix::fs::unlinkat(dir, leftover_name, AtFlags::empty()).map_err(fail)?;
        return swept(None);
    }
    if in_place.as_deref() != change.after {
        return swept(Some(MAY_BE_THEIRS));
    }
    // The exchange or removal brought out somebody's version and there was no time to put it back.
    let way = if in_place.is_some() {
        Rename::Exchange
    } else {
        Rename::NoReplace
    };
    Kernel.rename(dir, leftover_name, name, way).map_err(fail)?;
    if in_place.is_some() {
        rustix::fs::unlinkat(dir, leftover_name, AtFlags::empty()).map_err(fail)?;
    }
    Ok(Swept {
        found: Recovered::Changed,
        kept: None,
    })
}

fn gone(change: &Unfinished<'_>) -> Swept {
    let found = match (change.before, change.after) {
        (_, None) => Recovered::Happened,
        (None, _) => Recovered::NotHappened,
        _ => Recovered::Changed,
    };
    Swept { found, kept: None }
}
