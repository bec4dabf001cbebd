//! The only unsafe code of the program: fork, signal masks, and what a child does between fork and exec.
//!
//! Owns: system calls that neither the standard library nor `rustix` offers safely. Must never know: protocols,
//! commands, limits. Every function here is safe to call, whatever its arguments.
#![allow(
    unsafe_code,
    reason = "each block says why it holds; nothing outside this file is unsafe"
)]

use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd, RawFd};
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use rustix::process::{Pid, Signal};

/// Highest signal number of Linux.
const LAST_SIGNAL: libc::c_int = 64;

/// A command for `program`: the one place where one is made, so that each goes through [`detach`].
#[allow(
    clippy::disallowed_methods,
    reason = "this is the place that the rule points to"
)]
pub(crate) fn command(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    command.env_clear();
    command
}

/// Lets the child start clean: in a session and process group of its own without a terminal, with all signals at
/// their defaults, with no descriptor but 0, 1 and 2, and ended by `on_death` when its parent *thread* ends.
///
/// The thread matters: the system sends the signal when the thread that forked is gone, not the process.
pub(crate) fn detach(command: &mut Command, on_death: Signal) {
    let parent = rustix::process::getpid().as_raw_nonzero().get();
    let on_death = on_death.as_raw();
    let prepare = move || {
        // SAFETY: only calls that are async-signal-safe, on plain integers and a local set: nothing is allocated, no
        // lock is taken, no memory of the parent is touched.
        unsafe {
            libc::setsid();
            for signal in 1..=LAST_SIGNAL {
                libc::signal(signal, libc::SIG_DFL);
            }
            let mut none = std::mem::zeroed::<libc::sigset_t>();
            libc::sigemptyset(&raw mut none);
            libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
            if libc::prctl(libc::PR_SET_PDEATHSIG, on_death) != 0 {
                return Err(io::Error::last_os_error());
            }
            // The parent may have ended before the line above: then nobody would send the signal.
            if libc::getppid() != parent {
                return Err(io::Error::from_raw_os_error(libc::ESRCH));
            }
            close_on_exec_from(3);
        }
        Ok(())
    };
    // SAFETY: `prepare` does only what may be done between fork and exec, as said in it.
    unsafe {
        command.pre_exec(prepare);
    }
}

/// What a child puts on itself just before it becomes its program. Nothing of it can be taken off again.
pub(crate) struct Entry {
    /// Access rules.
    pub(crate) rules: Option<OwnedFd>,
    /// The filter of system calls.
    pub(crate) filter: Option<Vec<libc::sock_filter>>,
    /// Descriptors that the program gets under their numbers.
    pub(crate) keep_open: Vec<OwnedFd>,
}

/// Lets the child put that on itself, after what [`detach`] does; it is never more privileged afterwards, whatever it
/// runs. What cannot be put on keeps the program from being started.
pub(crate) fn enter(command: &mut Command, entry: Entry) {
    let prepare = move || {
        // SAFETY: system calls on plain integers and on memory that this closure owns and that outlives the calls;
        // nothing is allocated and no lock is taken.
        unsafe {
            for kept in &entry.keep_open {
                if libc::fcntl(kept.as_raw_fd(), libc::F_SETFD, 0) != 0 {
                    return Err(io::Error::last_os_error());
                }
            }
            if libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 {
                return Err(io::Error::last_os_error());
            }
            if let Some(rules) = &entry.rules
                && libc::syscall(libc::SYS_landlock_restrict_self, rules.as_raw_fd(), 0) != 0
            {
                return Err(io::Error::last_os_error());
            }
            if let Some(filter) = &entry.filter {
                let program = libc::sock_fprog {
                    len: filter.len() as libc::c_ushort,
                    filter: filter.as_ptr().cast_mut(),
                };
                if libc::prctl(
                    libc::PR_SET_SECCOMP,
                    libc::SECCOMP_MODE_FILTER,
                    &raw const program,
                ) != 0
                {
                    return Err(io::Error::last_os_error());
                }
            }
        }
        Ok(())
    };
    // SAFETY: `prepare` does only what may be done between fork and exec, as said in it.
    unsafe {
        command.pre_exec(prepare);
    }
}

/// The version of the access rules that the system knows; 0 or less where it has none. See landlock(7).
pub(crate) fn landlock_version() -> i32 {
    const VERSION: libc::c_uint = 1;
    // SAFETY: with this flag nothing is read and nothing is made.
    let version = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, 0, 0, VERSION) };
    i32::try_from(version).unwrap_or(0)
}

/// Rules that refuse those kinds of access to files unless [`landlock_allow`] gives them, and keep those scopes in.
pub(crate) fn landlock_rules(files: u64, scopes: u64) -> io::Result<OwnedFd> {
    // Access to files, to ports, scopes. An older system wants the fields that it does not know to be zero.
    let wanted: [u64; 3] = [files, 0, scopes];
    // SAFETY: reads the local array, whose size it is told; the descriptor is new and owned by nobody else.
    unsafe {
        let made = libc::syscall(
            libc::SYS_landlock_create_ruleset,
            wanted.as_ptr(),
            size_of_val(&wanted),
            0,
        );
        let made = RawFd::try_from(made).unwrap_or(-1);
        if made < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(OwnedFd::from_raw_fd(made))
    }
}

/// Gives those kinds of access to a file, or to a folder with all beneath it.
pub(crate) fn landlock_allow(rules: &OwnedFd, beneath: &OwnedFd, access: u64) -> io::Result<()> {
    #[repr(C, packed)]
    struct Beneath {
        access: u64,
        parent: i32,
    }
    const BENEATH: libc::c_int = 1;
    let rule = Beneath {
        access,
        parent: beneath.as_raw_fd(),
    };
    // SAFETY: reads the local rule, which has the layout that the kernel documents.
    let added = unsafe {
        libc::syscall(
            libc::SYS_landlock_add_rule,
            rules.as_raw_fd(),
            BENEATH,
            &raw const rule,
            0,
        )
    };
    if added == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Marks all descriptors from `first` on, so that exec closes them. Case L08.
fn close_on_exec_from(first: libc::c_int) {
    // SAFETY: system calls on plain integers; marking a descriptor that is not open fails and changes nothing.
    unsafe {
        let done = libc::syscall(
            libc::SYS_close_range,
            first,
            libc::c_uint::MAX,
            libc::CLOSE_RANGE_CLOEXEC,
        );
        if done != 0 {
            // Linux before 5.11.
            for descriptor in first..4096 {
                libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC);
            }
        }
    }
}

/// Forks; the child runs `role` and exits with what it answers. The parent gets the child's id.
///
/// Refused in a process with more than one thread: the child would have the others' locks without the others.
pub(crate) fn fork(role: impl FnOnce() -> u8) -> io::Result<Pid> {
    if std::fs::read_dir("/proc/self/task")?.count() != 1 {
        return Err(io::Error::other("a process with several threads must not fork"));
    }
    // SAFETY: there is one thread, so the child is a whole copy with no lock held by anybody else.
    let forked = unsafe { libc::fork() };
    if forked == 0 {
        let code = role();
        // SAFETY: ends the child without running destructors or exit handlers that belong to the parent.
        unsafe { libc::_exit(i32::from(code)) }
    }
    Pid::from_raw(forked)
        .filter(|_| forked > 0)
        .ok_or_else(io::Error::last_os_error)
}

/// Closes all descriptors from 3 on but those. For a child that was forked and does not exec.
pub(crate) fn close_all_but(keep: &[RawFd]) {
    let mut keep: Vec<_> = keep
        .iter()
        .copied()
        .filter(|&descriptor| descriptor >= 3)
        .collect();
    keep.sort_unstable();
    let mut first = 3;
    for descriptor in keep.into_iter().chain([RawFd::MAX]) {
        if descriptor > first {
            // SAFETY: the child never drops the parent's owners of these descriptors, it only ever exits, so nothing
            // is closed twice; closing one that is not open fails and changes nothing.
            unsafe {
                if libc::syscall(libc::SYS_close_range, first, descriptor - 1, 0) != 0 {
                    for old in first..descriptor.min(4096) {
                        libc::close(old);
                    }
                }
            }
        }
        first = descriptor.saturating_add(1);
    }
}

/// The file behind a number that this process was started with. Only for numbers that are known to be nobody else's: the
/// caller has looked what is behind it, and does so once.
pub(crate) fn take_descriptor(number: RawFd) -> std::fs::File {
    // SAFETY: it was inherited through exec, so no owner of it exists in this process; closing a wrong number would
    // disturb files, never memory.
    unsafe { std::fs::File::from_raw_fd(number) }
}

fn set_of(signals: &[Signal]) -> libc::sigset_t {
    // SAFETY: the set is a local that `sigemptyset` initialises; the numbers come from a type that holds valid ones.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        for signal in signals {
            libc::sigaddset(&raw mut set, signal.as_raw());
        }
        set
    }
}

/// Blocks these signals and answers a descriptor that becomes readable when one of them waits.
pub(crate) fn watch_signals(signals: &[Signal]) -> io::Result<OwnedFd> {
    let set = set_of(signals);
    // SAFETY: both calls only read the local set; the descriptor is new and owned by nobody else.
    unsafe {
        if libc::sigprocmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut()) != 0 {
            return Err(io::Error::last_os_error());
        }
        let descriptor = libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(OwnedFd::from_raw_fd(descriptor))
    }
}

/// Size of what one read of a signal descriptor gives.
const SIGNAL_RECORD: usize = size_of::<libc::signalfd_siginfo>();

/// The numbers of the signals that wait at the descriptor; they wait no longer.
pub(crate) fn take_signals(descriptor: &OwnedFd) -> Vec<i32> {
    let mut numbers = Vec::new();
    let mut record = [0_u8; SIGNAL_RECORD];
    while rustix::io::read(descriptor, &mut record).is_ok_and(|read| read == SIGNAL_RECORD) {
        // The number is the first field, 32 bits in the byte order of the machine (signalfd(2)).
        if let Some(number) = record.first_chunk::<4>() {
            numbers.push(i32::from_ne_bytes(*number));
        }
    }
    numbers
}

/// Waits for one of these signals, which are blocked, and answers its number.
pub(crate) fn wait_for_signal(signals: &[Signal]) -> Option<i32> {
    let set = set_of(signals);
    // SAFETY: reads the local set; the second argument may be null.
    let number = unsafe { libc::sigwaitinfo(&raw const set, std::ptr::null_mut()) };
    (number > 0).then_some(number)
}

/// Ignores these signals.
pub(crate) fn ignore_signals(signals: &[Signal]) {
    for signal in signals {
        // SAFETY: a plain number and the constant for "ignore"; no handler runs.
        unsafe {
            libc::signal(signal.as_raw(), libc::SIG_IGN);
        }
    }
}

/// The raw number of a descriptor, for [`close_all_but`].
pub(crate) fn raw(descriptor: &OwnedFd) -> RawFd {
    descriptor.as_raw_fd()
}

/// The name of a signal, like `SIGSEGV`.
pub(crate) fn signal_name(number: i32) -> String {
    const NAMES: &[(i32, &str)] = &[
        (libc::SIGHUP, "SIGHUP"),
        (libc::SIGINT, "SIGINT"),
        (libc::SIGQUIT, "SIGQUIT"),
        (libc::SIGILL, "SIGILL"),
        (libc::SIGTRAP, "SIGTRAP"),
        (libc::SIGABRT, "SIGABRT"),
        (libc::SIGBUS, "SIGBUS"),
        (libc::SIGFPE, "SIGFPE"),
        (libc::SIGKILL, "SIGKILL"),
        (libc::SIGUSR1, "SIGUSR1"),
        (libc::SIGSEGV, "SIGSEGV"),
        (libc::SIGUSR2, "SIGUSR2"),
        (libc::SIGPIPE, "SIGPIPE"),
        (libc::SIGALRM, "SIGALRM"),
        (libc::SIGTERM, "SIGTERM"),
        (libc::SIGXCPU, "SIGXCPU"),
        (libc::SIGXFSZ, "SIGXFSZ"),
        (libc::SIGVTALRM, "SIGVTALRM"),
        (libc::SIGPROF, "SIGPROF"),
        (libc::SIGSYS, "SIGSYS"),
    ];
    let named = NAMES.iter().find(|(known, _)| *known == number);
    named.map_or_else(|| format!("signal {number}"), |(_, name)| (*name).to_owned())
}
