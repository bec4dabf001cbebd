//! Kind and size of a picture by its first bytes, without decoding anything.
//!
//! Owns: the few fields of four headers. Must never know: pixels.
//!
//! Sources: PNG (RFC 2083, section 3), GIF89a (section 18), JPEG (ITU-T T.81, B.2), WebP (RFC 9649, section 2).

/// A kind of picture that models understand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureKind {
    /// PNG.
    Png,
    /// JPEG.
    Jpeg,
    /// GIF.
    Gif,
    /// WebP.
    WebP,
}

impl PictureKind {
    /// Its media type.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Gif => "image/gif",
            Self::WebP => "image/webp",
        }
    }
}

/// What a file is, as far as pictures go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sniffed {
    /// A picture that can be looked at.
    Picture(PictureKind),
    /// An SVG drawing: text.
    Svg,
    /// Anything else.
    Other,
}

/// Bytes in which the root of an SVG file is looked for, after comments and declarations.
const SVG_PROLOGUE: usize = 4096;

/// Says what a file is by its first bytes (4 KiB are plenty), whatever its name says.
pub fn sniff(first_bytes: &[u8]) -> Sniffed {
    let is_webp = first_bytes.starts_with(b"RIFF") && first_bytes.get(8..12) == Some(b"WEBP");
    match first_bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1A, b'\n', ..] => Sniffed::Picture(PictureKind::Png),
        [0xFF, 0xD8, 0xFF, ..] => Sniffed::Picture(PictureKind::Jpeg),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Sniffed::Picture(PictureKind::Gif),
        _ if is_webp => Sniffed::Picture(PictureKind::WebP),
        _ if is_svg(first_bytes) => Sniffed::Svg,
        _ => Sniffed::Other,
    }
}

/// Whether the first element is `svg`, after a byte order mark, declarations and comments.
fn is_svg(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let text = String::from_utf8_lossy(bytes.get(..SVG_PROLOGUE).unwrap_or(bytes));
    let mut rest = text.trim_start();
    loop {
        let end = if rest.starts_with("<!--") {
            "-->"
        } else if rest.starts_with("<?") {
            "?>"
        } else if rest.starts_with("<!") {
            ">"
        } else {
            break;
        };
        let Some((_, after)) = rest.split_once(end) else {
            return false;
        };
        rest = after.trim_start();
    }
    let Some(after) = rest.strip_prefix("<svg") else {
        return false;
    };
    after.starts_with(|c: char| c.is_ascii_whitespace() || c == '>' || c == '/')
}

/// Width and height of a picture, pixels, before any rotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dimensions {
    /// Width.
    pub width: u32,
    /// Height.
    pub height: u32,
}

/// The size that the header tells; none when it is cut or makes no sense.
pub fn dimensions(kind: PictureKind, bytes: &[u8]) -> Option<Dimensions> {
    let (width, height) = match kind {
        PictureKind::Png if bytes.get(12..16)? == b"IHDR" => (
            u32::from_be_bytes(array(bytes, 16)?),
            u32::from_be_bytes(array(bytes, 20)?),
        ),
        PictureKind::Png => return None,
        PictureKind::Gif => (little16(bytes, 6)?, little16(bytes, 8)?),
        PictureKind::Jpeg => jpeg(bytes)?,
        PictureKind::WebP => webp(bytes)?,
    };
    Some(Dimensions { width, height })
}

/// Whether the picture moves, as far as its header tells; such a picture is never sent as it is.
pub(crate) fn is_animated(kind: PictureKind, bytes: &[u8]) -> bool {
    match kind {
        PictureKind::Png => bytes
            .get(..4096.min(bytes.len()))
            .is_some_and(|head| head.windows(4).any(|w| w == b"acTL")),
        PictureKind::Jpeg => false,
        // Nothing before its end tells whether a GIF moves.
        PictureKind::Gif => true,
        PictureKind::WebP => {
            bytes.get(12..16) == Some(b"VP8X") && bytes.get(20).is_some_and(|flags| flags & 2 != 0)
        }
    }
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk().copied()
}

fn little16(bytes: &[u8], at: usize) -> Option<u32> {
    array(bytes, at).map(|field| u32::from(u16::from_le_bytes(field)))
}

fn little24(bytes: &[u8], at: usize) -> Option<u32> {
    let [low, middle, high] = array(bytes, at)?;
    Some(u32::from_le_bytes([low, middle, high, 0]))
}

fn big16(bytes: &[u8], at: usize) -> Option<u32> {
    array(bytes, at).map(|field| u32::from(u16::from_be_bytes(field)))
}

/// Walks the segments to the one that begins a frame.
fn jpeg(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut at = 2;
    loop {
        // Segments may be padded with FF.
        while bytes.get(at) == Some(&0xFF) && bytes.get(at + 1) == Some(&0xFF) {
            at += 1;
        }
        let [0xFF, marker] = array(bytes, at)? else {
            return None;
        };
        match marker {
            // Start of frame: length, precision, height, width.
            0xC0..=0xC3 | 0xC5..=0xC7 | 0xC9..=0xCB | 0xCD..=0xCF => {
                return Some((big16(bytes, at + 7)?, big16(bytes, at + 5)?));
            }
            // Stand alone, without a length.
            0x01 | 0xD0..=0xD8 => at += 2,
            // End of picture or start of its data, and no frame before it.
            0xD9 | 0xDA => return None,
            _ => at += 2 + (big16(bytes, at + 2)? as usize).max(2),
        }
    }
}

/// Reads the first chunk, which is one of three.
fn webp(bytes: &[u8]) -> Option<(u32, u32)> {
    match bytes.get(12..16)? {
        b"VP8X" => Some((1 + little24(bytes, 24)?, 1 + little24(bytes, 27)?)),
        b"VP8L" if bytes.get(20) == Some(&0x2F) => {
            let bits = u32::from_le_bytes(array(bytes, 21)?);
            Some((1 + (bits & 0x3FFF), 1 + ((bits >> 14) & 0x3FFF)))
        }
        b"VP8 " if bytes.get(23..26) == Some(&[0x9D, 0x01, 0x2A]) => {
            Some((little16(bytes, 26)? & 0x3FFF, little16(bytes, 28)? & 0x3FFF))
        }
        _ => None,
    }
}
