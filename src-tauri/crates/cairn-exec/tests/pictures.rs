//! Pictures through a real helper process.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking and tells its figures"
)]

#[path = "support/processes.rs"]
mod support;

use std::io::Cursor;
use std::sync::Arc;

use cairn_exec::{PictureError, PictureKind, ScaledPicture, Sniffed, dimensions, sniff};
use image::{DynamicImage, ImageFormat, Rgb, RgbImage, Rgba, RgbaImage};
use proptest::prelude::*;
use support::*;
use tokio_util::sync::CancellationToken;

async fn scale(bytes: &[u8]) -> Result<ScaledPicture, PictureError> {
    processes()
        .scale_picture(Arc::from(bytes), CancellationToken::new())
        .await
}

fn encoded(picture: &DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    picture.write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

/// A picture that does not compress.
fn noise(width: u32, height: u32) -> DynamicImage {
    let mut state = 1_u32;
    RgbImage::from_fn(width, height, |_, _| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let [a, b, c, _] = state.rotate_left(13).to_le_bytes();
        Rgb([a, b, c])
    })
    .into()
}

fn plain(width: u32, height: u32) -> DynamicImage {
    RgbImage::from_pixel(width, height, Rgb([200, 10, 10])).into()
}

#[tokio::test]
async fn x11_small_pictures_of_all_kinds_go_as_they_are() {
    for (format, kind) in [
        (ImageFormat::Png, PictureKind::Png),
        (ImageFormat::Jpeg, PictureKind::Jpeg),
        (ImageFormat::WebP, PictureKind::WebP),
    ] {
        for (width, height) in [(1, 1), (1568, 20)] {
            let bytes = encoded(&plain(width, height), format);
            let seen = scale(&bytes).await.unwrap();
            assert_eq!(
                seen,
                ScaledPicture {
                    kind,
                    width,
                    height,
                    scaled: None
                }
            );
        }
    }
}

#[tokio::test]
async fn i3_both_edges_are_scaled() {
    for (width, height, to) in [
        (1200, 2600, (723, 1568)),
        (4000, 1000, (1568, 392)),
        (1569, 1, (1568, 1)),
    ] {
        let seen = scale(&encoded(&plain(width, height), ImageFormat::Png))
            .await
            .unwrap();
        assert_eq!((seen.width, seen.height), (width, height));
        let scaled = seen.scaled.unwrap();
        assert_eq!((scaled.width, scaled.height), to);
        let picture = image::load_from_memory(&scaled.bytes).unwrap();
        assert_eq!((picture.width(), picture.height()), to);
        assert_eq!(picture.to_rgb8().get_pixel(to.0 / 2, to.1 / 2).0, [200, 10, 10]);
    }
}

#[tokio::test]
async fn i4_what_is_too_long_as_base64_is_encoded_again() {
    let bytes = encoded(&noise(1500, 1500), ImageFormat::Png);
    assert!(bytes.len() > 6_000_000);
    let scaled = scale(&bytes).await.unwrap().scaled.unwrap();
    assert_eq!(scaled.media_type, "image/jpeg");
    assert!(
        scaled.bytes.len().div_ceil(3) * 4 <= 5_000_000,
        "{} bytes",
        scaled.bytes.len()
    );
}

#[tokio::test]
async fn transparency_is_kept_where_it_fits() {
    let mut picture = RgbaImage::from_pixel(2000, 100, Rgba([0, 0, 255, 255]));
    picture.put_pixel(0, 0, Rgba([0, 0, 0, 0]));
    let scaled = scale(&encoded(&picture.into(), ImageFormat::Png))
        .await
        .unwrap()
        .scaled
        .unwrap();
    assert_eq!(scaled.media_type, "image/png");
    assert!(
        image::load_from_memory(&scaled.bytes)
            .unwrap()
            .color()
            .has_alpha()
    );
}

#[tokio::test]
async fn w24_of_an_animation_only_the_first_frame_is_sent() {
    let mut bytes = Vec::new();
    let mut encoder = image::codecs::gif::GifEncoder::new(&mut bytes);
    for colour in [[255, 0, 0, 255], [0, 255, 0, 255]] {
        encoder
            .encode_frame(image::Frame::new(RgbaImage::from_pixel(20, 10, Rgba(colour))))
            .unwrap();
    }
    drop(encoder);
    let seen = scale(&bytes).await.unwrap();
    assert_eq!((seen.kind, seen.width, seen.height), (PictureKind::Gif, 20, 10));
    let scaled = seen.scaled.unwrap();
    assert_eq!(scaled.media_type, "image/png");
    assert_eq!(
        image::load_from_memory(&scaled.bytes)
            .unwrap()
            .to_rgb8()
            .get_pixel(5, 5)
            .0,
        [255, 0, 0]
    );
}

#[tokio::test]
async fn w24_pictures_are_turned_as_their_camera_says() {
    let mut picture = RgbImage::from_pixel(40, 20, Rgb([255, 255, 255]));
    for x in 0..20 {
        for y in 0..20 {
            picture.put_pixel(x, y, Rgb([0, 0, 0]));
        }
    }
    let mut bytes = encoded(&picture.into(), ImageFormat::Jpeg);
    // An Exif segment with one entry: orientation (0x0112) is 6, a quarter turn clockwise.
    let exif = b"\xFF\xE1\x00\x22Exif\0\0MM\0\x2A\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0";
    bytes.splice(2..2, exif.iter().copied());
    let seen = scale(&bytes).await.unwrap();
    assert_eq!((seen.width, seen.height), (20, 40));
    let turned = image::load_from_memory(&seen.scaled.unwrap().bytes)
        .unwrap()
        .to_rgb8();
    assert_eq!((turned.width(), turned.height()), (20, 40));
    assert!(turned.get_pixel(10, 5).0[0] < 60 && turned.get_pixel(10, 35).0[0] > 200);
}

/// A PNG that says it is that large and holds nothing.
fn claims(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = encoded(&plain(1, 1), ImageFormat::Png);
    bytes[16..20].copy_from_slice(&width.to_be_bytes());
    bytes[20..24].copy_from_slice(&height.to_be_bytes());
    bytes
}

#[tokio::test]
async fn w24_refused_pictures_are_refused_by_their_numbers_and_cost_nothing() {
    let processes = processes();
    let before = kilobytes(std::process::id(), "VmHWM");
    for (width, height) in [
        (60_000, 60_000),
        (20_000, 1),
        (1, 16_385),
        (16_000, 16_000),
        (u32::MAX, u32::MAX),
    ] {
        let error = processes
            .scale_picture(claims(width, height).into(), CancellationToken::new())
            .await
            .unwrap_err();
        assert_eq!(error, PictureError::TooManyPixels { width, height });
        assert!(error.to_string().contains(&width.to_string()), "{error}");
    }
    let grown = kilobytes(std::process::id(), "VmHWM") - before;
    println!("refused pictures: app +{grown} kB, no helper");
    assert!(grown <= 16 << 10);
}

#[tokio::test]
async fn i1_what_is_no_picture_gives_words() {
    let whole = encoded(&noise(300, 300), ImageFormat::Png);
    for (bytes, expected) in [
        (b"just text".to_vec(), "not a PNG"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>".to_vec(), "not a PNG"),
        (whole[..20].to_vec(), "broken"),
        (whole[..whole.len() / 2].to_vec(), "broken"),
        (
            encoded(&noise(100, 100), ImageFormat::Jpeg)[..60].to_vec(),
            "broken",
        ),
        (b"GIF89a\x10\0\x10\0\0\0\0".to_vec(), "broken"),
        (claims(0, 5), "no pixels"),
        (claims(7000, 7000), "broken"),
        (Vec::new(), "not a PNG"),
    ] {
        let error = scale(&bytes).await.unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[tokio::test]
async fn a_picture_that_needs_more_memory_than_allowed_is_refused() {
    // Eight bytes a pixel: 320 MB.
    let picture =
        image::ImageBuffer::<image::Rgba<u16>, _>::from_pixel(4, 10_000, image::Rgba([1_u16, 2, 3, 4]));
    let mut bytes = encoded(&picture.into(), ImageFormat::Png);
    bytes[16..20].copy_from_slice(&4000_u32.to_be_bytes());
    let header = crc(&bytes[12..29]);
    bytes[29..33].copy_from_slice(&header.to_be_bytes());
    let error = scale(&bytes).await.unwrap_err();
    assert_eq!(error, PictureError::TooMuchMemory);
}

/// Found by `./dev fuzz picture`: the screen is one pixel, the frame on it is as large as it says.
#[tokio::test]
async fn a_gif_whose_frame_is_larger_than_its_screen_harms_nobody() {
    for (width, height) in [(0xAC01_u16, 0x0101_u16), (u16::MAX, u16::MAX)] {
        let mut gif = b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xFF\xFF\xFF,\0\0\0\0".to_vec();
        gif.extend([width.to_le_bytes(), height.to_le_bytes()].concat());
        gif.extend(b"\0\x02\x02\x44\x01\0;");
        match scale(&gif).await {
            Ok(seen) => assert_eq!((seen.width, seen.height), (1, 1)),
            Err(error) => assert!(
                matches!(
                    error,
                    PictureError::TooMuchMemory | PictureError::Broken(_) | PictureError::TooSlow
                ),
                "{width} × {height}: {error}"
            ),
        }
        assert!(scale(&encoded(&plain(1, 1), ImageFormat::Png)).await.is_ok());
    }
}

/// CRC-32 as PNG has it.
fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0_u32, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| {
            (crc >> 1) ^ (0xEDB8_8320 & (crc & 1).wrapping_neg())
        })
    })
}

#[tokio::test]
async fn looking_can_be_stopped() {
    let cancel = CancellationToken::new();
    cancel.cancel();
    let bytes = encoded(&noise(1000, 1000), ImageFormat::Png);
    let error = processes().scale_picture(bytes.into(), cancel).await.unwrap_err();
    assert_eq!(error, PictureError::Stopped);
}

#[tokio::test]
async fn a_helper_that_hangs_is_ended() {
    let dir = tempfile::tempdir().unwrap();
    let helper = dir.path().join("helper");
    std::fs::write(&helper, "#!/bin/sh\nexec sleep 60\n").unwrap();
    std::fs::set_permissions(&helper, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let processes = cairn_exec::Processes::new(cairn_exec::HelperProgram::at(helper));
    let since = std::time::Instant::now();
    let bytes = encoded(&plain(10, 10), ImageFormat::Png);
    let error = processes
        .scale_picture(bytes.into(), CancellationToken::new())
        .await
        .unwrap_err();
    assert_eq!(error, PictureError::TooSlow);
    assert!(since.elapsed() < std::time::Duration::from_secs(13));
}

#[test]
fn i2_kinds_are_told_by_their_first_bytes() {
    for (bytes, sniffed) in [
        (
            encoded(&plain(1, 1), ImageFormat::Png),
            Sniffed::Picture(PictureKind::Png),
        ),
        (
            encoded(&plain(1, 1), ImageFormat::WebP),
            Sniffed::Picture(PictureKind::WebP),
        ),
        (
            b"<?xml version='1.0'?>\n<!-- <b> -->\n<!DOCTYPE svg>\n<svg width='1'>".to_vec(),
            Sniffed::Svg,
        ),
        (b"\xEF\xBB\xBF <svg>".to_vec(), Sniffed::Svg),
        (b"<svgx>".to_vec(), Sniffed::Other),
        (b"<html><svg>".to_vec(), Sniffed::Other),
        (b"<!-- never ended <svg>".to_vec(), Sniffed::Other),
        (b"BM".to_vec(), Sniffed::Other),
        (b"RIFF....WAVE".to_vec(), Sniffed::Other),
        (Vec::new(), Sniffed::Other),
    ] {
        assert_eq!(sniff(&bytes), sniffed, "{:?}", String::from_utf8_lossy(&bytes));
    }
}

#[test]
fn headers_tell_the_size_that_the_decoder_tells() {
    for format in [
        ImageFormat::Png,
        ImageFormat::Jpeg,
        ImageFormat::WebP,
        ImageFormat::Gif,
    ] {
        for (width, height) in [(1, 1), (3, 700), (1201, 77)] {
            let bytes = encoded(&plain(width, height), format);
            let Sniffed::Picture(kind) = sniff(&bytes) else {
                panic!("{format:?}")
            };
            let told = dimensions(kind, &bytes).unwrap();
            assert_eq!((told.width, told.height), (width, height), "{format:?}");
        }
    }
}

proptest! {
    #[test]
    fn no_header_panics(kind in 0..4_usize, mut bytes in prop::collection::vec(any::<u8>(), 0..200), cut in 0..60_usize) {
        let format = [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::WebP, ImageFormat::Gif][kind];
        let mut whole = encoded(&plain(2, 2), format);
        whole.truncate(cut);
        whole.append(&mut bytes);
        if let Sniffed::Picture(kind) = sniff(&whole) {
            let _told = dimensions(kind, &whole);
        }
    }
}
