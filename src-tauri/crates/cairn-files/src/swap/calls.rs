//! The calls of a swap that can fail in ways which tests must be able to bring about.

use std::path::Path;

use rustix::fd::BorrowedFd;
use rustix::io::Errno;

/// How a name takes the place of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rename {
    /// Both trade places.
    Exchange,
    /// Only when the other is free.
    NoReplace,
    /// Whatever was there is gone.
    Replace,
}

/// What a swap asks of the system.
pub(super) trait Calls {
    /// Renames within one folder.
    fn rename(&self, dir: BorrowedFd<'_>, from: &Path, to: &Path, how: Rename) -> Result<(), Errno>;
    /// Gives a file a name in another folder, only when nothing has that name.
    fn rename_away(&self, from: (BorrowedFd<'_>, &Path), to: (BorrowedFd<'_>, &Path)) -> Result<(), Errno>;
    /// Writes all bytes.
    fn write(&self, file: BorrowedFd<'_>, bytes: &[u8]) -> Result<(), Errno>;
    /// Waits until it is on the disk.
    fn sync(&self, file: BorrowedFd<'_>) -> Result<(), Errno>;
}

/// The system itself.
pub(super) struct Kernel;

impl Calls for Kernel {
    #[cfg(target_os = "linux")]
    fn rename(&self, dir: BorrowedFd<'_>, from: &Path, to: &Path, how: Rename) -> Result<(), Errno> {
        use rustix::fs::{RenameFlags, renameat_with};
        let flags = match how {
            Rename::Exchange => RenameFlags::EXCHANGE,
            Rename::NoReplace => RenameFlags::NOREPLACE,
            Rename::Replace => RenameFlags::empty(),
        };
        renameat_with(dir, from, dir, to, flags)
    }

    #[cfg(not(target_os = "linux"))]
    fn rename(&self, dir: BorrowedFd<'_>, from: &Path, to: &Path, how: Rename) -> Result<(), Errno> {
        match how {
            Rename::Replace => rustix::fs::renameat(dir, from, dir, to),
            Rename::Exchange | Rename::NoReplace => Err(Errno::NOSYS),
        }
    }

    #[cfg(target_os = "linux")]
    fn rename_away(&self, from: (BorrowedFd<'_>, &Path), to: (BorrowedFd<'_>, &Path)) -> Result<(), Errno> {
        rustix::fs::renameat_with(from.0, from.1, to.0, to.1, rustix::fs::RenameFlags::NOREPLACE)
    }

    #[cfg(not(target_os = "linux"))]
    fn rename_away(&self, _from: (BorrowedFd<'_>, &Path), _to: (BorrowedFd<'_>, &Path)) -> Result<(), Errno> {
        Err(Errno::NOSYS)
    }

    fn write(&self, file: BorrowedFd<'_>, bytes: &[u8]) -> Result<(), Errno> {
        let mut rest = bytes;
        while !rest.is_empty() {
            match rustix::io::write(file, rest) {
                Ok(0) => return Err(Errno::IO),
                Ok(count) => rest = rest.get(count..).unwrap_or_default(),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno),
            }
        }
        Ok(())
    }

    fn sync(&self, file: BorrowedFd<'_>) -> Result<(), Errno> {
        rustix::fs::fsync(file)
    }
}
