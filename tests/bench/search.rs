//! What finding costs beside ripgrep: `cargo bench -p cairn-tools --bench search`. SPEC F5.
//!
//! Both search the same trees, turn by turn, `rg` with its start, unsorted, on as many threads. Prints the medians and
//! their ratios. Names the ratios above the limit; the limit is for a release build on a quiet machine.

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
    compare(
        "100,000 small files",
        &made,
        "needle_of_one_file",
        "a_word_of_none",
        "*7.rs",
    );
    real();
}

/// A tree that people wrote: the source of Rust's library where the toolchain brings it, else that of this project's
/// own dependencies, without which it could not have been built.
fn real() {
    if let Some(library) = library() {
        compare(
            "Rust's library",
            &library,
            "fn park_timeout_ms",
            "a_word_of_none",
            "*_tests.rs",
        );
        return;
    }
    println!("Rust's library: its source is not installed (rustup component add rust-src)");
    let Some((sources, ours)) = dependencies() else {
        println!("The sources of the dependencies: cargo metadata does not tell where they are");
        return;
    };
    let what =
        format!("In its place the folder that holds the sources of this project's {ours} dependencies");
    compare(
        &what,
        &sources,
        "fn park_timeout_ms",
        "a_word_of_none",
        "*_tests.rs",
    );
}

fn compare(what: &str, tree: &Path, rare: &str, never: &str, names: &str) {
    println!("{what}:");
    let session = Session::new(tree, Arc::new(Nowhere));
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
            "glob, names",
            "glob",
            json!({ "pattern": names }),
            vec!["--files", "-g", names],
        ),
    ] {
        turn_by_turn(name, &session, tool, &arguments, tree, &rg);
    }
}

fn turn_by_turn(name: &str, session: &Session, tool: &str, arguments: &Value, tree: &Path, rg: &[&str]) {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let start = Instant::now();
        session.run(tool, arguments.clone());
        ours.push(start.elapsed());
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
        theirs.push(start.elapsed());
    }
    let (ours, theirs) = (median(ours), median(theirs));
    let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
    let word = if ratio > LIMIT { "above the limit" } else { "" };
    println!(
        "  {name:<20} {:>7.1}  rg {:>7.1}  {ratio:.2} × {word}",
        ours.as_secs_f64() * 1_000.0,
        theirs.as_secs_f64() * 1_000.0
    );
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

/// The source of Rust's library, where the toolchain brings it.
fn library() -> Option<PathBuf> {
    let root = Command::new("rustc").args(["--print", "sysroot"]).output().ok()?;
    let root = PathBuf::from(String::from_utf8(root.stdout).ok()?.trim());
    let library = root.join("lib/rustlib/src/rust/library");
    library.is_dir().then_some(library)
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
