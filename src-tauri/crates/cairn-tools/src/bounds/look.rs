//! Looking through a project for what the walls have to keep or hide in it. Must never know: what the walls make of it.
//!
//! What cannot be looked at is told and not passed over in silence: who relies on the walls has to know.

use std::collections::{BTreeSet, VecDeque};
use std::ffi::{OsStr, OsString};
use std::fs::FileType;
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use cairn_policy::{FolderNames, Looked, ReadBars};
use rustix::fs::Access;

use super::memory::{Mark, Marks, Memory, Stamp};
use super::protected::{Found, GIT, Wanted};

/// Folders of installed or built things: nobody opens them as projects, and tools replace them as a whole.
const PASSED_OVER: &[&str] = &[
    "node_modules",
    "target",
    ".venv",
    "venv",
    "__pycache__",
    ".tox",
    ".gradle",
    ".next",
];

/// What is looked for in a folder.
#[derive(Clone, Copy, PartialEq, Eq)]
enum For {
    /// Everything.
    Everything,
    /// Only what rules bar.
    Barred,
}

struct Folder {
    path: PathBuf,
    names: FolderNames,
    wanted: For,
}

/// Looks through a project, the outermost folders first. What did not change since the last look is taken from
/// `memory`.
pub(super) fn through(root: &Path, wanted: Wanted, memory: &mut Memory) -> Found {
    memory.begin(root, &wanted.bars);
    let most = wanted.folders;
    let mut look = Look {
        root,
        bars: Arc::clone(&wanted.bars),
        found: Found::nothing(wanted),
        waiting: VecDeque::new(),
        memory,
    };
    look.waiting.push_back(Folder {
        path: root.to_owned(),
        names: FolderNames::default(),
        wanted: For::Everything,
    });
    let mut looked = 0;
    while let Some(folder) = look.waiting.pop_front() {
        looked += 1;
        if looked > most {
            look.leave_out(format!(
                "The project has more than {}. In the others the sandbox keeps no protected files and hides no \
                 credentials.",
                crate::prepared::counted(most as u64, "folder", "folders")
            ));
            break;
        }
        look.enter(folder);
    }
    look.memory.end();
    look.found
}

struct Look<'a> {
    root: &'a Path,
    bars: Arc<ReadBars>,
    found: Found,
    waiting: VecDeque<Folder>,
    memory: &'a mut Memory,
}

impl Look<'_> {
    fn enter(&mut self, mut folder: Folder) {
        match self.marks(&mut folder) {
            Ok(marks) => self.take(&folder, &marks),
            Err(error) if is_gone(&error) => {}
            Err(error) => {
                self.leave_out(format!(
                    "{} cannot be looked into ({error}). The sandbox keeps no protected files in it and hides no \
                     credentials.",
                    cairn_files::name::to_text(self.relative(&folder.path).as_os_str())
                ));
                self.found.shut.insert(folder.path);
            }
        }
    }

    fn marks(&mut self, folder: &mut Folder) -> io::Result<Marks> {
        // The time comes first, then the state, then what is in it.
        let now = SystemTime::now();
        let metadata = folder.path.symlink_metadata()?;
        if !metadata.is_dir() {
            // A link or file took its place.
            return Err(io::ErrorKind::NotADirectory.into());
        }
        let stamp = Stamp::of(&metadata);
        if let Some(marks) = self.memory.recall(&folder.path, stamp) {
            return Ok(marks);
        }
        // Names that can be listed and not reached can neither be kept nor hidden.
        rustix::fs::access(&folder.path, Access::EXEC_OK)?;
        let mut marks = Vec::new();
        for entry in std::fs::read_dir(&folder.path)? {
            let entry = entry?;
            match entry.file_type() {
                Ok(kind) => self.judge(folder, entry.file_name(), kind, &mut marks),
                Err(error) if is_gone(&error) => {}
                Err(error) => return Err(error),
            }
        }
        let marks = Marks::from(marks);
        self.memory.keep(&folder.path, stamp, now, &marks);
        Ok(marks)
    }

    /// What an entry is by its name.
    fn judge(&self, folder: &mut Folder, name: OsString, kind: FileType, marks: &mut Vec<(OsString, Mark)>) {
        if !self.bars.is_empty() && !kind.is_symlink() {
            let path = folder.path.join(&name);
            if self.bars.bars(self.relative(&path)) {
                marks.push((name, Mark::Hidden));
                return;
            }
        }
        let into = match folder.wanted {
            For::Everything => by_name(folder, &name, kind, marks),
            For::Barred => For::Barred,
        };
        if !kind.is_dir() {
            return;
        }
        if into == For::Everything {
            marks.push((name, Mark::Folder));
        } else if !self.bars.is_empty() && self.bars.may_bar_beneath(self.relative(&folder.path.join(&name)))
        {
            marks.push((name, Mark::FolderOfBarred));
        }
    }

    fn take(&mut self, folder: &Folder, marks: &Marks) {
        for (name, mark) in marks.iter() {
            let path = folder.path.join(name);
            let (found, waiting) = (&mut self.found, &mut self.waiting);
            let mut wait = |path, wanted| {
                waiting.push_back(Folder {
                    path,
                    names: folder.names.child(name),
                    wanted,
                });
            };
            match mark {
                Mark::Hidden => drop(found.hidden.insert(path)),
                Mark::Kept => drop(found.kept.insert(path)),
                Mark::Link => drop(found.links.insert(path)),
                Mark::Socket => drop(found.sockets.insert(path)),
                Mark::Repository => found.met_repository(path),
                Mark::Folder => wait(path, For::Everything),
                Mark::FolderOfBarred => wait(path, For::Barred),
            }
        }
    }

    fn relative<'p>(&self, path: &'p Path) -> &'p Path {
        path.strip_prefix(self.root).unwrap_or(path)
    }

    /// The first reason is told.
    fn leave_out(&mut self, reason: String) {
        if self.found.looked == Looked::Whole {
            tracing::info!(reason, "the project was not wholly looked through");
            self.found.looked = Looked::InPart(reason);
        }
    }
}

/// Judges an entry; answers what has to be looked for in it.
fn by_name(folder: &mut Folder, name: &OsStr, kind: FileType, marks: &mut Vec<(OsString, Mark)>) -> For {
    let mut mark = |mark| marks.push((name.to_owned(), mark));
    if name.eq_ignore_ascii_case(GIT) {
        mark(if kind.is_dir() {
            Mark::Repository
        } else {
            Mark::Kept
        });
        return For::Barred;
    }
    if kind.is_socket() {
        mark(Mark::Socket);
        return For::Barred;
    }
    let care = folder.names.care(name);
    if kind.is_symlink() {
        if care.protected {
            mark(Mark::Link);
        }
        return For::Barred;
    }
    if care.credential {
        mark(Mark::Hidden);
    }
    if care.protected {
        mark(Mark::Kept);
    }
    if care.credential || care.protected || PASSED_OVER.iter().any(|passed| name == *passed) {
        return For::Barred;
    }
    For::Everything
}

/// Whether it was there a moment ago and is not any more: commands run meanwhile.
fn is_gone(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Entries of protected folders that are looked at. No folder of hooks or settings has as many.
const ENTRIES: usize = 5_000;

/// A protected file that has another name besides, which nothing protects; also what there is too much of to tell.
pub(super) fn second_name(kept: &BTreeSet<PathBuf>) -> Option<PathBuf> {
    let mut waiting: Vec<PathBuf> = kept.iter().cloned().collect();
    let mut entries = 0;
    while let Some(path) = waiting.pop() {
        let Ok(metadata) = path.symlink_metadata() else {
            continue;
        };
        if metadata.is_file() && metadata.nlink() > 1 {
            return Some(path);
        }
        let inner = std::fs::read_dir(&path).ok().filter(|_| metadata.is_dir());
        for entry in inner.into_iter().flatten().flatten() {
            entries += 1;
            if entries > ENTRIES {
                return Some(path);
            }
            waiting.push(entry.path());
        }
    }
    None
}
