//! Inputs that nobody means: borders between line ends, names that look the same, joins of seen and unseen lines.

use super::fixture::*;
use serde_json::json;

#[test]
fn x1_a_line_that_was_never_shown_stays_unseen_when_a_seen_one_is_joined_to_it() {
    let project = Project::with("a.txt", "one\nkey: abc\nthree\n");
    done(&project.read_range("a.txt", 1, 1));
    done(&project.read_range("a.txt", 3, 1));
    done(&project.edit("a.txt", "abc\n", "abc "));
    assert_eq!(project.text("a.txt"), "one\nkey: abc three\n");
    refused(&project.write("a.txt", "gone\n"), "lines 2");
    assert_eq!(project.text("a.txt"), "one\nkey: abc three\n");
}

#[test]
fn t6_an_escape_in_a_name_is_literal_unless_it_stands_for_such_a_byte() {
    let project = Project::with("srcA.txt", "other\n");
    done(&project.write(r"src\x41.txt", "mine\n"));
    assert_eq!(project.names(), ["srcA.txt", r"src\x41.txt"]);
    assert_eq!(project.text("srcA.txt"), "other\n");
}

#[test]
fn x20_an_edit_whose_text_overlaps_itself_is_ambiguous() {
    let project = Project::with("a.txt", "}\n\n}\n\n}\n");
    done(&project.read("a.txt"));
    refused(
        &project.edit("a.txt", "}\n\n}\n", "}\n"),
        "found 2 times, on lines 1, 3",
    );
    refused(
        &project.multi_edit("a.txt", &[("}\n\n}\n", "}\n")]),
        "found 2 times",
    );
    assert_eq!(project.text("a.txt"), "}\n\n}\n\n}\n");
}

#[test]
fn x12_a_byte_order_mark_stays_when_the_first_character_is_edited_or_deleted() {
    for (old, new, after) in [
        ("a", "b", &b"\xef\xbb\xbfb\r\nc"[..]),
        ("a\n", "", b"\xef\xbb\xbfc"),
        ("a\nc", "", b"\xef\xbb\xbf"),
    ] {
        let project = Project::with("a.txt", b"\xef\xbb\xbfa\r\nc");
        done(&project.read("a.txt"));
        done(&project.edit("a.txt", old, new));
        assert_eq!(project.bytes("a.txt"), after);
    }
}

#[test]
fn x40_names_of_all_kinds_move_and_none_moves_into_or_onto_itself() {
    let project = Project::with("a.txt", "one\n");
    project.put("d/keep", "");
    done(&project.read("a.txt"));
    refused(&project.move_file("a.txt", "a.txt"), "the same");
    refused(&project.move_file("a.txt", "./d/../a.txt"), "the same");
    for to in ["a.txt/b", "a.txt/", "a.txt/a.txt"] {
        assert!(!project.move_file("a.txt", to).ok, "{to}");
    }
    refused(&project.move_file("d", "d/e"), "folder");
    for (from, to) in [
        ("a.txt", "A.TXT"),
        ("A.TXT", "A.txt"),
        ("A.txt", "line\nbreak"),
        ("line\\x0abreak", "cafe\u{301}"),
        ("cafe\u{301}", "caf\u{e9}"),
        ("caf\u{e9}", "--help"),
    ] {
        done(&project.move_file(from, to));
    }
    assert_eq!(project.names(), ["--help", "d"]);
    assert_eq!(project.text("--help"), "one\n");
    // What was seen went along all the way.
    done(&project.delete("--help"));
}

#[test]
fn x24_edits_that_overlap_each_other_see_what_came_before() {
    let project = Project::with("a.txt", "alpha beta gamma\n");
    done(&project.read("a.txt"));
    refused(
        &project.multi_edit("a.txt", &[("alpha beta", "one"), ("beta gamma", "two")]),
        "edit 2 of 2",
    );
    assert_eq!(project.text("a.txt"), "alpha beta gamma\n");
    done(&project.multi_edit("a.txt", &[("alpha beta", "one"), ("one gamma", "two")]));
    assert_eq!(project.text("a.txt"), "two\n");
}

#[test]
fn x12_form_feeds_separators_and_lone_returns_are_characters() {
    let text = "a\u{c}b\n\u{2028}c\u{85}d\re\nend";
    let project = Project::with("a.txt", text);
    done(&project.read("a.txt"));
    done(&project.edit("a.txt", "d\re", "D"));
    done(&project.edit("a.txt", "end", "END"));
    assert_eq!(project.text("a.txt"), "a\u{c}b\n\u{2028}c\u{85}D\nEND");
    done(&project.run(
        "edit_file",
        json!({ "path": "a.txt", "old_string": "\u{c}b\n\u{2028}", "new_string": "" }),
    ));
    assert_eq!(project.text("a.txt"), "ac\u{85}D\nEND");
}
