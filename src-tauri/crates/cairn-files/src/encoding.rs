//! Encodings: bytes as text for display, text back to bytes, and which byte belongs to which character.
//!
//! Nothing here ever writes a whole file from decoded text: an edit replaces the bytes of what it matched and
//! leaves every other byte alone.

use std::borrow::Cow;

use encoding_rs::WINDOWS_1252;

/// Bytes of the start of a file that are looked at to tell text from binary.
pub const SAMPLE: usize = 8 * 1024;

/// How text is written as bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8; what is not valid in it is shown as U+FFFD and never touched.
    Utf8,
    /// UTF-16, low byte first.
    Utf16Le,
    /// UTF-16, high byte first.
    Utf16Be,
    /// An unnamed 8-bit encoding, shown as windows-1252, in which every byte is one character.
    Legacy,
}

impl Encoding {
    /// Its name for model and person.
    pub fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "UTF-8",
            Self::Utf16Le => "UTF-16 LE",
            Self::Utf16Be => "UTF-16 BE",
            Self::Legacy => "a legacy 8-bit encoding, shown as windows-1252",
        }
    }

    /// Bytes of the smallest unit.
    pub fn unit(self) -> usize {
        match self {
            Self::Utf8 | Self::Legacy => 1,
            Self::Utf16Le | Self::Utf16Be => 2,
        }
    }
}

/// What the first bytes say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detected {
    /// Text.
    Text {
        /// How it is written.
        encoding: Encoding,
        /// Bytes of the byte order mark at its start; 0 without.
        bom: usize,
    },
    /// Not text.
    Binary,
}

/// Text with the bytes it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded<'a> {
    /// How it is written.
    pub encoding: Encoding,
    /// Bytes of the byte order mark; not part of `text`.
    pub bom: usize,
    /// The text; borrowed where the bytes are it already.
    pub text: Cow<'a, str>,
    /// Places of `text` that stand for bytes that no character has: offset in `text` and number of bytes.
    pub damaged: Vec<(usize, usize)>,
}

/// A character that an encoding does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unencodable(pub char);

/// Tells text from binary and finds the encoding. `bytes` may be only the start of a file.
pub fn detect(bytes: &[u8]) -> Detected {
    if bytes.starts_with(&[0xEF, 0xBB, 0xBF]) {
        return text_or_binary(bytes, Encoding::Utf8, 3);
    }
    // FF FE 00 00 is UTF-32, which nobody edits; its NULs would come out as characters.
    if bytes.starts_with(&[0xFF, 0xFE]) && !bytes.starts_with(&[0xFF, 0xFE, 0, 0]) {
        return Detected::Text {
            encoding: Encoding::Utf16Le,
            bom: 2,
        };
    }
    if bytes.starts_with(&[0xFE, 0xFF]) {
        return Detected::Text {
            encoding: Encoding::Utf16Be,
            bom: 2,
        };
    }
    if let Some(encoding) = utf16_without_mark(bytes) {
        return Detected::Text { encoding, bom: 0 };
    }
    text_or_binary(bytes, eight_bit(bytes), 0)
}

/// Decodes the whole of a file, or the part of it that begins at its start.
pub fn decode(bytes: &[u8]) -> Option<Decoded<'_>> {
    match detect(bytes) {
        Detected::Text { encoding, bom } => {
            let (text, damaged) = decode_as(encoding, bytes.get(bom..).unwrap_or_default());
            Some(Decoded {
                encoding,
                bom,
                text,
                damaged,
            })
        }
        Detected::Binary => None,
    }
}

/// Decodes bytes without a mark in a known encoding; see [`Decoded::damaged`] for the second part.
pub fn decode_as(encoding: Encoding, bytes: &[u8]) -> (Cow<'_, str>, Vec<(usize, usize)>) {
    match encoding {
        Encoding::Utf8 => decode_utf8(bytes),
        Encoding::Utf16Le => decode_utf16(bytes, u16::from_le_bytes),
        Encoding::Utf16Be => decode_utf16(bytes, u16::from_be_bytes),
        Encoding::Legacy => (WINDOWS_1252.decode_without_bom_handling(bytes).0, Vec::new()),
    }
}

/// Whether changed bytes of a text still read as what was written into them: in the same encoding, or in another one
/// that shows the same. A NUL makes binary of a text, and two letters of an 8-bit encoding can be one of UTF-8.
pub fn reads_the_same(old: &Decoded<'_>, after: &[u8]) -> bool {
    if old.encoding == Encoding::Utf8 && old.damaged.is_empty() {
        // Valid text cannot turn into another encoding, so it need not be decoded once more, however long it is.
        return text_or_binary(after, Encoding::Utf8, old.bom) != Detected::Binary;
    }
    decode(after).is_some_and(|now| {
        let meant = || decode_as(old.encoding, after.get(old.bom..).unwrap_or_default()).0;
        now.encoding == old.encoding || now.text == meant()
    })
}

/// Encodes text without a mark.
pub fn encode(encoding: Encoding, text: &str) -> Result<Vec<u8>, Unencodable> {
    match encoding {
        Encoding::Utf8 => Ok(text.as_bytes().to_vec()),
        Encoding::Utf16Le => Ok(text.encode_utf16().flat_map(u16::to_le_bytes).collect()),
        Encoding::Utf16Be => Ok(text.encode_utf16().flat_map(u16::to_be_bytes).collect()),
        Encoding::Legacy => {
            let (bytes, _, failed) = WINDOWS_1252.encode(text);
            if failed {
                let lost = text
                    .chars()
                    .find(|c| WINDOWS_1252.encode(c.encode_utf8(&mut [0; 4])).2);
                return Err(Unencodable(lost.unwrap_or('\u{fffd}')));
            }
            Ok(bytes.into_owned())
        }
    }
}

impl Decoded<'_> {
    /// Offsets in the file for ascending offsets in `text`.
    pub fn byte_offsets(&self, ascending: &[usize]) -> Vec<usize> {
        if self.encoding == Encoding::Utf8 && self.damaged.is_empty() {
            return ascending.iter().map(|offset| offset + self.bom).collect();
        }
        let mut damaged = self.damaged.iter().peekable();
        let mut byte = self.bom;
        let mut chars = self.text.char_indices().peekable();
        let mut found = Vec::with_capacity(ascending.len());
        for &wanted in ascending {
            while let Some((at, c)) = chars.next_if(|(at, _)| *at < wanted) {
                byte += match damaged.next_if(|(place, _)| *place == at) {
                    Some((_, width)) => *width,
                    None => self.width(c),
                };
            }
            found.push(byte);
        }
        found
    }

    /// Whether a range of `text` stands for bytes that no character has.
    pub fn is_damaged(&self, range: &std::ops::Range<usize>) -> bool {
        let first = self.damaged.partition_point(|(at, _)| *at < range.start);
        self.damaged.get(first).is_some_and(|(at, _)| *at < range.end)
    }

    fn width(&self, c: char) -> usize {
        match self.encoding {
            Encoding::Utf8 => c.len_utf8(),
            Encoding::Utf16Le | Encoding::Utf16Be => c.len_utf16() * 2,
            Encoding::Legacy => 1,
        }
    }
}

/// NULs and too many control characters make binary.
fn text_or_binary(bytes: &[u8], encoding: Encoding, bom: usize) -> Detected {
    if bytes.contains(&0) {
        return Detected::Binary;
    }
    let sample = bytes.get(..SAMPLE).unwrap_or(bytes);
    let odd = sample
        .iter()
        .filter(|byte| matches!(byte, 0x01..=0x07 | 0x0E..=0x1A | 0x1C..=0x1F | 0x7F))
        .count();
    if odd * 20 > sample.len() {
        Detected::Binary
    } else {
        Detected::Text { encoding, bom }
    }
}

/// UTF-8, also where a few bytes are damaged; else an 8-bit encoding.
fn eight_bit(bytes: &[u8]) -> Encoding {
    let mut whole = 0_usize;
    let mut broken = 0_usize;
    let mut chunks = bytes.utf8_chunks().peekable();
    while let Some(chunk) = chunks.next() {
        whole += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        // A sample may end inside a character.
        let cut_off = chunks.peek().is_none() && chunk.invalid().len() < 4 && bytes.len() >= SAMPLE;
        broken += usize::from(!chunk.invalid().is_empty() && !cut_off);
    }
    if broken > whole {
        Encoding::Legacy
    } else {
        Encoding::Utf8
    }
}

/// Text in a Western script as UTF-16 has a NUL in every second byte and never in the others.
fn utf16_without_mark(bytes: &[u8]) -> Option<Encoding> {
    let sample = bytes.get(..SAMPLE).unwrap_or(bytes);
    if sample.len() < 4 || !bytes.len().is_multiple_of(2) {
        return None;
    }
    let nul_at = |place: usize| {
        sample
            .iter()
            .skip(place)
            .step_by(2)
            .filter(|byte| **byte == 0)
            .count()
    };
    let (first, second) = (nul_at(0), nul_at(1));
    let enough = sample.len() / 2 * 7 / 10;
    let encoding = match (first, second) {
        (0, count) if count > enough => Encoding::Utf16Le,
        (count, 0) if count > enough => Encoding::Utf16Be,
        _ => return None,
    };
    let (text, damaged) = decode_as(encoding, sample);
    let odd = text
        .chars()
        .any(|c| c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{c}'));
    (damaged.is_empty() && !odd).then_some(encoding)
}

fn decode_utf8(bytes: &[u8]) -> (Cow<'_, str>, Vec<(usize, usize)>) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return (Cow::Borrowed(text), Vec::new());
    }
    let mut text = String::with_capacity(bytes.len());
    let mut damaged = Vec::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            damaged.push((text.len(), chunk.invalid().len()));
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
    (Cow::Owned(text), damaged)
}

fn decode_utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> (Cow<'_, str>, Vec<(usize, usize)>) {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let mut text = String::with_capacity(pairs.len());
    let mut damaged = Vec::new();
    for c in char::decode_utf16(pairs.iter().copied().map(unit)) {
        if c.is_err() {
            damaged.push((text.len(), 2));
        }
        text.push(c.unwrap_or(char::REPLACEMENT_CHARACTER));
    }
    if !rest.is_empty() {
        damaged.push((text.len(), rest.len()));
        text.push(char::REPLACEMENT_CHARACTER);
    }
    (Cow::Owned(text), damaged)
}

#[cfg(test)]
mod tests;
