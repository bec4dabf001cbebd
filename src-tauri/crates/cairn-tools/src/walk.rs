//! Walks a tree of files for `glob` and `grep`: ignore rules, hidden names, threads, stopping.
//!
//! Owns: which files of a tree are met. Must never know: what they are met for.

mod crew;
mod queue;
mod rules;
mod stop;

use std::ffi::{CStr, OsStr};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use cairn_files::Root;
use cairn_files::folder::Folder;

use crew::Crew;
use rules::Rules;
pub(crate) use stop::{Stop, interruptible};

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
    /// How many folders deep is walked below the first one; none for all of them.
    pub(crate) depth: Option<usize>,
}

/// An entry that was met: a file or a link, never a folder, pipe, socket or device.
#[derive(Debug)]
pub(crate) struct Met<'a> {
    /// The folder it lies in, held open.
    pub(crate) folder: &'a Folder,
    /// The real path of that folder.
    pub(crate) within: &'a Path,
    /// Its bare name.
    pub(crate) name: &'a CStr,
    /// Its path.
    pub(crate) path: &'a Path,
    /// It is a link; where that leads is not known.
    pub(crate) is_link: bool,
}

/// Meets entries, on one thread.
pub(crate) trait Visit: Send {
    /// Meets a file or a link.
    fn visit(&mut self, met: &Met<'_>, stop: &Stop);

    /// Is told of each folder that is walked, by its real path.
    fn folder(&mut self, _path: &Path) {}

    /// Hands over what it gathered.
    fn done(self);
}

/// Meets every file and link of the scope once; links are never followed, so loops cannot be. Gives the number of
/// folders and rule files that could not be looked at.
pub(crate) fn walk<V: Visit>(
    root: &Root,
    scope: &Scope,
    stop: &Stop,
    make: &(impl Fn() -> V + Sync),
) -> usize {
    let threads = std::thread::available_parallelism()
        .map_or(1, usize::from)
        .min(MOST_THREADS);
    walk_on(threads, root, scope, stop, make)
}

/// The same on this thread alone, for what is not worth more.
pub(crate) fn walk_alone<V: Visit>(
    root: &Root,
    scope: &Scope,
    stop: &Stop,
    make: &(impl Fn() -> V + Sync),
) -> usize {
    walk_on(1, root, scope, stop, make)
}

fn walk_on<V: Visit>(
    threads: usize,
    root: &Root,
    scope: &Scope,
    stop: &Stop,
    make: &(impl Fn() -> V + Sync),
) -> usize {
    let (rules, unread) = Rules::at(root, scope);
    let crew = Crew {
        root,
        stop,
        threads,
        base: &scope.base,
        depth: scope.depth,
        make,
    };
    unread + crew.walk(rules)
}

/// The path below the folder that was walked; the path itself where it is not below. Both are real paths, so that bytes
/// tell: taking every path apart would cost as much as opening it.
pub(crate) fn below<'a>(base: &Path, path: &'a Path) -> &'a Path {
    let bytes = path.as_os_str().as_bytes();
    let base = base.as_os_str().as_bytes();
    let base = base.strip_suffix(b"/").unwrap_or(base);
    match bytes.strip_prefix(base) {
        Some([b'/', below @ ..]) => Path::new(OsStr::from_bytes(below)),
        _ => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_told_from_the_folder_it_lies_below() {
        for (base, path, expected) in [
            ("/p", "/p/a/b", "a/b"),
            ("/p", "/pa/b", "/pa/b"),
            ("/", "/a/b", "a/b"),
            ("/p/q", "/p/a", "/p/a"),
        ] {
            assert_eq!(below(Path::new(base), Path::new(path)), Path::new(expected));
        }
    }
}
