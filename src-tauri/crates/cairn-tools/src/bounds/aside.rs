//! Moving what must not stay out of the project. Must never know: why it must not.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use cairn_files::Root;
use rustix::fd::{AsFd as _, BorrowedFd, OwnedFd};
use rustix::fs::{self as rfs, AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

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
/// it. A folder on the way that became a link meanwhile leads nowhere: commands may still run while this looks.
pub(super) fn move_out(root: &Path, aside: &Path, paths: &[PathBuf]) -> Vec<Moved> {
    if paths.is_empty() {
        return Vec::new();
    }
    let places = fresh(aside).and_then(|folder| {
        let root = Root::open(root).map_err(io::Error::other)?;
        Ok((root, folder))
    });
    let moved = paths.iter().map(|path| {
        let from = path.strip_prefix(root).unwrap_or(path).to_owned();
        let to = match &places {
            Ok((root, folder)) => {
                let to = folder.join(&from);
                move_one(root, path, &to)
                    .map(|()| to)
                    .map_err(|error| error.to_string())
            }
            Err(error) => Err(error.to_string()),
        };
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

fn move_one(root: &Root, from: &Path, to: &Path) -> io::Result<()> {
    let (Some(parent), Some(name), Some(into)) = (from.parent(), from.file_name(), to.parent()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    private(into)?;
    let parent = root.open_folder(parent).map_err(io::Error::other)?;
    match rfs::renameat(&parent, name, rfs::CWD, to) {
        Err(Errno::XDEV) => {
            copy(parent.as_fd(), name, to)?;
            remove(parent.as_fd(), name)
        }
        done => Ok(done?),
    }
}

/// What an entry is, itself.
fn kind_of(folder: BorrowedFd<'_>, name: &OsStr) -> io::Result<FileType> {
    let stat = rfs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(FileType::from_raw_mode(stat.st_mode))
}

/// Opens an entry that must not be a link.
fn open(folder: BorrowedFd<'_>, name: &OsStr, flags: OFlags) -> io::Result<OwnedFd> {
    let flags = flags | OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(rfs::openat(folder, name, flags, Mode::empty())?)
}

fn names_in(folder: &OwnedFd) -> io::Result<Vec<OsString>> {
    let mut names = Vec::new();
    for entry in rfs::Dir::read_from(folder)? {
        let name = OsStr::from_bytes(entry?.file_name().to_bytes()).to_owned();
        if name != "." && name != ".." {
            names.push(name);
        }
    }
    Ok(names)
}

/// Copies what is there, links as links; pipes, sockets and devices are left out.
fn copy(folder: BorrowedFd<'_>, name: &OsStr, to: &Path) -> io::Result<()> {
    match kind_of(folder, name)? {
        FileType::Symlink => {
            let target = rfs::readlinkat(folder, name, Vec::new())?;
            Ok(rfs::symlink(target, to)?)
        }
        FileType::Directory => {
            private(to)?;
            let inner = open(folder, name, OFlags::DIRECTORY)?;
            for entry in names_in(&inner)? {
                copy(inner.as_fd(), &entry, &to.join(&entry))?;
            }
            Ok(())
        }
        FileType::RegularFile => {
            let mut from = fs::File::from(open(folder, name, OFlags::empty())?);
            let mut to = fs::OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(to)?;
            io::copy(&mut from, &mut to).map(|_| ())
        }
        _ => Ok(()),
    }
}

fn remove(folder: BorrowedFd<'_>, name: &OsStr) -> io::Result<()> {
    if kind_of(folder, name)? != FileType::Directory {
        return Ok(rfs::unlinkat(folder, name, AtFlags::empty())?);
    }
    let inner = open(folder, name, OFlags::DIRECTORY)?;
    for entry in names_in(&inner)? {
        remove(inner.as_fd(), &entry)?;
    }
    Ok(rfs::unlinkat(folder, name, AtFlags::REMOVEDIR)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Ground {
        folder: tempfile::TempDir,
        root: PathBuf,
    }

    impl Ground {
        /// A project with `a/.vscode/tasks.json`, and something of the same name outside of it.
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let base = folder.path().canonicalize().unwrap();
            for place in ["p/a", "home"] {
                fs::create_dir_all(base.join(place).join(".vscode/deep")).unwrap();
                fs::write(base.join(place).join(".vscode/deep/tasks.json"), place).unwrap();
                std::os::unix::fs::symlink("deep", base.join(place).join(".vscode/link")).unwrap();
            }
            Self {
                folder,
                root: base.join("p"),
            }
        }

        fn at(&self, name: &str) -> PathBuf {
            self.folder.path().canonicalize().unwrap().join(name)
        }
    }

    #[test]
    fn what_appeared_is_moved_with_all_that_is_in_it() {
        let ground = Ground::new();
        let moved = move_out(
            &ground.root,
            &ground.at("aside"),
            &[ground.root.join("a/.vscode")],
        );
        let to = moved[0].to.clone().unwrap();
        assert_eq!(fs::read_to_string(to.join("deep/tasks.json")).unwrap(), "p/a");
        assert!(!ground.root.join("a/.vscode").exists());
    }

    #[test]
    fn g5_a_folder_that_became_a_link_meanwhile_leads_nowhere() {
        let ground = Ground::new();
        let seen = ground.root.join("a/.vscode");
        fs::rename(ground.root.join("a"), ground.root.join("b")).unwrap();
        std::os::unix::fs::symlink(ground.at("home"), ground.root.join("a")).unwrap();
        let moved = move_out(&ground.root, &ground.at("aside"), &[seen]);
        assert!(moved[0].to.is_err(), "{moved:?}");
        assert!(ground.at("home/.vscode/deep/tasks.json").exists());
        assert!(!ground.at("aside/1/a/.vscode").exists());
    }

    #[test]
    fn between_disks_it_is_copied_and_then_removed_and_links_stay_links() {
        let ground = Ground::new();
        let parent = Root::open(&ground.root).unwrap();
        let parent = parent.open_folder(&ground.root.join("a")).unwrap();
        let (name, to) = (OsStr::new(".vscode"), ground.at("copy"));
        copy(parent.as_fd(), name, &to).unwrap();
        assert_eq!(fs::read_to_string(to.join("deep/tasks.json")).unwrap(), "p/a");
        assert_eq!(fs::read_link(to.join("link")).unwrap(), Path::new("deep"));
        remove(parent.as_fd(), name).unwrap();
        assert!(!ground.root.join("a/.vscode").exists());
        // A link is removed, and what it leads to is not.
        std::os::unix::fs::symlink(ground.at("home"), ground.root.join("a/.vscode")).unwrap();
        remove(parent.as_fd(), name).unwrap();
        assert!(ground.at("home/.vscode/deep/tasks.json").exists());
    }
}
