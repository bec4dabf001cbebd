//! Reads rule files: regular ones only, opened without waiting for anybody, and no more of them than is sensible.
//!
//! A pipe, socket, device or folder that has the name of a rule file holds no rules; whoever put it there must not keep
//! a search waiting.

use std::ffi::{CStr, OsStr};
use std::fs::File;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use cairn_files::folder::{Entry, Folder};
use cairn_files::{FileError, Kind, Root};
use cairn_policy::Place;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::GIT;

/// Bytes of a rule file that count: beyond, compiling them would cost more than the search. Whole lines of the
/// beginning are obeyed then, and the file is counted as one that could not be read.
const MOST: u64 = 512 * 1024;
/// Bytes of a file that only holds a path.
const MOST_OF_A_PATH: u64 = 16 * 1024;

/// Where the rules of one folder are read from.
pub(super) struct Source<'a> {
    pub(super) root: &'a Root,
    pub(super) folder: &'a Folder,
    /// The folder's real path.
    pub(super) path: &'a Path,
    /// The folder that is searched.
    pub(super) base: &'a Path,
    /// Rule files that could not be read, or not all of them.
    pub(super) failed: usize,
}

impl Source<'_> {
    /// The rules of a file in the folder.
    pub(super) fn rules(&mut self, name: &CStr, kind: Option<Entry>) -> Gitignore {
        match kind {
            Some(Entry::File) => {
                let file = self.folder.open_file(name).map(|(file, _)| file).ok();
                self.compile(file)
            }
            Some(Entry::Link) => self.linked(name),
            _ => Gitignore::empty(),
        }
    }

    /// The rules in git's own store, which may lie elsewhere, as that of a second working tree does.
    pub(super) fn exclude(&mut self, git: Option<Entry>) -> Gitignore {
        let store = match git {
            Some(Entry::Folder | Entry::Link) => Some(self.path.join(".git")),
            Some(Entry::File) => self.common_store(),
            _ => None,
        };
        let file = store.and_then(|store| regular(self.root, &store.join("info/exclude")));
        // Most stores have no such file, and that is no failure.
        file.map_or_else(Gitignore::empty, |file| self.compile(Some(file)))
    }

    /// A link to a rule file counts where it stays in the project or in the folder that is searched. One that leads
    /// to nothing, or to something that is no file, holds no rules.
    fn linked(&mut self, name: &CStr) -> Gitignore {
        let path = self.path.join(OsStr::from_bytes(name.to_bytes()));
        match self.root.resolve_path(&path) {
            Ok(found) if found.kind != Kind::File => Gitignore::empty(),
            Ok(found) if found.place == Place::Inside || found.real.starts_with(self.base) => {
                let file = self.root.open_file(&found.real).map(|(file, _)| file).ok();
                self.compile(file)
            }
            Err(FileError::LinkLoop(_)) => Gitignore::empty(),
            _ => self.compile(None),
        }
    }

    /// The store that several working trees share: `.git` is a file then that says where this tree's part of it lies.
    fn common_store(&self) -> Option<PathBuf> {
        let (file, _) = self.folder.open_file(GIT).ok()?;
        let own = self.path.join(first_line(file)?.strip_prefix("gitdir: ")?);
        match regular(self.root, &own.join("commondir")).and_then(first_line) {
            Some(common) => Some(own.join(common)),
            None => Some(own),
        }
    }

    fn compile(&mut self, file: Option<File>) -> Gitignore {
        let Some((bytes, whole)) = file.and_then(|file| read(file, MOST)) else {
            self.failed += 1;
            return Gitignore::empty();
        };
        if !whole {
            self.failed += 1;
        }
        compile(self.path, &bytes)
    }
}

/// The user's rules for every repository.
pub(super) fn global(root: &Root, project: &Path, path: &Path) -> Gitignore {
    regular(root, path)
        .and_then(|file| read(file, MOST))
        .map_or_else(Gitignore::empty, |(bytes, _)| compile(project, &bytes))
}

/// Opens a regular file wherever the path leads.
fn regular(root: &Root, path: &Path) -> Option<File> {
    let found = root.resolve_path(path).ok()?;
    if found.kind != Kind::File {
        return None;
    }
    root.open_file(&found.real).map(|(file, _)| file).ok()
}

fn first_line(file: File) -> Option<String> {
    let (bytes, _) = read(file, MOST_OF_A_PATH)?;
    let line = bytes.split(|byte| *byte == b'\n').next()?;
    Some(std::str::from_utf8(line).ok()?.trim_end().to_owned())
}

/// The beginning of a file in whole lines, and whether that is all of it.
fn read(file: File, most: u64) -> Option<(Vec<u8>, bool)> {
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes).ok()?;
    if bytes.len() as u64 <= most {
        return Some((bytes, true));
    }
    let end = bytes.iter().rposition(|byte| *byte == b'\n').unwrap_or(0);
    bytes.truncate(end);
    Some((bytes, false))
}

/// Rules line by line; one that is none is passed over, as git does.
fn compile(folder: &Path, bytes: &[u8]) -> Gitignore {
    let mut builder = GitignoreBuilder::new(folder);
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    for line in bytes.split(|byte| *byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if let Ok(line) = std::str::from_utf8(line) {
            // A rule that cannot be understood is no rule.
            builder.add_line(None, line).ok();
        }
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}
