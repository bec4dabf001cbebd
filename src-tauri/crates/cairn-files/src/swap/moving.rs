//! A file gets another name, and never takes the place of another. SPEC T19.
//!
//! It is renamed only onto a free name; what arrived is hashed, and goes back when it is not what was to be moved.
//! Where the two names lie on different file systems, or a system cannot rename so, it is copied and then removed,
//! each of which is guarded in the same way.

use std::os::fd::AsFd as _;
use std::path::Path;

use rustix::fd::OwnedFd;
use rustix::fs::AtFlags;
use rustix::io::Errno;

use super::calls::{Calls, Kernel};
use super::folders::Folders;
use super::{Expected, Guard, Swap, Written, temporary};
use crate::{FileError, Root};

/// A move that is going to happen. Making one touches nothing.
#[derive(Clone, Debug)]
pub struct Move {
    from: Swap,
    to: Swap,
    hash: String,
}

impl Move {
    /// Names a move of the file with that hex SHA-256 from one real path to another.
    pub fn new(root: &Root, from: &Path, to: &Path, hash: &str) -> Result<Self, FileError> {
        Ok(Self {
            from: Swap::new(root, from, Expected::Content(hash.to_owned()))?,
            to: Swap::new(root, to, Expected::Absent)?,
            hash: hash.to_owned(),
        })
    }

    /// The temporary file beside the old name; used only where the file has to be copied.
    pub fn temporary_beside_old(&self) -> &Path {
        self.from.temporary()
    }

    /// The temporary file beside the new name; used only where the file has to be copied.
    pub fn temporary_beside_new(&self) -> &Path {
        self.to.temporary()
    }

    /// Moves it; missing folders are made. `bytes` are its content, should it have to be copied.
    pub fn run(&self, root: &Root, bytes: &[u8]) -> Result<Written, FileError> {
        self.run_with(root, bytes, &Kernel)
    }

    pub(super) fn run_with(
        &self,
        root: &Root,
        bytes: &[u8],
        calls: &dyn Calls,
    ) -> Result<Written, FileError> {
        root.check_alive()?;
        let mut made = Folders::default();
        let old_folder = root.open_folder(self.from.parent())?;
        made.make(root, self.to.parent(), calls)?;
        let new_folder = root.open_folder(self.to.parent())?;
        let (old, new) = (
            (old_folder.as_fd(), self.from.name()),
            (new_folder.as_fd(), self.to.name()),
        );
        match calls.rename_away(old, new) {
            Ok(()) => {}
            Err(Errno::EXIST) => return Err(FileError::Appeared(self.to.shown.clone())),
            Err(Errno::NOENT) => return Err(FileError::Changed(self.from.shown.clone())),
            Err(Errno::XDEV | Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                let mut written = self.copy(root, bytes, calls)?;
                made.keep();
                written.syncs += made.syncs;
                written.folders.splice(0..0, std::mem::take(&mut made.made));
                return Ok(written);
            }
            Err(errno) => return Err(self.from.fail("move", errno)),
        }
        if temporary::hash_at(&new_folder, self.to.name()).as_ref() != Some(&self.hash) {
            calls.rename_away(new, old).map_err(|_| self.stranded())?;
            return Err(FileError::Changed(self.from.shown.clone()));
        }
        made.keep();
        let mode = rustix::fs::statat(&new_folder, self.to.name(), AtFlags::SYMLINK_NOFOLLOW)
            .map_or(0, |stat| mode_of(&stat));
        Ok(Written {
            hash: Some(self.hash.clone()),
            mode,
            guard: Guard::Exact,
            syncs: made.syncs + self.sync(&old_folder, &new_folder, calls),
            folders: std::mem::take(&mut made.made),
        })
    }

    /// For two file systems: first it is in both places, then only in the new one.
    fn copy(&self, root: &Root, bytes: &[u8], calls: &dyn Calls) -> Result<Written, FileError> {
        let original = root.open_file(&self.from.real)?;
        let mut written = self.to.write_with(root, bytes, Some(original), calls)?;
        match self.from.remove_with(root, calls) {
            Ok(removed) => {
                written.syncs += removed.syncs;
                Ok(written)
            }
            Err(error) => {
                // The old one is not what was copied; it stays and the copy goes.
                let copy = Swap::new(root, &self.to.real, Expected::Content(self.hash.clone()))?;
                copy.remove_with(root, calls)?;
                Err(error)
            }
        }
    }

    fn sync(&self, old: &OwnedFd, new: &OwnedFd, calls: &dyn Calls) -> u32 {
        let mut folders = vec![new];
        if self.from.parent() != self.to.parent() {
            folders.push(old);
        }
        for folder in &folders {
            if let Err(errno) = calls.sync(folder.as_fd()) {
                // The move is there for everybody to see; only a loss of power now could still undo it.
                tracing::warn!(path = %self.to.shown, %errno, "a folder of a moved file could not be synced");
            }
        }
        folders.len() as u32
    }

    fn stranded(&self) -> FileError {
        FileError::Io {
            doing: "move back",
            shown: self.from.shown.clone(),
            reason: format!(
                "it was changed by something else meanwhile, and that version is kept as {}",
                self.to.shown
            ),
        }
    }
}

#[allow(clippy::unnecessary_cast, clippy::useless_conversion)] // The width differs between systems.
fn mode_of(stat: &rustix::fs::Stat) -> u32 {
    stat.st_mode as u32 & 0o7777
}

#[cfg(test)]
mod tests;
