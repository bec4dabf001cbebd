//! HTML: a page becomes Markdown, in a helper that may die of it. SPEC T24.
//!
//! Owns: the limits, and what the helper's end means. Must never know: where a page comes from, or who reads it.
//! Nothing of a page is looked at in the app's own process: unlimited nesting overflows the stack of whoever walks a
//! tree, and that ends a process, not a thread.

mod elements;
#[cfg(feature = "fuzz")]
pub(crate) mod fuzz;
pub(crate) mod helper;
mod survey;
mod tame;
mod walk;
mod write;

use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::oneshot::{self, Unanswered};
use crate::processes::Processes;

/// Bytes that a page may have.
pub const MAX_HTML_BYTES: usize = 32 << 20;

/// How long reading a page may take by the clock, on a machine that is busy with other things.
const LIMIT: Duration = Duration::from_secs(15);

/// Seconds of processor time.
const PROCESSOR: u64 = 5;

/// Bytes of memory beyond those of the program itself.
const MEMORY: u64 = 384 << 20;

/// Bytes of the answer.
const ANSWER: u64 = 16 << 20;

/// Why a page was not read. The model recovers, by another source.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum HtmlError {
    /// It has too many bytes.
    #[error("its HTML has {bytes} bytes, and at most {MAX_HTML_BYTES} are read")]
    TooManyBytes {
        /// How many.
        bytes: usize,
    },
    /// Reading it takes more memory than it may.
    #[error("reading its HTML takes too much memory")]
    TooMuchMemory,
    /// Reading it takes too long.
    #[error("reading its HTML takes too long")]
    TooSlow,
    /// The reader gave up on it.
    #[error("its HTML could not be read")]
    Broken,
    /// The person stopped it.
    #[error("reading it was stopped")]
    Stopped,
    /// The helper could not be started or died. The person recovers.
    #[error("the helper that reads HTML failed: {0}")]
    Helper(String),
}

/// A page that was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadPage {
    /// Its text.
    pub markdown: String,
    /// Its title, on one line; empty when it has none.
    pub title: String,
    /// Only the part is there that the page marks as its main one.
    pub is_main_part: bool,
    /// It was too long, and its end is missing.
    pub is_cut: bool,
    /// Parts that were left out because no reader of the page sees them.
    pub hidden: u32,
}

/// What the helper says before the Markdown.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    title: String,
    is_main_part: bool,
    is_cut: bool,
    hidden: u32,
}

impl Processes {
    /// Turns a page into Markdown in a helper of its own. Links and pictures get whole addresses by `base`.
    ///
    /// At most 5 s of processor time, 15 s by the clock and 384 MB.
    pub async fn read_html(
        &self,
        html: String,
        base: Url,
        cancel: CancellationToken,
    ) -> Result<ReadPage, HtmlError> {
        let helper = self.helper().clone();
        let reading = tokio::task::spawn_blocking(move || {
            if html.len() > MAX_HTML_BYTES {
                return Err(HtmlError::TooManyBytes { bytes: html.len() });
            }
            // An address holds no line break, so the first line is it and the rest the page.
            let mut input = base.to_string().into_bytes();
            input.push(b'\n');
            input.extend_from_slice(html.as_bytes());
            drop(html);
            let (status, answer) = oneshot::ask(&helper, "html", &input, LIMIT, &cancel)?;
            read_answer(status, &answer)
        });
        reading
            .await
            .unwrap_or_else(|error| Err(HtmlError::Helper(error.to_string())))
    }
}

fn read_answer(status: ExitStatus, answer: &[u8]) -> Result<ReadPage, HtmlError> {
    let Some((head, rest)) = oneshot::parse::<Result<Head, HtmlError>>(answer) else {
        return Err(match status.signal() {
            Some(libc::SIGABRT | libc::SIGSEGV | libc::SIGBUS) => HtmlError::TooMuchMemory,
            Some(libc::SIGXCPU | libc::SIGKILL) => HtmlError::TooSlow,
            _ => HtmlError::Broken,
        });
    };
    let head = head?;
    Ok(ReadPage {
        markdown: String::from_utf8_lossy(rest).into_owned(),
        title: head.title,
        is_main_part: head.is_main_part,
        is_cut: head.is_cut,
        hidden: head.hidden,
    })
}

impl From<Unanswered> for HtmlError {
    fn from(error: Unanswered) -> Self {
        match error {
            Unanswered::Stopped => Self::Stopped,
            Unanswered::TooSlow => Self::TooSlow,
            Unanswered::System(error) => Self::Helper(error.to_string()),
        }
    }
}
