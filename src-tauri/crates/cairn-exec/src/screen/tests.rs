use proptest::prelude::*;

use super::*;

fn clean(bytes: &[u8]) -> String {
    let mut screen = Screen::default();
    screen.feed(bytes);
    let output = screen.output();
    assert_eq!(output.omitted, 0);
    output.head + &output.tail
}

#[test]
fn u11_sequences_are_removed_and_text_stays() {
    for (printed, expected) in [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]2;title\x1b\\text", "text"),
        ("\x1b]52;c;aGVsbG8=\x07x", "x"),
        ("\x1b]8;;https://e.example\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bPq#0;2;0;0;0\x1b\\after", "after"),
        ("\x1b_Gf=24;AAAA\x1b\\after", "after"),
        ("\u{9b}31mred", "red"),
        ("\u{9d}52;c;eA==\u{9c}x", "x"),
        ("\x1b(Bx\x1b7y\x1b=z", "xyz"),
        ("\x1b[?25lx\x1b[38;2;1;2;3my\x1b[>4;1mz", "xyz"),
        ("a\x07\x00\x0e\x7fb", "ab"),
        ("\x1b[2K\x1b[1Als", "ls"),
        ("\x1b]0;never ended\nthe error", "\nthe error"),
        ("\x1bPnever ended\nthe error", "\nthe error"),
        ("\x1b_never ended\nthe error", "\nthe error"),
        ("\x1bXnever\n\x1b^ended\nthe error", "\n\nthe error"),
        ("\u{90}never ended\r\nthe error", "\nthe error"),
        ("\x1b[31", ""),
        ("\x1b[31\nline", "\nline"),
        ("tab\tand é 漢字 🦀", "tab\tand é 漢字 🦀"),
        ("\x1b\x1b[1mx", "x"),
    ] {
        assert_eq!(clean(printed.as_bytes()), expected, "{printed:?}");
    }
}

#[test]
fn s11_of_progress_only_the_last_frame_is_kept() {
    for (printed, expected) in [
        ("a\r\nb\r\n", "a\nb\n"),
        ("10%\r20%\r100%\ndone\n", "100%\ndone\n"),
        ("10%\r\x1b[K20%", "20%"),
        ("Downloading 100%\rDone", "Done"),
        ("10%\r", "10%"),
        ("a\r\r\nb", "a\nb"),
        ("|\x08/\x08-\x08ok", "ok"),
        ("abc\x08\x08\x08X", "Xbc"),
        ("abc\x08\x08XYZ", "aXYZ"),
        ("ab\x08\x08\x08\x08é\nc\x08d", "éb\nd"),
        ("abc\x08\x08\x1b[K", "a"),
        ("abc\x08\x08\n\x08d", "abc\nd"),
        ("N\x08NA\x08A", "NA"),
        ("abc\x08\rx", "x"),
        ("wait\x1b[2K\rready", "ready"),
        ("kept\nx\ry", "kept\ny"),
    ] {
        assert_eq!(clean(printed.as_bytes()), expected, "{printed:?}");
    }
    let frames: Vec<String> = (1..=5000).map(|n| format!("\r{n}%")).collect();
    assert_eq!(clean(frames.concat().as_bytes()), "5000%");
}

#[test]
fn bytes_that_are_no_text_are_replaced() {
    assert_eq!(clean(b"a\xFFb"), "a\u{FFFD}b");
    assert_eq!(clean(b"a\xE9\x82"), "a\u{FFFD}");
    assert_eq!(clean(b"\xE9\x1b[1mx"), "\u{FFFD}x");
}

#[test]
fn a_string_sequence_without_an_end_gives_up() {
    let mut printed = b"\x1bP".to_vec();
    printed.resize(STRING_AND_MORE, b'x');
    printed.extend_from_slice(b"the error");
    assert!(clean(&printed).ends_with("the error"));
}
const STRING_AND_MORE: usize = (64 << 10) + 100;

#[test]
fn x61_head_and_tail_are_kept_and_what_is_missing_is_counted() {
    let mut screen = Screen::default();
    screen.feed(b"first\n");
    for _ in 0..2000 {
        screen.feed("é\n".repeat(1000).as_bytes());
    }
    screen.feed(b"last");
    let output = screen.output();
    assert_eq!(output.printed, 6 + 2000 * 3000 + 4);
    assert!(output.head.starts_with("first\né\n") && output.head.len() <= HEAD);
    assert!(output.tail.ends_with("é\nlast") && output.tail.len() <= TAIL);
    assert_eq!(
        output.head.len() as u64 + output.omitted + output.tail.len() as u64,
        output.printed
    );
    assert!(
        output
            .text()
            .contains(&format!("[… {} bytes left out …]", output.omitted))
    );
}

/// A receiver that follows the rule of [`crate::LiveOutput`].
fn receive(text: &mut String, piece: Option<(u64, String)>) {
    if let Some((offset, piece)) = piece {
        text.truncate(usize::try_from(offset).unwrap());
        assert_eq!(text.len() as u64, offset, "nothing may be skipped here");
        text.push_str(&piece);
    }
}

proptest! {
    #[test]
    fn any_split_gives_the_same_text(
        pieces in prop::collection::vec(prop_oneof![
            Just(b"\x1b[3".to_vec()), Just(b"1m".to_vec()), Just(b"\x1b]0;t".to_vec()), Just(b"\x07".to_vec()),
            Just(b"\r".to_vec()), Just(b"\n".to_vec()), Just(b"\x08".to_vec()), Just("é漢🦀\u{9b}".into()),
            Just(b"\x1b[K".to_vec()), Just(b"\x1b\\".to_vec()), Just(vec![b'x'; 9000]),
            prop::collection::vec(any::<u8>(), 0..12),
        ], 0..40),
        cuts in prop::collection::vec(1_usize..50, 1..20),
    ) {
        let whole = pieces.concat();
        let mut once = Screen::default();
        once.feed(&whole);
        let mut split = Screen::default();
        let mut live = String::new();
        let mut rest = whole.as_slice();
        for cut in cuts.iter().cycle() {
            if rest.is_empty() { break }
            let (piece, after) = rest.split_at((*cut).min(rest.len()));
            split.feed(piece);
            receive(&mut live, split.live());
            rest = after;
        }
        let output = split.output();
        receive(&mut live, split.live());
        prop_assert_eq!(&once.output(), &output);
        if output.omitted == 0 {
            prop_assert_eq!(live, output.text());
        }
        let text = output.text();
        prop_assert!(!text.contains(|c: char| c.is_control() && c != '\n' && c != '\t'), "{:?}", text);
    }
}
