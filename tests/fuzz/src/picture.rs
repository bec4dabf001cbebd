//! Pictures: what claims too much is refused before anything of that size is asked for.

use cairn_exec::fuzz::{check_picture, open_picture, scale_picture};
use cairn_exec::{Dimensions, MAX_PICTURE_EDGE, MAX_PICTURE_PIXELS, PictureKind, Sniffed, dimensions, sniff};

use crate::measure::measured;

/// Pixels of pictures that are decoded here; larger ones would only make it slow.
const DECODED: u64 = 128 * 128;
/// Bytes that looking at a header may take.
const LOOKING: usize = 64 << 10;
/// Bytes that a decoder may take before the limits are checked, beside those of the file.
const OPENING: usize = 4 << 20;
/// Bytes that a helper may take; the system ends one that wants more. A GIF of one pixel may hold a frame of any size.
const HELPER: usize = (256 + 96) << 20;
/// Pixels an edge may have when it is sent.
const SENT: u32 = 1_568;

/// Looks at any bytes as a picture.
pub fn check(data: &[u8]) {
    let (kind, used) = measured(|| check_picture(data));
    assert!(used.bytes <= LOOKING, "looking took {} bytes", used.bytes);
    let sniffed = sniff(data);
    if let Ok(kind) = kind {
        assert_eq!(sniffed, Sniffed::Picture(kind));
        within(dimensions(kind, data).expect("it was checked"));
    }
    // Each decoder gets it, whatever it begins like: the helper does not trust the app.
    let kinds = match sniffed {
        Sniffed::Picture(kind) => vec![kind],
        _ => vec![
            PictureKind::Png,
            PictureKind::Jpeg,
            PictureKind::Gif,
            PictureKind::WebP,
        ],
    };
    for kind in kinds {
        let (opened, used) = measured(|| open_picture(kind, data));
        let most = OPENING + 4 * data.len();
        assert!(
            used.bytes <= most,
            "{kind:?}: opening {} bytes took {} bytes",
            data.len(),
            used.bytes
        );
        let Ok(size) = opened else { continue };
        within(size);
        if sniffed == Sniffed::Picture(kind) && pixels(size) <= DECODED {
            let (sent, used) = measured(|| scale_picture(data));
            assert!(
                used.bytes <= HELPER,
                "decoding {size:?} took {} bytes",
                used.bytes
            );
            if let Ok(sent) = sent {
                assert!(
                    sent.width.max(sent.height) <= SENT && pixels(sent) > 0,
                    "{size:?} became {sent:?}"
                );
            }
        }
    }
}

fn pixels(size: Dimensions) -> u64 {
    u64::from(size.width) * u64::from(size.height)
}

fn within(size: Dimensions) {
    let edge = size.width.max(size.height);
    assert!(
        edge <= MAX_PICTURE_EDGE && (1..=MAX_PICTURE_PIXELS).contains(&pixels(size)),
        "{size:?}"
    );
}
