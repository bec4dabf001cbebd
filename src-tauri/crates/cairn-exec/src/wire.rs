//! What app and supervisor say to each other: JSON with its length before it, over one socket.
//!
//! Both ends are the same build of the same program, so there are no versions.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};

use cairn_protocol::CommandEnd;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::command::{Output, Survivor};

/// Longest message, bytes. A line, an environment or a kept output are far below; anything above is a broken peer.
const MAX_FRAME: usize = 16 << 20;

/// Text of the operating system, which need not be UTF-8.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum OsText {
    /// It is UTF-8.
    Text(String),
    /// It is not.
    Bytes(Vec<u8>),
}

impl From<&OsStr> for OsText {
    fn from(text: &OsStr) -> Self {
        text.to_str().map_or_else(
            || Self::Bytes(text.as_bytes().to_vec()),
            |text| Self::Text(text.to_owned()),
        )
    }
}

impl From<OsText> for OsString {
    fn from(text: OsText) -> Self {
        match text {
            OsText::Text(text) => text.into(),
            OsText::Bytes(bytes) => Self::from_vec(bytes),
        }
    }
}

/// What the app asks.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Ask {
    /// Start a command.
    Start(StartCommand),
    /// End it, with all that it started.
    Stop {
        /// Which.
        id: u64,
    },
}

/// A command as it crosses the socket.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StartCommand {
    /// The app's number for it.
    pub(crate) id: u64,
    /// The program.
    pub(crate) program: OsText,
    /// Its arguments.
    pub(crate) arguments: Vec<OsText>,
    /// The folder it runs in.
    pub(crate) workdir: OsText,
    /// Its whole environment.
    pub(crate) environment: Vec<(OsText, OsText)>,
    /// Milliseconds it may run.
    pub(crate) limit_ms: Option<u64>,
}

/// What the supervisor tells.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Tell {
    /// Something was printed.
    Output {
        /// By which.
        id: u64,
        /// Bytes of cleaned text before it.
        offset: u64,
        /// The text.
        text: String,
    },
    /// It was not started. Nothing follows.
    Refused {
        /// Which.
        id: u64,
        /// Why.
        refusal: Refusal,
    },
    /// It ended or was given up.
    Finished {
        /// Which.
        id: u64,
        /// How.
        end: CommandEnd,
        /// What it printed.
        output: Output,
        /// Milliseconds it took.
        elapsed_ms: u64,
        /// What it left running.
        survivors: Vec<Survivor>,
        /// Its processes are still being ended; [`Tell::Settled`] follows.
        settling: bool,
    },
    /// None of its processes is left, or none that can be ended.
    Settled {
        /// Which.
        id: u64,
    },
}

/// Why a command was not started.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Refusal {
    /// The folder cannot be used.
    Workdir(String),
    /// The program cannot be started.
    Program(String),
}

/// A message with its length before it.
pub(crate) fn encode(message: &impl Serialize) -> std::io::Result<Vec<u8>> {
    let mut frame = vec![0; 4];
    serde_json::to_writer(&mut frame, message)?;
    let length = frame.len() - 4;
    if length > MAX_FRAME {
        return Err(std::io::Error::other("the message is too long"));
    }
    if let Some(prefix) = frame.first_chunk_mut::<4>() {
        *prefix = (length as u32).to_le_bytes();
    }
    Ok(frame)
}

/// Bytes that came, until they make whole messages.
#[derive(Default)]
pub(crate) struct Frames {
    buffer: Vec<u8>,
}

impl Frames {
    /// Adds bytes.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The next whole message; none while it is not complete. An error means that the peer is broken.
    pub(crate) fn next<T: DeserializeOwned>(&mut self) -> std::io::Result<Option<T>> {
        let Some((prefix, rest)) = self.buffer.split_first_chunk::<4>() else {
            return Ok(None);
        };
        let length = u32::from_le_bytes(*prefix) as usize;
        if length > MAX_FRAME {
            return Err(std::io::Error::other("the message is too long"));
        }
        let Some(body) = rest.get(..length) else {
            return Ok(None);
        };
        let message = serde_json::from_slice(body)?;
        self.buffer.drain(..4 + length);
        Ok(Some(message))
    }
}
