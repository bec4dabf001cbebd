use cairn_protocol::ShownKind;
use proptest::prelude::*;

use super::*;
use crate::diff::file_diff;

fn side(bytes: &[u8]) -> Side<'_> {
    Side { bytes, hash: "h" }
}

fn chosen(before: &[u8], after: &[u8], choices: &[HunkChoice]) -> Result<Chosen, ChooseError> {
    let shown = file_diff("a.rs", Some(side(before)), Some(side(after)));
    choose(before, after, &shown, choices)
}

fn text(before: &str, after: &str, choices: &[HunkChoice]) -> String {
    String::from_utf8(
        chosen(before.as_bytes(), after.as_bytes(), choices)
            .unwrap()
            .bytes,
    )
    .unwrap()
}

fn replace(text: &str) -> HunkChoice {
    HunkChoice::Replace {
        text: text.to_owned(),
    }
}

use HunkChoice::{Leave, Take};

fn numbered(changed: &[usize]) -> String {
    (1..=40)
        .map(|line| {
            if changed.contains(&line) {
                format!("new {line}\n")
            } else {
                format!("line {line}\n")
            }
        })
        .collect()
}

#[test]
fn each_place_is_made_or_left_by_itself() {
    let (before, after) = (numbered(&[]), numbered(&[5, 20, 35]));
    for (choices, made) in [
        ([Take, Take, Take], vec![5, 20, 35]),
        ([Take, Leave, Take], vec![5, 35]),
        ([Leave, Take, Leave], vec![20]),
        ([Leave, Leave, Take], vec![35]),
    ] {
        assert_eq!(text(&before, &after, &choices), numbered(&made), "{choices:?}");
    }
}

#[test]
fn a_place_written_anew_stands_for_all_that_it_shows() {
    let (before, after) = (numbered(&[]), numbered(&[5, 20]));
    let own = "line 17\nline 18\nmine\nand more\nline 21\n";
    let made = chosen(before.as_bytes(), after.as_bytes(), &[Leave, replace(own)]).unwrap();
    let expected = numbered(&[]).replace(
        "line 17\nline 18\nline 19\nline 20\nline 21\nline 22\nline 23\n",
        own,
    );
    assert_eq!(String::from_utf8(made.bytes).unwrap(), expected);
    assert_eq!(
        made.shifts,
        [Shift {
            first: 17,
            last: 23,
            delta: -2
        }]
    );
}

#[test]
fn line_ends_marks_and_encodings_are_those_of_the_file() {
    let utf16 = |text: &str| -> Vec<u8> {
        let marked = format!("\u{feff}{text}");
        marked.encode_utf16().flat_map(u16::to_le_bytes).collect()
    };
    let rows: [(&str, Vec<u8>, Vec<u8>, &str, Vec<u8>); 7] = [
        (
            "CRLF",
            b"a\r\nb\r\n".into(),
            b"a\r\nc\r\n".into(),
            "a\nx\ny\n",
            b"a\r\nx\r\ny\r\n".into(),
        ),
        (
            "CR",
            b"a\rb\r".into(),
            b"a\rc\r".into(),
            "a\nx\n",
            b"a\rx\r".into(),
        ),
        (
            "mixed",
            b"a\nb\r\nc\r\n".into(),
            b"a\nb\r\nd\r\n".into(),
            "a\nb\nx\n",
            b"a\nb\r\nx\r\n".into(),
        ),
        (
            "no newline at the end",
            b"a\nb".into(),
            b"a\nc".into(),
            "a\nx\n",
            b"a\nx".into(),
        ),
        (
            "no newline written",
            b"a\nb\n".into(),
            b"a\nc\n".into(),
            "a\nx",
            b"a\nx\n".into(),
        ),
        (
            "UTF-16",
            utf16("a\nb\n"),
            utf16("a\nc\n"),
            "a\n\u{1f980}\n",
            utf16("a\n\u{1f980}\n"),
        ),
        (
            "8 bits",
            b"caf\xe9\nb\n".into(),
            b"caf\xe9\nc\n".into(),
            "caf\u{e9}\nx\n",
            b"caf\xe9\nx\n".into(),
        ),
    ];
    for (what, before, after, own, expected) in rows {
        let made = chosen(&before, &after, &[replace(own)]);
        assert_eq!(made.map(|made| made.bytes), Ok(expected), "{what}");
    }
}

#[test]
fn what_cannot_be_followed_is_refused() {
    let legacy = |own: &str| chosen(b"caf\xe9\n", b"th\xe9\n", &[replace(own)]).unwrap_err();
    assert!(matches!(
        legacy("\u{1f980}"),
        ChooseError::Unencodable {
            character: '\u{1f980}',
            ..
        }
    ));
    assert!(matches!(legacy("a\0b"), ChooseError::Unreadable { .. }));
    let other = |choices: &[HunkChoice]| chosen(b"a\n", b"b\n", choices).unwrap_err();
    assert_eq!(other(&[Take, Take]), ChooseError::OtherPlaces);
    assert_eq!(other(&[]), ChooseError::OtherPlaces);
    let shown = file_diff("a.rs", Some(side(b"a\n")), Some(side(b"b\n")));
    let elsewhere = choose(b"0\n1\n2\n3\n4\na\n", b"0\n1\n2\n3\n4\nb\n", &shown, &[Take]);
    assert_eq!(elsewhere, Err(ChooseError::OtherPlaces));
    for (before, after) in [
        (&b"\x00\x01\x02"[..], &b"text\n"[..]),
        (b"ab\xff\xc3(\n\xe2\x82\n", b"ab\n"),
        (b"a\n", b"\xef\xbb\xbfa\nb\n"),
    ] {
        let shown = file_diff("a.rs", Some(side(before)), Some(side(after)));
        let damaged = encoding::decode(before).is_some_and(|text| text.damaged.is_empty());
        // What is not UTF-8 reads as an 8-bit text, which loses nothing; then the encodings differ.
        assert!(
            !is_divisible(before, after, &shown),
            "{before:?}, undamaged: {damaged}"
        );
        assert_eq!(
            choose(before, after, &shown, &[Leave]),
            Err(ChooseError::Indivisible)
        );
    }
}

#[test]
fn a_new_file_can_be_written_anew_before_it_is_there() {
    let shown = file_diff("a.rs", None, Some(side(b"a\nb\n")));
    assert!(is_divisible(b"", b"a\nb\n", &shown));
    let made = choose(b"", b"a\nb\n", &shown, &[replace("mine")]).unwrap();
    assert_eq!(made.bytes, b"mine\n");
}

fn lines_of() -> impl Strategy<Value = String> {
    let line = prop_oneof![Just("a"), Just("b"), Just("c"), Just(""), Just("dd")];
    (
        proptest::collection::vec(line, 0..40),
        any::<bool>(),
        prop_oneof![Just("\n"), Just("\r\n")],
    )
        .prop_map(|(lines, closed, end)| {
            let mut text = lines.join(end);
            if closed && !text.is_empty() {
                text.push_str(end);
            }
            text
        })
}

proptest! {
    /// Taking all is the proposal, leaving all is what was there, and writing a place as it was proposed is taking it.
    #[test]
    fn the_ends_of_choice_are_the_two_sides(before in lines_of(), after in lines_of(), picks in proptest::collection::vec(0_u8..3, 40)) {
        prop_assume!(before != after);
        let shown = file_diff("a.rs", Some(side(before.as_bytes())), Some(side(after.as_bytes())));
        let all = |choice: HunkChoice| vec![choice; shown.hunks.len()];
        prop_assert_eq!(text(&before, &after, &all(Take)), after.clone());
        prop_assert_eq!(text(&before, &after, &all(Leave)), before.clone());
        let mixed: Vec<HunkChoice> = shown.hunks.iter().zip(&picks).map(|(hunk, pick)| match pick {
            0 => Take,
            1 => Leave,
            _ => {
                let new = hunk.lines.iter().filter(|line| line.new.is_some());
                let plain = new.clone().all(|line| line.spans.iter().all(|span| span.kind != ShownKind::Chip));
                let text: Vec<String> = new.map(|line| line.spans.iter().map(|span| span.text.as_str()).collect()).collect();
                if plain && lines::ends_of(&after) == lines::ends_of(&before) { replace(&text.join("\n")) } else { Take }
            }
        }).collect();
        let as_taken: Vec<HunkChoice> = mixed.iter().map(|choice| if *choice == Leave { Leave } else { Take }).collect();
        let made = |choices: &[HunkChoice]| text(&before, &after, choices);
        prop_assert_eq!(lines::to_lf(&made(&mixed), lines::ends_of(&before)).trim_end().to_owned(), lines::to_lf(&made(&as_taken), lines::ends_of(&before)).trim_end().to_owned());
    }
}
