//! Finds the files that a pattern means.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use cairn_files::Kind;
use cairn_policy::Place;

use super::pattern::Pattern;
use crate::place::Workspace;
use crate::walk::{Met, Scope, Stop, Visit, below, walk};

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

/// Newest first, then by path, so that the order is the same every time.
type Hit = (Reverse<SystemTime>, PathBuf);

impl Search {
    /// Runs it; gives the newest `most` files.
    pub(super) fn run(&self, most: usize, stop: &Stop) -> Found {
        let hits = Mutex::new(Vec::new());
        let mut failed = 0;
        if let (true, Ok(pattern)) = (self.is_folder, &self.pattern) {
            failed = walk(self.workspace.root(), &self.scope, stop, &|| Finder {
                search: self,
                pattern,
                own: Vec::new(),
                all: &hits,
            });
        }
        let mut hits: Vec<Hit> = hits.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Ok(metadata) = self.literal.symlink_metadata()
            && !metadata.is_dir()
            && !hits
                .iter()
                .any(|(_, path)| path.as_os_str() == self.literal.as_os_str())
        {
            // Any folder on the way to it may be a link too.
            hits.extend(self.led_to(&self.literal));
        }
        let total = hits.len() as u64;
        if hits.len() > most {
            // Those that are only counted need no order among themselves.
            hits.select_nth_unstable(most);
            hits.truncate(most);
        }
        hits.sort_unstable();
        Found {
            files: hits
                .iter()
                .map(|(_, path)| self.workspace.root().show(path))
                .collect(),
            total,
            failed: failed as u64,
            stopped: stop.is_set(),
        }
    }

    /// A path that is or holds a link, with the time of what it leads to; nothing when that lies outside of the project
    /// or is not there.
    fn led_to(&self, path: &Path) -> Option<Hit> {
        let root = self.workspace.root();
        let found = root.resolve_path(path).ok()?;
        // A search outside the project was approved as that: its links may lead to its own neighbours.
        let within = found.place == Place::Inside || found.real.starts_with(&self.scope.base);
        if !within || found.kind == Kind::Missing {
            return None;
        }
        let modified = found
            .real
            .symlink_metadata()
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
    fn visit(&mut self, met: &Met<'_>, _stop: &Stop) {
        if !self.pattern.is_match(below(&self.search.scope.base, met.path)) {
            return;
        }
        self.own.extend(if met.is_link {
            self.search.led_to(met.path)
        } else {
            let modified = met.folder.modified(met.name);
            Some((
                Reverse(modified.unwrap_or(SystemTime::UNIX_EPOCH)),
                met.path.to_owned(),
            ))
        });
    }

    fn done(self) {
        self.all
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .extend(self.own);
    }
}
