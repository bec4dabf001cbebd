#![allow(clippy::format_collect)] // Shorter, and tests may be slow.

use std::path::Path;

use super::*;

fn content(text: &str) -> Content {
    let stamp = Stamp {
        size: text.len() as u64,
        modified: 1,
        changed: 1,
        inode: 7,
        device: 1,
    };
    Content {
        hash: hash::of_bytes(text.as_bytes()),
        bytes: text.into(),
        stamp,
        mode: 0o644,
        links: 1,
    }
}

fn whole(content: &Content) -> ContentId {
    ContentId::Whole {
        hash: content.hash.clone(),
    }
}

fn range(first: u64, last: u64) -> LineRange {
    LineRange { first, last }
}

fn lines(count: u64) -> Content {
    content(
        &(1..=count)
            .map(|line| format!("line {line}\n"))
            .collect::<String>(),
    )
}

fn file() -> &'static Path {
    Path::new("/p/a.rs")
}

#[test]
fn x1_first_and_last_line_allow_an_edit_and_no_overwrite() {
    let now = lines(50);
    let mut coverage = Coverage::default();
    coverage.note_read(file(), whole(&now), &[range(1, 1)], Some(50));
    coverage.note_read(file(), whole(&now), &[range(50, 50)], Some(50));
    assert_eq!(coverage.check_edit(file(), &now), Ok(()));
    assert_eq!(
        coverage.check_overwrite(file(), &now),
        Err(Gap::Unseen {
            ranges: vec![range(2, 49)]
        })
    );
}

#[test]
fn x2_touching_ranges_join_in_any_order() {
    let now = lines(50);
    let parts = [range(1, 20), range(21, 40), range(41, 50)];
    for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2], [2, 0, 1]] {
        let mut coverage = Coverage::default();
        for part in order {
            assert!(coverage.check_overwrite(file(), &now).is_err());
            coverage.note_read(file(), whole(&now), &[parts[part]], Some(50));
        }
        assert_eq!(coverage.check_overwrite(file(), &now), Ok(()));
        assert_eq!(coverage.seen(file()), [range(1, 50)]);
    }
}

#[test]
fn x3_is_gone_when_the_content_changes() {
    let now = lines(3);
    let mut coverage = Coverage::default();
    coverage.note_read(file(), whole(&now), &[range(1, 3)], Some(3));
    for other in [lines(4), content("line 1\nline X\nline 3\n")] {
        assert_eq!(coverage.check_edit(file(), &other), Err(Gap::Changed));
        assert_eq!(coverage.check_overwrite(file(), &other), Err(Gap::Changed));
    }
    let other = content("line 1\nline X\nline 3\n");
    coverage.note_read(file(), whole(&other), &[range(1, 1)], Some(3));
    assert_eq!(
        coverage.seen(file()),
        [range(1, 1)],
        "what was seen of the former content counts no more"
    );
}

#[test]
fn x4_x32_what_was_appended_is_counted_apart() {
    let before = lines(3);
    let after = lines(5);
    let mut coverage = Coverage::default();
    coverage.note_appended(file(), &before, &after.hash, range(4, 5));
    assert_eq!(coverage.check_edit(file(), &after), Err(Gap::NeverRead));
    assert_eq!(
        coverage.check_overwrite(file(), &after),
        Err(Gap::Unseen {
            ranges: vec![range(1, 3)]
        })
    );
    coverage.note_read(file(), whole(&after), &[range(1, 3)], Some(5));
    assert_eq!(coverage.check_overwrite(file(), &after), Ok(()));

    let mut coverage = Coverage::default();
    coverage.note_whole(file(), &before.hash, 3);
    coverage.note_appended(file(), &before, &after.hash, range(4, 5));
    assert_eq!(coverage.check_overwrite(file(), &after), Ok(()));
}

#[test]
fn x30_is_gone_when_an_earlier_content_comes_back() {
    let (first, second) = (lines(3), lines(4));
    let mut coverage = Coverage::default();
    coverage.note_read(file(), whole(&first), &[range(1, 3)], Some(3));
    coverage.note_whole(file(), &second.hash, 4);
    assert_eq!(coverage.check_edit(file(), &first), Err(Gap::Changed));
}

#[test]
fn what_was_seen_moves_with_an_edit() {
    let now = lines(20);
    let mut coverage = Coverage::default();
    coverage.note_read(file(), whole(&now), &[range(1, 5), range(10, 20)], Some(20));
    // Line 3 becomes three lines, lines 12 and 13 become one, and line 7 was never seen.
    let shifts = [
        Shift {
            first: 3,
            last: 3,
            delta: 2,
        },
        Shift {
            first: 7,
            last: 7,
            delta: 1,
        },
        Shift {
            first: 12,
            last: 13,
            delta: -1,
        },
    ];
    coverage.note_edited(file(), "new", &shifts, 22);
    assert_eq!(coverage.seen(file()), [range(1, 7), range(13, 22)]);
}

#[test]
fn x1_lines_joined_to_an_unseen_one_are_not_seen() {
    let now = lines(5);
    let mut coverage = Coverage::default();
    coverage.note_read(file(), whole(&now), &[range(1, 1), range(3, 5)], Some(5));
    // Line 2, never shown, ends up in one line with 3, and that one with 4.
    let joins = |first| Shift {
        first,
        last: first + 1,
        delta: -1,
    };
    coverage.note_edited(file(), "new", &[joins(2), joins(3)], 3);
    assert_eq!(coverage.seen(file()), [range(1, 1), range(3, 3)]);
}

#[test]
fn x41_follows_a_move() {
    let now = lines(2);
    let mut coverage = Coverage::default();
    coverage.note_whole(file(), &now.hash, 2);
    coverage.follow_move(file(), Path::new("/p/b.rs"));
    assert_eq!(coverage.check_overwrite(Path::new("/p/b.rs"), &now), Ok(()));
    assert_eq!(coverage.check_edit(file(), &now), Err(Gap::NeverRead));
}

#[test]
fn a_large_file_is_known_by_what_was_shown_of_it() {
    let now = lines(4);
    let part = |start: usize, end: usize| Part {
        start: start as u64,
        end: end as u64,
        hash: hash::of_bytes(&now.bytes[start..end]),
    };
    let id = |parts| ContentId::Parts {
        stamp: now.stamp,
        parts,
    };
    let mut coverage = Coverage::default();
    coverage.note_read(file(), id(vec![part(0, 7)]), &[range(1, 1)], None);
    coverage.note_read(file(), id(vec![part(7, 14)]), &[range(2, 2)], None);
    assert_eq!(coverage.check_edit(file(), &now), Ok(()));
    assert!(
        coverage.check_overwrite(file(), &now).is_err(),
        "its lines are not counted"
    );
    let mut touched = now.clone();
    touched.stamp.modified += 1;
    assert_eq!(coverage.check_edit(file(), &touched), Err(Gap::Changed));
    let mut altered = now.clone();
    altered.bytes[8] = b'X';
    assert_eq!(coverage.check_edit(file(), &altered), Err(Gap::Changed));
}

#[test]
fn t20_survives_a_restart() {
    let now = lines(9);
    let mut coverage = Coverage::default();
    coverage.note_read(file(), whole(&now), &[range(1, 4), range(6, 9)], Some(9));
    coverage.note_appended(Path::new("/p/log"), &now, "h", range(3, 4));
    let name = OsString::from_vec(b"/p/bad\xff".to_vec());
    coverage.note_whole(Path::new(&name), "h", 2);
    let kept = serde_json::to_string(&coverage).unwrap();
    assert_eq!(serde_json::from_str::<Coverage>(&kept).unwrap(), coverage);
}
