//! What a real path is: inside or outside the project, plain, a credential, or protected.
//!
//! Owns: the lists of names and the comparison of names. Must never know: what is on the disk. Every path that
//! comes in is a real path (all links resolved, a missing leaf through its nearest existing parent); one that
//! is not (relative, or with `..` in it) counts as outside.

mod names;
mod within;

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use crate::show::is_unseen;
use crate::{Care, Effect, Place};

pub use within::{FolderNames, NameCare};

/// The folders that a path is judged against. All are real paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// The project folder.
    pub root: PathBuf,
    /// The person's home folder, where there is one.
    pub home: Option<PathBuf>,
    /// Cairn's own folders: configuration, data, logs. A project that lies in one of them (the sample project,
    /// our worktrees) is judged as a project.
    pub own: Vec<PathBuf>,
}

impl Places {
    /// Where a path lies. Compares whole components, so `/w/p-evil` is outside `/w/p` (F01).
    pub fn place(&self, path: &Path) -> Place {
        if self.relative(path).is_some() {
            Place::Inside
        } else {
            Place::Outside
        }
    }

    /// The path relative to the project; none outside it. Empty for the project folder itself.
    pub fn relative<'a>(&self, path: &'a Path) -> Option<&'a Path> {
        if !is_plainly_absolute(path) {
            return None;
        }
        path.strip_prefix(&self.root).ok()
    }

    /// Whether a path is the project folder itself.
    pub fn is_root(&self, path: &Path) -> bool {
        self.relative(path)
            .is_some_and(|relative| relative.as_os_str().is_empty())
    }

    /// Why reading the content of a path needs care: [`Care::Credential`] or [`Care::Plain`]. SPEC P2.
    pub fn read_care(&self, path: &Path) -> Care {
        let names = folded(path);
        if names::is_credential(&names) || names::is_process_state(&names) || self.is_own(path) {
            Care::Credential
        } else {
            Care::Plain
        }
    }

    /// Why writing to a path needs care. A path that is both protected and a credential (`.npmrc`) is protected:
    /// that is the stricter of the two. SPEC P2, P3.
    pub fn write_care(&self, path: &Path) -> Care {
        let names = folded(path);
        if names::is_protected(&names) || self.is_own(path) {
            Care::Protected
        } else if names::is_credential(&names) || names::is_process_state(&names) {
            Care::Credential
        } else {
            Care::Plain
        }
    }

    /// The effect of reading that file's content or searching that folder.
    pub fn read(&self, path: impl Into<PathBuf>) -> Effect {
        let path = path.into();
        Effect::ReadPath {
            place: self.place(&path),
            care: self.read_care(&path),
            path,
        }
    }

    /// The effect of creating, changing, moving or deleting that file; `links` is its number of hard links, 0 or 1
    /// for one that does not exist yet.
    pub fn write(&self, path: impl Into<PathBuf>, links: u64) -> Effect {
        let path = path.into();
        Effect::WritePath {
            place: self.place(&path),
            care: self.write_care(&path),
            hard_linked: links > 1,
            path,
        }
    }

    /// How a path is told to a person: relative to the project, below the home folder as `~/…`, else whole.
    pub fn named(&self, path: &Path) -> String {
        if let Some(relative) = self.relative(path) {
            if relative.as_os_str().is_empty() {
                return "the project folder".to_owned();
            }
            return relative.display().to_string();
        }
        let home = self.home.as_deref().and_then(|home| path.strip_prefix(home).ok());
        match home {
            Some(below) if is_plainly_absolute(path) => format!("~/{}", below.display()),
            _ => path.display().to_string(),
        }
    }

    /// Whether a path lies in one of Cairn's own folders. A folder of ours that holds the project says nothing
    /// about the project's files; one inside the project keeps its own.
    fn is_own(&self, path: &Path) -> bool {
        let inside = self.place(path) == Place::Inside;
        self.own.iter().any(|own| {
            let counts = !inside || own.strip_prefix(&self.root).is_ok();
            counts && path.strip_prefix(own).is_ok()
        })
    }
}

/// Whether reading the content of a file of that path asks everywhere, judged by its names alone. For searches,
/// which skip such files and count them. SPEC P2.
pub fn is_credential(path: &Path) -> bool {
    names::is_credential(&folded(path))
}

/// Folders and files of a home folder that hold credentials whatever is in them, relative to it, in lower case. For
/// walls that hide them as a whole.
pub fn credential_places() -> Vec<PathBuf> {
    names::credential_places().collect()
}

/// Whether writing to a file of that path asks everywhere, judged by its names alone. SPEC P3.
pub fn is_protected(path: &Path) -> bool {
    names::is_protected(&folded(path))
}

/// Whether a file is a build file: nothing special to write, but it runs code when the project is next built or
/// tested, and the card says so (F11).
pub fn runs_later(path: &Path) -> bool {
    names::is_build_file(&folded(path))
}

/// Whether a path holds a NUL byte, which no file name can (F20).
pub(crate) fn has_nul(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().contains(&0)
}

fn is_plainly_absolute(path: &Path) -> bool {
    path.is_absolute()
        && path
            .components()
            .all(|part| !matches!(part, Component::ParentDir | Component::CurDir))
}

/// The names of a path as the most forgiving file system compares them.
fn folded(path: &Path) -> Vec<String> {
    path.components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(fold(name)),
            _ => None,
        })
        .collect()
}

/// One name without what some file system ignores: letter case, invisible characters (HFS+), trailing dots and
/// spaces, stream names after a colon and the short form of `.git` (Windows). F09, F10.
fn fold(name: &OsStr) -> String {
    let name = name.to_string_lossy();
    // Most names are of plain characters, and whole trees are judged by their names.
    let seen: String = if name.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        name.to_ascii_lowercase()
    } else {
        name.chars()
            .filter(|c| !is_unseen(*c))
            .flat_map(char::to_lowercase)
            .map(|c| if c == '\u{17f}' { 's' } else { c })
            .collect()
    };
    let stream = seen.split(':').next().unwrap_or_default();
    let bare = stream.trim_end_matches(['.', ' ']);
    if bare == "git~1" {
        ".git".to_owned()
    } else {
        bare.to_owned()
    }
}

#[cfg(test)]
mod tests;
