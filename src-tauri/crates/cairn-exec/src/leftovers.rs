//! What a killed supervisor left behind, found by a mark that every command carries. SPEC T22.
//!
//! Owns: the mark, the notes about supervisors, and the proof that a process is ours. Must never know: what the
//! processes are for, or who decides to end them.
//!
//! A mark is random, so a process that carries it in its environment got it from us. Neither a name nor a process id
//! proves anything: names repeat and ids are used again.

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use cairn_protocol::Leftover;
use rustix::process::Signal;
use serde::{Deserialize, Serialize};

use crate::supervisor::SWEEP;
use crate::tree::{self, Process};

/// The variable that carries the mark.
pub(crate) const MARK: &str = "CAIRN_MARK";

/// From TERM to KILL.
const GRACE: Duration = Duration::from_secs(2);

/// When it is given up.
const GIVEN_UP: Duration = Duration::from_secs(4);

/// Notes read at most; more would be no notes of ours.
const NOTES: usize = 1_000;

/// Largest note, bytes.
const NOTE: u64 = 4_096;

/// What one supervisor's commands carry: 32 hexadecimal digits nobody can guess.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mark(String);

impl Mark {
    /// A mark that was never used.
    pub(crate) fn fresh() -> io::Result<Self> {
        let mut bytes = [0_u8; 16];
        File::open("/dev/urandom")?.read_exact(&mut bytes)?;
        let digit = |half: u8| char::from_digit(u32::from(half), 16).unwrap_or('0');
        Ok(Self(
            bytes
                .iter()
                .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
                .collect(),
        ))
    }

    /// The mark as text.
    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    /// The mark in that text, when it is one.
    fn parse(text: &str) -> Option<Self> {
        let fine = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        fine.then(|| Self(text.to_owned()))
    }
}

/// What is noted about a supervisor.
#[derive(Debug, Serialize, Deserialize)]
struct Note {
    /// The machine's run: ids and start times mean nothing in another.
    boot: String,
    /// The supervisor's id and start time.
    pid: i32,
    started: u64,
}

/// Notes about supervisors, in a folder of the user's own: one file of 0600 per supervisor, named by its mark.
///
/// A note is made before the supervisor's first command and goes when it has ended in order, or when nothing of a
/// killed one is left.
#[derive(Clone, Debug)]
pub struct Ledger {
    folder: PathBuf,
}

impl Ledger {
    /// The notes in that folder, which is made when the first one is written.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
        }
    }

    /// Processes of supervisors that were killed, oldest first. Reads the process table only when there is a note of
    /// such a supervisor; notes of which nothing is left are removed.
    pub fn leftovers(&self) -> Vec<Leftover> {
        let mut found: Vec<_> = self
            .left()
            .into_iter()
            .map(|process| (process.started, process))
            .collect();
        found.sort_unstable_by_key(|(started, process)| (*started, process.pid));
        found.into_iter().map(|(_, process)| view(process)).collect()
    }

    /// Ends a process that [`Ledger::leftovers`] named, with what it started: TERM, 2 s, KILL. Returns once they are
    /// dead, or after 4 s. A name that is no longer one of a leftover ends nothing; false then.
    pub fn end(&self, id: &str) -> bool {
        let Some(root) = self.left().into_iter().find(|&process| name(process) == id) else {
            return false;
        };
        let since = Instant::now();
        let mut asked = HashSet::new();
        // Taken once: what it started may lose its parent while it is being ended.
        let mut theirs: HashSet<Process> = tree::descendants(root.pid).into_iter().collect();
        theirs.insert(root);
        loop {
            let left = self.left();
            let started: Vec<_> = theirs
                .iter()
                .flat_map(|process| tree::descendants(process.pid))
                .collect();
            theirs.extend(started);
            // Only what carries the mark is proven to be ours.
            let left: Vec<_> = left
                .into_iter()
                .filter(|process| theirs.contains(process))
                .collect();
            if left.is_empty() || since.elapsed() > GIVEN_UP {
                return true;
            }
            for process in left {
                if since.elapsed() > GRACE {
                    tree::signal(process, Signal::KILL);
                } else if asked.insert(process) {
                    tree::signal(process, Signal::TERM);
                    tree::signal(process, Signal::CONT);
                }
            }
            std::thread::sleep(SWEEP);
        }
    }

    /// Notes a supervisor down.
    pub(crate) fn record(&self, mark: &Mark, pid: u32) -> io::Result<()> {
        let pid = i32::try_from(pid).map_err(io::Error::other)?;
        let started = tree::started(pid).ok_or_else(|| io::Error::other("the helper has ended already"))?;
        let note = Note {
            boot: boot(),
            pid,
            started,
        };
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.folder)?;
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(self.file(mark))?;
        file.write_all(&serde_json::to_vec(&note)?)
    }

    /// A supervisor ended everything, and itself.
    pub(crate) fn forget(&self, mark: &Mark) {
        match fs::remove_file(self.file(mark)) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => tracing::debug!(%error, "a note about a helper was not removed"),
        }
    }

    fn file(&self, mark: &Mark) -> PathBuf {
        self.folder.join(mark.text())
    }

    /// Living processes with the mark of a supervisor that is dead.
    fn left(&self) -> Vec<Process> {
        let marks = self.dead();
        if marks.is_empty() {
            return Vec::new();
        }
        let mut found = Vec::new();
        let mut in_use = HashSet::new();
        for process in tree::all() {
            let Some(mark) = marked(process, &marks) else {
                continue;
            };
            in_use.insert(mark.text().to_owned());
            found.push(process);
        }
        for mark in marks.iter().filter(|mark| !in_use.contains(mark.text())) {
            self.forget(mark);
        }
        found
    }

    /// Marks of supervisors that do not run any more.
    fn dead(&self) -> Vec<Mark> {
        let Ok(folder) = fs::read_dir(&self.folder) else {
            return Vec::new();
        };
        let now = boot();
        let mut marks = Vec::new();
        for entry in folder.flatten().take(NOTES) {
            let Some(mark) = entry.file_name().to_str().and_then(Mark::parse) else {
                continue;
            };
            match read(&entry.path()) {
                // Nothing outlives the machine's run.
                Ok(note) if note.boot != now => self.forget(&mark),
                Ok(note) if tree::started(note.pid) == Some(note.started) => {}
                Ok(_) => marks.push(mark),
                // Written right now, or by nobody we know; it stays.
                Err(error) => tracing::debug!(%error, "a note about a helper could not be read"),
            }
        }
        marks
    }
}

fn read(path: &Path) -> io::Result<Note> {
    let mut bytes = Vec::new();
    File::open(path)?.take(NOTE).read_to_end(&mut bytes)?;
    Ok(serde_json::from_slice(&bytes)?)
}

/// Which of the marks that very process carries.
fn marked(process: Process, marks: &[Mark]) -> Option<&Mark> {
    // Ended or somebody else's: neither can be read.
    let environment = fs::read(format!("/proc/{}/environ", process.pid)).ok()?;
    let value = environment.split(|&byte| byte == 0).find_map(|variable| {
        let value = variable.strip_prefix(MARK.as_bytes())?.strip_prefix(b"=")?;
        std::str::from_utf8(value).ok()
    })?;
    let mark = marks.iter().find(|mark| mark.text() == value)?;
    // The id may have passed to another process while it was looked at.
    (tree::started(process.pid) == Some(process.started)).then_some(mark)
}

fn name(process: Process) -> String {
    format!("{}-{}", process.pid, process.started)
}

fn view(process: Process) -> Leftover {
    Leftover {
        id: name(process),
        pid: process.pid.unsigned_abs(),
        command: tree::command_line(process.pid),
        started_at: tree::started_at(process),
    }
}

/// The name of the machine's run.
fn boot() -> String {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    text.trim().to_owned()
}
