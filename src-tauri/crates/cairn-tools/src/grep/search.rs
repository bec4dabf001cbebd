//! Runs a search over files or a text.

mod sink;

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use cairn_files::FileError;
use cairn_policy::is_credential;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use rustix::fs::Stat;

use super::Output;
use super::collect::{Found, Tally};
use super::matcher::{Lines, Query};
use crate::glob::pattern::Pattern;
use crate::place::Workspace;
use crate::walk::{Met, Scope, Stop, Visit, below, walk};
use sink::{Keep, Lens};

/// Bytes of one line, or of one file where matches may span lines, that are held in memory.
const HEAP_LIMIT: usize = 64 << 20;

/// Bytes below which a file is read in one go; also what the searcher looks through for bytes that are no text.
const SMALL: usize = 64 << 10;

/// A search that is ready to run.
pub(super) struct Search {
    pub(super) workspace: Arc<Workspace>,
    pub(super) place: Place,
    pub(super) query: Query,
    pub(super) glob: Option<Filter>,
    pub(super) credentials: Credentials,
    pub(super) output: Output,
    /// Lines around each match.
    pub(super) context: usize,
}

/// Where to search.
pub(super) enum Place {
    /// All files of a folder.
    Folder(Scope),
    /// One file, by its real path.
    File(PathBuf),
}

/// Which files of a folder are searched.
pub(super) struct Filter {
    pub(super) keeps: Keeps,
    pub(super) pattern: Pattern,
}

/// What a filter does with a file that its pattern matches.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Keeps {
    /// Only such files are searched.
    Matching,
    /// Such files are left out.
    Others,
}

/// What becomes of files that hold credentials. They are never searched unasked: even whether a pattern matches
/// would tell what is in them. SPEC P2.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Credentials {
    /// Skipped and counted.
    Skipped,
    /// Searched: the call named one, and the gate has asked.
    Searched,
}

impl Search {
    /// Runs it.
    pub(super) fn run(&self, stop: &Stop) -> Found {
        let found = Mutex::new(Found::default());
        let make = || Worker::new(self, &found);
        let failed = match &self.place {
            Place::Folder(scope) => walk(self.workspace.root(), scope, stop, &make),
            Place::File(path) => {
                let mut worker = make();
                let opened = self.workspace.root().open_file(path);
                worker.search(path, opened, stop);
                worker.done();
                0
            }
        };
        let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        found.tally.unreadable += failed as u64;
        found.stopped = stop.is_set();
        found
    }

    /// Whether the `glob` lets the file in. It is matched below the folder that is searched, and below the project
    /// too: `src/*.rs` means the same files whichever of the two the model counted from.
    fn lets_in(&self, path: &Path) -> bool {
        let (Some(filter), Place::Folder(scope)) = (&self.glob, &self.place) else {
            return true;
        };
        let matches = filter.pattern.is_match(below(&scope.base, path))
            || (path.starts_with(&scope.project) && filter.pattern.is_match(below(&scope.project, path)));
        matches == (filter.keeps == Keeps::Matching)
    }
}

/// Searches a text that is no file, shown under that name.
pub(super) fn in_text(
    query: &Query,
    name: &str,
    text: &str,
    output: Output,
    context: usize,
    stop: &Stop,
) -> Found {
    let mut found = Found::default();
    let mut searcher = searcher(query, output, context);
    let mut lens = Lens::new(query, output, context, Keep::Lines, stop);
    // What was kept is text, whatever bytes are in it.
    searcher.set_binary_detection(BinaryDetection::none());
    match searcher.search_reader(
        &query.matcher,
        Stoppable {
            inner: text.as_bytes(),
            stop,
        },
        &mut lens,
    ) {
        Ok(()) => found.tally.searched = 1,
        Err(_) if stop.is_set() => {}
        Err(_) => found.tally.too_large = 1,
    }
    let in_file = lens.into_found();
    if in_file.matches > 0 {
        found.add(PathBuf::from(name), in_file);
    }
    found.stopped = stop.is_set();
    found
}

/// Searches on one thread.
struct Worker<'a> {
    search: &'a Search,
    searcher: Searcher,
    tally: Tally,
    found: &'a Mutex<Found>,
    /// What small files are read into, one after the other.
    small: Vec<u8>,
    /// The last folder met, and whether every file in it is a credential.
    folder: (PathBuf, bool),
}

impl<'a> Worker<'a> {
    fn new(search: &'a Search, found: &'a Mutex<Found>) -> Self {
        Self {
            search,
            searcher: searcher(&search.query, search.output, search.context),
            tally: Tally::default(),
            found,
            small: vec![0; SMALL],
            folder: (PathBuf::new(), false),
        }
    }

    fn is_credential(&mut self, met: &Met<'_>) -> bool {
        // The names of the folders are the same for all files in it, and there are many.
        if self.folder.0.as_os_str() != met.within.as_os_str() {
            self.folder = (met.within.to_owned(), is_credential(&met.within.join("plain")));
        }
        self.folder.1 || is_credential(Path::new(OsStr::from_bytes(met.name.to_bytes())))
    }

    fn search(&mut self, path: &Path, opened: Result<(File, Stat), FileError>, stop: &Stop) {
        let (file, size) = match opened {
            Ok((file, stat)) => (file, u64::try_from(stat.st_size).unwrap_or(0)),
            // Gone since it was listed: it is not there to be searched.
            Err(FileError::Missing(_)) => return,
            Err(_) => {
                self.tally.unreadable += 1;
                return;
            }
        };
        let beyond = || {
            self.found
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .is_beyond(path)
        };
        let mut lens = Lens::new(
            &self.search.query,
            self.search.output,
            self.search.context,
            Keep::Ask(&beyond),
            stop,
        );
        let matcher = &self.search.query.matcher;
        let read = match read_small(&file, size, &mut self.small) {
            Ok(Whole::Yes(length)) => {
                let text = self.small.get(..length).unwrap_or_default();
                self.searcher.search_slice(matcher, text, &mut lens)
            }
            Ok(Whole::No(length)) => {
                let begun = self.small.get(..length).unwrap_or_default();
                let inner = begun.chain(file);
                self.searcher
                    .search_reader(matcher, Stoppable { inner, stop }, &mut lens)
            }
            Err(error) => Err(error),
        };
        match read {
            Ok(()) if lens.is_binary() => self.tally.binary += 1,
            Ok(()) => {
                self.tally.searched += 1;
                self.keep(path, lens);
            }
            // What was found before the stop is still true.
            Err(_) if stop.is_set() => self.keep(path, lens),
            Err(error) if is_over_limit(&error) => self.tally.too_large += 1,
            Err(_) => self.tally.unreadable += 1,
        }
    }

    fn keep(&self, path: &Path, lens: Lens<'_>) {
        let in_file = lens.into_found();
        if in_file.matches > 0 {
            self.found
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .add(path.to_owned(), in_file);
        }
    }
}

impl Visit for Worker<'_> {
    fn visit(&mut self, met: &Met<'_>, stop: &Stop) {
        // What a link leads to is searched where it is, or lies outside the project (case F04).
        if met.is_link || !self.search.lets_in(met.path) {
            return;
        }
        if self.search.credentials == Credentials::Skipped && self.is_credential(met) {
            self.tally.credential += 1;
            return;
        }
        self.search(met.path, met.folder.open_file(met.name), stop);
    }

    fn done(self) {
        self.found
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .tally
            .add(self.tally);
    }
}

fn searcher(query: &Query, output: Output, context: usize) -> Searcher {
    let context = if output == Output::Content { context } else { 0 };
    SearcherBuilder::new()
        .line_terminator(query.lines.terminator())
        .multi_line(query.lines == Lines::Spanned)
        .line_number(output == Output::Content)
        .before_context(context)
        .after_context(context)
        .binary_detection(BinaryDetection::quit(0))
        .heap_limit(Some(HEAP_LIMIT))
        .build()
}

fn is_over_limit(error: &io::Error) -> bool {
    error.to_string().contains("allocation limit")
}

/// A reader that fails when the search is stopped, so that a huge file without a match ends in time too.
struct Stoppable<'a, R> {
    inner: R,
    stop: &'a Stop,
}

impl<R: Read> Read for Stoppable<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.is_set() {
            Err(io::Error::other("stopped"))
        } else {
            self.inner.read(buffer)
        }
    }
}

/// What was read of a file; the length is that of what is in the buffer.
enum Whole {
    /// All of it.
    Yes(usize),
    /// There may be more.
    No(usize),
}

/// Reads a small file in one go, as most are: searching it where it lies saves copying it and asking for its end.
fn read_small(mut file: &File, size: u64, buffer: &mut [u8]) -> io::Result<Whole> {
    let mut length = 0;
    if size >= buffer.len() as u64 {
        return Ok(Whole::No(0));
    }
    while let Some(rest) = buffer.get_mut(length..).filter(|rest| !rest.is_empty()) {
        match file.read(rest) {
            Ok(0) => return Ok(Whole::Yes(length)),
            Ok(more) => length += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        // What the system generates as it is read claims to be empty.
        if size > 0 && length as u64 == size {
            return Ok(Whole::Yes(length));
        }
    }
    Ok(Whole::No(length))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grep::matcher::Wish;

    #[test]
    fn t2_nothing_more_is_read_once_it_is_stopped() {
        let wish = Wish {
            pattern: "needle",
            case_insensitive: false,
            literal: true,
            multiline: false,
        };
        let query = Query::new(&wish).unwrap();
        let stop = Stop::default();
        let search = || {
            in_text(
                &query,
                "output:o1",
                &"hay\n".repeat(1_000),
                Output::Content,
                0,
                &stop,
            )
        };
        assert_eq!((search().tally.searched, search().stopped), (1, false));
        stop.set();
        let found = search();
        assert_eq!((found.tally.searched, found.stopped), (0, true));
    }
}
