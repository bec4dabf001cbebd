//! A command that prints ten gigabytes: `cargo bench -p cairn-tools --bench flood`. Takes a minute or more.
//!
//! Prints by how much our processes grow (this one and the supervisor, at most 32 MB) and how long Stop takes while the
//! flood goes on (at most 200 ms), and fails above either.

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

use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use cairn_agent::tool::Progress;
use cairn_exec::{Group, HelperProgram, Processes};
use cairn_files::Root;
use cairn_tools::place::Workspace;
use cairn_tools::web::WebConfig;
use nowhere::Nowhere;
use serde_json::json;
use session::Session;
use tokio_util::sync::CancellationToken;

const MIB: u64 = 1 << 20;
/// How much our processes may grow.
const GROWTH: u64 = 32 * MIB;
/// How long Stop may take.
const STOP: Duration = Duration::from_millis(200);
/// What has been printed when it is stopped.
const UNTIL_STOP: u64 = 200 * MIB;
/// Stops that are measured.
const STOPS: usize = 9;

fn main() -> ExitCode {
    // The supervisor is this program in another role.
    if let Some(code) = cairn_exec::helper_main(std::env::args_os()) {
        return code;
    }
    let folder = tempfile::tempdir().unwrap();
    let root = Root::open(folder.path()).unwrap().with_home(None);
    let processes = Processes::new(HelperProgram::this_program());
    let tools = cairn_tools::all(
        Arc::new(Workspace::new(Arc::new(root), Vec::new())),
        Group::new(processes.clone(), |_| {}),
        cairn_exec::child_environment(std::env::vars_os(), &[]),
        WebConfig::default(),
        Arc::new(cairn_tools::remember::NoMemory),
    );
    let session = Session::of(tools, Arc::new(Nowhere));
    session.run("shell", json!({ "command": "yes | head -c 10M" }));
    let supervisor = session.wait_for(processes.supervisor()).unwrap();
    let both = [std::process::id(), supervisor];

    let (grown, printed, took) = to_its_end(&session, both);
    println!(
        "`yes | head -c 10G` to its end: {} MB in {:.1} s, our processes grew by {:.1} MiB (at most {})",
        printed / 1_000_000,
        took.as_secs_f64(),
        grown as f64 / MIB as f64,
        GROWTH / MIB,
    );
    let (stops, more) = stopped(&session, both);
    println!(
        "Stop after {} MB: median {:.0} ms, longest of {STOPS} {:.0} ms (at most {}), {:.1} MiB more",
        UNTIL_STOP / 1_000_000,
        stops[STOPS / 2].as_secs_f64() * 1_000.0,
        stops[STOPS - 1].as_secs_f64() * 1_000.0,
        STOP.as_millis(),
        more as f64 / MIB as f64,
    );
    let good = grown <= GROWTH && more <= GROWTH && stops[STOPS - 1] <= STOP;
    if !good {
        println!("above the limit");
    }
    session.wait_for(processes.shutdown());
    ExitCode::from(u8::from(!good))
}

/// All ten gigabytes: how much our processes grew, what was printed, and how long it took.
fn to_its_end(session: &Session, both: [u32; 2]) -> (u64, u64, Duration) {
    let call = session
        .prepare("shell", json!({ "command": "yes | head -c 10G", "timeout": 600 }))
        .unwrap();
    let seen = Arc::new(Seen::default());
    let mut context = session.context();
    context.progress = Arc::clone(&seen) as Arc<dyn Progress>;
    let before = rest(both);
    let start = Instant::now();
    let outcome = session.execute_in(call, context);
    assert!(outcome.ok, "{}", outcome.content);
    let grown = peak(both).saturating_sub(before);
    (grown, seen.printed.load(Ordering::Relaxed), start.elapsed())
}

/// Stopped in the middle, again and again: how long each took, in order, and how much our processes grew.
fn stopped(session: &Session, both: [u32; 2]) -> (Vec<Duration>, u64) {
    let before = rest(both);
    let mut all: Vec<Duration> = (0..STOPS)
        .map(|_| {
            let call = session
                .prepare("shell", json!({ "command": "yes | head -c 10G", "timeout": 600 }))
                .unwrap();
            let mut context = session.context();
            let seen = Arc::new(Seen {
                stop: Some((UNTIL_STOP, context.cancel.clone())),
                ..Seen::default()
            });
            context.progress = Arc::clone(&seen) as Arc<dyn Progress>;
            session.execute_in(call, context);
            let stopped = seen.stopped.lock().unwrap().unwrap();
            stopped.elapsed()
        })
        .collect();
    all.sort();
    (all, peak(both).saturating_sub(before))
}

/// Follows what is printed, and stops the call when it is enough.
#[derive(Default)]
struct Seen {
    printed: AtomicU64,
    stop: Option<(u64, CancellationToken)>,
    stopped: Mutex<Option<Instant>>,
}

impl Progress for Seen {
    fn output(&self, offset: u64, text: &str) {
        let end = offset + text.len() as u64;
        self.printed.fetch_max(end, Ordering::Relaxed);
        if let Some((after, cancel)) = &self.stop
            && end >= *after
        {
            self.stopped.lock().unwrap().get_or_insert_with(Instant::now);
            cancel.cancel();
        }
    }
}

/// The memory of our processes as they rest; their peaks count from here on.
fn rest(both: [u32; 2]) -> u64 {
    for process in both {
        std::fs::write(format!("/proc/{process}/clear_refs"), "5").ok();
    }
    memory(both, "VmRSS:")
}

fn peak(both: [u32; 2]) -> u64 {
    memory(both, "VmHWM:")
}

fn memory(both: [u32; 2], key: &str) -> u64 {
    both.iter()
        .map(|process| {
            let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
            let line = status.lines().find_map(|line| line.strip_prefix(key)).unwrap();
            let kib: u64 = line.trim().trim_end_matches(" kB").parse().unwrap();
            kib * 1_024
        })
        .sum()
}
