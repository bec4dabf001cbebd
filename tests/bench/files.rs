//! What reading and changing large files costs: `cargo bench -p cairn-tools --bench files`.
//!
//! Prints one line for each figure and fails when one is above its limit. The limits are for a release build.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a measurement may fail loudly and prints its figures"
)]

#[path = "nowhere.rs"]
mod nowhere;
#[path = "../../src-tauri/crates/cairn-tools/tests/kill/session.rs"]
#[allow(dead_code, reason = "each measurement uses its part")]
mod session;

use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cairn_files::Root;
use cairn_files::swap::{Expected, Move, Swap};
use nowhere::Nowhere;
use serde_json::json;
use session::Session;

const MIB: u64 = 1024 * 1024;
/// What reading a range may cost beyond what the program holds anyway.
const READING: u64 = 8 * MIB;
/// Calls of each kind; the median counts.
const ROUNDS: usize = 9;

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    println!(
        "{} build, medians of {ROUNDS}",
        if cfg!(debug_assertions) {
            "debug"
        } else {
            "release"
        }
    );
    let mut slow = Vec::new();
    reading(&folder, &mut slow);
    editing(&folder, &mut slow);
    long_line(&folder);
    syncs(&folder);
    assert!(
        cfg!(debug_assertions) || slow.is_empty(),
        "above their limits: {slow:?}"
    );
}

/// Ranges of a file of one gigabyte: the limit of SPEC F5 holds at its start.
fn reading(folder: &Path, slow: &mut Vec<String>) {
    let lines = fill(&folder.join("large"), 1 << 30);
    let session = Session::new(folder, Arc::new(Nowhere));
    for (what, offset, limit) in [
        ("at its start", 1, Some(50)),
        ("2,000 lines in", 2_001, None),
        ("1 MB in", 16_000, None),
        ("in its middle", lines / 2, None),
        ("at its end", lines - 100, None),
    ] {
        reset_peak();
        let before = memory("VmRSS:");
        let took = median(|| {
            let start = Instant::now();
            session.run(
                "read_file",
                json!({ "path": "large", "offset": offset, "limit": 200 }),
            );
            start.elapsed()
        });
        let more = memory("VmHWM:").saturating_sub(before);
        line(
            &format!("read_file, 1 GB, 200 lines {what}"),
            took,
            limit,
            Some(more),
            slow,
        );
        if more > READING {
            slow.push(format!("memory of reading {what}"));
        }
    }
    std::fs::remove_file(folder.join("large")).unwrap();
}

/// One change in the middle of a file of fifty megabytes.
fn editing(folder: &Path, slow: &mut Vec<String>) {
    let lines = fill(&folder.join("big"), 50_000_000);
    let session = Session::new(folder, Arc::new(Nowhere));
    session.run(
        "read_file",
        json!({ "path": "big", "offset": lines / 2, "limit": 5 }),
    );
    reset_peak();
    let before = memory("VmRSS:");
    let mut now = format!("line {} ", lines / 2);
    let (mut preparing, mut executing) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let next = format!("round {round} ");
        let start = Instant::now();
        let call = session
            .prepare(
                "edit_file",
                json!({ "path": "big", "old_string": now, "new_string": next }),
            )
            .unwrap();
        preparing.push(start.elapsed());
        let start = Instant::now();
        assert!(session.execute(call).ok);
        executing.push(start.elapsed());
        now = next;
    }
    let more = memory("VmHWM:").saturating_sub(before);
    let [preparing, executing] = [preparing, executing].map(|mut all| {
        all.sort();
        all[all.len() / 2]
    });
    line(
        "edit_file, 50 MB, until it is judged",
        preparing,
        None,
        None,
        slow,
    );
    line(
        "edit_file, 50 MB, from there to the disk",
        executing,
        None,
        None,
        slow,
    );
    line(
        "edit_file, 50 MB, in all",
        preparing + executing,
        Some(2_000),
        Some(more),
        slow,
    );
    let took = median(|| {
        let start = Instant::now();
        let missing =
            json!({ "path": "big", "old_string": "line 17 of another file\n  and more", "new_string": "" });
        assert!(
            session
                .prepare("edit_file", missing)
                .err()
                .unwrap()
                .contains("was not found")
        );
        start.elapsed()
    });
    line(
        "edit_file, 50 MB, text that is not there",
        took,
        Some(2_000),
        None,
        slow,
    );
    std::fs::remove_file(folder.join("big")).unwrap();
}

/// Bad input: one line of two hundred megabytes.
fn long_line(folder: &Path) {
    let mut file = BufWriter::new(std::fs::File::create(folder.join("line")).unwrap());
    file.write_all(b"first\n").unwrap();
    let piece = vec![b'x'; 1_000_000];
    for _ in 0..200 {
        file.write_all(&piece).unwrap();
    }
    file.write_all(b"\nlast\n").unwrap();
    drop(file);
    let session = Session::new(folder, Arc::new(Nowhere));
    for (what, tool, arguments) in [
        (
            "read_file",
            "read_file",
            json!({ "path": "line", "offset": 1, "limit": 3 }),
        ),
        (
            "edit_file",
            "edit_file",
            json!({ "path": "line", "old_string": "last", "new_string": "the end" }),
        ),
    ] {
        reset_peak();
        let before = memory("VmRSS:");
        let start = Instant::now();
        session.run(tool, arguments);
        let more = memory("VmHWM:").saturating_sub(before);
        line(
            &format!("{what}, a line of 200 MB"),
            start.elapsed(),
            None,
            Some(more),
            &mut Vec::new(),
        );
    }
    std::fs::remove_file(folder.join("line")).unwrap();
}

/// Syncs of each kind of change; the journal adds one to each that has a before-image. SPEC F2.
fn syncs(folder: &Path) {
    let root = Root::open(folder).unwrap();
    let path = |name: &str| root.path().join(name);
    let content = |bytes: &[u8]| Expected::Content(cairn_files::hash::of_bytes(bytes));
    let swap = |name: &str, expected| Swap::new(&root, &path(name), expected).unwrap();
    let made = swap("new", Expected::Absent).write(&root, b"a").unwrap().syncs;
    let edited = swap("new", content(b"a")).write(&root, b"b").unwrap().syncs;
    let hash = cairn_files::hash::of_bytes(b"b");
    let moved = Move::new(&root, &path("new"), &path("moved"), &hash)
        .unwrap()
        .run(&root, b"b")
        .unwrap()
        .syncs;
    let removed = swap("moved", content(b"b")).remove(&root).unwrap().syncs;
    println!(
        "syncs without the journal's: a new file {made}, an edit {edited}, a move {moved}, a deletion {removed}"
    );
}

fn line(what: &str, took: Duration, limit: Option<u64>, more: Option<u64>, slow: &mut Vec<String>) {
    let limit_text = limit.map_or(String::new(), |limit| format!(" (at most {limit} ms)"));
    let memory = more.map_or(String::new(), |more| {
        format!(", {:.1} MiB more", more as f64 / MIB as f64)
    });
    println!(
        "{what}: {:.1} ms{limit_text}{memory}",
        took.as_secs_f64() * 1_000.0
    );
    if limit.is_some_and(|limit| took.as_millis() > u128::from(limit)) {
        slow.push(what.to_owned());
    }
}

fn median(mut once: impl FnMut() -> Duration) -> Duration {
    let mut all: Vec<Duration> = (0..ROUNDS).map(|_| once()).collect();
    all.sort();
    all[all.len() / 2]
}

/// Numbered lines of 64 bytes up to that size; how many.
fn fill(path: &Path, size: u64) -> u64 {
    let mut file = BufWriter::with_capacity(1 << 20, std::fs::File::create(path).unwrap());
    let lines = size / 64;
    for number in 1..=lines {
        let head = format!("line {number} ");
        writeln!(
            file,
            "{head}{}",
            &"................................................................"[..63 - head.len()]
        )
        .unwrap();
    }
    file.flush().unwrap();
    lines
}

fn memory(key: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(key));
    let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

/// The peak counts from here on, where the system can.
fn reset_peak() {
    std::fs::write("/proc/self/clear_refs", "5").ok();
}
