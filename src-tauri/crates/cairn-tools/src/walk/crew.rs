//! The threads of a walk: each lists a folder or meets some of its files, whichever comes next.
//!
//! Owns: how folders become files and who meets them. Must never know: what a rule says.

use std::ffi::CStr;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use cairn_files::Root;
use cairn_files::folder::{Entry, Folder, Scratch};

use super::queue::Queue;
use super::rules::{GIT, Rules, There};
use super::{Met, Stop, Visit};

/// Files of one folder that are met in one go: few enough that large ones are shared, enough that taking them costs
/// nothing beside opening them.
const AT_ONCE: usize = 16;

/// Entries that one thread meets before more threads are worth starting: starting one costs as much as walking a few
/// dozen entries, and most projects and most folders in them are small.
const SMALL: usize = 400;

/// How long the first thread works alone however few the files are: some are large.
const PATIENCE: Duration = Duration::from_millis(1);

/// What is the same for all threads.
pub(super) struct Crew<'a, F> {
    pub(super) root: &'a Root,
    pub(super) stop: &'a Stop,
    pub(super) threads: usize,
    /// Real path of the first folder.
    pub(super) base: &'a Path,
    /// See [`super::Scope::depth`].
    pub(super) depth: Option<usize>,
    pub(super) make: &'a F,
}

/// A piece of the walk.
enum Job {
    /// A folder to list, by its real path, with the rules that hold for it.
    List(PathBuf, Rules),
    /// Some entries of a folder that was listed.
    Meet(Arc<Listed>, Range<usize>),
}

/// A folder with what is to be met in it.
struct Listed {
    folder: Folder,
    path: PathBuf,
    rules: Rules,
    names: Names,
}

/// Names one after the other, each with the NUL that the system wants behind it.
#[derive(Default)]
struct Names {
    bytes: Vec<u8>,
    /// Where each begins and what it is.
    starts: Vec<(usize, Entry)>,
}

impl Names {
    fn push(&mut self, name: &CStr, kind: Entry) {
        self.starts.push((self.bytes.len(), kind));
        self.bytes.extend_from_slice(name.to_bytes_with_nul());
    }

    fn iter(&self, range: Range<usize>) -> impl Iterator<Item = (&CStr, Entry)> {
        self.starts
            .get(range)
            .unwrap_or_default()
            .iter()
            .filter_map(|(start, kind)| {
                let name = CStr::from_bytes_until_nul(self.bytes.get(*start..)?).ok()?;
                Some((name, *kind))
            })
    }
}

impl<V: Visit, F: Fn() -> V + Sync> Crew<'_, F> {
    /// Walks from the first folder on; gives the number of what could not be looked at.
    pub(super) fn walk(&self, rules: Rules) -> usize {
        let queue = Queue::of(Job::List(self.base.to_owned(), rules));
        let failed = AtomicUsize::new(0);
        let begun = Instant::now();
        std::thread::scope(|scope| {
            let mut alone = self.threads > 1;
            self.member(&queue, &failed, &mut |met| {
                if alone && (met > SMALL || begun.elapsed() > PATIENCE) && queue.waiting() > 0 {
                    alone = false;
                    for _ in 1..self.threads {
                        scope.spawn(|| self.member(&queue, &failed, &mut |_| ()));
                    }
                }
            });
        });
        failed.into_inner()
    }

    /// What one thread does; `after_each` is told how many entries it has met after each piece.
    fn member(&self, queue: &Queue<Job>, failed: &AtomicUsize, after_each: &mut impl FnMut(usize)) {
        let mut member = Member {
            root: self.root,
            stop: self.stop,
            base: self.base,
            depth: self.depth,
            visitor: (self.make)(),
            scratch: Scratch::default(),
            path: Vec::new(),
            met: 0,
            failed: 0,
        };
        let mut seat = queue.seat();
        let mut brought = Vec::new();
        while !self.stop.is_set()
            && let Some(job) = seat.next(&mut brought)
        {
            match job {
                Job::List(path, rules) => member.list(path, &rules, &mut brought),
                Job::Meet(listed, range) => member.meet(&listed, range),
            }
            after_each(member.met);
        }
        failed.fetch_add(member.failed, Ordering::Relaxed);
        member.visitor.done();
    }
}

struct Member<'a, V> {
    root: &'a Root,
    stop: &'a Stop,
    base: &'a Path,
    depth: Option<usize>,
    visitor: V,
    scratch: Scratch,
    /// The path of what is met, used again for the next.
    path: Vec<u8>,
    met: usize,
    failed: usize,
}

impl<V: Visit> Member<'_, V> {
    fn list(&mut self, path: PathBuf, above: &Rules, brought: &mut Vec<Job>) {
        let Ok(folder) = self.root.folder(&path) else {
            self.failed += 1;
            return;
        };
        self.visitor.folder(&path);
        let goes_on = self.depth.is_none_or(|depth| self.depth_of(&path) < depth);
        let mut names = Names::default();
        let mut folders = Names::default();
        let mut there = There::default();
        let listed = folder.list(&mut self.scratch, |name, kind| {
            there.note(name, kind);
            match kind {
                Entry::File | Entry::Link => names.push(name, kind),
                Entry::Folder if goes_on => folders.push(name, kind),
                Entry::Folder | Entry::Other => {}
            }
            !self.stop.is_set()
        });
        if listed.is_err() {
            self.failed += 1;
        }
        let (rules, unread) = above.enter(self.root, &folder, &path, &there);
        self.failed += unread;
        self.met += folders.starts.len();
        self.begin(&path);
        for (name, _) in folders.iter(0..folders.starts.len()) {
            let below = self.join(name, &path);
            if rules.lets_in(below, name, Entry::Folder) {
                brought.push(Job::List(below.to_owned(), rules.clone()));
            }
        }
        let count = names.starts.len();
        let listed = Arc::new(Listed {
            folder,
            path,
            rules,
            names,
        });
        for start in (0..count).step_by(AT_ONCE) {
            let range = start..(start + AT_ONCE).min(count);
            brought.push(Job::Meet(Arc::clone(&listed), range));
        }
    }

    fn meet(&mut self, listed: &Listed, range: Range<usize>) {
        self.met += range.len();
        self.begin(&listed.path);
        for (name, kind) in listed.names.iter(range) {
            if self.stop.is_set() {
                return;
            }
            self.join(name, &listed.path);
            let path = Path::new(std::ffi::OsStr::from_bytes(&self.path));
            if listed.rules.lets_in(path, name, kind) {
                let met = Met {
                    folder: &listed.folder,
                    within: &listed.path,
                    name,
                    path,
                    is_link: kind == Entry::Link,
                };
                self.visitor.visit(&met, self.stop);
            }
        }
    }

    /// How many folders a folder lies below the first one.
    fn depth_of(&self, folder: &Path) -> usize {
        if folder == self.base {
            return 0;
        }
        let below = super::below(self.base, folder).as_os_str().as_bytes();
        below.split(|byte| *byte == b'/').count()
    }

    fn begin(&mut self, folder: &Path) {
        self.path.clear();
        self.path.extend_from_slice(folder.as_os_str().as_bytes());
    }

    /// The path of a name in the folder that was begun with.
    fn join(&mut self, name: &CStr, folder: &Path) -> &Path {
        let folder = folder.as_os_str().as_bytes();
        self.path.truncate(folder.len());
        if !folder.ends_with(b"/") {
            self.path.push(b'/');
        }
        self.path.extend_from_slice(name.to_bytes());
        Path::new(std::ffi::OsStr::from_bytes(&self.path))
    }
}

impl Rules {
    /// Whether an entry is met. git's own store is noise to every search, unless really everything is asked for or
    /// it is named.
    fn lets_in(&self, path: &Path, name: &CStr, kind: Entry) -> bool {
        (name.to_bytes() != GIT.to_bytes() || self.wants_everything()) && !self.leave_out(path, name, kind)
    }
}
