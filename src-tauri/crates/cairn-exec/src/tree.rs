//! Who descends from whom, as the system tells it, and signals that reach only whom they are meant for.
//!
//! Owns: the view of the process table. Must never know: commands, limits, why anything is ended.

use std::collections::HashMap;

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal};

/// Characters of a command line that are shown.
const SHOWN: usize = 300;

/// One process at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Process {
    /// Its id.
    pub(crate) pid: i32,
    /// When it started, in the system's ticks; with the id it names one process for ever.
    pub(crate) started: u64,
}

/// A row of the process table.
struct Row {
    parent: i32,
    started: u64,
    ended: bool,
}

/// All that descend from `root` and have not ended, the nearest first, `root` not among them.
///
/// A process that started or lost its parent while the table was read may be missing: whoever ends processes looks
/// again until nothing is left.
pub(crate) fn descendants(root: i32) -> Vec<Process> {
    let table = table();
    let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
    for (&pid, row) in &table {
        children.entry(row.parent).or_default().push(pid);
    }
    let mut found = Vec::new();
    let mut next = vec![root];
    // The table is no snapshot: a reused id could close a loop, so every id is taken once.
    while let Some(pid) = next.pop() {
        for child in children.remove(&pid).unwrap_or_default() {
            next.push(child);
            if let Some(row) = table.get(&child).filter(|row| !row.ended && child != root) {
                found.push(Process {
                    pid: child,
                    started: row.started,
                });
            }
        }
    }
    found
}

/// All processes that have not ended.
pub(crate) fn all() -> Vec<Process> {
    let living = table().into_iter().filter(|(_, row)| !row.ended);
    living
        .map(|(pid, row)| Process {
            pid,
            started: row.started,
        })
        .collect()
}

/// When the process with that id started, in the system's ticks; none when there is none that has not ended.
pub(crate) fn started(pid: i32) -> Option<u64> {
    row(pid).filter(|row| !row.ended).map(|row| row.started)
}

/// When a process started, milliseconds since 1970; 0 where the system does not tell.
pub(crate) fn started_at(process: Process) -> i64 {
    let stat = std::fs::read_to_string("/proc/stat").unwrap_or_default();
    let boot = stat
        .lines()
        .find_map(|line| line.strip_prefix("btime "))
        .and_then(|seconds| seconds.trim().parse::<i64>().ok());
    let ticks = rustix::param::clock_ticks_per_second().max(1);
    let since_boot = i64::try_from(process.started.saturating_mul(1_000) / ticks).unwrap_or(0);
    boot.map_or(0, |boot| boot * 1_000 + since_boot)
}

/// Sends a signal to that very process, and never to another one that got its id since.
pub(crate) fn signal(process: Process, signal: Signal) {
    let Some(pid) = Pid::from_raw(process.pid) else {
        return;
    };
    let sent = match rustix::process::pidfd_open(pid, PidfdFlags::empty()) {
        // The handle is held before the start time is read: if that is still the same, the handle is the process.
        Ok(handle) if row(process.pid).is_some_and(|row| row.started == process.started) => {
            rustix::process::pidfd_send_signal(handle, signal)
        }
        Ok(_) => Ok(()),
        // Linux before 5.3 has no handles.
        Err(Errno::NOSYS) if row(process.pid).is_some_and(|row| row.started == process.started) => {
            rustix::process::kill_process(pid, signal)
        }
        Err(error) => Err(error),
    };
    if let Err(error) = sent
        && error != Errno::SRCH
    {
        tracing::debug!(pid = process.pid, %error, "a process could not be signalled");
    }
}

/// Whether a process is the first of a namespace of processes below ours: it only waits for the others.
pub(crate) fn is_first_of_namespace(pid: i32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let ids = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
    ids.unwrap_or_default()
        .split_ascii_whitespace()
        .skip(1)
        .last()
        .is_some_and(|innermost| innermost == "1")
}

/// The command line of a process, or its name; cut to 300 characters.
pub(crate) fn command_line(pid: i32) -> String {
    let read = |file: &str| std::fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
    let line: Vec<u8> = read("cmdline")
        .into_iter()
        .map(|byte| if byte == 0 { b' ' } else { byte })
        .collect();
    let line = if line.is_empty() { read("comm") } else { line };
    let text = String::from_utf8_lossy(&line);
    text.trim()
        .chars()
        .map(|c| if c.is_control() { '?' } else { c })
        .take(SHOWN)
        .collect()
}

fn table() -> HashMap<i32, Row> {
    let Ok(folder) = std::fs::read_dir("/proc") else {
        return HashMap::new();
    };
    folder
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(|pid| Some((pid, row(pid)?)))
        .collect()
}

/// Reads `/proc/PID/stat` (see proc_pid_stat(5)): after the name in parentheses, which may hold anything, come state,
/// parent and, as field 22, the start time.
fn row(pid: i32) -> Option<Row> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    let after_name = stat.iter().rposition(|&byte| byte == b')')? + 1;
    let mut fields = std::str::from_utf8(stat.get(after_name..)?)
        .ok()?
        .split_ascii_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    let started = fields.nth(17)?.parse().ok()?;
    Some(Row {
        parent,
        started,
        ended: matches!(state, "Z" | "X"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_in_the_table_with_its_parent() {
        let pid = i32::try_from(std::process::id()).unwrap();
        let parent = rustix::process::getppid().unwrap().as_raw_nonzero().get();
        assert_eq!(row(pid).unwrap().parent, parent);
        assert!(descendants(parent).iter().any(|process| process.pid == pid));
        assert!(!descendants(pid).iter().any(|process| process.pid == pid));
    }

    #[test]
    fn a_signal_for_another_start_time_reaches_nobody() {
        let pid = i32::try_from(std::process::id()).unwrap();
        // Were it sent, this test would be gone.
        signal(Process { pid, started: 1 }, Signal::KILL);
    }
}
