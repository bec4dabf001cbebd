//! Folders that are made on the way to a new file, or for their own sake. SPEC T15, T19.

use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Mode};
use rustix::io::Errno;

use super::calls::{Calls, Kernel};
use crate::{FileError, Kind, Root};

/// Makes a folder at a real path, and those on the way to it. Returns what was made, outermost first: nothing when
/// it is there. A file in its place is an error, and nothing is left of an attempt that failed.
pub fn make_folder(root: &Root, real: &Path) -> Result<Vec<PathBuf>, FileError> {
    root.check_alive()?;
    let mut folders = Folders::default();
    folders.make(root, real, &Kernel)?;
    // It may be there as something else, from before or since.
    if root.kind(real)? != Kind::Folder {
        return Err(FileError::NotAFolder(root.show(real)));
    }
    folders.keep();
    Ok(std::mem::take(&mut folders.made))
}

/// Folders made for a new file; those that are empty go again when the change fails.
#[derive(Default)]
pub(super) struct Folders {
    pub(super) made: Vec<PathBuf>,
    handles: Vec<(OwnedFd, PathBuf)>,
    pub(super) syncs: u32,
}

impl Folders {
    /// Makes a folder and those on the way to it that are missing.
    pub(super) fn make(&mut self, root: &Root, folder: &Path, calls: &dyn Calls) -> Result<(), FileError> {
        let mut missing: Vec<&Path> = Vec::new();
        let mut there = folder;
        while root.kind(there)? == Kind::Missing {
            missing.push(there);
            there = there
                .parent()
                .ok_or_else(|| FileError::Missing(root.show(folder)))?;
        }
        for path in missing.into_iter().rev() {
            let fail = |errno| FileError::from_errno("make the folder", &root.show(path), errno);
            let parent = root.open_folder(path.parent().unwrap_or(Path::new("/")))?;
            let name = path.file_name().map_or(path, Path::new);
            match rustix::fs::mkdirat(&parent, name, Mode::from_raw_mode(0o777)) {
                Ok(()) => {
                    calls.sync(parent.as_fd()).map_err(fail)?;
                    self.syncs += 1;
                    self.made.push(path.to_owned());
                    self.handles.push((parent, name.to_owned()));
                }
                Err(Errno::EXIST) => {}
                Err(errno) => return Err(fail(errno)),
            }
        }
        Ok(())
    }

    /// The change happened: they stay.
    pub(super) fn keep(&mut self) {
        self.handles.clear();
    }
}

impl Drop for Folders {
    fn drop(&mut self) {
        for (parent, name) in self.handles.iter().rev() {
            // One that is no longer empty is somebody's.
            rustix::fs::unlinkat(parent, name, AtFlags::REMOVEDIR).ok();
        }
    }
}
