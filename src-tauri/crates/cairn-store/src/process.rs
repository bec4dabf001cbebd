//! Which process is which: a process id alone is used again sooner or later, so its start time goes with it.

use std::fs;

/// One process, told apart from every later one with the same id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProcessMark {
    /// Its id.
    pub pid: u32,
    /// Boot and start time; empty where the system does not tell.
    pub start: String,
}

impl ProcessMark {
    /// This process.
    pub(crate) fn own() -> Self {
        let pid = std::process::id();
        Self {
            pid,
            start: start_of(pid).unwrap_or_default(),
        }
    }

    /// Whether that very process is still there. A zombie is not: it can write nothing any more.
    pub(crate) fn is_alive(&self) -> bool {
        if cfg!(target_os = "linux") {
            start_of(self.pid).is_some_and(|start| start == self.start)
        } else {
            answers(self.pid)
        }
    }
}

/// Boot id and start time in clock ticks since boot (`man 5 proc`, field 22 of stat); none when it is gone.
fn start_of(pid: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is the program's name in parentheses and may itself hold parentheses and spaces.
    let mut fields = stat.get(stat.rfind(')')? + 1..)?.split_ascii_whitespace();
    if matches!(fields.next()?, "Z" | "X" | "x") {
        return None;
    }
    let ticks = fields.nth(18)?;
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    Some(format!("{}/{ticks}", boot.trim()))
}

/// Whether a process with that id answers; its start time is not told here.
#[cfg(unix)]
fn answers(pid: u32) -> bool {
    let Some(pid) = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw) else {
        return false;
    };
    !matches!(
        rustix::process::test_kill_process(pid),
        Err(rustix::io::Errno::SRCH)
    )
}

/// Nothing can be told: the holder counts as alive.
#[cfg(not(unix))]
fn answers(_pid: u32) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_alive() {
        assert!(ProcessMark::own().is_alive());
    }

    #[test]
    fn a_pid_that_was_used_again_is_not_the_same_process() {
        let mut mark = ProcessMark::own();
        mark.start.push('7');
        assert!(!mark.is_alive());
    }

    #[test]
    fn a_pid_that_nobody_has_is_not_alive() {
        assert!(
            !ProcessMark {
                pid: u32::MAX - 7,
                start: String::new()
            }
            .is_alive()
        );
    }
}
