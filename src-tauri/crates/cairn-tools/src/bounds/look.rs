//! Looking through a project for what the walls have to keep or hide in it. Must never know: what the walls make of it.
//!
//! What cannot be looked at is told and not passed over in silence: who relies on the walls has to know.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fs::{DirEntry, FileType};
use std::io;
use std::path::{Path, PathBuf};

use cairn_policy::{FolderNames, Looked};
use rustix::fs::Access;

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

/// Looks through a project, the outermost folders first.
pub(super) fn through(root: &Path, wanted: Wanted) -> Found {
    let mut look = Look {
        root,
        found: Found::nothing(wanted),
        waiting: VecDeque::new(),
    };
    look.waiting.push_back(Folder {
        path: root.to_owned(),
        names: FolderNames::default(),
        wanted: For::Everything,
    });
    let most = look.found.wanted.folders;
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
    look.found
}

struct Look<'a> {
    root: &'a Path,
    found: Found,
    waiting: VecDeque<Folder>,
}

impl Look<'_> {
    fn enter(&mut self, mut folder: Folder) {
        // Names that can be listed and not reached can neither be kept nor hidden.
        let entries = rustix::fs::access(&folder.path, Access::EXEC_OK)
            .map_err(io::Error::from)
            .and_then(|()| std::fs::read_dir(&folder.path));
        let met = entries.and_then(|mut entries| {
            entries.try_for_each(|entry| {
                let entry = entry?;
                let kind = entry.file_type()?;
                self.meet(&mut folder, &entry, kind);
                Ok(())
            })
        });
        match met {
            Err(error) if is_gone(&error) => {}
            Err(error) => {
                self.leave_out(format!(
                    "{} cannot be looked into ({error}). The sandbox keeps no protected files in it and hides no \
                     credentials.",
                    cairn_files::name::to_text(self.relative(&folder.path).as_os_str())
                ));
                self.found.shut.insert(folder.path);
            }
            Ok(()) => {}
        }
    }

    fn meet(&mut self, folder: &mut Folder, entry: &DirEntry, kind: FileType) {
        let name = entry.file_name();
        let bars = &self.found.wanted.bars;
        if !bars.is_empty() && !kind.is_symlink() {
            let path = folder.path.join(&name);
            if bars.bars(self.relative(&path)) {
                self.found.hidden.insert(path);
                return;
            }
        }
        let into = match folder.wanted {
            For::Everything => self.judge(folder, &name, kind),
            For::Barred => For::Barred,
        };
        if !kind.is_dir() {
            return;
        }
        let path = folder.path.join(&name);
        if into == For::Everything || self.found.wanted.bars.may_bar_beneath(self.relative(&path)) {
            self.waiting.push_back(Folder {
                path,
                names: folder.names.child(&name),
                wanted: into,
            });
        }
    }

    /// What an entry is by its name, and what has to be looked for in it.
    fn judge(&mut self, folder: &mut Folder, name: &OsStr, kind: FileType) -> For {
        let path = || folder.path.join(name);
        if name.eq_ignore_ascii_case(GIT) {
            if kind.is_dir() {
                self.found.met_repository(path());
            } else {
                self.found.kept.insert(path());
            }
            return For::Barred;
        }
        let care = folder.names.care(name);
        let path = || folder.path.join(name);
        if kind.is_symlink() {
            if care.protected {
                self.found.links.insert(path());
            }
            return For::Barred;
        }
        if care.credential {
            self.found.hidden.insert(path());
        }
        if care.protected {
            self.found.kept.insert(path());
        }
        if care.credential || care.protected || PASSED_OVER.iter().any(|passed| name == *passed) {
            return For::Barred;
        }
        For::Everything
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

/// Whether it was there a moment ago and is not any more: commands run meanwhile.
fn is_gone(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}
