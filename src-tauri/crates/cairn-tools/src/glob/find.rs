//! Finds the files that a pattern means.

use std::cmp::{Ordering, Reverse};
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

/// A file, with the time of its last change.
type Hit = (Reverse<SystemTime>, PathBuf);

/// Newest first, then by path, so that the order is the same every time. By bytes: taking paths apart to compare them
/// would be most of the work where many files are as old as each other.
fn order(one: (Reverse<SystemTime>, &Path), other: (Reverse<SystemTime>, &Path)) -> Ordering {
    let by_time = one.0.cmp(&other.0);
    by_time.then_with(|| one.1.as_os_str().cmp(other.1.as_os_str()))
}

fn order_hits(one: &Hit, other: &Hit) -> Ordering {
    order((one.0, &one.1), (other.0, &other.1))
}

/// The newest files of those that were met; the others are only counted, so that a huge tree costs no memory.
#[derive(Default)]
struct Newest {
    hits: Vec<Hit>,
    /// What comes after this is not among the newest.
    last: Option<Hit>,
    total: u64,
    /// What the pattern names as a path was met.
    met_literal: bool,
}

impl Newest {
    /// Counts one, and keeps it as long as it may be among the `most` newest.
    fn add(&mut self, modified: SystemTime, path: &Path, most: usize) {
        self.total += 1;
        let hit = (Reverse(modified), path);
        if let Some((time, last)) = &self.last
            && order(hit, (*time, last)) == Ordering::Greater
        {
            return;
        }
        self.hits.push((Reverse(modified), path.to_owned()));
        // Not every time: finding the oldest costs as much as there are.
        if self.hits.len() >= 2 * most + 2 {
            self.cut(most);
        }
    }

    fn cut(&mut self, most: usize) {
        if self.hits.len() > most {
            let (_, last, _) = self.hits.select_nth_unstable_by(most, order_hits);
            self.last = Some(last.clone());
            self.hits.truncate(most);
        }
    }

    fn join(&mut self, other: Self, most: usize) {
        self.hits.extend(other.hits);
        self.total += other.total;
        self.met_literal |= other.met_literal;
        self.cut(most);
    }
}

impl Search {
    /// Runs it; gives the newest `most` files.
    pub(super) fn run(&self, most: usize, stop: &Stop) -> Found {
        let all = Mutex::new(Newest::default());
        let mut failed = 0;
        if let (true, Ok(pattern)) = (self.is_folder, &self.pattern) {
            failed = walk(self.workspace.root(), &self.scope, stop, &|| Finder {
                search: self,
                pattern,
                most,
                own: Newest::default(),
                all: &all,
            });
        }
        let mut found = all.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Ok(metadata) = self.literal.symlink_metadata()
            && !metadata.is_dir()
            && !found.met_literal
            // Any folder on the way to it may be a link too.
            && let Some(modified) = self.led_to(&self.literal)
        {
            found.add(modified, &self.literal, most);
        }
        found.cut(most);
        found.hits.sort_unstable_by(order_hits);
        Found {
            files: found
                .hits
                .iter()
                .map(|(_, path)| self.workspace.root().show(path))
                .collect(),
            total: found.total,
            failed: failed as u64,
            stopped: stop.is_set(),
        }
    }

    /// The time of what a path leads to that is or holds a link; nothing when that lies outside of the project or is not
    /// there.
    fn led_to(&self, path: &Path) -> Option<SystemTime> {
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
        Some(modified)
    }
}

/// Gathers on one thread.
struct Finder<'a> {
    search: &'a Search,
    pattern: &'a Pattern,
    most: usize,
    own: Newest,
    all: &'a Mutex<Newest>,
}

impl Visit for Finder<'_> {
    fn visit(&mut self, met: &Met<'_>, _stop: &Stop) {
        if !self.pattern.is_match(below(&self.search.scope.base, met.path)) {
            return;
        }
        let modified = if met.is_link {
            self.search.led_to(met.path)
        } else {
            Some(met.folder.modified(met.name).unwrap_or(SystemTime::UNIX_EPOCH))
        };
        if let Some(modified) = modified {
            self.own.met_literal |= met.path.as_os_str() == self.search.literal.as_os_str();
            self.own.add(modified, met.path, self.most);
        }
    }

    fn done(self) {
        self.all
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .join(self.own, self.most);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    proptest::proptest! {
        #[test]
        fn the_newest_are_kept_and_all_are_counted(
            times in proptest::collection::vec(0_u64..20, 0..200), most in 1_usize..12, threads in 1_usize..4
        ) {
            let hit = |(at, time): (usize, &u64)| {
                let time = SystemTime::UNIX_EPOCH + Duration::from_secs(*time);
                (Reverse(time), PathBuf::from(format!("{at:03}")))
            };
            let mut all = Newest::default();
            for thread in 0..threads {
                let mut own = Newest::default();
                for (Reverse(time), path) in times.iter().enumerate().map(hit).skip(thread).step_by(threads) {
                    own.add(time, &path, most);
                }
                all.join(own, most);
            }
            all.hits.sort();
            let mut expected: Vec<Hit> = times.iter().enumerate().map(hit).collect();
            expected.sort();
            expected.truncate(most);
            proptest::prop_assert_eq!(all.hits, expected);
            proptest::prop_assert_eq!(all.total, times.len() as u64);
        }
    }
}
