use proptest::prelude::*;

use super::*;

fn edit(bytes: &[u8], old: &str, new: &str) -> Result<Vec<u8>, EditError> {
    let replacement = Replacement {
        old,
        new,
        occurrences: Occurrences::Once,
    };
    apply(bytes, &[replacement])
        .map(|edited| edited.bytes)
        .map_err(|(_, error)| error)
}

fn edit_all(bytes: &[u8], old: &str, new: &str) -> Vec<u8> {
    apply(
        bytes,
        &[Replacement {
            old,
            new,
            occurrences: Occurrences::Every,
        }],
    )
    .unwrap()
    .bytes
}

#[test]
fn e1_puts_dollar_signs_and_backslashes_literally() {
    for new in [
        "log(\"$& ok\");",
        "$$100",
        "$1",
        "`$`",
        "x$'y",
        "\\0",
        "\\1",
        "${a}",
    ] {
        assert_eq!(
            edit(b"log(\"done\");", "log(\"done\");", new).unwrap(),
            new.as_bytes()
        );
        assert_eq!(edit_all(b"a-a", "a", new), format!("{new}-{new}").into_bytes());
    }
}

#[test]
fn e3_x25_matches_lf_text_in_a_crlf_file_and_keeps_it_crlf() {
    let file = b"alpha\r\nbeta\r\ngamma";
    assert_eq!(
        edit(file, "alpha\nbeta", "ALPHA\nBETA").unwrap(),
        b"ALPHA\r\nBETA\r\ngamma"
    );
    let twice = b"alpha\r\nbeta\r\nalpha\r\nbeta\r\n";
    assert_eq!(
        edit_all(twice, "alpha\nbeta", "ALPHA\nBETA\n!"),
        b"ALPHA\r\nBETA\r\n!\r\nALPHA\r\nBETA\r\n!\r\n"
    );
}

#[test]
fn e4_writes_no_stray_cr_into_an_lf_file() {
    assert_eq!(edit(b"a\nb\nc\n", "a\r\nb", "x\r\ny").unwrap(), b"x\ny\nc\n");
}

#[test]
fn e5_matches_lines_with_tabs_in_a_crlf_file() {
    let file = b"void f() {\r\n\t\tint a;\r\n\t\t\tint b;\r\n\t\tint c;\r\n}\r\n";
    let out = edit(file, "\t\tint a;\n\t\t\tint b;\n\t\tint c;", "\t\tint d;").unwrap();
    assert_eq!(out, b"void f() {\r\n\t\tint d;\r\n}\r\n");
}

#[test]
fn e7_keeps_a_far_away_byte_of_a_legacy_file() {
    let file = b"first\n2\n3\n4\n5\n6\n7\n8\ntrade\x99mark\n";
    let out = edit(file, "first", "erste \u{fc}").unwrap();
    assert_eq!(out, b"erste \xfc\n2\n3\n4\n5\n6\n7\n8\ntrade\x99mark\n");
    let refused = edit(file, "first", "日").unwrap_err();
    assert!(matches!(refused, EditError::Unencodable { lost: '日', .. }));
    assert!(refused.to_string().contains("U+65E5"), "{refused}");
}

#[test]
fn e8_keeps_a_byte_order_mark() {
    assert_eq!(
        edit("\u{feff}é\n".as_bytes(), "é", "è").unwrap(),
        "\u{feff}è\n".as_bytes()
    );
}

#[test]
fn e9_never_replaces_what_merely_resembles() {
    let file = b"func a() {\n\tx := 1\n\ty := 2\n\tz := 3\n}\n";
    let error = edit(file, "func a() {\n\tx := 1\n\ty := 99\n\tz := 3\n}", "").unwrap_err();
    let EditError::NotFound {
        nearest: Some(nearest),
    } = &error
    else {
        panic!("{error:?}")
    };
    assert_eq!((nearest.first_line, nearest.lines.len()), (1, 5));
    let words = error.to_string();
    assert!(
        words.contains("Line 3 differs: the file has `\\ty := 2`, old_string has `\\ty := 99`"),
        "{words}"
    );
}

#[test]
fn e11_leaves_the_indent_of_the_next_line() {
    let file = b"if ok:\n  foo()\n  bar()\n";
    let error = edit(file, "    foo()\n", "    baz()\n").unwrap_err();
    assert!(
        error
            .to_string()
            .contains("Line 2 differs in the space at its start"),
        "{error}"
    );
    assert_eq!(
        edit(file, "  foo()\n", "  baz()\n").unwrap(),
        b"if ok:\n  baz()\n  bar()\n"
    );
}

#[test]
fn x20_names_how_often_and_where() {
    let file = "a\nx\n".repeat(7);
    let error = edit(file.as_bytes(), "x", "y").unwrap_err();
    assert_eq!(
        error,
        EditError::Ambiguous {
            count: 7,
            lines: "2, 4, 6, 8, 10, ...".into()
        }
    );
    assert_eq!(
        edit_all(file.as_bytes(), "x", "y"),
        "a\ny\n".repeat(7).into_bytes()
    );
    let error = edit(b"x\nx", "x", "y").unwrap_err();
    assert_eq!(
        error,
        EditError::Ambiguous {
            count: 2,
            lines: "1, 2".into()
        }
    );
}

#[test]
fn x20_places_that_overlap_are_two() {
    for (file, old, lines) in [
        ("aaa", "aa", "1, 1"),
        ("a\nb\na\nb\na\n", "a\nb\na\n", "1, 3"),
        ("a\r\nb\r\na\r\nb\r\na\r\n", "a\nb\na\n", "1, 3"),
        ("x\n\n\n\ny\r\n", "\n\n\n", "1, 2"),
        ("é\u{301}é\u{301}é\u{301}", "é\u{301}é\u{301}", "1, 1"),
    ] {
        let error = edit(file.as_bytes(), old, "X").unwrap_err();
        let lines = lines.to_owned();
        assert_eq!(error, EditError::Ambiguous { count: 2, lines }, "{file:?}");
    }
    for (file, old) in [("a\r\nb", "\nb"), ("aab", "aa"), ("\r\n\r\n", "\n\n")] {
        assert!(edit(file.as_bytes(), old, "X").is_ok(), "{file:?}");
    }
    assert_eq!(edit_all(b"aaa", "aa", "b"), b"ba");
}

#[test]
fn x25_text_with_cr_alone_matches_in_a_file_of_such_lines() {
    assert_eq!(edit(b"a\rb\rc\r", "a\rb", "A\rB").unwrap(), b"A\rB\rc\r");
    assert_eq!(edit(b"a\rb\rc\r", "a\nb", "A\nB").unwrap(), b"A\rB\rc\r");
    // Elsewhere it is a character like any other.
    assert!(edit(b"a\nb\n", "a\rb", "x").is_err());
    assert_eq!(edit(b"a\rb\n", "a\rb", "x").unwrap(), b"x\n");
}

#[test]
fn t16_says_which_characters_differ_where_they_look_the_same() {
    for (file, old, told) in [
        (
            "caf\u{65}\u{301} au lait",
            "caf\u{e9} au lait",
            "(character 4: U+0065 in the file, U+00E9 in old_string)",
        ),
        (
            "one \u{2013} two three",
            "one - two three",
            "(character 5: U+2013 in the file, U+002D in old_string)",
        ),
        (
            "p\u{430}ssword = 1",
            "password = 1",
            "(character 2: U+0430 in the file, U+0061 in old_string)",
        ),
    ] {
        let error = edit(file.as_bytes(), old, "x").unwrap_err().to_string();
        assert!(error.contains(told), "{error}");
    }
    let long = |end: &str| format!("{}{end}", "word ".repeat(100));
    let error = edit(long("seven").as_bytes(), &long("eight"), "x")
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("word seven`") && error.contains("word eight`"),
        "{error}"
    );
}

#[test]
fn x21_f18_names_the_append_way_for_an_empty_text() {
    let error = edit(b"abc", "", "x").unwrap_err();
    assert!(error.to_string().contains("append"), "{error}");
}

#[test]
fn x22_deletes_exactly_the_match() {
    assert_eq!(edit(b"a\nb\nc\n", "b\n", "").unwrap(), b"a\nc\n");
}

#[test]
fn x23_changes_nothing_when_both_are_the_same() {
    let same = Replacement {
        old: "a\r\nb",
        new: "a\nb",
        occurrences: Occurrences::Once,
    };
    let edited = apply(b"a\nb a\nb", &[same]).unwrap();
    assert_eq!(
        (edited.bytes.as_slice(), edited.shifts),
        (&b"a\nb a\nb"[..], vec![vec![]])
    );
}

#[test]
fn x24_each_edit_sees_what_those_before_it_did() {
    let edits = [("a", "b"), ("b", "c")].map(|(old, new)| Replacement {
        old,
        new,
        occurrences: Occurrences::Once,
    });
    assert_eq!(apply(b"a", &edits).unwrap().bytes, b"c");
    let failing = [
        edits[0],
        Replacement {
            old: "gone",
            new: "",
            occurrences: Occurrences::Once,
        },
    ];
    assert!(matches!(
        apply(b"a", &failing),
        Err((1, EditError::NotFound { .. }))
    ));
}

#[test]
fn refuses_binary_and_damaged_matches() {
    assert!(matches!(
        edit(b"a\0b", "a", "b"),
        Err(EditError::Binary { bytes: 3 })
    ));
    let damaged = "über \u{e9} "
        .bytes()
        .chain([0xff])
        .chain("öl".bytes())
        .collect::<Vec<u8>>();
    assert!(matches!(
        edit(&damaged, " \u{fffd}ö", "x"),
        Err(EditError::Damaged { .. })
    ));
    let kept = edit(&damaged, "öl", "al").unwrap();
    assert_eq!(
        kept,
        "über \u{e9} "
            .bytes()
            .chain([0xff])
            .chain("al".bytes())
            .collect::<Vec<u8>>()
    );
}

#[test]
fn tells_how_lines_move() {
    let replacement = Replacement {
        old: "b\nc\n",
        new: "1\n2\n3\n",
        occurrences: Occurrences::Once,
    };
    let edited = apply(b"a\nb\nc\nd\n", &[replacement]).unwrap();
    assert_eq!(
        edited.shifts,
        [[Shift {
            first: 2,
            last: 3,
            delta: 1
        }]]
    );
}

#[test]
fn a_line_that_another_is_joined_to_is_touched() {
    for (file, old, new, last) in [
        ("a\nxb\nc\n", "b\n", "B", 3),
        ("a\nxb\nc\n", "b\n", "", 3),
        ("a\nb\nc\n", "b\n", "", 2),
        ("a\nb\nc\n", "b\n", "B\n", 2),
        ("a\nb\n", "b\n", "B", 2),
        ("a\rxb\rc\r", "b\n", "B", 3),
    ] {
        let replacement = Replacement {
            old,
            new,
            occurrences: Occurrences::Once,
        };
        let edited = apply(file.as_bytes(), &[replacement]).unwrap();
        assert_eq!(
            (edited.shifts[0][0].first, edited.shifts[0][0].last),
            (2, last),
            "{file:?} {new:?}"
        );
    }
}

#[test]
fn tells_the_nearest_line_when_none_is_the_same() {
    let error = edit(
        b"fn main() {}\nlet total = price * count;\n",
        "let total = price + count;",
        "",
    )
    .unwrap_err();
    assert!(error.to_string().contains("nearest text is at line 2"), "{error}");
    let error = edit(b"fn main() {}\n", "zzzz qqqq", "").unwrap_err();
    assert!(
        error.to_string().contains("Nothing in the file comes near"),
        "{error}"
    );
}

/// Text from a small alphabet, so that edits often match.
fn texts(most: usize) -> impl Strategy<Value = String> {
    proptest::collection::vec(
        prop_oneof![
            Just("a"),
            Just("b"),
            Just("é"),
            Just("\n"),
            Just("$1"),
            Just("\t")
        ],
        0..most,
    )
    .prop_map(|parts| parts.concat())
}

#[derive(Clone, Copy, Debug)]
enum Form {
    Utf8,
    Marked,
    Utf16Le,
    Utf16Be,
    Latin,
}

fn write(text: &str, form: Form) -> Vec<u8> {
    let body = |encoding| encoding::encode(encoding, text).unwrap();
    match form {
        Form::Utf8 => body(Encoding::Utf8),
        Form::Marked => [vec![0xEF, 0xBB, 0xBF], body(Encoding::Utf8)].concat(),
        Form::Utf16Le => [vec![0xFF, 0xFE], body(Encoding::Utf16Le)].concat(),
        Form::Utf16Be => [vec![0xFE, 0xFF], body(Encoding::Utf16Be)].concat(),
        // A byte that no valid UTF-8 has keeps it legacy whatever else is edited.
        Form::Latin => [b"\xff".to_vec(), body(Encoding::Legacy)].concat(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn edits_equal_the_same_edits_of_a_string(
        start in texts(40),
        edits in proptest::collection::vec((texts(4), texts(5), any::<bool>()), 1..6),
        form in prop_oneof![Just(Form::Utf8), Just(Form::Marked), Just(Form::Utf16Le), Just(Form::Utf16Be), Just(Form::Latin)],
        crlf in any::<bool>(),
    ) {
        let written = |model: &str| {
            let text = if crlf { model.replace('\n', "\r\n") } else { model.to_owned() };
            write(&text, form)
        };
        // One line end at least, so that the file has a kind of them; kept at the front, which no edit removes.
        let mut model = format!("#\n{start}");
        let mut bytes = written(&model);
        for (old, new, every) in &edits {
            // `aa` is in `aaa` twice, though only one can be replaced.
            let count = match model.matches(old.as_str()).count() {
                1 if !*every => model.char_indices().filter(|(at, _)| model[*at..].starts_with(old.as_str())).count(),
                count => count,
            };
            let occurrences = if *every { Occurrences::Every } else { Occurrences::Once };
            let touches_front = model.find(old.as_str()).is_some_and(|at| at < 2);
            if touches_front { continue; }
            let outcome = apply(&bytes, &[Replacement { old, new, occurrences }]);
            if old.is_empty() {
                prop_assert!(outcome.is_err());
            } else if old == new {
                prop_assert_eq!(outcome.unwrap().bytes, bytes.clone());
            } else if count == 1 || (count > 1 && *every) {
                model = model.replace(old.as_str(), new);
                bytes = outcome.unwrap().bytes;
                prop_assert_eq!(&bytes, &written(&model));
            } else {
                prop_assert!(outcome.is_err());
            }
        }
    }

    #[test]
    fn e7_x12_bytes_outside_the_edit_never_change(
        head in proptest::collection::vec(any::<u8>(), 0..60),
        tail in proptest::collection::vec(any::<u8>(), 0..60),
        new in texts(6),
    ) {
        let mark = "MARK-8f3a";
        let bytes = [head.as_slice(), mark.as_bytes(), &tail].concat();
        if let Ok(edited) = edit(&bytes, mark, &new) {
            prop_assert!(edited.starts_with(&head));
            prop_assert!(edited.ends_with(&tail));
        }
    }
}

#[test]
fn t16_an_edit_that_would_not_read_as_what_was_written_is_refused() {
    let utf16: Vec<u8> = "abcd".encode_utf16().flat_map(u16::to_le_bytes).collect();
    for (bytes, old, new) in [
        (&b"text"[..], "x", "a\0b"),
        (b"caf\xe9 x\n", "caf\u{e9}", "\u{c3}\u{a9}"),
        (&utf16, "abcd", "\u{6f22}\u{5b57}"),
        (b"\xc3\xa9 \xff", "\u{e9}", "e"),
    ] {
        let edit = Replacement {
            old,
            new,
            occurrences: Occurrences::Once,
        };
        let refused = apply(bytes, &[edit]).unwrap_err().1;
        assert!(
            matches!(refused, EditError::Unreadable { .. }),
            "{new}: {refused}"
        );
    }
    // Where nothing is left that could be read in two ways, nothing is lost.
    let edit = Replacement {
        old: "caf\u{e9}",
        new: "tea",
        occurrences: Occurrences::Once,
    };
    assert_eq!(apply(b"caf\xe9\n", &[edit]).unwrap().bytes, b"tea\n");
}
