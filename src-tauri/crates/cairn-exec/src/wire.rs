//! What app and supervisor say to each other: JSON with its length before it, over one socket.
//!
//! Both ends are the same build of the same program, so there are no versions.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};

use cairn_protocol::{CommandEnd, ProcessPlace};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::command::{Output, Slice, Survivor};
use crate::sandbox::Confinement;

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

impl std::convert::From<&OsStr> for OsText {
    fn from(text: &OsStr) -> Self {
        text.to_str().map_or_else(
            || Self::Bytes(text.as_bytes().to_vec()),
            |text| Self::Text(text.to_owned()),
        )
    }
}

impl std::convert::From<OsText> for OsString {
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
    Start(Box<StartCommand>),
    /// End it, with all that it started.
    Stop {
        /// Which.
        id: u64,
    },
    /// It may run so long, counted from its start.
    Limit {
        /// Which.
        id: u64,
        /// Milliseconds.
        limit_ms: u64,
    },
    /// It goes on without a limit, and what it prints is only counted from now on.
    Background {
        /// Which.
        id: u64,
    },
    /// Tell what it printed.
    Read {
        /// Which.
        id: u64,
        /// Number of the answer.
        request: u64,
        /// From where on.
        from: From,
    },
}

/// Where reading begins in the cleaned text of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum From {
    /// After that many bytes.
    Offset(u64),
    /// That many bytes before its end.
    Last(u64),
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
    /// Whether anybody watches it live.
    pub(crate) place: ProcessPlace,
    /// What holds it in.
    pub(crate) walls: Option<Confinement>,
}

/// What the supervisor tells.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Tell {
    /// It runs.
    Started {
        /// Which.
        id: u64,
        /// Process id of its shell or program.
        pid: i32,
        /// Process id of its keeper: the root of all its processes.
        keeper: i32,
    },
    /// Something was printed by a command that nobody watches live; at most once a second.
    Printed {
        /// By which.
        id: u64,
        /// Bytes in all.
        printed: u64,
    },
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
        /// Some of its processes live; [`Tell::Over`] follows.
        lives: bool,
    },
    /// The last of its processes has ended, some time after [`Tell::Finished`].
    Over {
        /// Which.
        id: u64,
        /// How, when it was ended; none when what was left ended by itself.
        end: Option<CommandEnd>,
        /// What it printed in all.
        output: Output,
    },
    /// The answer to [`Ask::Read`].
    Piece {
        /// Number of the answer.
        request: u64,
        /// The text; none when there is no such command any more.
        slice: Option<Slice>,
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
