//! What the tests over real processes share: a supervisor of our own, and a look at who is alive.
#![allow(dead_code, reason = "each test binary uses its part")]

use std::ffi::OsString;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use cairn_exec::{CommandSpec, Finished, HelperProgram, Processes, Program, Shell, child_environment};
use tokio_util::sync::CancellationToken;

/// The program with the helper role.
pub(crate) const HELPER: &str = env!("CARGO_BIN_EXE_cairn-helper-test");

/// Processes of a supervisor that only this test uses.
pub(crate) fn processes() -> Processes {
    Processes::new(HelperProgram::at(HELPER))
}

/// A name that all processes of one test carry in their environment, wherever they hide.
pub(crate) fn mark() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!(
        "mark-{}-{}",
        std::process::id(),
        NEXT.fetch_add(1, Ordering::Relaxed)
    )
}

/// A line for bash, marked.
pub(crate) fn line(line: &str, mark: &str) -> CommandSpec {
    let parent = ["PATH", "HOME"]
        .into_iter()
        .filter_map(|name| Some((OsString::from(name), std::env::var_os(name)?)));
    let mut environment = child_environment(parent, &[]);
    environment.push(("TEST_MARK".into(), mark.into()));
    CommandSpec {
        program: Program::Line {
            shell: Shell::find(std::env::var_os("PATH").as_deref()),
            line: line.to_owned(),
        },
        workdir: "/tmp".into(),
        environment,
        limit: Some(Duration::from_mins(1)),
        cancel: CancellationToken::new(),
        walls: None,
    }
}

/// Runs a line to its end.
pub(crate) async fn run(processes: &Processes, text: &str) -> Finished {
    processes.run(line(text, &mark()), |_| {}).await.unwrap()
}

/// Ids of the living processes with that mark in their environment.
pub(crate) fn alive(mark: &str) -> Vec<u32> {
    let needle = format!("TEST_MARK={mark}\0");
    std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter(|pid| {
            // A process that has ended has no environment any more.
            let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment
                .windows(needle.len())
                .any(|window| window == needle.as_bytes())
        })
        .collect()
}

/// Whether a process with that id runs. One that has ended and was not waited for yet does not.
pub(crate) fn is_there(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    status
        .lines()
        .any(|line| line.starts_with("State:") && !line.contains('Z'))
}

/// Children of a process.
pub(crate) fn children(pid: u32) -> Vec<u32> {
    std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter(|child| {
            let status = std::fs::read_to_string(format!("/proc/{child}/status")).unwrap_or_default();
            status.lines().any(|line| line == format!("PPid:\t{pid}"))
        })
        .collect()
}

/// A figure out of `/proc/PID/status`, kilobytes.
pub(crate) fn kilobytes(pid: u32, figure: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with(figure)).unwrap();
    line.split_ascii_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Waits until something holds; false when it does not within the time.
pub(crate) async fn within(limit: Duration, mut holds: impl FnMut() -> bool) -> bool {
    let until = Instant::now() + limit;
    while !holds() {
        if Instant::now() > until {
            return false;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    true
}
