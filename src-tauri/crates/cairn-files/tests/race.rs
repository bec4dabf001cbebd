//! A folder is swapped for a link while files are resolved, read and written: nothing outside is ever touched.

// The whole crate is a test; clippy only knows functions marked as tests.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout
)]

use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use cairn_files::swap::{Expected, Move, Swap, make_folder};
use cairn_files::{Root, hash, read};

/// Rounds at least, however slow the machine is.
const ROUNDS: usize = 400;
/// How long it may take until each kind of call got through.
const PATIENCE: Duration = Duration::from_secs(60);
/// Names for how many seconds the race goes on, for more than the few rounds of every run.
const SECONDS: &str = "CAIRN_RACE_SECONDS";

/// Ends the flipping also when an assertion fails; the scope would wait for it for ever.
struct StopAtEnd<'a>(&'a AtomicBool);

impl Drop for StopAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Lets folder and link trade places until told to stop, so that there is always one of them.
fn flip(folder: &Path, link: &Path, stop: &AtomicBool) {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    for round in 0_u32.. {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        // Pauses of every length up to a fraction of a millisecond, so that each step of a call is hit, and some
        // calls are not.
        for _ in 0..round.wrapping_mul(7_919) % 60_000 {
            std::hint::spin_loop();
        }
        renameat_with(CWD, folder, CWD, link, RenameFlags::EXCHANGE).unwrap();
    }
}

fn race(open: impl Fn(&Path) -> Root) {
    let scratch = tempfile::tempdir().unwrap();
    let base = scratch.path().canonicalize().unwrap();
    for folder in ["p/dir", "outside"] {
        std::fs::create_dir_all(base.join(folder)).unwrap();
    }
    std::fs::write(base.join("p/dir/f"), "inside").unwrap();
    std::fs::write(base.join("outside/f"), "outside").unwrap();
    symlink(base.join("outside"), base.join("p/link")).unwrap();
    let root = open(&base.join("p"));
    let target = base.join("p/dir/f");
    let stop = AtomicBool::new(false);
    let seconds = std::env::var(SECONDS).map_or(0, |seconds| seconds.parse().unwrap());
    let end = Instant::now() + Duration::from_secs(seconds);
    let (mut reads, mut writes) = (0, 0);
    let (mut moves, mut refused) = (0, 0);
    std::thread::scope(|scope| {
        scope.spawn(|| flip(&base.join("p/dir"), &base.join("p/link"), &stop));
        let _stop = StopAtEnd(&stop);
        // A race that one side always wins proves nothing: it goes on until each kind of call got through once.
        let patience = Instant::now() + PATIENCE;
        for round in 0.. {
            let proves = reads > 0 && writes > 0 && moves > 0;
            let now = Instant::now();
            if round >= ROUNDS && now >= end && (proves || now >= patience) {
                break;
            }
            if let Ok(content) = read::whole(&root, &target, 1_000) {
                assert_ne!(content.bytes, b"outside");
                reads += 1;
                let swap = Swap::new(&root, &target, Expected::Content(content.hash)).unwrap();
                writes += usize::from(swap.write(&root, format!("round {round}").as_bytes()).is_ok());
            }
            if let Ok(swap) = Swap::new(&root, &base.join(format!("p/dir/new-{round}")), Expected::Absent) {
                match swap.write(&root, b"new") {
                    Ok(_) => writes += 1,
                    Err(_) => refused += 1,
                }
            }
            // Out of the folder and into it, and away again, so that it does not fill up.
            let (new, beside) = (
                base.join(format!("p/dir/new-{round}")),
                base.join(format!("p/new-{round}")),
            );
            let hash = hash::of_bytes(b"new");
            for (from, to) in [(&new, &beside), (&beside, &new)] {
                let moving = Move::new(&root, from, to, &hash).unwrap();
                moves += usize::from(moving.run(&root, b"new").is_ok());
            }
            for path in [&new, &beside] {
                let swap = Swap::new(&root, path, Expected::Content(hash.clone())).unwrap();
                swap.remove(&root).ok();
            }
            make_folder(&root, &base.join(format!("p/dir/folder-{round}/deep"))).ok();
            // What is resolved at a moment when the link is there is judged as outside, never as inside.
            if let Ok(found) = root.resolve("dir/f") {
                assert_eq!(
                    found.real.starts_with(base.join("outside")),
                    found.place == cairn_policy::Place::Outside
                );
            }
        }
    });
    println!("{reads} reads, {writes} writes, {moves} moves, {refused} refused: nothing outside was touched");
    assert!(
        reads > 0 && writes > 0 && moves > 0,
        "nothing ever worked: the race proves nothing"
    );
    let outside: Vec<_> = std::fs::read_dir(base.join("outside")).unwrap().collect();
    assert_eq!(outside.len(), 1, "{outside:?}");
    assert_eq!(
        hash::of_bytes(&std::fs::read(base.join("outside/f")).unwrap()),
        hash::of_bytes(b"outside")
    );
}

#[test]
fn g5_a_folder_that_becomes_a_link_leads_nowhere() {
    race(|path| Root::open(path).unwrap());
}

#[test]
fn g5_the_same_without_openat2() {
    race(|path| Root::open_walking(path).unwrap());
}
