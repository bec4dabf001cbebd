//! Failures in words that are safe to show. Owns: naming causes, taming foreign text. Knows no server.

use std::error::Error;
use std::io;
use std::time::Duration;

/// Characters of foreign text that a message may hold.
pub(crate) const MAX_FOREIGN_CHARS: usize = 2_000;

/// Foreign text made safe to show: no control, invisible or direction-changing characters, no long blanks, at most
/// `limit` characters.
pub(crate) fn safe(text: &str, limit: usize) -> String {
    let mut out = String::new();
    let mut count = 0;
    let mut blank = false;
    for character in text.trim().chars() {
        if character.is_whitespace() || character.is_control() {
            blank = true;
            continue;
        }
        if is_invisible(character) {
            continue;
        }
        if blank && !out.is_empty() {
            out.push(' ');
            count += 1;
        }
        blank = false;
        if count >= limit {
            out.push('…');
            break;
        }
        out.push(character);
        count += 1;
    }
    out
}

fn is_invisible(character: char) -> bool {
    matches!(u32::from(character),
        0xAD | 0x61C | 0x180E | 0x200B..=0x200F | 0x2028..=0x202E | 0x2060..=0x206F | 0xFEFF | 0xFFF9..=0xFFFB
        | 0xE0000..=0xE0FFF)
}

/// The innermost cause of a failed exchange, short: `connection refused`, `no such host`.
pub(crate) fn reason(error: &reqwest::Error) -> String {
    let mut innermost = String::new();
    let mut cause: Option<&(dyn Error + 'static)> = error.source();
    while let Some(here) = cause {
        if let Some(kind) = here.downcast_ref::<io::Error>().and_then(reason_of_io) {
            return kind.to_owned();
        }
        innermost = here.to_string();
        cause = here.source();
    }
    let lower = innermost.to_ascii_lowercase();
    if lower.contains("failed to lookup")
        || lower.contains("name or service not known")
        || lower.contains("dns")
    {
        return "there is no host of that name".to_owned();
    }
    if lower.contains("certificate") {
        return format!("its certificate was not accepted ({})", safe(&innermost, 200));
    }
    if innermost.is_empty() {
        safe(&error.to_string(), 200)
    } else {
        safe(&innermost, 200)
    }
}

fn reason_of_io(error: &io::Error) -> Option<&'static str> {
    Some(match error.kind() {
        io::ErrorKind::ConnectionRefused => "connection refused",
        io::ErrorKind::ConnectionReset => "the connection was reset",
        io::ErrorKind::ConnectionAborted => "the connection was aborted",
        io::ErrorKind::BrokenPipe => "the connection was closed",
        io::ErrorKind::UnexpectedEof => "it ended too early",
        io::ErrorKind::HostUnreachable => "the host is unreachable",
        io::ErrorKind::NetworkUnreachable => "the network is unreachable",
        io::ErrorKind::NetworkDown => "the network is down",
        io::ErrorKind::TimedOut => "it timed out",
        io::ErrorKind::AddrNotAvailable => "the address is not available",
        _ => return None,
    })
}

/// Whether a connection stood and was then closed or reset.
pub(crate) fn is_broken(error: &reqwest::Error) -> bool {
    let mut cause: Option<&(dyn Error + 'static)> = error.source();
    while let Some(here) = cause {
        let text = here.to_string();
        if here
            .downcast_ref::<io::Error>()
            .is_some_and(|io| io.kind() != io::ErrorKind::ConnectionRefused)
            || text.contains("message completed")
            || text.contains("connection closed")
            || text.contains("invalid HTTP")
            || text.contains("parse")
        {
            return true;
        }
        cause = here.source();
    }
    false
}

/// A span of time in words: `300 ms`, `90 seconds`, `5 minutes`.
pub(crate) fn span(time: Duration) -> String {
    match time.as_secs() {
        0 => format!("{} ms", time.as_millis()),
        1 => "1 second".to_owned(),
        seconds if seconds >= 120 && seconds % 60 == 0 => format!("{} minutes", seconds / 60),
        seconds => format!("{seconds} seconds"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn m17_foreign_text_is_made_safe() {
        assert_eq!(
            safe("  a\u{1b}[31mb\r\n\tc\u{202e}d\u{200b}e  ", 100),
            "a [31mb cde"
        );
        assert_eq!(safe(&"x".repeat(5_000), 10), format!("{}…", "x".repeat(10)));
        assert_eq!(safe("\u{e0041}\u{feff}", 10), "");
    }

    #[test]
    fn spans_are_said_in_words() {
        assert_eq!(span(Duration::from_millis(300)), "300 ms");
        assert_eq!(span(Duration::from_secs(90)), "90 seconds");
        assert_eq!(span(Duration::from_mins(5)), "5 minutes");
    }
}
