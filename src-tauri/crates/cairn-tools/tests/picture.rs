//! Pictures on their way from a file to the model and the person.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking and tells its figures"
)]

#[path = "shell/support.rs"]
mod support;

use cairn_agent::store::StoreError;
use cairn_tools::picture::{PictureProblem, Sniffed, look, sniff};
use support::{Blobs, processes};
use tokio_util::sync::CancellationToken;

/// A red PNG of two by two pixels.
const RED: &[u8] = &[
    0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0x00, 0x00, 0x00, 0x0D, 0x49, 0x48, 0x44, 0x52, 0x00,
    0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x02, 0x08, 0x02, 0x00, 0x00, 0x00, 0xFD, 0xD4, 0x9A, 0x73, 0x00,
    0x00, 0x00, 0x10, 0x49, 0x44, 0x41, 0x54, 0x78, 0xDA, 0x63, 0xF8, 0xCF, 0xC0, 0x00, 0x44, 0x0C, 0x10,
    0x0A, 0x00, 0x1F, 0xEE, 0x03, 0xFD, 0x63, 0x5E, 0xBB, 0x5B, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4E,
    0x44, 0xAE, 0x42, 0x60, 0x82,
];

#[tokio::test]
async fn x11_a_picture_is_kept_and_described() {
    let blobs = Blobs::default();
    let picture = look(
        &processes(),
        &blobs,
        RED.to_vec(),
        "docs/red.jpg",
        &CancellationToken::new(),
    )
    .await
    .unwrap();
    assert_eq!(
        (picture.width, picture.height, picture.bytes),
        (2, 2, RED.len() as u64)
    );
    assert_eq!(
        (picture.media_type.as_str(), picture.sent_media_type.as_str()),
        ("image/png", "image/png")
    );
    assert_eq!(picture.name, "docs/red.jpg");
    assert_eq!(picture.blob, picture.sent);
    assert_eq!(blobs.kept.lock().unwrap()[&picture.blob], RED);
}

#[tokio::test]
async fn i1_a_broken_picture_is_a_sentence() {
    let blobs = Blobs::default();
    let cut = RED[..50].to_vec();
    let problem = look(&processes(), &blobs, cut, "a.png", &CancellationToken::new())
        .await
        .unwrap_err();
    assert!(
        problem
            .to_string()
            .starts_with("a.png cannot be shown as a picture: the picture is broken"),
        "{problem}"
    );
    assert!(blobs.kept.lock().unwrap().is_empty(), "nothing is kept of it");
}

#[tokio::test]
async fn w24_a_huge_picture_is_refused_with_its_numbers() {
    let mut huge = RED.to_vec();
    huge[16..24].copy_from_slice(&[0, 0, 0x4E, 0x20, 0, 0, 0x4E, 0x20]);
    let problem = look(
        &processes(),
        &Blobs::default(),
        huge,
        "a.png",
        &CancellationToken::new(),
    )
    .await
    .unwrap_err();
    assert!(problem.to_string().contains("20000 × 20000"), "{problem}");
}

#[tokio::test]
async fn a_full_disk_is_told_as_such() {
    let blobs = Blobs {
        full: true,
        ..Blobs::default()
    };
    let problem = look(
        &processes(),
        &blobs,
        RED.to_vec(),
        "a.png",
        &CancellationToken::new(),
    )
    .await
    .unwrap_err();
    assert!(matches!(
        problem,
        PictureProblem::NotKept {
            why: StoreError::Full(_),
            ..
        }
    ));
}

#[test]
fn kinds_are_told_by_their_first_bytes() {
    assert_eq!(sniff(RED), Sniffed::Picture("image/png"));
    assert_eq!(sniff(b"<svg/>"), Sniffed::Svg);
    assert_eq!(sniff(b"fn main() {}"), Sniffed::Other);
}
