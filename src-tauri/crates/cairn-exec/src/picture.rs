//! Pictures: what kind they are, how large they are, and how a helper makes them fit for a model. SPEC T11.
//!
//! Owns: the limits, and the decision whether a picture is decoded at all. Must never know: files, tools, stores.
//! Nothing of a picture is decoded in the app's own process; only its first bytes are looked at there.

pub(crate) mod client;
#[cfg(feature = "fuzz")]
pub(crate) mod fuzz;
mod header;
pub(crate) mod helper;

use serde::{Deserialize, Serialize};

pub use header::{Dimensions, PictureKind, Sniffed, dimensions, sniff};

/// Pixels a picture may have.
pub const MAX_PICTURE_PIXELS: u64 = 50_000_000;

/// Pixels an edge may have.
pub const MAX_PICTURE_EDGE: u32 = 16_384;

/// Bytes a picture file may have.
pub const MAX_PICTURE_BYTES: u64 = 64 << 20;

/// Bytes that decoding may take.
pub(crate) const MAX_MEMORY: u64 = 256 << 20;

/// Pixels an edge may have when it is sent to a model.
pub(crate) const SENT_EDGE: u32 = 1_568;

/// Bytes that may be sent to a model, as base64.
pub(crate) const SENT_BASE64: u64 = 5_000_000;

/// Why a picture is not shown to a model. The model recovers, by not asking for it again or by making another.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum PictureError {
    /// It does not begin like a PNG, JPEG, GIF or WebP picture.
    #[error("it is not a PNG, JPEG, GIF or WebP picture by its first bytes")]
    NotAPicture,
    /// It has too many bytes.
    #[error("the file has {bytes} bytes, and at most {MAX_PICTURE_BYTES} are decoded; make a smaller copy")]
    TooManyBytes {
        /// How many.
        bytes: u64,
    },
    /// It has too many pixels.
    #[error(
        "it is {width} × {height} pixels, and at most {MAX_PICTURE_PIXELS} in all and {MAX_PICTURE_EDGE} an edge are \
         decoded; make a smaller copy"
    )]
    TooManyPixels {
        /// Its width.
        width: u32,
        /// Its height.
        height: u32,
    },
    /// Decoding it takes more memory than it may.
    #[error("decoding it takes more than {} MB of memory; make a smaller copy", MAX_MEMORY >> 20)]
    TooMuchMemory,
    /// Decoding it takes too long.
    #[error("decoding it takes longer than 2 s; make a smaller or simpler copy")]
    TooSlow,
    /// It begins like a picture but is none, or is cut.
    #[error("the picture is broken: {0}")]
    Broken(String),
    /// The person stopped it.
    #[error("looking at the picture was stopped")]
    Stopped,
    /// The helper could not be started or died. The person recovers.
    #[error("the helper that decodes pictures failed: {0}")]
    Helper(String),
}

/// A picture that fits a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScaledPicture {
    /// What it is.
    pub kind: PictureKind,
    /// Width of the original as it is meant to be seen, pixels.
    pub width: u32,
    /// Height of the original as it is meant to be seen, pixels.
    pub height: u32,
    /// What is sent instead; none when the original can be sent as it is.
    pub scaled: Option<Scaled>,
}

/// A picture made smaller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scaled {
    /// Media type: `image/png` or `image/jpeg`.
    pub media_type: &'static str,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Its width, pixels.
    pub width: u32,
    /// Its height, pixels.
    pub height: u32,
}

/// Checks what can be checked without decoding.
pub(crate) fn check(bytes: &[u8]) -> Result<PictureKind, PictureError> {
    if bytes.len() as u64 > MAX_PICTURE_BYTES {
        return Err(PictureError::TooManyBytes {
            bytes: bytes.len() as u64,
        });
    }
    let Sniffed::Picture(kind) = sniff(bytes) else {
        return Err(PictureError::NotAPicture);
    };
    let Dimensions { width, height } = dimensions(kind, bytes)
        .ok_or_else(|| PictureError::Broken("its header is cut or says nothing about its size".into()))?;
    check_size(width, height)?;
    Ok(kind)
}

/// Checks a size.
pub(crate) fn check_size(width: u32, height: u32) -> Result<(), PictureError> {
    if width == 0 || height == 0 {
        return Err(PictureError::Broken("it has no pixels".into()));
    }
    if width.max(height) > MAX_PICTURE_EDGE || u64::from(width) * u64::from(height) > MAX_PICTURE_PIXELS {
        return Err(PictureError::TooManyPixels { width, height });
    }
    Ok(())
}
