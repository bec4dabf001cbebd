//! Helpers for one piece of work: bytes in, bytes out, and dead when late.
//!
//! Owns: starting such a helper, its limits, and its end. Must never know: what the work is.
//!
//! Memory files instead of pipes: nobody can block on the other, and the helper can seek in what it reads.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::process::{Child, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::MemfdFlags;
use rustix::process::{Pid, PidfdFlags, Resource, Rlimit, Signal};
use tokio_util::sync::CancellationToken;

use crate::processes::HelperProgram;
use crate::sys;

/// How often it is looked whether the person stopped it.
const SLICE: Duration = Duration::from_millis(20);

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum Unanswered {
    /// The person stopped it.
    Stopped,
    /// It was ended by the clock.
    TooSlow,
    /// The system did not do its part.
    System(io::Error),
}

impl From<io::Error> for Unanswered {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

/// Starts the helper in that role, gives it the input and waits for its end; at most `limit` by the clock. Blocks.
pub(crate) fn ask(
    helper: &HelperProgram,
    role: &str,
    input: &[u8],
    limit: Duration,
    cancel: &CancellationToken,
) -> Result<(ExitStatus, Vec<u8>), Unanswered> {
    let mut given = memory_file()?;
    given.write_all(input)?;
    given.rewind()?;
    let mut answered = memory_file()?;
    let mut command = sys::command(&helper.path);
    command
        .args([crate::HELPER_FLAG, role])
        .envs(helper.environment.iter().map(|(name, value)| (name, value)))
        .current_dir("/")
        .stdin(Stdio::from(given))
        .stdout(Stdio::from(answered.try_clone()?))
        .stderr(Stdio::null());
    sys::detach(&mut command, Signal::KILL);
    let mut child = command.spawn()?;
    let status = wait(&mut child, limit, cancel)?;
    answered.rewind()?;
    let mut answer = Vec::new();
    answered.read_to_end(&mut answer)?;
    Ok((status, answer))
}

fn memory_file() -> io::Result<File> {
    Ok(File::from(rustix::fs::memfd_create(
        c"helper",
        MemfdFlags::CLOEXEC,
    )?))
}

/// Waits for its end, which is brought about when it is late or not wanted any more.
fn wait(child: &mut Child, limit: Duration, cancel: &CancellationToken) -> Result<ExitStatus, Unanswered> {
    let since = Instant::now();
    let handle = rustix::process::pidfd_open(Pid::from_child(child), PidfdFlags::empty()).ok();
    let problem = loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if cancel.is_cancelled() {
            break Unanswered::Stopped;
        }
        if since.elapsed() >= limit {
            break Unanswered::TooSlow;
        }
        match (&handle, Timespec::try_from(SLICE)) {
            (Some(handle), Ok(slice)) => {
                let mut polled = [PollFd::new(handle, PollFlags::IN)];
                // Woken early or not: the loop looks at everything again.
                let _ready = rustix::event::poll(&mut polled, Some(&slice));
            }
            _ => std::thread::sleep(SLICE / 10),
        }
    };
    child.kill()?;
    child.wait()?;
    Err(problem)
}

/// What a helper may use at most.
pub(crate) struct Allowance {
    /// Bytes of memory beyond those that the program has when it starts.
    pub(crate) memory: u64,
    /// Seconds of processor time.
    pub(crate) processor: u64,
    /// Bytes of its answer.
    pub(crate) answer: u64,
}

/// The helper's side: its input, as a descriptor that can be read and seeked, made before no new one may be.
pub(crate) fn input() -> io::Result<File> {
    Ok(File::from(rustix::io::fcntl_dupfd_cloexec(
        rustix::stdio::stdin(),
        3,
    )?))
}

/// The helper's side: sets the limits that the system enforces: memory, time, and no new descriptor, file or process.
pub(crate) fn limit(allowance: &Allowance) -> io::Result<()> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let size = status
        .lines()
        .find_map(|line| line.strip_prefix("VmSize:"))
        .unwrap_or_default();
    let kilobytes: u64 = size
        .split_ascii_whitespace()
        .next()
        .and_then(|size| size.parse().ok())
        .unwrap_or(0);
    let memory = (kilobytes << 10) + allowance.memory;
    for (resource, most) in [
        (Resource::As, memory),
        (Resource::Data, memory),
        (Resource::Cpu, allowance.processor),
        (Resource::Fsize, allowance.answer),
        (Resource::Core, 0),
        (Resource::Nproc, 0),
        // Descriptors 0 to 2 are open; a higher one cannot be.
        (Resource::Nofile, 3),
    ] {
        let limit = Rlimit {
            current: Some(most),
            maximum: Some(most),
        };
        rustix::process::setrlimit(resource, limit)?;
    }
    Ok(())
}

/// The helper's side: an answer of one line of JSON and bytes after it.
pub(crate) fn answer<T: serde::Serialize>(head: &T, bytes: &[u8]) -> io::Result<()> {
    let mut frame = serde_json::to_vec(head)?;
    frame.push(b'\n');
    frame.extend_from_slice(bytes);
    io::stdout().lock().write_all(&frame)
}

/// The app's side of [`answer`]; none when the helper wrote none.
pub(crate) fn parse<T: serde::de::DeserializeOwned>(answer: &[u8]) -> Option<(T, &[u8])> {
    let line = answer.iter().position(|&byte| byte == b'\n')?;
    let head = serde_json::from_slice(answer.get(..line)?).ok()?;
    Some((head, answer.get(line + 1..)?))
}
