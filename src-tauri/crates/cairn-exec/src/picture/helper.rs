//! The picture helper: decodes one picture under limits that the system enforces, and scales it.
//!
//! Owns: pixels. Must never know: where they come from or go to. It reads standard input, writes standard output and
//! ends; whatever a hostile picture does to it happens to nobody else.

use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Read as _, Seek};
use std::process::ExitCode;

use image::codecs::jpeg::JpegEncoder;
use image::imageops::FilterType;
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageError, ImageFormat, ImageReader, Limits, RgbImage};
use serde::{Deserialize, Serialize};

use super::header::{is_animated, sniff};
use super::{
    MAX_MEMORY, MAX_PICTURE_EDGE, PictureError, PictureKind, SENT_BASE64, SENT_EDGE, Sniffed, check_size,
};
use crate::oneshot::{self, Allowance};

/// Seconds of processor time. Case W24.
const PROCESSOR: u64 = 2;

/// Memory beside the decoded picture: what the program needs itself, and the scaled copy.
const OTHER_MEMORY: u64 = 96 << 20;

/// Bytes of a header that are looked at for its kind.
pub(super) const HEAD: u64 = 4096;

/// What a picture is and what follows the answer.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Answer {
    /// Width of the original, as it is meant to be seen.
    pub(crate) width: u32,
    /// Height of the original, as it is meant to be seen.
    pub(crate) height: u32,
    /// What follows; nothing when the original can be sent as it is.
    pub(crate) encoded: Option<Encoded>,
}

/// An encoded picture.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Encoded {
    /// JPEG, else PNG.
    pub(crate) jpeg: bool,
    /// Its width.
    pub(crate) width: u32,
    /// Its height.
    pub(crate) height: u32,
}

/// The role.
pub(crate) fn main() -> ExitCode {
    let failed = |error: std::io::Error| PictureError::Helper(format!("no limits could be set: {error}"));
    let allowance = Allowance {
        memory: MAX_MEMORY + OTHER_MEMORY,
        processor: PROCESSOR,
        answer: 64 << 20,
    };
    let input = oneshot::input().map_err(failed);
    let result = input.and_then(|input| {
        oneshot::limit(&allowance)
            .map_err(failed)
            .and_then(|()| work(input))
    });
    let (answer, bytes) = match result {
        Ok((answer, bytes)) => (Ok(answer), bytes),
        Err(error) => (Err(error), Vec::new()),
    };
    match oneshot::answer::<Result<Answer, PictureError>>(&answer, &bytes) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn work(mut input: File) -> Result<(Answer, Vec<u8>), PictureError> {
    let broken = |error: std::io::Error| PictureError::Broken(error.to_string());
    let mut head = Vec::new();
    (&input).take(HEAD).read_to_end(&mut head).map_err(broken)?;
    input.rewind().map_err(broken)?;
    let bytes = input.metadata().map_err(broken)?.len();
    scale(&head, bytes, BufReader::new(input))
}

/// Decodes a picture of so many bytes that begins with `head`, and makes it fit.
pub(super) fn scale(
    head: &[u8],
    bytes: u64,
    input: impl BufRead + Seek,
) -> Result<(Answer, Vec<u8>), PictureError> {
    let Sniffed::Picture(kind) = sniff(head) else {
        return Err(PictureError::NotAPicture);
    };
    let (picture, orientation) = decode(kind, input)?;
    let (width, height) = (picture.width(), picture.height());
    let fits = width.max(height) <= SENT_EDGE && base64(bytes) <= SENT_BASE64;
    let as_it_is = fits && orientation == Orientation::NoTransforms && !is_animated(kind, head);
    let (width, height) = if swaps(orientation) {
        (height, width)
    } else {
        (width, height)
    };
    if as_it_is {
        return Ok((
            Answer {
                width,
                height,
                encoded: None,
            },
            Vec::new(),
        ));
    }
    let mut picture = shrink(picture, SENT_EDGE);
    picture.apply_orientation(orientation);
    let (encoded, bytes) = encode(picture, kind)?;
    Ok((
        Answer {
            width,
            height,
            encoded: Some(encoded),
        },
        bytes,
    ))
}

/// Decodes the first frame, and how it has to be turned to be seen upright.
fn decode(
    kind: PictureKind,
    input: impl BufRead + Seek,
) -> Result<(DynamicImage, Orientation), PictureError> {
    let mut decoder = open(kind, input)?;
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    Ok((DynamicImage::from_decoder(decoder).map_err(explain)?, orientation))
}

/// A decoder that has read the header and found the picture within the limits; no pixel is decoded yet.
pub(super) fn open<'a>(
    kind: PictureKind,
    input: impl BufRead + Seek + 'a,
) -> Result<impl ImageDecoder + 'a, PictureError> {
    let format = match kind {
        PictureKind::Png => ImageFormat::Png,
        PictureKind::Jpeg => ImageFormat::Jpeg,
        PictureKind::Gif => ImageFormat::Gif,
        PictureKind::WebP => ImageFormat::WebP,
    };
    let mut limits = Limits::no_limits();
    limits.max_image_width = Some(MAX_PICTURE_EDGE);
    limits.max_image_height = Some(MAX_PICTURE_EDGE);
    limits.max_alloc = Some(MAX_MEMORY);
    let mut reader = ImageReader::with_format(input, format);
    reader.limits(limits.clone());
    let mut decoder = reader.into_decoder().map_err(explain)?;
    let (width, height) = decoder.dimensions();
    check_size(width, height)?;
    if decoder.total_bytes() > MAX_MEMORY {
        return Err(PictureError::TooMuchMemory);
    }
    decoder.set_limits(limits).map_err(explain)?;
    Ok(decoder)
}

fn explain(error: ImageError) -> PictureError {
    match error {
        ImageError::Limits(_) => PictureError::TooMuchMemory,
        other => PictureError::Broken(other.to_string()),
    }
}

/// Whether turning it so makes width of height.
fn swaps(orientation: Orientation) -> bool {
    matches!(
        orientation,
        Orientation::Rotate90
            | Orientation::Rotate270
            | Orientation::Rotate90FlipH
            | Orientation::Rotate270FlipH
    )
}

/// Makes both edges fit. A coarse step first: the fine one needs sixteen bytes for each pixel that it reads.
fn shrink(picture: DynamicImage, edge: u32) -> DynamicImage {
    let (width, height) = (picture.width(), picture.height());
    let longest = width.max(height);
    if longest <= edge {
        return picture;
    }
    let scaled = |side: u32, edge: u32| {
        let side = u64::from(side) * u64::from(edge) / u64::from(longest);
        u32::try_from(side).unwrap_or(edge).clamp(1, edge)
    };
    let picture = if longest > 2 * edge {
        picture.thumbnail_exact(scaled(width, 2 * edge), scaled(height, 2 * edge))
    } else {
        picture
    };
    picture.resize_exact(scaled(width, edge), scaled(height, edge), FilterType::CatmullRom)
}

/// Encodes it so that its base64 fits: without loss where the original had none, else and at need as JPEG.
fn encode(picture: DynamicImage, kind: PictureKind) -> Result<(Encoded, Vec<u8>), PictureError> {
    let has_alpha = picture.color().has_alpha();
    if kind != PictureKind::Jpeg {
        let plain = if has_alpha {
            picture.to_rgba8().into()
        } else {
            DynamicImage::ImageRgb8(picture.to_rgb8())
        };
        let mut bytes = Cursor::new(Vec::new());
        plain.write_to(&mut bytes, ImageFormat::Png).map_err(explain)?;
        let bytes = bytes.into_inner();
        if base64(bytes.len() as u64) <= SENT_BASE64 {
            return Ok((
                Encoded {
                    jpeg: false,
                    width: plain.width(),
                    height: plain.height(),
                },
                bytes,
            ));
        }
    }
    let mut flat = on_white(&picture);
    for (quality, edge) in [
        (88, SENT_EDGE),
        (75, SENT_EDGE),
        (60, SENT_EDGE),
        (60, SENT_EDGE / 2),
    ] {
        flat = shrink(flat.into(), edge).to_rgb8();
        let mut bytes = Vec::new();
        JpegEncoder::new_with_quality(&mut bytes, quality)
            .encode_image(&flat)
            .map_err(explain)?;
        if base64(bytes.len() as u64) <= SENT_BASE64 {
            let (width, height) = flat.dimensions();
            let encoded = Encoded {
                jpeg: true,
                width,
                height,
            };
            return Ok((encoded, bytes));
        }
    }
    Err(PictureError::Broken(
        "it cannot be made small enough to be sent".into(),
    ))
}

/// The picture on a white ground: JPEG knows no transparency, and black would hide black writing.
fn on_white(picture: &DynamicImage) -> RgbImage {
    if !picture.color().has_alpha() {
        return picture.to_rgb8();
    }
    let picture = picture.to_rgba8();
    RgbImage::from_fn(picture.width(), picture.height(), |x, y| {
        let [r, g, b, alpha] = picture.get_pixel(x, y).0;
        let alpha = u16::from(alpha);
        let mix = |colour: u8| ((u16::from(colour) * alpha + 255 * (255 - alpha)) / 255) as u8;
        image::Rgb([mix(r), mix(g), mix(b)])
    })
}

/// Length of so many bytes as base64.
fn base64(bytes: u64) -> u64 {
    bytes.div_ceil(3) * 4
}
