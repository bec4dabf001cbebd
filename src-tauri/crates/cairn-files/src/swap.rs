//! Compare and swap: a file gets new content only while it has the content that the change was made for. SPEC T17.
//!
//! On Linux the new file is *exchanged* with the old one, and what came out is hashed: when it is not what was
//! expected, it is exchanged back. Where a file system cannot exchange, the file is read again, compared and then
//! renamed over; what is written between those two is lost. In both ways a process that holds the old file open
//! and writes into it after it was hashed writes into a file that no longer has a name.

mod calls;
mod folders;
mod moving;
mod recover;
mod temporary;

use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};

use rustix::fd::{BorrowedFd, OwnedFd};
use rustix::fs::{Access, AtFlags, OFlags, Stat};
use rustix::io::Errno;

use crate::{FileError, Kind, Root, hash};
use calls::{Calls, Kernel, Rename};
use folders::Folders;
pub use folders::make_folder;
pub use moving::Move;
pub use recover::{Recovered, Unfinished, recover};
use temporary::Temporary;
pub use temporary::is_temporary;

/// Exchanges tried to put back what came out before giving up.
const TURNS: usize = 8;

/// What must be there for a change to happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    /// Nothing.
    Absent,
    /// A file with this hex SHA-256.
    Content(String),
}

/// A change that is going to happen, and the name of the temporary file that it will use.
///
/// Making one touches nothing, so that the name can be journaled before the file exists.
#[derive(Clone, Debug)]
pub struct Swap {
    real: PathBuf,
    shown: String,
    temporary: PathBuf,
    expected: Expected,
}

/// How a change was guarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// The system gave out what was replaced, or refused to replace anything.
    Exact,
    /// It was compared before; the moment between is not covered.
    Compared,
}

/// A change that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Hex SHA-256 of what is there now; none when it was removed.
    pub hash: Option<String>,
    /// Permission bits of what is there now; 0 when it was removed.
    pub mode: u32,
    /// How it was guarded.
    pub guard: Guard,
    /// Syncs it took: 2, and one more for each folder that was made.
    pub syncs: u32,
    /// Folders that were made for it, outermost first.
    pub folders: Vec<PathBuf>,
}

impl Swap {
    /// Names a change of the file at a real path.
    pub fn new(root: &Root, real: &Path, expected: Expected) -> Result<Self, FileError> {
        let shown = root.show(real);
        let temporary = temporary::name_beside(real, &shown)?;
        Ok(Self {
            real: real.to_owned(),
            shown,
            temporary,
            expected,
        })
    }

    /// The temporary file that the change will use; not there yet.
    pub fn temporary(&self) -> &Path {
        &self.temporary
    }

    /// Puts these bytes there. Mode, owner where possible and extended attributes stay; missing folders are made.
    pub fn write(&self, root: &Root, bytes: &[u8]) -> Result<Written, FileError> {
        self.write_with(root, bytes, None, &Kernel)
    }

    /// Removes the file.
    pub fn remove(&self, root: &Root) -> Result<Written, FileError> {
        self.remove_with(root, &Kernel)
    }

    /// `like` is the file whose mode, owner and attributes a new one takes over.
    fn write_with(
        &self,
        root: &Root,
        bytes: &[u8],
        like: Option<(std::fs::File, Stat)>,
        calls: &dyn Calls,
    ) -> Result<Written, FileError> {
        root.check_alive()?;
        let mut made = Folders::default();
        if self.expected == Expected::Absent {
            made.make(root, self.parent(), calls)?;
        }
        let folder = root.open_folder(self.parent())?;
        let mut syncs = made.syncs;
        let old = self.old_file(root)?.or(like);
        let mut temporary =
            Temporary::create(&folder, self.temporary_name(), old.as_ref().map(|(_, stat)| stat))
                .map_err(|errno| self.fail("write", errno))?;
        let mode = temporary
            .fill(
                bytes,
                old.as_ref().map(|(file, stat)| (file.as_fd(), stat)),
                calls,
            )
            .map_err(|errno| self.fail("write", errno))?;
        syncs += 1;
        let guard = match &self.expected {
            Expected::Absent => self.put_new(&folder, calls)?,
            Expected::Content(hash) => self.put_over(root, &folder, &mut temporary, hash, bytes, calls)?,
        };
        made.keep();
        // What it holds now is what was replaced.
        drop(temporary);
        if let Err(errno) = calls.sync(folder.as_fd()) {
            // The change is there for everybody to see; only a loss of power now could still undo it.
            tracing::warn!(path = %self.shown, %errno, "the folder of a changed file could not be synced");
        }
        syncs += 1;
        Ok(Written {
            hash: Some(hash::of_bytes(bytes)),
            mode,
            guard,
            syncs,
            folders: std::mem::take(&mut made.made),
        })
    }

    fn remove_with(&self, root: &Root, calls: &dyn Calls) -> Result<Written, FileError> {
        let Expected::Content(expected) = &self.expected else {
            return Err(FileError::Missing(self.shown.clone()));
        };
        root.check_alive()?;
        let folder = root.open_folder(self.parent())?;
        let dir = folder.as_fd();
        match rename_if_free(calls, dir, self.name(), self.temporary_name()) {
            Ok(()) => {}
            Err(Errno::NOENT) => return Err(FileError::Changed(self.shown.clone())),
            Err(errno) => return Err(self.fail("delete", errno)),
        }
        let out = temporary::hash_at(&folder, self.temporary_name()).unwrap_or_default();
        if out != *expected {
            // Should another have taken the name by now, both are kept and the person is told where.
            rename_if_free(calls, dir, self.temporary_name(), self.name()).map_err(|_| self.stranded())?;
            return Err(FileError::Changed(self.shown.clone()));
        }
        rustix::fs::unlinkat(dir, self.temporary_name(), AtFlags::empty())
            .map_err(|errno| self.fail("delete", errno))?;
        if let Err(errno) = calls.sync(dir) {
            // It is gone for everybody to see, and an error would say that it never went: nobody could bring it back.
            tracing::warn!(path = %self.shown, %errno, "the folder of a deleted file could not be synced");
        }
        Ok(Written {
            hash: None,
            mode: 0,
            guard: Guard::Exact,
            syncs: 1,
            folders: Vec::new(),
        })
    }

    /// The file that will be replaced, with what the system says of it.
    fn old_file(&self, root: &Root) -> Result<Option<(std::fs::File, Stat)>, FileError> {
        if self.expected == Expected::Absent {
            return match root.kind(&self.real)? {
                Kind::Missing => Ok(None),
                _ => Err(FileError::Appeared(self.shown.clone())),
            };
        }
        match root.open_file(&self.real) {
            Ok(found) => {
                check_writable(root, &self.real)?;
                Ok(Some(found))
            }
            Err(FileError::Missing(shown)) => Err(FileError::Changed(shown)),
            Err(error) => Err(error),
        }
    }

    fn put_new(&self, folder: &OwnedFd, calls: &dyn Calls) -> Result<Guard, FileError> {
        let dir = folder.as_fd();
        match rename_if_free(calls, dir, self.temporary_name(), self.name()) {
            Ok(()) => Ok(Guard::Exact),
            Err(Errno::EXIST) => Err(FileError::Appeared(self.shown.clone())),
            Err(errno) => Err(self.fail("create", errno)),
        }
    }

    fn put_over(
        &self,
        root: &Root,
        folder: &OwnedFd,
        temporary: &mut Temporary<'_>,
        expected: &str,
        bytes: &[u8],
        calls: &dyn Calls,
    ) -> Result<Guard, FileError> {
        let dir = folder.as_fd();
        match calls.rename(dir, self.temporary_name(), self.name(), Rename::Exchange) {
            Ok(()) => {}
            Err(Errno::NOENT) => return Err(FileError::Changed(self.shown.clone())),
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                return self.put_over_compared(root, folder, expected, calls);
            }
            Err(errno) => return Err(self.fail("replace", errno)),
        }
        if temporary::hash_at(folder, self.temporary_name()).as_deref() == Some(expected) {
            return Ok(Guard::Exact);
        }
        self.put_back(folder, temporary, bytes, calls)?;
        Err(FileError::Changed(self.shown.clone()))
    }

    /// What came out is somebody else's: it gets its name back. Should a third version have come meanwhile, that is
    /// the newest and stays.
    fn put_back(
        &self,
        folder: &OwnedFd,
        temporary: &mut Temporary<'_>,
        bytes: &[u8],
        calls: &dyn Calls,
    ) -> Result<(), FileError> {
        // What lies under the name and what in the temporary file, as far as we put it there.
        let mut under_name = Some(hash::of_bytes(bytes));
        let mut aside = temporary::hash_at(folder, self.temporary_name());
        for _ in 0..TURNS {
            match calls.rename(
                folder.as_fd(),
                self.temporary_name(),
                self.name(),
                Rename::Exchange,
            ) {
                Ok(()) => {}
                Err(Errno::NOENT) => {
                    // Deleted meanwhile by whoever wrote it: their version is put back all the same.
                    let back = calls.rename(
                        folder.as_fd(),
                        self.temporary_name(),
                        self.name(),
                        Rename::NoReplace,
                    );
                    if back.is_ok() {
                        temporary.done();
                        return Ok(());
                    }
                }
                Err(_) => {
                    temporary.done();
                    return Err(self.stranded());
                }
            }
            let out = temporary::hash_at(folder, self.temporary_name());
            if out == under_name {
                return Ok(());
            }
            // Somebody replaced it before it came out: that is newer than what lies under the name now.
            under_name = std::mem::replace(&mut aside, out);
        }
        temporary.done();
        Err(self.stranded())
    }

    /// For file systems that cannot exchange.
    fn put_over_compared(
        &self,
        root: &Root,
        folder: &OwnedFd,
        expected: &str,
        calls: &dyn Calls,
    ) -> Result<Guard, FileError> {
        let now = root
            .open_file(&self.real)
            .ok()
            .and_then(|(file, _)| hash::of_reader(file).ok());
        if now.as_deref() != Some(expected) {
            return Err(FileError::Changed(self.shown.clone()));
        }
        calls
            .rename(
                folder.as_fd(),
                self.temporary_name(),
                self.name(),
                Rename::Replace,
            )
            .map_err(|errno| self.fail("replace", errno))?;
        Ok(Guard::Compared)
    }

    fn parent(&self) -> &Path {
        self.real.parent().unwrap_or(Path::new("/"))
    }

    fn name(&self) -> &Path {
        self.real.file_name().map_or(&self.real, Path::new)
    }

    fn temporary_name(&self) -> &Path {
        self.temporary.file_name().map_or(&self.temporary, Path::new)
    }

    fn fail(&self, doing: &'static str, errno: Errno) -> FileError {
        FileError::from_errno(doing, &self.shown, errno)
    }

    fn stranded(&self) -> FileError {
        FileError::Io {
            doing: "put back",
            shown: self.shown.clone(),
            reason: format!(
                "it was changed by something else meanwhile, and that version is kept as {}",
                crate::name::to_text(self.temporary.as_os_str())
            ),
        }
    }
}

/// Gives a file another name in its folder, only when nothing has that name.
fn rename_if_free(calls: &dyn Calls, dir: BorrowedFd<'_>, from: &Path, to: &Path) -> Result<(), Errno> {
    match calls.rename(dir, from, to, Rename::NoReplace) {
        // A hard link is made only when the name is free, too.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
            rustix::fs::linkat(dir, from, dir, to, AtFlags::empty())
                .and_then(|()| rustix::fs::unlinkat(dir, from, AtFlags::empty()))
        }
        other => other,
    }
}

/// Fails when a file must not be written: a rename would replace it whatever its mode says.
pub fn check_writable(root: &Root, real: &Path) -> Result<(), FileError> {
    let shown = root.show(real);
    let (file, stat) = root.open_file(real)?;
    let read_only = stat.st_mode & 0o222 == 0;
    drop(file);
    // Judged with the rights that count when opening; the name is looked up once more, which the swap checks anyway.
    let denied = rustix::fs::accessat(rustix::fs::CWD, real, Access::WRITE_OK, AtFlags::EACCESS);
    match denied {
        _ if read_only => Err(FileError::ReadOnly(shown)),
        Err(Errno::ACCESS | Errno::PERM | Errno::ROFS) => Err(FileError::ReadOnly(shown)),
        _ => Ok(()),
    }
}

/// Flags with which a name in a folder is opened to look at what it is.
const LOOK: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::CLOEXEC);

#[cfg(test)]
mod tests;
