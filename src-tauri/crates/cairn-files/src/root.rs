//! The project folder: one handle, opened once, beneath which every file is reached.
//!
//! A text that a model wrote is turned into a *real* path (all links resolved, a missing leaf through its nearest
//! existing parent), and that path decides everything. What is then opened is opened from the handle without
//! following any link, so that a folder that becomes a link in between leads nowhere.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use cairn_policy::Place;
use rustix::fd::OwnedFd;
use rustix::fs::{FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::sys::{self, OpenWay};
use crate::{FileError, name};

/// Links followed in one path before it counts as a loop; the kernel's own number.
const MAX_LINKS: usize = 40;
/// Bytes of a path, without the final NUL; the kernel's own number.
const MAX_PATH: usize = 4095;
/// Bytes of one name.
const MAX_NAME: usize = 255;

/// A project folder held open.
#[derive(Debug)]
pub struct Root {
    real: PathBuf,
    home: Option<PathBuf>,
    dir: OwnedFd,
    slash: OwnedFd,
    device: u64,
    inode: u64,
    way: OpenWay,
}

/// Where a path leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The real path: absolute, without links.
    pub real: PathBuf,
    /// For model and person: relative to the project (`.` for itself), absolute outside; see [`name::to_text`].
    pub shown: String,
    /// Whether it lies beneath the project.
    pub place: Place,
    /// What is there.
    pub kind: Kind,
}

/// What is at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing.
    Missing,
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// Something that is never opened.
    Special(Special),
}

/// What is never opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    /// A pipe with a name.
    Fifo,
    /// A socket.
    Socket,
    /// A device.
    Device,
}

impl Special {
    /// What it is, with its article.
    pub fn words(self) -> &'static str {
        match self {
            Self::Fifo => "a named pipe (FIFO)",
            Self::Socket => "a socket",
            Self::Device => "a device",
        }
    }
}

/// What one name in a path turned out to be.
enum Look {
    Is(Kind),
    Link(OsString),
}

impl Root {
    /// Opens the project folder by its real path and holds on to it.
    pub fn open(path: &Path) -> Result<Self, FileError> {
        Self::open_by(path, OpenWay::Kernel)
    }

    /// The same without `openat2`, as on an old kernel.
    #[doc(hidden)]
    pub fn open_walking(path: &Path) -> Result<Self, FileError> {
        Self::open_by(path, OpenWay::Walk)
    }

    fn open_by(path: &Path, way: OpenWay) -> Result<Self, FileError> {
        let shown = name::to_text(path.as_os_str());
        let real = std::fs::canonicalize(path).map_err(|error| FileError::from_io("open", &shown, &error))?;
        let fail = |errno| FileError::from_errno("open", &shown, errno);
        let flags = sys::REACH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let dir = rustix::fs::open(&real, flags, Mode::empty()).map_err(fail)?;
        let slash = rustix::fs::open("/", flags, Mode::empty()).map_err(fail)?;
        let stat = rustix::fs::fstat(&dir).map_err(fail)?;
        let home = std::env::home_dir().filter(|home| home.is_absolute());
        Ok(Self {
            real,
            home,
            dir,
            slash,
            device: stat.st_dev,
            inode: stat.st_ino,
            way,
        })
    }

    /// Takes another folder for `~/`.
    #[must_use]
    pub fn with_home(mut self, home: Option<PathBuf>) -> Self {
        self.home = home;
        self
    }

    /// The real path of the project folder.
    pub fn path(&self) -> &Path {
        &self.real
    }

    /// The folder that `~/` means, where known.
    pub fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// Where a text leads: relative to the project, absolute, or `~/…`. Every character is literal.
    ///
    /// A name that [`name::to_text`] had to escape is understood when nothing has the literal name.
    pub fn resolve(&self, text: &str) -> Result<Resolved, FileError> {
        if text.is_empty() {
            return Err(FileError::EmptyPath);
        }
        if text.starts_with("file://") || text.starts_with("http://") || text.starts_with("https://") {
            return Err(FileError::Url(text.chars().take(200).collect()));
        }
        let literal = self.resolve_path(Path::new(text))?;
        if literal.kind == Kind::Missing
            && let Some(unescaped) = name::from_escaped(text)
        {
            let other = self.resolve_path(Path::new(&unescaped))?;
            if other.kind != Kind::Missing {
                return Ok(other);
            }
        }
        Ok(literal)
    }

    /// Where a path leads; see [`Root::resolve`].
    pub fn resolve_path(&self, path: &Path) -> Result<Resolved, FileError> {
        let bytes = path.as_os_str().as_bytes();
        if bytes.contains(&0) {
            return Err(FileError::Nul);
        }
        if bytes.len() > MAX_PATH {
            return Err(FileError::TooLong { length: bytes.len() });
        }
        self.check_alive()?;
        let (start, rest) = self.start_of(path);
        let (real, kind) = self.follow(start, &rest, &name::to_text(path.as_os_str()))?;
        let place = if real.starts_with(&self.real) {
            Place::Inside
        } else {
            Place::Outside
        };
        Ok(Resolved {
            shown: self.show(&real),
            real,
            place,
            kind,
        })
    }

    /// Whether the last name of a text that leads to `found` is itself a link. Moving or deleting by such a name would
    /// reach another file than the one that is named.
    pub fn ends_in_link(&self, text: &str, found: &Resolved) -> bool {
        let path = Path::new(text);
        let (Some(folder), Some(named)) = (path.parent(), path.file_name()) else {
            return false;
        };
        let folder = if folder.as_os_str().is_empty() {
            Ok(self.real.clone())
        } else {
            self.resolve(&folder.to_string_lossy()).map(|folder| folder.real)
        };
        let unescaped =
            name::from_escaped(text).and_then(|text| Path::new(&text).file_name().map(OsStr::to_owned));
        let is = |name: &OsStr| {
            folder
                .as_ref()
                .is_ok_and(|folder| folder.join(name) == found.real)
        };
        !is(named) && !unescaped.as_deref().is_some_and(is)
    }

    /// A real path for model and person: relative to the project, `.` for itself, absolute outside.
    pub fn show(&self, real: &Path) -> String {
        match real.strip_prefix(&self.real) {
            Ok(rest) if rest.as_os_str().is_empty() => ".".to_owned(),
            Ok(rest) => name::to_text(rest.as_os_str()),
            Err(_) => name::to_text(real.as_os_str()),
        }
    }

    /// Fails when the project folder was moved, deleted or replaced: what has its name now is not the project.
    pub fn check_alive(&self) -> Result<(), FileError> {
        match rustix::fs::lstat(&self.real) {
            Ok(stat) if stat.st_dev == self.device && stat.st_ino == self.inode => Ok(()),
            _ => Err(FileError::RootGone(name::to_text(self.real.as_os_str()))),
        }
    }

    /// What is at a real path now.
    pub fn kind(&self, real: &Path) -> Result<Kind, FileError> {
        match self.look(real) {
            Ok(Look::Is(kind)) => Ok(kind),
            Ok(Look::Link(_)) => Err(FileError::Swapped(self.show(real))),
            Err(errno) => Err(FileError::from_errno("look at", &self.show(real), errno)),
        }
    }

    /// Opens a regular file for reading. Pipes, sockets, devices and folders are refused without opening them.
    pub fn open_file(&self, real: &Path) -> Result<(File, Stat), FileError> {
        let shown = self.show(real);
        match self.kind(real)? {
            Kind::Missing => return Err(FileError::Missing(shown)),
            Kind::Folder => {
                return Err(FileError::NotAFile {
                    shown,
                    what: "a folder",
                });
            }
            Kind::Special(special) => {
                return Err(FileError::NotAFile {
                    shown,
                    what: special.words(),
                });
            }
            Kind::File => {}
        }
        // Not blocking, should a pipe have taken its place since.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
        let fail = |errno| FileError::from_errno("read", &shown, errno);
        let file = self.open_real(real, flags, Mode::empty()).map_err(fail)?;
        let stat = rustix::fs::fstat(&file).map_err(fail)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(FileError::Swapped(shown));
        }
        Ok((File::from(file), stat))
    }

    /// Opens a folder so that it can be synced and names in it can be changed.
    pub fn open_folder(&self, real: &Path) -> Result<OwnedFd, FileError> {
        self.open_real(real, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty())
            .map_err(|errno| FileError::from_errno("open", &self.show(real), errno))
    }

    /// Opens a real path without following a link: beneath the project's handle where it lies inside.
    pub(crate) fn open_real(&self, real: &Path, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
        let (base, rest) = self.base_of(real);
        sys::open_beneath(base, rest, flags, mode, self.way)
    }

    fn base_of<'a>(&'a self, real: &'a Path) -> (BorrowedFd<'a>, &'a Path) {
        match real.strip_prefix(&self.real) {
            Ok(rest) => (self.dir.as_fd(), rest),
            Err(_) => (self.slash.as_fd(), real.strip_prefix("/").unwrap_or(real)),
        }
    }

    /// Where to begin and what is left to follow. What is known to be real is not walked again.
    fn start_of(&self, path: &Path) -> (PathBuf, PathBuf) {
        let expanded: PathBuf = match (path.strip_prefix("~"), &self.home) {
            (Ok(rest), Some(home)) => home.join(rest),
            _ => path.to_owned(),
        };
        if expanded.is_relative() {
            return (self.real.clone(), expanded);
        }
        match expanded.strip_prefix(&self.real) {
            Ok(rest) => (self.real.clone(), rest.to_owned()),
            Err(_) => (
                PathBuf::from("/"),
                expanded.strip_prefix("/").unwrap_or(&expanded).to_owned(),
            ),
        }
    }

    fn follow(&self, start: PathBuf, rest: &Path, shown: &str) -> Result<(PathBuf, Kind), FileError> {
        let mut todo: VecDeque<OsString> = parts(rest).collect();
        let mut current = start;
        let mut kind = Kind::Folder;
        // Names at the end of `current` that are not there.
        let mut missing = 0_usize;
        let mut links = 0;
        while let Some(part) = todo.pop_front() {
            if part == ".." {
                current.pop();
                missing = missing.saturating_sub(1);
                kind = Kind::Folder;
                continue;
            }
            if missing == 0 && kind != Kind::Folder {
                return Err(FileError::NotAFolder(self.show(&current)));
            }
            if part.len() > MAX_NAME {
                return Err(FileError::TooLong { length: part.len() });
            }
            current.push(&part);
            self.refuse_kernel_files(&current)?;
            if missing > 0 {
                missing += 1;
                continue;
            }
            match self
                .look(&current)
                .map_err(|errno| FileError::from_errno("look at", shown, errno))?
            {
                Look::Is(Kind::Missing) => missing = 1,
                Look::Is(found) => kind = found,
                Look::Link(target) => {
                    links += 1;
                    if links > MAX_LINKS {
                        return Err(FileError::LinkLoop(shown.to_owned()));
                    }
                    current.pop();
                    let target = Path::new(&target);
                    if target.is_absolute() {
                        current = PathBuf::from("/");
                    }
                    for (at, part) in parts(target).enumerate() {
                        todo.insert(at, part);
                    }
                    kind = Kind::Folder;
                }
            }
        }
        Ok((current, if missing > 0 { Kind::Missing } else { kind }))
    }

    /// `/proc/self/root` and its like are doors to everywhere, and devices can block or act when opened.
    fn refuse_kernel_files(&self, current: &Path) -> Result<(), FileError> {
        let kernel = current.starts_with("/proc") || current.starts_with("/dev");
        // A project in /dev/shm is somebody's project nevertheless.
        if kernel && !current.starts_with(&self.real) && !self.real.starts_with(current) {
            return Err(FileError::Refused(name::to_text(current.as_os_str())));
        }
        Ok(())
    }

    #[cfg(target_os = "linux")]
    fn look(&self, real: &Path) -> Result<Look, Errno> {
        let handle = match self.open_real(real, OFlags::PATH, Mode::empty()) {
            Ok(handle) => handle,
            Err(Errno::NOENT) => return Ok(Look::Is(Kind::Missing)),
            Err(errno) => return Err(errno),
        };
        let stat = rustix::fs::fstat(&handle)?;
        if FileType::from_raw_mode(stat.st_mode) == FileType::Symlink {
            let target = rustix::fs::readlinkat(&handle, "", Vec::new())?;
            return Ok(Look::Link(OsStr::from_bytes(target.as_bytes()).to_owned()));
        }
        Ok(Look::Is(kind_of(&stat)))
    }

    #[cfg(not(target_os = "linux"))]
    fn look(&self, real: &Path) -> Result<Look, Errno> {
        let stat = match rustix::fs::lstat(real) {
            Ok(stat) => stat,
            Err(Errno::NOENT) => return Ok(Look::Is(Kind::Missing)),
            Err(errno) => return Err(errno),
        };
        if FileType::from_raw_mode(stat.st_mode) == FileType::Symlink {
            let target = rustix::fs::readlink(real, Vec::new())?;
            return Ok(Look::Link(OsStr::from_bytes(target.as_bytes()).to_owned()));
        }
        Ok(Look::Is(kind_of(&stat)))
    }
}

fn kind_of(stat: &Stat) -> Kind {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Folder,
        FileType::Fifo => Kind::Special(Special::Fifo),
        FileType::Socket => Kind::Special(Special::Socket),
        _ => Kind::Special(Special::Device),
    }
}

/// The names of a path, with `..` as it stands and without `.` and `/`.
fn parts(path: &Path) -> impl Iterator<Item = OsString> + '_ {
    path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some(OsString::from("..")),
        _ => None,
    })
}

#[cfg(test)]
mod tests;
