use std::io::Write as _;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use proptest::prelude::*;

use super::*;

const MOST: usize = 1_000_000;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstandard(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 3).unwrap()
}

fn decode(encoding: &str, packed: &[u8], piece: usize) -> Result<Vec<u8>, DecodeError> {
    let mut body = Body::new(Some(encoding), MOST)?;
    for piece in packed.chunks(piece.max(1)) {
        body.push(piece)?;
    }
    body.finish()
}

/// "hello hello hello", packed by another implementation of brotli.
const BROTLI_HELLO: &str = "1b1000f88d946ede445586966c206f014f1c601c";

/// Fifty million zeros, packed by the same.
const BROTLI_BOMB: &str = "cbffff3ff82700e2b14020f7fe8fffff7ff04f00c4611180eefd1fffffffe09f0088c30200ddfb3ffeffffc13f0110870500baf77ffcffff837f02200e0b0074effff20f5e0fff04401c1600e8a0eb01";

fn bytes_of(hex: &str) -> Vec<u8> {
    (0..hex.len() / 2)
        .map(|at| u8::from_str_radix(&hex[at * 2..at * 2 + 2], 16).unwrap())
        .collect()
}

proptest! {
    #[test]
    fn every_split_of_a_packed_body_unpacks_to_the_same(bytes in prop::collection::vec(0_u8..8, 0..5_000), piece in 1_usize..200) {
        for (name, packed) in [
            ("gzip", gzip(&bytes)),
            ("x-gzip", gzip(&bytes)),
            ("deflate", zlib(&bytes)),
            ("deflate", deflate(&bytes)),
            ("zstd", zstandard(&bytes)),
            ("identity", bytes.clone()),
            ("gzip, zstd", zstandard(&gzip(&bytes))),
        ] {
            prop_assert_eq!(decode(name, &packed, piece).unwrap(), bytes.clone(), "{}", name);
        }
    }

    #[test]
    fn garbage_is_an_error_or_bounded_and_never_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..2_000), piece in 1_usize..300) {
        for name in ["gzip", "deflate", "br", "zstd", "br, gzip", "zstd, br"] {
            if let Ok(out) = decode(name, &bytes, piece) {
                prop_assert!(out.len() <= MOST);
            }
        }
    }

    #[test]
    fn a_changed_byte_never_panics(at in 0_usize..200, to: u8) {
        for (name, mut packed) in [("gzip", gzip(&[7; 3_000])), ("zstd", zstandard(&[7; 3_000])), ("br", bytes_of(BROTLI_HELLO))] {
            let length = packed.len();
            packed[at % length] = to;
            let _whatever = decode(name, &packed, 64);
        }
    }
}

#[test]
fn n39_n41_bombs_end_at_the_limit() {
    let zeros = vec![0; 50_000_000];
    for (name, packed) in [
        ("gzip", gzip(&zeros)),
        ("deflate", zlib(&zeros)),
        ("zstd", zstandard(&zeros)),
        // The outer one unpacks to something small, the inner one does not.
        ("gzip, gzip", gzip(&gzip(&zeros))),
        ("zstd, gzip", gzip(&zstandard(&zeros))),
    ] {
        assert!(packed.len() < 100_000, "{name}");
        assert_eq!(decode(name, &packed, 4_096), Err(DecodeError::TooLarge), "{name}");
        assert_eq!(
            decode(name, &packed, usize::MAX),
            Err(DecodeError::TooLarge),
            "{name}"
        );
    }
}

#[test]
fn n40_a_bomb_of_brotli_ends_at_the_limit_and_a_large_window_is_refused() {
    assert_eq!(
        decode("br", &bytes_of(BROTLI_HELLO), 3).unwrap(),
        b"hello hello hello"
    );
    assert_eq!(
        decode("br", &bytes_of(BROTLI_BOMB), 7),
        Err(DecodeError::TooLarge)
    );
    // 0x11 announces the extension for windows beyond 16 MB, then 30 bits of window.
    let large = [0x11, 0x1e, 0, 0, 0, 0];
    assert!(matches!(decode("br", &large, 64), Err(DecodeError::Broken(_))));
}

#[test]
fn n41_a_huge_window_of_zstd_is_refused() {
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    encoder.window_log(27).unwrap();
    encoder.include_contentsize(false).unwrap();
    encoder.write_all(&vec![1; 300_000]).unwrap();
    let packed = encoder.finish().unwrap();
    assert!(matches!(decode("zstd", &packed, 64), Err(DecodeError::Broken(_))));
}

#[test]
fn n42_three_encodings_one_inside_another_are_refused() {
    assert_eq!(
        decode("gzip, gzip, gzip", &gzip(b"x"), 64),
        Err(DecodeError::Unknown("3 encodings one inside another".to_owned()))
    );
}

#[test]
fn n43_bytes_as_they_come_are_counted_too() {
    let mut body = Body::new(None, MOST).unwrap();
    let mut pushed = 0;
    while body.push(&[b'x'; 8_192]).is_ok() {
        pushed += 8_192;
    }
    assert!(pushed <= MOST);
    // Members of nothing: much comes, and not a byte comes out.
    let nothing = gzip(b"").repeat(500);
    let mut body = Body::new(Some("gzip"), MOST).unwrap();
    let last = (0..MOST / nothing.len() + 2).find_map(|_| body.push(&nothing).err());
    assert_eq!(last, Some(DecodeError::TooLarge));
}

#[test]
fn unknown_encodings_and_cut_bodies_are_told() {
    assert!(matches!(
        decode("compress", b"x", 64),
        Err(DecodeError::Unknown(_))
    ));
    let packed = gzip(&[b'a'; 5_000]);
    assert!(matches!(
        decode("gzip", &packed[..packed.len() - 5], 64),
        Err(DecodeError::Broken(_))
    ));
    assert_eq!(
        decode("gzip", &[gzip(b"one "), gzip(b"two")].concat(), 7).unwrap(),
        b"one two"
    );
    assert_eq!(decode("GZIP, Identity", &gzip(b"x"), 64).unwrap(), b"x");
    assert_eq!(decode("gzip", b"", 64).unwrap_or_default(), b"");
}
