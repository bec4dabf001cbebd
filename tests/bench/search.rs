//! What finding costs beside ripgrep: `cargo bench -p cairn-tools --bench search [WORD]`, a word
//! for those with it in their names. SPEC F5.
//!
//! Both search the same trees, turn by turn, `rg` with its start, unsorted, on as many threads. Prints the medians and
//! the median ratio of the pairs. Names the ratios above the limit; the limit is for a release build on a quiet machine.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a measurement may fail loudly, prints its figures, and starts the peer that it compares with"
)]

#[path = "nowhere.rs"]
mod nowhere;
#[path = "../../src-tauri/crates/cairn-tools/tests/kill/session.rs"]
#[allow(dead_code, reason = "each measurement uses its part")]
mod session;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use nowhere::Nowhere;
use serde_json::{Value, json};
use session::Session;

/// Turns of each; the median counts.
const ROUNDS: usize = 11;
/// The same where each turn takes long.
const FEW_ROUNDS: usize = 5;
/// SPEC F5.
const LIMIT: f64 = 1.15;
/// Files of the tree that is made.
const FILES: usize = 100_000;

fn main() {
    let build = if cfg!(debug_assertions) {
        "debug"
    } else {
        "release"
    };
    println!("{build} build, medians of {ROUNDS} turns, milliseconds");
    if Command::new("rg")
        .arg("--version")
        .stdout(Stdio::null())
        .status()
        .is_err()
    {
        println!("rg is not installed: there is nothing to compare with");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let made = folder.path().canonicalize().unwrap();
    make(&made);
    // What was not written to the disk yet cannot be forgotten.
    rustix::fs::sync();
    compare(
        "100,000 small files",
        &made,
        &Wanted {
            rare: "needle_of_one_file",
            never: "a_word_of_none",
            common: "input",
            names: "*7.rs",
        },
    );
    real();
}

/// A tree that people wrote: the source of Rust's library where the toolchain brings it, else that of this project's
/// own dependencies, without which it could not have been built.
fn real() {
    let wanted = Wanted {
        rare: "fn park_timeout",
        never: "a_word_of_none",
        common: "return",
        names: "*_tests.rs",
    };
    if let Some(library) = library() {
        compare("Rust's library", &library, &wanted);
        return;
    }
    println!(
        "Rust's library: its source is not installed (rustup component add rust-src, or Debian's package rust-src)"
    );
    let Some((sources, ours)) = dependencies() else {
        println!("The sources of the dependencies: cargo metadata does not tell where they are");
        return;
    };
    let what =
        format!("In its place the folder that holds the sources of this project's {ours} dependencies");
    compare(&what, &sources, &wanted);
}

/// What is looked for in a tree.
struct Wanted {
    rare: &'static str,
    never: &'static str,
    /// In most files.
    common: &'static str,
    names: &'static str,
}

fn compare(what: &str, tree: &Path, wanted: &Wanted) {
    println!("{what}:");
    let session = Session::new(tree, Arc::new(Nowhere));
    let Wanted {
        rare,
        never,
        common,
        names,
    } = *wanted;
    for (name, tool, arguments, rg) in [
        (
            "grep, a rare word",
            "grep",
            json!({ "pattern": rare }),
            vec!["-n", rare],
        ),
        (
            "grep, no match",
            "grep",
            json!({ "pattern": never }),
            vec!["-n", never],
        ),
        (
            "grep, any case",
            "grep",
            json!({ "pattern": rare, "case_insensitive": true }),
            vec!["-n", "-i", rare],
        ),
        (
            "grep, in most files",
            "grep",
            json!({ "pattern": common }),
            vec!["-n", common],
        ),
        (
            "grep, names of files",
            "grep",
            json!({ "pattern": common, "output": "files" }),
            vec!["-l", common],
        ),
        (
            "glob, names",
            "glob",
            json!({ "pattern": names }),
            vec!["--files", "-g", names],
        ),
        (
            "glob, everything",
            "glob",
            json!({ "pattern": "**" }),
            vec!["--files"],
        ),
    ] {
        if is_wanted(name) {
            turn_by_turn(name, &session, tool, &arguments, tree, &rg, Cache::Warm);
        }
    }
    if !is_wanted("grep, from the disk") {
        return;
    }
    let arguments = json!({ "pattern": rare });
    let rg = ["-n", rare];
    turn_by_turn(
        "grep, from the disk",
        &session,
        "grep",
        &arguments,
        tree,
        &rg,
        Cache::Emptied,
    );
}

/// Whether a search is measured: all are, or those whose names hold the word on the command line.
fn is_wanted(name: &str) -> bool {
    let word = std::env::args()
        .skip(1)
        .find(|argument| !argument.starts_with('-'));
    word.is_none_or(|word| name.contains(&word))
}

/// Whether the files are in memory when a turn begins.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cache {
    /// They are.
    Warm,
    /// Their content is not; their names are, because only root can have those forgotten.
    Emptied,
}

fn turn_by_turn(
    name: &str,
    session: &Session,
    tool: &str,
    arguments: &Value,
    tree: &Path,
    rg: &[&str],
    cache: Cache,
) {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let rounds = if cache == Cache::Warm { ROUNDS } else { FEW_ROUNDS };
    let before = || {
        if cache == Cache::Emptied {
            forget(tree);
        }
    };
    for round in 0..=rounds {
        before();
        let start = Instant::now();
        session.run(tool, arguments.clone());
        let our = start.elapsed();
        before();
        let start = Instant::now();
        // No match is an exit code of its own, so the status says nothing here.
        let _status = Command::new("rg")
            .args(["--no-config", "--color=never"])
            .args(rg)
            .arg(".")
            .current_dir(tree)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .status()
            .unwrap();
        let their = start.elapsed();
        // The first pair only fills the cache.
        if round > 0 {
            ours.push(our);
            theirs.push(their);
        }
    }
    let mut ratios: Vec<f64> = ours
        .iter()
        .zip(&theirs)
        .map(|(our, their)| our.as_secs_f64() / their.as_secs_f64())
        .collect();
    ratios.sort_by(f64::total_cmp);
    let ratio = ratios[ratios.len() / 2];
    let (ours, theirs) = (median(ours), median(theirs));
    let word = if ratio > LIMIT { "above the limit" } else { "" };
    println!(
        "  {name:<22} {:>7.1}  rg {:>7.1}  {ratio:.2} × {word}",
        ours.as_secs_f64() * 1_000.0,
        theirs.as_secs_f64() * 1_000.0
    );
}

/// Has the system forget what is in the files of a tree.
fn forget(folder: &Path) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            forget(&entry.path());
        } else if kind.is_file()
            && let Ok(file) = std::fs::File::open(entry.path())
        {
            rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).ok();
        }
    }
}

fn median(mut all: Vec<Duration>) -> Duration {
    all.sort();
    all[all.len() / 2]
}

/// A tree as projects have them: a few levels, files of some lines, one of them with the word that is looked for.
fn make(folder: &Path) {
    let body = "pub fn work(input: &str) -> usize {\n    input.lines().map(str::len).sum()\n}\n".repeat(4);
    for number in 0..FILES {
        let inside = folder.join(format!("crate{}/src/part{}", number / 5_000, number / 100 % 50));
        if number % 100 == 0 {
            std::fs::create_dir_all(&inside).unwrap();
        }
        let extra = if number == FILES / 2 {
            "// needle_of_one_file\n"
        } else {
            ""
        };
        std::fs::write(inside.join(format!("file{number}.rs")), format!("{extra}{body}")).unwrap();
    }
}

/// The source of Rust's library, where the toolchain or the system's package brings it.
fn library() -> Option<PathBuf> {
    let root = Command::new("rustc").args(["--print", "sysroot"]).output().ok()?;
    let root = PathBuf::from(String::from_utf8(root.stdout).ok()?.trim());
    [root, PathBuf::from("/usr")].into_iter().find_map(|root| {
        // Debian's is a link, which neither side would follow.
        let library = root.join("lib/rustlib/src/rust/library").canonicalize().ok()?;
        library.is_dir().then_some(library)
    })
}

/// The folder in which cargo unpacked most of this project's dependencies, and how many of them lie there.
fn dependencies() -> Option<(PathBuf, usize)> {
    let told = Command::new("rustc").arg("-vV").output().ok()?;
    let told = String::from_utf8(told.stdout).ok()?;
    let host = told.lines().find_map(|line| line.strip_prefix("host: "))?;
    // Only what this machine needs was fetched, and nothing is to be fetched for a measurement.
    let metadata = Command::new("cargo")
        .args([
            "metadata",
            "--format-version=1",
            "--offline",
            "--filter-platform",
            host,
        ])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let metadata: Value = serde_json::from_slice(&metadata.stdout).ok()?;
    let mut folders = BTreeMap::<PathBuf, usize>::new();
    for package in metadata["packages"].as_array()? {
        let from_elsewhere = package["source"].is_string();
        let manifest = Path::new(package["manifest_path"].as_str()?);
        if let (true, Some(folder)) = (from_elsewhere, manifest.ancestors().nth(2)) {
            *folders.entry(folder.to_owned()).or_default() += 1;
        }
    }
    folders.into_iter().max_by_key(|(_, count)| *count)
}
