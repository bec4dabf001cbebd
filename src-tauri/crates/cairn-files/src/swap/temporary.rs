//! The temporary file of a swap: made beside its target, gone whatever happens.

use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};

use rustix::buffer::spare_capacity;
use rustix::fd::{BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, FileType, Gid, Mode, OFlags, Stat, Uid, XattrFlags};
use rustix::io::Errno;

use super::LOOK;
use super::calls::Calls;
use crate::{FileError, hash};

const PREFIX: &str = ".cairn-";
const SUFFIX: &str = ".tmp";

/// Whether a file name is one of ours.
pub fn is_temporary(name: &OsStr) -> bool {
    let middle = name
        .to_str()
        .and_then(|name| name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX));
    middle.is_some_and(|middle| middle.len() == 16 && middle.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// A name beside a file that nothing has.
pub(super) fn name_beside(real: &Path, shown: &str) -> Result<PathBuf, FileError> {
    let mut random = [0_u8; 8];
    getrandom::fill(&mut random).map_err(|error| FileError::Io {
        doing: "name a temporary file for",
        shown: shown.to_owned(),
        reason: error.to_string(),
    })?;
    let parent = real.parent().unwrap_or(Path::new("/"));
    Ok(parent.join(format!("{PREFIX}{}{SUFFIX}", hash::hex(&random))))
}

/// The hash of a regular file in a folder; none when it is anything else.
pub(super) fn hash_at(folder: &OwnedFd, name: &Path) -> Option<String> {
    let file = rustix::fs::openat(folder, name, LOOK, Mode::empty()).ok()?;
    let stat = rustix::fs::fstat(&file).ok()?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return None;
    }
    hash::of_reader(File::from(file)).ok()
}

/// The file while it has its temporary name.
pub(super) struct Temporary<'a> {
    folder: &'a OwnedFd,
    name: &'a Path,
    file: OwnedFd,
    armed: bool,
}

impl<'a> Temporary<'a> {
    /// Makes it, empty. One that replaces another is nobody else's to read until it has that one's mode.
    pub(super) fn create(folder: &'a OwnedFd, name: &'a Path, old: Option<&Stat>) -> Result<Self, Errno> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(if old.is_some() { 0o600 } else { 0o666 });
        let file = rustix::fs::openat(folder, name, flags, mode)?;
        Ok(Self {
            folder,
            name,
            file,
            armed: true,
        })
    }

    /// Gives it its content and all that the old file had, and syncs it. Returns its permission bits.
    pub(super) fn fill(
        &mut self,
        bytes: &[u8],
        old: Option<(BorrowedFd<'_>, &Stat)>,
        calls: &dyn Calls,
    ) -> Result<u32, Errno> {
        calls.write(self.file.as_fd(), bytes)?;
        if let Some((old, stat)) = old {
            self.take_rights(old, stat)?;
        }
        calls.sync(self.file.as_fd())?;
        #[allow(clippy::unnecessary_cast, clippy::useless_conversion)] // The width differs between systems.
        Ok(rustix::fs::fstat(&self.file)?.st_mode as u32 & 0o7777)
    }

    fn take_rights(&self, old: BorrowedFd<'_>, stat: &Stat) -> Result<(), Errno> {
        let ours = rustix::fs::fstat(&self.file)?;
        let mut bits = stat.st_mode & 0o7777;
        if (ours.st_uid, ours.st_gid) != (stat.st_uid, stat.st_gid) {
            let (owner, group) = (Uid::from_raw(stat.st_uid), Gid::from_raw(stat.st_gid));
            if rustix::fs::fchown(&self.file, Some(owner), Some(group)).is_err() {
                // Another's set-user-id must not become ours; the group can often be kept alone.
                bits &= 0o777;
                rustix::fs::fchown(&self.file, None, Some(group)).ok();
            }
        }
        rustix::fs::fchmod(&self.file, Mode::from_raw_mode(bits))?;
        self.take_attributes(old);
        Ok(())
    }

    /// Copies extended attributes, as far as the system lets us; access lists are among them.
    fn take_attributes(&self, old: BorrowedFd<'_>) {
        let mut names: Vec<u8> = Vec::with_capacity(64 * 1024);
        if rustix::fs::flistxattr(old, spare_capacity(&mut names)).is_err() {
            return;
        }
        for name in names.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
            let mut value: Vec<u8> = Vec::with_capacity(64 * 1024);
            if rustix::fs::fgetxattr(old, name, spare_capacity(&mut value)).is_ok() {
                rustix::fs::fsetxattr(&self.file, name, &value, XattrFlags::empty()).ok();
            }
        }
    }

    /// Its name is gone, belongs to what was replaced (and goes now), or must stay.
    pub(super) fn done(&mut self) {
        self.armed = false;
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if self.armed {
            rustix::fs::unlinkat(self.folder, self.name, AtFlags::empty()).ok();
        }
    }
}
