//! Finds the files that a pattern means.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use cairn_files::Kind;
use cairn_policy::Place;
use ignore::DirEntry;

use super::pattern::Pattern;
use crate::place::Workspace;
use crate::walk::{Scope, Stop, Visit, below, walk};

/// A search that is ready to run.
pub(super) struct Search {
    pub(super) workspace: Arc<Workspace>,
    pub(super) scope: Scope,
    /// Whether there is a folder to walk.
    pub(super) is_folder: bool,
    /// The whole pattern taken as a path; what is there matches whatever is hidden or ignored (case G4).
    pub(super) literal: PathBuf,
    /// The rest of the pattern, or what is wrong with it.
    pub(super) pattern: Result<Pattern, String>,
}

/// What was found.
pub(super) struct Found {
    /// The newest files, as shown.
    pub(super) files: Vec<String>,
    /// Files in all.
    pub(super) total: u64,
    /// What could not be looked at.
    pub(super) failed: u64,
    /// It ended before everything was searched.
    pub(super) stopped: bool,
}

/// How a path was come by.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Through {
    /// By walking real folders to a real file.
    Folders,
    /// A link is or may be in it.
    Link,
}

/// Newest first, then by path, so that the order is the same every time.
type Hit = (Reverse<SystemTime>, PathBuf);

impl Search {
    /// Runs it; gives the newest `most` files.
    pub(super) fn run(&self, most: usize, stop: &Stop) -> Found {
        let hits = Mutex::new(Vec::new());
        let mut failed = 0;
        if let (true, Ok(pattern)) = (self.is_folder, &self.pattern) {
            failed = walk(&self.scope, stop, &|| Finder {
                search: self,
                pattern,
                own: Vec::new(),
                all: &hits,
            });
        }
        let mut hits: Vec<Hit> = hits.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Ok(metadata) = self.literal.symlink_metadata()
            && !metadata.is_dir()
            && !hits.iter().any(|(_, path)| *path == self.literal)
        {
            // Any folder on the way to it may be a link too.
            hits.extend(self.hit(&self.literal, Through::Link));
        }
        hits.sort_unstable();
        Found {
            files: hits
                .iter()
                .take(most)
                .map(|(_, path)| self.workspace.root().show(path))
                .collect(),
            total: hits.len() as u64,
            failed: failed as u64,
            stopped: stop.is_set(),
        }
    }

    /// A file with its time, or nothing for a link that leads out of the project or nowhere.
    fn hit(&self, path: &Path, through: Through) -> Option<Hit> {
        if through == Through::Link {
            let found = self.workspace.root().resolve_path(path).ok()?;
            // A search outside the project was approved as that: its links may lead to its own neighbours.
            let within = found.place == Place::Inside || found.real.starts_with(&self.scope.base);
            if !within || found.kind == Kind::Missing {
                return None;
            }
        }
        let modified = path
            .metadata()
            .and_then(|metadata| metadata.modified())
            .unwrap_or(SystemTime::UNIX_EPOCH);
        Some((Reverse(modified), path.to_owned()))
    }
}

/// Gathers on one thread.
struct Finder<'a> {
    search: &'a Search,
    pattern: &'a Pattern,
    own: Vec<Hit>,
    all: &'a Mutex<Vec<Hit>>,
}

impl Visit for Finder<'_> {
    fn visit(&mut self, entry: &DirEntry, _stop: &Stop) {
        if self
            .pattern
            .is_match(below(&self.search.scope.base, entry.path()))
        {
            let through = if entry.path_is_symlink() {
                Through::Link
            } else {
                Through::Folders
            };
            self.own.extend(self.search.hit(entry.path(), through));
        }
    }

    fn done(self) {
        self.all
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .extend(self.own);
    }
}
