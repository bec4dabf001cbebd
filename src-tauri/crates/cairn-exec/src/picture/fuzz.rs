//! What the picture helper does, for `./dev fuzz`: in one process, so that it is seen which way the code goes.
//!
//! Owns: nothing. Must never be in a program that is given to anybody; the feature `fuzz` keeps it out.

use std::io::Cursor;

use image::ImageDecoder as _;

use super::{Dimensions, PictureError, PictureKind, check, helper};

/// What the app looks at before it starts a helper.
pub fn check_picture(bytes: &[u8]) -> Result<PictureKind, PictureError> {
    check(bytes)
}

/// The size that the decoder reads out of the header, when it is within the limits. No pixel is decoded.
pub fn open_picture(kind: PictureKind, bytes: &[u8]) -> Result<Dimensions, PictureError> {
    let (width, height) = helper::open(kind, Cursor::new(bytes))?.dimensions();
    Ok(Dimensions { width, height })
}

/// Decodes the picture and makes it fit; the size that is sent.
pub fn scale_picture(bytes: &[u8]) -> Result<Dimensions, PictureError> {
    let head = bytes.get(..helper::HEAD as usize).unwrap_or(bytes);
    let (answer, _) = helper::scale(head, bytes.len() as u64, Cursor::new(bytes))?;
    let (width, height) = answer.encoded.map_or((answer.width, answer.height), |encoded| {
        (encoded.width, encoded.height)
    });
    Ok(Dimensions { width, height })
}
