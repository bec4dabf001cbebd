//! A folder held open for searches: its entries are listed and opened by their bare names.
//!
//! A bare name that must not be a link leads to an entry of this very folder and nowhere else, whatever happens to the
//! folders above meanwhile. It is also the shortest way for the kernel: no path is walked for every file.

use std::ffi::{CStr, OsStr};
use std::fs::File;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

use rustix::fd::{AsFd as _, OwnedFd};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::sys::REACH;
use crate::{FileError, Root, name};

/// Bytes that names are read into at once; a listing of some hundred names is then one system call.
const LISTED_AT_ONCE: usize = 32 * 1024;

/// A folder held open.
#[derive(Debug)]
pub struct Folder {
    handle: OwnedFd,
}

/// What an entry of a folder is, itself: links are not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A link.
    Link,
    /// A pipe, socket or device, or something that vanished meanwhile.
    Other,
}

/// Memory that listings read names into, to be used for one folder after the other.
#[derive(Debug, Default)]
pub struct Scratch(#[cfg_attr(not(target_os = "linux"), allow(dead_code))] Vec<u8>);

impl Root {
    /// Holds a folder open so that it can be listed. A link anywhere on the way is an error.
    pub fn folder(&self, real: &Path) -> Result<Folder, FileError> {
        self.open_folder(real).map(|handle| Folder { handle })
    }

    /// The same for a folder that may only be passed through: what is in it can be opened but not listed.
    pub fn passage(&self, real: &Path) -> Result<Folder, FileError> {
        self.open_real(real, REACH | OFlags::DIRECTORY, Mode::empty())
            .map(|handle| Folder { handle })
            .map_err(|errno| FileError::from_errno("open", &self.show(real), errno))
    }
}

impl Folder {
    /// Gives every entry but `.` and `..`, in the file system's order, until the taker says `false`.
    pub fn list(
        &self,
        scratch: &mut Scratch,
        mut take: impl FnMut(&CStr, Entry) -> bool,
    ) -> Result<(), FileError> {
        let mut each = |entry: &CStr, kind: FileType| {
            if matches!(entry.to_bytes(), b"." | b"..") {
                return true;
            }
            let kind = match kind {
                // Some file systems do not tell in the listing.
                FileType::Unknown => self.entry(entry),
                known => entry_of(known),
            };
            take(entry, kind)
        };
        self.each(scratch, &mut each)
            .map_err(|errno| FileError::from_errno("list", "the folder", errno))
    }

    #[cfg(target_os = "linux")]
    fn each(
        &self,
        scratch: &mut Scratch,
        take: &mut impl FnMut(&CStr, FileType) -> bool,
    ) -> Result<(), Errno> {
        scratch.0.clear();
        scratch.0.reserve(LISTED_AT_ONCE);
        let mut names = rustix::fs::RawDir::new(&self.handle, scratch.0.spare_capacity_mut());
        while let Some(entry) = names.next() {
            let entry = entry?;
            if !take(entry.file_name(), entry.file_type()) {
                break;
            }
        }
        Ok(())
    }

    #[cfg(not(target_os = "linux"))]
    fn each(
        &self,
        _scratch: &mut Scratch,
        take: &mut impl FnMut(&CStr, FileType) -> bool,
    ) -> Result<(), Errno> {
        for entry in rustix::fs::Dir::read_from(&self.handle)? {
            let entry = entry?;
            if !take(entry.file_name(), entry.file_type()) {
                break;
            }
        }
        Ok(())
    }

    /// What has that name now; [`Entry::Other`] for nothing.
    pub fn entry(&self, bare: &CStr) -> Entry {
        rustix::fs::statat(&self.handle, bare, AtFlags::SYMLINK_NOFOLLOW).map_or(Entry::Other, |stat| {
            entry_of(FileType::from_raw_mode(stat.st_mode))
        })
    }

    /// When the content of what has that name was last changed; of a link, the link itself.
    pub fn modified(&self, bare: &CStr) -> Option<SystemTime> {
        let stat = rustix::fs::statat(&self.handle, bare, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        time(stat.st_mtime, stat.st_mtime_nsec)
    }

    /// Opens a regular file for reading. Anything else that has the name by now is refused: a link is not followed,
    /// and a pipe keeps nobody waiting.
    pub fn open_file(&self, bare: &CStr) -> Result<(File, Stat), FileError> {
        let shown = || name::to_text(OsStr::from_bytes(bare.to_bytes()));
        if bare.to_bytes().contains(&b'/') {
            return Err(FileError::Refused(shown()));
        }
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fail = |errno| FileError::from_errno("read", &shown(), errno);
        let file = rustix::fs::openat(self.handle.as_fd(), bare, flags, Mode::empty()).map_err(fail)?;
        let stat = rustix::fs::fstat(&file).map_err(fail)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(FileError::Swapped(shown()));
        }
        Ok((File::from(file), stat))
    }
}

fn entry_of(kind: FileType) -> Entry {
    match kind {
        FileType::RegularFile => Entry::File,
        FileType::Directory => Entry::Folder,
        FileType::Symlink => Entry::Link,
        _ => Entry::Other,
    }
}

/// A moment of the file system; some hold times before 1970. The second number has another type on other systems.
fn time(seconds: i64, nanoseconds: impl TryInto<u64>) -> Option<SystemTime> {
    let whole = Duration::from_secs(seconds.unsigned_abs());
    let base = if seconds < 0 {
        SystemTime::UNIX_EPOCH.checked_sub(whole)
    } else {
        SystemTime::UNIX_EPOCH.checked_add(whole)
    };
    base?.checked_add(Duration::from_nanos(nanoseconds.try_into().ok()?))
}

#[cfg(test)]
mod tests;
