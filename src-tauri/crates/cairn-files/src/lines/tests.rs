#![allow(clippy::single_range_in_vec_init)] // Ranges are what is compared.

use super::*;

#[test]
fn knows_the_line_ends_of_a_text() {
    let cases = [
        ("", LineEnds::None),
        ("one", LineEnds::None),
        ("a\nb", LineEnds::All(LineEnd::Lf)),
        ("a\r\nb\r\n", LineEnds::All(LineEnd::CrLf)),
        ("a\rb\r", LineEnds::All(LineEnd::Cr)),
        ("a\r\nb\r\nc\n", LineEnds::Mixed(LineEnd::CrLf)),
        ("a\nb\nc\r\n", LineEnds::Mixed(LineEnd::Lf)),
        ("a\rb\nc", LineEnds::All(LineEnd::Lf)),
    ];
    for (text, ends) in cases {
        assert_eq!(ends_of(text), ends, "{text:?}");
    }
}

#[test]
fn finds_text_across_any_line_end_and_never_half_of_one() {
    let text = "a\r\nb\nc\r\na\nb\n";
    let found = find_all(text, "a\nb", ends_of(text));
    assert_eq!(
        found.iter().map(|range| &text[range.clone()]).collect::<Vec<_>>(),
        ["a\r\nb", "a\nb"]
    );
    let found = find_all("x\r\ny\r\n", "\ny\n", LineEnds::All(LineEnd::CrLf));
    assert_eq!(found, [1..6]);
    assert_eq!(find_all("a\rb", "a\nb", LineEnds::All(LineEnd::Cr)), [0..3]);
    assert_eq!(find_all("aaa", "aa", LineEnds::None), [0..2]);
    assert!(find_all("a", "", LineEnds::None).is_empty());
}

#[test]
fn takes_over_the_line_ends_of_what_it_replaces() {
    let text = "a\r\nb\nc\r\n";
    assert_eq!(
        with_ends_of("1\n2\n3\n", text, &(0..5), ends_of(text)),
        "1\r\n2\n3\n"
    );
    assert_eq!(with_ends_of("x\ny", text, &(5..6), ends_of(text)), "x\ny");
    assert_eq!(
        with_ends_of("x\r\ny", "a\nb", &(0..1), LineEnds::All(LineEnd::Lf)),
        "x\ny"
    );
}
