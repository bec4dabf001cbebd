//! File names as text and back, without losing a byte.
//!
//! A name is bytes. What is not UTF-8, and what would break a line, is written as `\xNN`; everything else as it is.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};

/// A name or path as text: bytes that are not UTF-8 and control characters as `\xNN`.
pub fn to_text(name: &OsStr) -> String {
    let mut text = String::new();
    for chunk in name.as_bytes().utf8_chunks() {
        for c in chunk.valid().chars() {
            if c.is_control() {
                let mut buffer = [0_u8; 4];
                escape(&mut text, c.encode_utf8(&mut buffer).as_bytes());
            } else {
                text.push(c);
            }
        }
        escape(&mut text, chunk.invalid());
    }
    text
}

/// The name that [`to_text`] wrote with `\xNN`; none when there is no such escape in it. What [`to_text`] never writes
/// so, as `\x41`, stands for itself.
pub fn from_escaped(text: &str) -> Option<OsString> {
    if !text.contains("\\x") {
        return None;
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    let mut found = false;
    while let Some(at) = rest.find("\\x") {
        let (before, after) = rest.split_at(at);
        bytes.extend_from_slice(before.as_bytes());
        match after
            .get(2..4)
            .and_then(|digits| u8::from_str_radix(digits, 16).ok())
        {
            Some(byte) if byte != 0 && !matches!(byte, 0x20..=0x7e) => {
                bytes.push(byte);
                rest = after.get(4..).unwrap_or_default();
                found = true;
            }
            _ => {
                bytes.extend_from_slice(b"\\x");
                rest = after.get(2..).unwrap_or_default();
            }
        }
    }
    bytes.extend_from_slice(rest.as_bytes());
    found.then(|| OsString::from_vec(bytes))
}

/// Adds bytes as `\xNN`.
fn escape(text: &mut String, bytes: &[u8]) {
    for byte in bytes {
        // Writing to a string cannot fail.
        write!(text, "\\x{byte:02x}").ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t6_takes_an_escape_that_was_never_written_literally() {
        for text in ["a\\x41", "C:\\x20b", "\\x7e", "a\\x00"] {
            assert_eq!(from_escaped(text), None, "{text}");
        }
        let name = OsString::from_vec(b"a\\x41\xff".to_vec());
        assert_eq!(from_escaped(&to_text(&name)), Some(name));
    }

    #[test]
    fn f14_writes_every_byte_of_a_name_and_reads_it_back() {
        for bytes in [
            &b"plain.rs"[..],
            b"a\nb",
            b"bad\xff\xfe.txt",
            "übung-\u{202e}x".as_bytes(),
            b"-rf",
            b"a\\xzz",
        ] {
            let name = OsString::from_vec(bytes.to_vec());
            let text = to_text(&name);
            assert!(!text.contains('\n'));
            let back = from_escaped(&text).unwrap_or_else(|| OsString::from(&text));
            assert_eq!(back, name);
        }
    }
}
