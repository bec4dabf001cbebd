//! Walks a tree of files for `glob` and `grep`: ignore rules, hidden names, threads, stopping.
//!
//! Owns: which files of a tree are met. Must never know: what they are met for.

mod share;
mod stop;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use ignore::{DirEntry, ParallelVisitor, ParallelVisitorBuilder, WalkBuilder, WalkState};

pub(crate) use stop::{Stop, interruptible};

/// Our own ignore file, beside `.gitignore` and `.ignore`.
const OWN_IGNORE_FILE: &str = ".cairnignore";

/// Entries that one thread may meet before more threads are worth starting: starting one costs as much as walking
/// a few dozen entries, and most projects and most folders in them are small.
const SMALL: usize = 400;

/// Threads at most: the disk's queue is full long before.
const MOST_THREADS: usize = 8;

/// What to walk.
#[derive(Clone, Debug)]
pub(crate) struct Scope {
    /// Real path of the folder to walk.
    pub(crate) base: PathBuf,
    /// Real path of the project folder.
    pub(crate) project: PathBuf,
    /// Hidden files and folders are met too.
    pub(crate) hidden: bool,
    /// Files that ignore rules leave out are met too.
    pub(crate) ignored: bool,
}

/// Meets entries, on one thread.
pub(crate) trait Visit: Send {
    /// Meets a file or a link, never a folder.
    fn visit(&mut self, entry: &DirEntry, stop: &Stop);

    /// Hands over what it gathered.
    fn done(self);
}

/// Meets every file and link of the scope once; links are never followed, so loops cannot be. Gives the number of
/// folders and files that could not be looked at.
pub(crate) fn walk<V: Visit>(scope: &Scope, stop: &Stop, make: &(impl Fn() -> V + Sync)) -> usize {
    let plan = Plan::of(scope);
    let mut failed = plan.run(stop, make);
    // The folder lies in one that a rule ignores. It was named, so it is meant; the rules above it do not count.
    if !plan.reached.load(Ordering::Relaxed) && !stop.is_set() {
        failed += Plan {
            from: scope.base.clone(),
            parents: false,
            ..Plan::of(scope)
        }
        .run(stop, make);
    }
    failed
}

/// How a scope is walked.
///
/// Inside a git repository the rules of the folders above count up to the repository's root, as git has it. Outside
/// of one nothing above the project may have a say (a `.gitignore` with `*` in somebody's home folder would empty
/// every search), so the walk begins at the project folder and goes straight down to the base.
struct Plan<'a> {
    scope: &'a Scope,
    from: PathBuf,
    parents: bool,
    repository: bool,
    reached: Arc<AtomicBool>,
}

impl<'a> Plan<'a> {
    fn of(scope: &'a Scope) -> Self {
        let repository = scope.base.ancestors().any(|folder| folder.join(".git").exists());
        let inside = scope.base.starts_with(&scope.project);
        let from = if repository || scope.ignored || !inside {
            &scope.base
        } else {
            &scope.project
        };
        let reached = Arc::new(AtomicBool::new(from == &scope.base));
        Self {
            scope,
            from: from.clone(),
            parents: repository && !scope.ignored,
            repository,
            reached,
        }
    }

    fn run<V: Visit>(&self, stop: &Stop, make: &(impl Fn() -> V + Sync)) -> usize {
        let builder = self.builder();
        let mut entries = Vec::new();
        let mut failed = 0;
        for entry in builder.build() {
            if stop.is_set() {
                return failed;
            }
            match entry {
                Ok(entry) if is_met(&entry) => entries.push(entry),
                Ok(_) => {}
                Err(_) => failed += 1,
            }
            if entries.len() > SMALL {
                return wide(&builder, stop, make);
            }
        }
        share::share(&entries, threads(), stop, make);
        failed
    }

    fn builder(&self) -> WalkBuilder {
        let Scope {
            base,
            project,
            hidden,
            ignored,
        } = self.scope.clone();
        let mut builder = WalkBuilder::new(&self.from);
        builder
            .threads(threads())
            .follow_links(false)
            .current_dir(&project)
            .hidden(!hidden)
            .parents(self.parents)
            .require_git(self.repository)
            .ignore(!ignored)
            .git_ignore(!ignored)
            .git_global(!ignored)
            .git_exclude(!ignored);
        if !ignored {
            builder.add_custom_ignore_filename(OWN_IGNORE_FILE);
        }
        let straight = self.from != base;
        let reached = Arc::clone(&self.reached);
        let everything = hidden && ignored;
        builder.filter_entry(move |entry| {
            // git's own store is noise to every search, unless really everything is asked for or it is named.
            if !everything && entry.depth() > 0 && entry.file_name() == ".git" {
                return false;
            }
            if !straight {
                return true;
            }
            if entry.path().starts_with(&base) {
                reached.store(true, Ordering::Relaxed);
                return true;
            }
            base.starts_with(entry.path())
        });
        builder
    }
}

/// Walks on several threads; gives the number of what could not be looked at.
fn wide<V: Visit>(builder: &WalkBuilder, stop: &Stop, make: &(impl Fn() -> V + Sync)) -> usize {
    let failed = Mutex::new(0);
    builder.build_parallel().visit(&mut Crew {
        stop,
        make,
        failed: &failed,
    });
    failed.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Makes the visitors of a parallel walk.
struct Crew<'a, F> {
    stop: &'a Stop,
    make: &'a F,
    failed: &'a Mutex<usize>,
}

impl<'a, V: Visit + 'a, F: Fn() -> V + Sync> ParallelVisitorBuilder<'a> for Crew<'a, F> {
    fn build(&mut self) -> Box<dyn ParallelVisitor + 'a> {
        Box::new(Member {
            stop: self.stop,
            visitor: Some((self.make)()),
            failed: self.failed,
            own: 0,
        })
    }
}

struct Member<'a, V: Visit> {
    stop: &'a Stop,
    visitor: Option<V>,
    failed: &'a Mutex<usize>,
    own: usize,
}

impl<V: Visit> ParallelVisitor for Member<'_, V> {
    fn visit(&mut self, entry: Result<DirEntry, ignore::Error>) -> WalkState {
        if self.stop.is_set() {
            return WalkState::Quit;
        }
        match (entry, &mut self.visitor) {
            (Ok(entry), Some(visitor)) if is_met(&entry) => visitor.visit(&entry, self.stop),
            (Ok(_), _) => {}
            (Err(_), _) => self.own += 1,
        }
        WalkState::Continue
    }
}

impl<V: Visit> Drop for Member<'_, V> {
    fn drop(&mut self) {
        *self.failed.lock().unwrap_or_else(PoisonError::into_inner) += self.own;
        if let Some(visitor) = self.visitor.take() {
            visitor.done();
        }
    }
}

/// Files and links; folders are only walked, pipes, sockets and devices never opened.
fn is_met(entry: &DirEntry) -> bool {
    entry
        .file_type()
        .is_some_and(|kind| kind.is_file() || kind.is_symlink())
}

fn threads() -> usize {
    std::thread::available_parallelism()
        .map_or(1, usize::from)
        .min(MOST_THREADS)
}

/// The path below the folder that was walked; the path itself where it is not below.
pub(crate) fn below<'a>(base: &Path, path: &'a Path) -> &'a Path {
    path.strip_prefix(base).unwrap_or(path)
}
