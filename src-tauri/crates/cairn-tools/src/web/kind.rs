//! What a body is, by its header and its first bytes both, and text out of its bytes. SPEC T24, case N55.
//!
//! Owns: kinds and character sets. Must never know: how HTML is read or a picture decoded.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

use crate::picture::{Sniffed, sniff};

/// Bytes that are looked at.
const HEAD: usize = 4096;
/// Bytes in which a page names its own character set, by the HTML standard.
const PRESCAN: usize = 1024;

/// What a body is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A page to convert.
    Html,
    /// Text as it is; with what it is called.
    Text(&'static str),
    /// A picture that can be looked at.
    Picture,
    /// Anything else.
    Binary,
}

/// The media type of a header, in lower case; empty when there is none.
pub(crate) fn essence(content_type: Option<&str>) -> String {
    let text = content_type.unwrap_or_default();
    // A header that came twice is joined with a comma.
    let essence = text.split([';', ',']).next().unwrap_or_default().trim();
    essence
        .chars()
        .filter(char::is_ascii_graphic)
        .take(100)
        .collect::<String>()
        .to_ascii_lowercase()
}

/// What a body is.
pub(crate) fn kind(content_type: Option<&str>, body: &[u8]) -> Kind {
    let head = body.get(..HEAD).unwrap_or(body);
    let essence = essence(content_type);
    let declared = declared(&essence);
    if let Sniffed::Picture(_) = sniff(head) {
        // What calls itself a page and is a picture is neither.
        return match declared {
            Declared::Picture | Declared::Nothing => Kind::Picture,
            Declared::Html | Declared::Text(_) | Declared::Other => Kind::Binary,
        };
    }
    if is_binary(head, charset_of(content_type)) {
        return Kind::Binary;
    }
    match declared {
        Declared::Html => Kind::Html,
        Declared::Text(name) => Kind::Text(name),
        Declared::Nothing if looks_like_html(head) => Kind::Html,
        Declared::Nothing => Kind::Text("text"),
        Declared::Picture if essence == "image/svg+xml" => Kind::Text("SVG"),
        Declared::Picture | Declared::Other => Kind::Binary,
    }
}

enum Declared {
    Html,
    Text(&'static str),
    Picture,
    Nothing,
    Other,
}

fn declared(essence: &str) -> Declared {
    match essence {
        "" | "application/octet-stream" | "binary/octet-stream" | "unknown/unknown" => Declared::Nothing,
        "text/html" | "application/xhtml+xml" => Declared::Html,
        "application/json" | "text/json" => Declared::Text("JSON"),
        "application/xml" | "text/xml" => Declared::Text("XML"),
        "application/javascript"
        | "application/ecmascript"
        | "application/x-javascript"
        | "application/typescript"
        | "application/toml"
        | "application/yaml"
        | "application/x-yaml"
        | "application/x-ndjson"
        | "application/jsonl"
        | "application/x-sh"
        | "application/graphql"
        | "application/sql"
        | "application/x-tex"
        | "application/x-latex"
        | "application/x-httpd-php"
        | "application/x-www-form-urlencoded"
        | "application/rtf"
        | "application/pgp-signature"
        | "application/pgp-keys"
        | "application/x-python"
        | "application/x-perl"
        | "application/x-ruby"
        | "message/rfc822" => Declared::Text("text"),
        _ if essence.starts_with("text/") => Declared::Text("text"),
        _ if essence.ends_with("+json") => Declared::Text("JSON"),
        _ if essence.starts_with("image/") => Declared::Picture,
        _ if essence.ends_with("+xml") => Declared::Text("XML"),
        _ if essence.ends_with("+yaml") => Declared::Text("text"),
        _ => Declared::Other,
    }
}

/// Whether bytes are no text: NUL without a wide character set, or many control characters.
fn is_binary(head: &[u8], charset: Option<&'static Encoding>) -> bool {
    let wide = |encoding: &'static Encoding| encoding == UTF_16LE || encoding == UTF_16BE;
    if Encoding::for_bom(head).is_some() || charset.is_some_and(wide) {
        return false;
    }
    if head.starts_with(b"%PDF-") {
        return true;
    }
    let controls = head
        .iter()
        .filter(|byte| matches!(byte, 0x01..=0x08 | 0x0e..=0x1a | 0x1c..=0x1f | 0x7f))
        .count();
    head.contains(&0) || controls * 20 > head.len()
}

fn looks_like_html(head: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let text = String::from_utf8_lossy(head.get(..PRESCAN).unwrap_or(head)).to_ascii_lowercase();
    let text = text.trim_start();
    ["<!doctype html", "<html", "<head", "<body", "<title"]
        .iter()
        .any(|start| text.starts_with(start))
        || text.starts_with("<!--") && text.contains("<html")
}

/// The text of a body, and a sentence when something of it could not be read.
///
/// A byte order mark wins, then the header, then what a page says itself; without any of them UTF-8 where it is valid,
/// else Western European, as browsers do.
pub(crate) fn text(content_type: Option<&str>, is_markup: bool, body: &[u8]) -> (String, Option<String>) {
    let encoding = Encoding::for_bom(body)
        .map(|(encoding, _)| encoding)
        .or_else(|| charset_of(content_type))
        .or_else(|| named_inside(body).filter(|_| is_markup))
        .unwrap_or_else(|| {
            if std::str::from_utf8(body).is_ok() {
                UTF_8
            } else {
                WINDOWS_1252
            }
        });
    let (text, used, had_errors) = encoding.decode(body);
    if let Some(label) = label_of(content_type).filter(|label| is_unread(label)) {
        let remark = format!("Its character set {label} is not read here: the text may be wrong.");
        return (text.into_owned(), Some(remark));
    }
    let remark = had_errors.then(|| format!("Some bytes are no {} and stand as \u{fffd}.", used.name()));
    (text.into_owned(), remark)
}

/// Whether a character set is known and not read by anybody any more: pages could hide things in it.
fn is_unread(label: &str) -> bool {
    Encoding::for_label(label.as_bytes()) == Some(encoding_rs::REPLACEMENT)
}

fn charset_of(content_type: Option<&str>) -> Option<&'static Encoding> {
    Encoding::for_label_no_replacement(label_of(content_type)?.as_bytes())
}

fn label_of(content_type: Option<&str>) -> Option<&str> {
    let parameters = content_type?.split([';', ',']).skip(1);
    let mut charsets = parameters.filter_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim()
            .eq_ignore_ascii_case("charset")
            .then(|| value.trim().trim_matches(['"', '\'']))
    });
    charsets.next()
}

/// What a page says in `<meta charset=…>` or `<?xml encoding=…?>`. That it could be read at all says that it is no
/// UTF-16.
fn named_inside(body: &[u8]) -> Option<&'static Encoding> {
    let head = String::from_utf8_lossy(body.get(..PRESCAN).unwrap_or(body)).to_ascii_lowercase();
    let label = ["charset=", "encoding="].iter().find_map(|key| {
        let (_, rest) = head.split_once(key)?;
        let rest = rest.trim_start_matches(['"', '\'', ' ']);
        let end = rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || "-_.:".contains(c)))
            .unwrap_or(rest.len());
        rest.get(..end)
    })?;
    let encoding = Encoding::for_label_no_replacement(label.as_bytes())?;
    Some(if encoding == UTF_16LE || encoding == UTF_16BE {
        UTF_8
    } else {
        encoding
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";

    #[test]
    fn n55_kinds_are_told_by_type_and_first_bytes_both() {
        let table: &[(Option<&str>, &[u8], Kind)] = &[
            (Some("text/html"), b"<p>a", Kind::Html),
            (Some("TEXT/HTML; charset=utf-8"), b"<p>a", Kind::Html),
            (Some("text/html, text/html"), b"<p>a", Kind::Html),
            (Some("text/html,text/plain;charset=utf-8"), b"<p>a", Kind::Html),
            (Some("text/html"), PNG, Kind::Binary),
            (Some("application/json"), PNG, Kind::Binary),
            (Some("application/json"), b"{}", Kind::Text("JSON")),
            (Some("application/ld+json"), b"{}", Kind::Text("JSON")),
            (Some("text/plain"), b"hello", Kind::Text("text")),
            (Some("text/plain"), b"hel\0lo", Kind::Binary),
            (
                Some("text/plain; charset=utf-16le"),
                b"h\0i\0",
                Kind::Text("text"),
            ),
            (Some("text/plain"), b"\xff\xfeh\0i\0", Kind::Text("text")),
            (Some("application/pdf"), b"%PDF-1.4", Kind::Binary),
            (Some("text/plain"), b"%PDF-1.4", Kind::Binary),
            (
                Some("application/octet-stream"),
                b"fn main() {}",
                Kind::Text("text"),
            ),
            (
                Some("application/octet-stream"),
                b"\x7fELF\x02\x01\x01\0",
                Kind::Binary,
            ),
            (Some("application/zip"), b"PK\x03\x04", Kind::Binary),
            (Some("application/wasm"), b"text after all", Kind::Binary),
            (Some("image/svg+xml"), b"<svg/>", Kind::Text("SVG")),
            (Some("image/png"), PNG, Kind::Picture),
            (Some("image/jpeg"), PNG, Kind::Picture),
            (Some("image/png"), b"no picture", Kind::Binary),
            (Some("video/mp4"), b"....ftyp", Kind::Binary),
            (None, PNG, Kind::Picture),
            (None, b" <!DOCTYPE html><p>", Kind::Html),
            (None, b"<!-- x --><html>", Kind::Html),
            (None, b"plain", Kind::Text("text")),
            (None, b"", Kind::Text("text")),
        ];
        for (header, body, expected) in table {
            assert_eq!(
                kind(*header, body),
                *expected,
                "{header:?} {}",
                String::from_utf8_lossy(body)
            );
        }
    }

    #[test]
    fn character_sets_are_honoured() {
        let read = |header: Option<&str>, is_markup: bool, body: &[u8]| text(header, is_markup, body).0;
        assert_eq!(
            read(Some("text/plain; charset=\"ISO-8859-1\""), false, b"caf\xe9"),
            "café"
        );
        assert_eq!(
            read(Some("text/plain; charset=shift_jis"), false, b"\x82\xa0"),
            "あ"
        );
        assert_eq!(
            read(Some("text/html"), true, b"<meta charset='windows-1251'>\xcf"),
            "<meta charset='windows-1251'>П"
        );
        assert_eq!(
            read(Some("text/html"), true, b"<?xml encoding=\"koi8-r\"?>\xd0"),
            "<?xml encoding=\"koi8-r\"?>п"
        );
        assert_eq!(
            read(Some("text/plain"), false, b"charset=koi8-r \xe9"),
            "charset=koi8-r é"
        );
        assert_eq!(read(None, false, "é".as_bytes()), "é");
        assert_eq!(read(None, false, b"\xe9"), "é");
        assert_eq!(
            read(Some("text/plain; charset=utf-8"), false, b"\xff\xfeh\0i\0"),
            "hi"
        );
        assert_eq!(read(Some("text/plain; charset=nonsense"), false, b"a"), "a");
        assert_eq!(
            read(Some("text/plain, text/plain; charset=koi8-r"), false, b"\xd0"),
            "п"
        );
        let (korean, remark) = text(Some("text/plain; charset=iso-2022-kr"), false, b"plain words");
        assert_eq!(korean, "plain words");
        assert!(remark.unwrap().contains("iso-2022-kr"));
        let (broken, remark) = text(Some("text/plain; charset=utf-8"), false, b"a\xffb");
        assert_eq!(broken, "a\u{fffd}b");
        assert!(remark.unwrap().contains("UTF-8"));
    }

    proptest! {
        #[test]
        fn no_body_and_no_header_panics(header: Option<String>, body: Vec<u8>) {
            let _kind = kind(header.as_deref(), &body);
            let (text, _) = text(header.as_deref(), true, &body);
            prop_assert!(text.len() <= body.len() * 3);
        }
    }
}
