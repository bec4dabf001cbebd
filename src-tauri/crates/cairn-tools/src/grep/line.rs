//! One line of a result: cut to a window around its first match, with the matches marked.

use std::ops::Range;

use cairn_policy::{Show, show};
use cairn_protocol::{ShownKind, ShownSpan};

/// Bytes of a line that is shown whole.
const WHOLE: usize = 400;
/// Bytes shown of a longer one.
const WINDOW: usize = 300;
/// Of these, before its first match.
const BEFORE: usize = 80;

/// One line as shown.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Line {
    /// Its number, from 1.
    pub(super) number: u64,
    /// False for lines around a match.
    pub(super) matched: bool,
    /// Matches that are counted for it: 1 for a line that matches; where matches may span lines, those that begin
    /// in it.
    pub(super) counts: u64,
    /// Its text, without the line end.
    pub(super) text: String,
    /// The same for the window, matches marked.
    pub(super) spans: Vec<ShownSpan>,
}

impl Line {
    /// The line `bytes` with matches at those places, in order.
    pub(super) fn new(number: u64, matched: bool, bytes: &[u8], matches: &[Range<usize>]) -> Self {
        let bytes = without_end(bytes);
        let window = window(bytes, matches.first());
        let mut text = String::new();
        let mut spans = Vec::new();
        if window.start > 0 {
            push(&mut text, &mut spans, "…", Mark::Plain);
        }
        let mut at = window.start;
        for found in matches
            .iter()
            .filter(|found| found.start < window.end && found.end > window.start)
        {
            let start = found.start.clamp(at, window.end);
            let end = found.end.clamp(start, window.end);
            push(&mut text, &mut spans, &lossy(bytes, at..start), Mark::Plain);
            push(&mut text, &mut spans, &lossy(bytes, start..end), Mark::Match);
            at = end;
        }
        push(&mut text, &mut spans, &lossy(bytes, at..window.end), Mark::Plain);
        if window.len() < bytes.len() {
            if window.end < bytes.len() {
                push(&mut text, &mut spans, "…", Mark::Plain);
            }
            let note = match matches.len() {
                0 => format!(" [line of {} bytes]", bytes.len()),
                1 => format!(" [1 match in this line of {} bytes]", bytes.len()),
                many => format!(" [{many} matches in this line of {} bytes]", bytes.len()),
            };
            text.push_str(&note);
            spans.push(ShownSpan {
                kind: ShownKind::Chip,
                text: note.trim().to_owned(),
            });
        }
        Self {
            number,
            matched,
            counts: u64::from(matched),
            text,
            spans,
        }
    }

    /// Says that lines of a long match were left out.
    pub(super) fn rest_of_match(number: u64, lines: usize, counts: u64) -> Self {
        let text = format!("[{lines} more lines of this match]");
        let spans = vec![ShownSpan {
            kind: ShownKind::Chip,
            text: text.clone(),
        }];
        Self {
            number,
            matched: true,
            counts,
            text,
            spans,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Plain,
    Match,
}

fn push(text: &mut String, spans: &mut Vec<ShownSpan>, piece: &str, mark: Mark) {
    if piece.is_empty() {
        return;
    }
    text.push_str(piece);
    spans.extend(show(piece, Show::Code).into_iter().map(|mut span| {
        if mark == Mark::Match && span.kind == ShownKind::Plain {
            span.kind = ShownKind::Changed;
        }
        span
    }));
}

/// The line without `\n` or `\r\n`.
fn without_end(bytes: &[u8]) -> &[u8] {
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    bytes.strip_suffix(b"\r").unwrap_or(bytes)
}

fn window(bytes: &[u8], first: Option<&Range<usize>>) -> Range<usize> {
    if bytes.len() <= WHOLE {
        return 0..bytes.len();
    }
    let first = first.map_or(0, |found| found.start.min(bytes.len()));
    let start = first
        .saturating_sub(BEFORE)
        .min(bytes.len().saturating_sub(WINDOW));
    let end = (start + WINDOW).min(bytes.len());
    to_boundary(bytes, start)..to_boundary(bytes, end)
}

/// The nearest place at or before `at` where no character is cut.
fn to_boundary(bytes: &[u8], at: usize) -> usize {
    let continues = |at: usize| bytes.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
    (at.saturating_sub(3)..=at)
        .rev()
        .find(|at| !continues(*at))
        .unwrap_or(at)
}

fn lossy(bytes: &[u8], range: Range<usize>) -> String {
    String::from_utf8_lossy(bytes.get(range).unwrap_or_default()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_matches_in_a_short_line() {
        let line = Line::new(3, true, b"let margin = margin();\r\n", &[4..10, 13..19]);
        assert_eq!(line.text, "let margin = margin();");
        let marked: Vec<&str> = line
            .spans
            .iter()
            .filter(|span| span.kind == ShownKind::Changed)
            .map(|span| span.text.as_str())
            .collect();
        assert_eq!(marked, ["margin", "margin"]);
    }

    #[test]
    fn g2_a_long_line_is_a_window_around_its_match() {
        let mut bytes = vec![b'x'; 5_000];
        bytes[4_900..4_906].copy_from_slice(b"needle");
        let line = Line::new(1, true, &bytes, &[4_900..4_906]);
        assert!(
            line.text.starts_with('…') && line.text.contains("needle"),
            "{}",
            line.text
        );
        assert!(
            line.text.ends_with("[1 match in this line of 5000 bytes]"),
            "{}",
            line.text
        );
        assert!(line.text.len() < 400);
    }

    #[test]
    fn hidden_characters_become_chips_in_the_window() {
        let line = Line::new(1, true, "a\u{202e}b".as_bytes(), std::slice::from_ref(&(0..5)));
        assert!(line.spans.iter().any(|span| span.kind == ShownKind::Chip));
    }

    #[test]
    fn broken_and_reversed_ranges_do_no_harm() {
        for ranges in [
            vec![0..0],
            vec![Range { start: 5, end: 3 }],
            vec![900..1_000],
            vec![2..4, 1..9],
            vec![0..usize::MAX],
        ] {
            let ranges: Vec<Range<usize>> = ranges;
            Line::new(1, true, "äöüß".as_bytes(), &ranges);
            Line::new(1, true, &[0xff; 1_000], &ranges);
            Line::new(1, true, "日本語".repeat(300).as_bytes(), &ranges);
        }
    }

    proptest::proptest! {
        #[test]
        fn the_window_always_holds_the_start_of_the_first_match(
            before in 0_usize..3_000, after in 0_usize..3_000, wide in proptest::bool::ANY
        ) {
            let filler = if wide { "日" } else { "x" };
            let bytes = format!("{}needle{}", filler.repeat(before), filler.repeat(after));
            let start = filler.len() * before;
            let line = Line::new(1, true, bytes.as_bytes(), std::slice::from_ref(&(start..start + 6)));
            proptest::prop_assert!(line.text.contains("needle"));
            let replaced = line.text.contains('\u{fffd}');
            proptest::prop_assert!(!replaced);
            let changed: String =
                line.spans.iter().filter(|span| span.kind == ShownKind::Changed).map(|span| span.text.as_str()).collect();
            proptest::prop_assert_eq!(changed, "needle");
        }
    }
}
