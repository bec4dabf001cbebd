//! A process is killed while it writes: the file is the old or the new one, whole, and the leftover can be swept.

// The whole crate is a test; clippy only knows functions marked as tests.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout
)]

use std::path::Path;
use std::process::Stdio;

use cairn_files::swap::{Expected, Swap, Unfinished, is_temporary, recover};
use cairn_files::{Root, hash, read};

/// Kills of every run; another number is named in the environment.
const KILLS: u32 = 20;
const COUNT: &str = "CAIRN_KILLS";
const SIZE: usize = 300_000;
const FOLDER: &str = "CAIRN_TEST_KILL_FOLDER";

fn version(number: usize) -> Vec<u8> {
    let byte = b'a' + (number % 26) as u8;
    vec![byte; SIZE + number % 26]
}

/// Writes one version after the other until it is killed. Runs only when started by the test below.
#[test]
fn child_that_writes() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let root = Root::open(Path::new(&folder)).unwrap();
    let path = root.path().join("f");
    println!("ready");
    for number in 0.. {
        let now = read::whole(&root, &path, 1 << 20).unwrap();
        let swap = Swap::new(&root, &path, Expected::Content(now.hash)).unwrap();
        swap.write(&root, &version(number)).unwrap();
    }
}

#[test]
#[allow(clippy::disallowed_methods)] // A test may start itself again; what is tested starts nothing.
fn a_killed_write_leaves_the_old_or_the_new_file_whole() {
    let folder = tempfile::tempdir().unwrap();
    let root = Root::open(folder.path()).unwrap();
    let path = root.path().join("f");
    std::fs::write(&path, version(0)).unwrap();
    let mut leftovers = 0;
    let kills = std::env::var(COUNT).map_or(KILLS, |count| count.parse().unwrap());
    for kill in 0..kills {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["child_that_writes", "--exact", "--nocapture"])
            .env(FOLDER, root.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        wait_until_ready(&mut child);
        // A different point each time: the file has been replaced this many times.
        let mut seen = 0;
        let mut last = hash::of_bytes(&std::fs::read(&path).unwrap());
        while seen < kill % 4 {
            let now = hash::of_bytes(&std::fs::read(&path).unwrap());
            seen += u32::from(now != last);
            last = now;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let bytes = std::fs::read(&path).unwrap();
        assert!(
            bytes.len() >= SIZE && bytes.iter().all(|byte| *byte == bytes[0]),
            "half a file after kill {kill}"
        );
        leftovers += sweep(&root, &path, &bytes);
    }
    let names: Vec<_> = std::fs::read_dir(root.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names, ["f"], "{leftovers} were swept");
    println!("{kills} kills, {leftovers} temporary files swept");
}

fn wait_until_ready(child: &mut std::process::Child) {
    use std::io::BufRead as _;
    let out = std::io::BufReader::new(child.stdout.take().unwrap());
    assert!(out.lines().any(|line| line.unwrap().contains("ready")));
}

fn sweep(root: &Root, path: &Path, bytes: &[u8]) -> usize {
    let mut swept = 0;
    for entry in std::fs::read_dir(root.path()).unwrap() {
        let entry = entry.unwrap();
        if is_temporary(&entry.file_name()) {
            let now = hash::of_bytes(bytes);
            let change = Unfinished {
                path,
                temporary: Some(&entry.path()),
                before: Some(&now),
                after: None,
            };
            recover(&change).unwrap();
            swept += 1;
        }
    }
    assert_eq!(std::fs::read(path).unwrap(), bytes);
    swept
}
