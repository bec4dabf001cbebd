//! Moving what must not stay out of the project. Must never know: why it must not.

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

/// Names that are tried for a folder of one moment.
const TRIES: u32 = 1_000;

/// Something that was taken out of the project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// Where it was, relative to the project.
    pub from: PathBuf,
    /// Where it is now; an error when it could not be moved and is still there.
    pub to: Result<PathBuf, String>,
}

/// Moves these out of the project into a fresh folder beneath `aside`. What lies in something that was moved goes with
/// it.
pub(super) fn move_out(root: &Path, aside: &Path, paths: &[PathBuf]) -> Vec<Moved> {
    if paths.is_empty() {
        return Vec::new();
    }
    let folder = fresh(aside);
    let moved = paths.iter().map(|path| {
        let from = path.strip_prefix(root).unwrap_or(path).to_owned();
        let to = folder.as_ref().map_err(ToString::to_string).and_then(|folder| {
            let to = folder.join(&from);
            move_one(path, &to)
                .map(|()| to)
                .map_err(|error| error.to_string())
        });
        Moved { from, to }
    });
    moved.collect()
}

fn fresh(aside: &Path) -> io::Result<PathBuf> {
    private(aside)?;
    for number in 1..=TRIES {
        let folder = aside.join(number.to_string());
        match fs::DirBuilder::new().mode(0o700).create(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other(format!("{} is full", aside.display())))
}

fn private(folder: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

fn move_one(from: &Path, to: &Path) -> io::Result<()> {
    if let Some(parent) = to.parent() {
        private(parent)?;
    }
    match fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
            copy(from, to)?;
            if from.symlink_metadata()?.is_dir() {
                fs::remove_dir_all(from)
            } else {
                fs::remove_file(from)
            }
        }
        done => done,
    }
}

/// Copies what is there, links as links; pipes, sockets and devices are left out.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let kind = from.symlink_metadata()?.file_type();
    if kind.is_symlink() {
        std::os::unix::fs::symlink(fs::read_link(from)?, to)
    } else if kind.is_dir() {
        private(to)?;
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            copy(&entry.path(), &to.join(entry.file_name()))?;
        }
        Ok(())
    } else if kind.is_file() {
        fs::copy(from, to).map(|_| ())
    } else {
        Ok(())
    }
}
