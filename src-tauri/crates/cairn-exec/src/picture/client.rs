//! The app's side of decoding a picture: give it to a helper, wait, and end the helper when it is late.
//!
//! Owns: time and what the helper's end means. Must never know: how a picture is decoded.

use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::helper::{Answer, Encoded};
use super::{PictureError, Scaled, ScaledPicture, check};
use crate::oneshot::{self, Unanswered};
use crate::processes::HelperProgram;
use crate::sys;

/// How long decoding may take by the clock. Its two seconds (case W24) are those of the processor, which the helper
/// sets itself: a machine that is busy building must not refuse pictures. This ends one that hangs; whoever asks may cancel sooner.
const LIMIT: Duration = Duration::from_secs(10);

/// Scales a picture. Blocks for up to [`LIMIT`].
pub(crate) fn scale(
    helper: &HelperProgram,
    bytes: &[u8],
    cancel: &CancellationToken,
) -> Result<ScaledPicture, PictureError> {
    let kind = check(bytes)?;
    let (status, answer) =
        oneshot::ask(helper, "picture", bytes, LIMIT, cancel).map_err(|error| match error {
            Unanswered::Stopped => PictureError::Stopped,
            Unanswered::TooSlow => PictureError::TooSlow,
            Unanswered::System(error) => PictureError::Helper(error.to_string()),
        })?;
    let Some((answer, rest)) = oneshot::parse::<Result<Answer, PictureError>>(&answer) else {
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
