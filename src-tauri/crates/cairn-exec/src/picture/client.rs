//! The app's side of decoding a picture: give it to a helper, wait, and end the helper when it is late.
//!
//! Owns: time and what the helper's end means. Must never know: how a picture is decoded.

use std::fs::File;
use std::io::{Read as _, Seek as _, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::MemfdFlags;
use rustix::process::{Pid, PidfdFlags, Signal};
use tokio_util::sync::CancellationToken;

use super::helper::{Answer, Encoded};
use super::{PictureError, Scaled, ScaledPicture, check};
use crate::processes::HelperProgram;
use crate::sys;

/// How long decoding may take by the clock. Its two seconds (case W24) are those of the processor, which the helper
/// sets itself: a machine that is busy building must not refuse pictures. This ends one that hangs; whoever asks may cancel sooner.
const LIMIT: Duration = Duration::from_secs(10);

/// How often it is looked whether the person stopped it.
const SLICE: Duration = Duration::from_millis(20);

/// Scales a picture. Blocks for up to [`LIMIT`].
pub(crate) fn scale(
    helper: &HelperProgram,
    bytes: &[u8],
    cancel: &CancellationToken,
) -> Result<ScaledPicture, PictureError> {
    let kind = check(bytes)?;
    let failed = |error: std::io::Error| PictureError::Helper(error.to_string());
    // Memory files instead of pipes: nobody can block on the other, and the helper can seek in what it reads.
    let mut input = memory_file().map_err(failed)?;
    input
        .write_all(bytes)
        .and_then(|()| input.rewind())
        .map_err(failed)?;
    let mut output = memory_file().map_err(failed)?;
    let mut child = spawn(helper, input, output.try_clone().map_err(failed)?).map_err(failed)?;
    let status = wait(&mut child, cancel)?;
    output.rewind().map_err(failed)?;
    let mut answer = Vec::new();
    output.read_to_end(&mut answer).map_err(failed)?;
    let Some((answer, rest)) = Answer::decode(&answer) else {
        return Err(died(status));
    };
    let Answer {
        width,
        height,
        encoded,
    } = answer?;
    let scaled = encoded.map(|Encoded { jpeg, width, height }| Scaled {
        media_type: if jpeg { "image/jpeg" } else { "image/png" },
        bytes: rest.to_vec(),
        width,
        height,
    });
    Ok(ScaledPicture {
        kind,
        width,
        height,
        scaled,
    })
}

fn memory_file() -> std::io::Result<File> {
    Ok(File::from(rustix::fs::memfd_create(
        c"picture",
        MemfdFlags::CLOEXEC,
    )?))
}

fn spawn(helper: &HelperProgram, input: File, output: File) -> std::io::Result<Child> {
    let mut command = sys::command(&helper.path);
    command
        .args([crate::HELPER_FLAG, "picture"])
        .envs(helper.environment.iter().map(|(name, value)| (name, value)))
        .current_dir("/")
        .stdin(Stdio::from(input))
        .stdout(Stdio::from(output))
        .stderr(Stdio::null());
    sys::detach(&mut command, Signal::KILL);
    command.spawn()
}

/// Waits for its end, which is brought about when it is late or not wanted any more.
fn wait(child: &mut Child, cancel: &CancellationToken) -> Result<ExitStatus, PictureError> {
    let failed = |error: std::io::Error| PictureError::Helper(error.to_string());
    let since = Instant::now();
    let handle = rustix::process::pidfd_open(Pid::from_child(child), PidfdFlags::empty()).ok();
    let problem = loop {
        if let Some(status) = child.try_wait().map_err(failed)? {
            return Ok(status);
        }
        if cancel.is_cancelled() {
            break PictureError::Stopped;
        }
        if since.elapsed() >= LIMIT {
            break PictureError::TooSlow;
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
    child.kill().and_then(|()| child.wait()).map_err(failed)?;
    Err(problem)
}

/// What the end of a helper that gave no answer means.
fn died(status: ExitStatus) -> PictureError {
    match status.signal() {
        // Memory that is not given aborts the process; so do its own limits.
        Some(libc::SIGABRT | libc::SIGSEGV | libc::SIGBUS) => PictureError::TooMuchMemory,
        Some(libc::SIGXCPU | libc::SIGKILL) => PictureError::TooSlow,
        Some(number) => PictureError::Helper(format!("it was ended by {}", sys::signal_name(number))),
        None => PictureError::Broken("the decoder gave up on it".into()),
    }
}
