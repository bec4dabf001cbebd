//! Pictures that a tool hands to the model and the person. SPEC T11.
//!
//! Owns: what is kept of a picture, and the sentence when it cannot be shown. Must never know: how one is decoded
//! (that happens in a helper process), or whether the model sees pictures.

use cairn_agent::store::{Journal, StoreError};
use cairn_exec::{PictureError, Processes};
use cairn_protocol::Picture;
use tokio_util::sync::CancellationToken;

/// What a file is, as far as pictures go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sniffed {
    /// A picture that can be looked at; holds its media type, like `image/png`.
    Picture(&'static str),
    /// An SVG drawing: text.
    Svg,
    /// Anything else.
    Other,
}

/// Says what a file is by its first bytes (4 KiB are plenty), whatever its name says.
pub fn sniff(first_bytes: &[u8]) -> Sniffed {
    match cairn_exec::sniff(first_bytes) {
        cairn_exec::Sniffed::Picture(kind) => Sniffed::Picture(kind.media_type()),
        cairn_exec::Sniffed::Svg => Sniffed::Svg,
        cairn_exec::Sniffed::Other => Sniffed::Other,
    }
}

/// Why a picture is not shown; reads as a sentence for the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PictureProblem {
    /// It is refused or broken. The model recovers: the sentence says with which numbers.
    #[error("{name} cannot be shown as a picture: {why}")]
    Refused {
        /// What it was called.
        name: String,
        /// Why.
        why: PictureError,
    },
    /// It could not be kept. The person recovers.
    #[error("{name} cannot be shown as a picture: {why}")]
    NotKept {
        /// What it was called.
        name: String,
        /// Why.
        why: StoreError,
    },
}

/// Decodes a picture, makes a copy that fits a model where the original does not, and keeps both.
///
/// `name` is what the picture is called, like `docs/axis.png`. For how long at most says [`Processes::scale_picture`]; a refused picture costs next to
/// nothing.
pub async fn look(
    processes: &Processes,
    journal: &dyn Journal,
    bytes: Vec<u8>,
    name: &str,
    cancel: &CancellationToken,
) -> Result<Picture, PictureProblem> {
    let refused = |why| PictureProblem::Refused {
        name: name.to_owned(),
        why,
    };
    let not_kept = |why| PictureProblem::NotKept {
        name: name.to_owned(),
        why,
    };
    let size = bytes.len() as u64;
    let seen = processes
        .scale_picture(bytes.as_slice().into(), cancel.clone())
        .await
        .map_err(refused)?;
    let media_type = seen.kind.media_type();
    let blob = journal.put_blob(bytes).await.map_err(not_kept)?;
    let (sent, sent_media_type) = match seen.scaled {
        Some(scaled) => (
            journal.put_blob(scaled.bytes).await.map_err(not_kept)?,
            scaled.media_type,
        ),
        None => (blob.clone(), media_type),
    };
    Ok(Picture {
        blob,
        sent,
        media_type: media_type.to_owned(),
        sent_media_type: sent_media_type.to_owned(),
        width: seen.width,
        height: seen.height,
        bytes: size,
        name: name.to_owned(),
    })
}
