#![allow(clippy::format_collect)] // Shorter, and tests may be slow.

use proptest::prelude::*;

use super::*;

fn side(bytes: &[u8]) -> Side<'_> {
    Side { bytes, hash: "h" }
}

fn diff(old: &str, new: &str) -> FileDiff {
    file_diff("a.rs", Some(side(old.as_bytes())), Some(side(new.as_bytes())))
}

fn text(line: &DiffLine) -> String {
    line.spans.iter().map(|span| span.text.as_str()).collect()
}

#[test]
fn shows_a_change_with_three_lines_around_it() {
    let old: String = (1..=20).map(|line| format!("line {line}\n")).collect();
    let new = old.replace("line 10\n", "line ten\n");
    let diff = diff(&old, &new);
    assert_eq!((diff.added, diff.removed, diff.hunks.len()), (1, 1, 1));
    let hunk = &diff.hunks[0];
    assert_eq!((hunk.old_start, hunk.new_start, hunk.lines.len()), (7, 7, 8));
    assert_eq!((hunk.lines[3].old, hunk.lines[3].new), (Some(10), None));
    let marked: Vec<&str> = hunk.lines[4]
        .spans
        .iter()
        .filter(|span| span.kind == ShownKind::Changed)
        .map(|span| span.text.as_str())
        .collect();
    assert_eq!(marked, ["ten"]);
    assert!(unified(&diff).starts_with("@@ -7,7 +7,7 @@\n line 7\n"));
    assert!(unified(&diff).contains("-line 10\n+line ten\n"));
}

#[test]
fn x25_shows_only_real_changes_of_a_crlf_file() {
    let diff = diff("a\r\nb\r\nc\r\n", "a\r\nB\r\nc\r\n");
    assert_eq!((diff.added, diff.removed), (1, 1));
    assert!(diff.hunks[0].lines.iter().all(|line| !text(line).contains('\r')));
}

#[test]
fn names_changes_that_have_no_line_of_their_own() {
    let notes = |old: &str, new: &str| diff(old, new).notes.join("; ");
    assert_eq!(notes("a\n", "a"), "the file has no newline at its end");
    assert_eq!(notes("a", "a\n"), "a newline is added at the end of the file");
    assert_eq!(notes("a", "b"), "");
    assert_eq!(notes("a\n", "\u{feff}a\n"), "a byte order mark is added");
    assert_eq!(notes("a\r\n", "a\n"), "line ends change from CRLF to LF");
    let created = file_diff("n", None, Some(side(b"x")));
    assert_eq!(
        (created.change, created.added, created.before),
        (ChangeKind::Created, 1, None)
    );
    assert_eq!(created.notes, ["the file has no newline at its end"]);
    let deleted = file_diff("n", Some(side(b"x\ny\n")), None);
    assert_eq!((deleted.change, deleted.removed), (ChangeKind::Deleted, 2));
    let binary = file_diff("n", Some(side(b"\0\0")), Some(side(b"\0")));
    assert_eq!(binary.notes, ["binary: 2 bytes before, 1 bytes after"]);
}

#[test]
fn draws_line_ends_where_they_differ() {
    let diff = diff("a\r\nb\n", "a\nb\n");
    let removed = &diff.hunks[0].lines[0];
    assert_eq!(
        removed.spans.last().unwrap(),
        &ShownSpan {
            kind: ShownKind::Chip,
            text: "\\r".into()
        }
    );
}

#[test]
fn u15_makes_invisible_characters_visible() {
    let diff = diff("a\n", "a\u{202e}b\u{200b}\n");
    let added = diff.hunks[0]
        .lines
        .iter()
        .find(|line| line.kind == DiffLineKind::Added)
        .unwrap();
    let chips: Vec<&str> = added
        .spans
        .iter()
        .filter(|span| span.kind == ShownKind::Chip)
        .map(|span| span.text.as_str())
        .collect();
    assert_eq!(chips, ["\\u{202e}", "\\u{200b}"]);
    assert!(!text(added).contains('\u{202e}'));
}

#[test]
fn draws_the_changed_part_of_a_very_long_line() {
    let long = "x".repeat(1_000_000);
    let diff = diff(&format!("{long}OLD{long}\n"), &format!("{long}NEW{long}\n"));
    let added = diff.hunks[0].lines.last().unwrap();
    assert!(
        added
            .spans
            .iter()
            .any(|span| span.kind == ShownKind::Changed && span.text == "NEW")
    );
    assert!(text(added).len() < 1_000);
    assert!(
        text(added).contains("999800 characters unchanged"),
        "{}",
        text(added)
    );
}

#[test]
fn counts_what_it_does_not_draw() {
    let lines = |word: &str| {
        (0..8_000)
            .map(|line| format!("{word} {line}\n"))
            .collect::<String>()
    };
    let diff = diff(&lines("old"), &lines("new"));
    let drawn: usize = diff.hunks.iter().map(|hunk| hunk.lines.len()).sum();
    assert_eq!(
        (drawn, diff.omitted_lines, diff.added, diff.removed),
        (LINES_DRAWN, 11_000, 8_000, 8_000)
    );
}

#[test]
fn ten_megabytes_that_differ_everywhere_take_no_long_time() {
    let lines = |odd: usize| -> String {
        (0..400_000)
            .map(|line| format!("{} some words here\n", line * odd % 7919))
            .collect()
    };
    let (old, new) = (lines(3), lines(5));
    assert!(old.len() > 8_000_000);
    // The time of this thread: other tests beside it do not count.
    let spent = || {
        std::time::Duration::try_from(rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime))
            .unwrap()
    };
    let start = spent();
    let diff = diff(&old, &new);
    assert!(diff.added > 0);
    // Unoptimised; optimised it is under a second.
    let spent = spent().saturating_sub(start);
    assert!(spent.as_secs() < 15, "{spent:?}");
}

/// The hunks are numbered right, and with them the old text becomes the new.
fn check(old: &str, new: &str) -> Result<(), TestCaseError> {
    let diff = diff(old, new);
    let old_lines: Vec<&str> = old.lines().collect();
    let mut built: Vec<String> = Vec::new();
    let mut at = 0;
    for hunk in &diff.hunks {
        let start = hunk.old_start as usize - 1;
        built.extend(old_lines[at..start].iter().map(|line| (*line).to_owned()));
        at = start;
        for line in &hunk.lines {
            match line.kind {
                DiffLineKind::Removed => at += 1,
                DiffLineKind::Context => {
                    built.push(text(line));
                    at += 1;
                }
                DiffLineKind::Added => built.push(text(line)),
            }
            if let Some(number) = line.new {
                prop_assert_eq!(number as usize, built.len());
            }
        }
    }
    built.extend(old_lines[at..].iter().map(|line| (*line).to_owned()));
    prop_assert_eq!(built, new.lines().map(str::to_owned).collect::<Vec<_>>());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_change_far_inside_is_numbered_right(
        head in 0_usize..30,
        tail in 0_usize..30,
        middle in proptest::collection::vec(0_u8..3, 0..6),
        other in proptest::collection::vec(0_u8..3, 0..6),
        open in any::<bool>(),
    ) {
        let build = |middle: &[u8]| {
            let mut lines: Vec<String> = (0..head).map(|line| format!("head {line}")).collect();
            lines.extend(middle.iter().map(|line| format!("line {line}")));
            lines.extend((0..tail).map(|line| format!("tail {line}")));
            let end = if open || lines.is_empty() { "" } else { "\n" };
            lines.join("\n") + end
        };
        check(&build(&middle), &build(&other))?;
    }

    #[test]
    fn the_hunks_turn_the_old_text_into_the_new(
        old in proptest::collection::vec(0_u8..5, 0..40),
        new in proptest::collection::vec(0_u8..5, 0..40),
    ) {
        let text_of = |lines: &[u8]| lines.iter().map(|line| format!("line {line}\n")).collect::<String>();
        let (old, new) = (text_of(&old), text_of(&new));
        check(&old, &new)?;
    }
}
