//! `write_file`.

use cairn_protocol::ChangeKind;
use serde_json::json;

use super::fixture::{Project, done, refused};

#[test]
fn creates_a_file_with_its_folders() {
    let project = Project::new();
    let outcome = project.write("src/deep/new.rs", "one\ntwo\n");
    done(&outcome);
    assert_eq!(
        outcome.content,
        "Created src/deep/new.rs with 2 lines (+2 \u{2212}0)."
    );
    assert_eq!(
        (
            project.text("src/deep/new.rs").as_str(),
            &outcome.changes[0].change
        ),
        ("one\ntwo\n", &ChangeKind::Created)
    );
    let images = project.journal.before_images();
    assert_eq!((images[0].before.clone(), images[0].mode), (None, None));
}

#[test]
fn x2_x3_overwrites_only_what_was_seen_to_the_end_and_is_still_the_same() {
    let lines: String = (1..=50).map(|line| format!("line {line}\n")).collect();
    let project = Project::with("f", &lines);
    refused(&project.write("f", "x"), "has not been read");
    for (offset, limit) in [(21, 20), (41, 10), (1, 20)] {
        assert!(!project.write("f", "x").ok);
        done(&project.read_range("f", offset, limit));
    }
    project.put("f", lines.replace("line 7\n", "line X\n"));
    refused(&project.write("f", "x"), "it is not what you read");
    project.put("f", &lines);
    done(&project.write("f", "x"));
    assert_eq!(project.text("f"), "x");
}

#[test]
fn x4_what_the_model_wrote_counts_as_seen() {
    let project = Project::new();
    done(&project.write("f", "one\n"));
    done(&project.write("f", "two\n"));
    done(&project.edit("f", "two", "three"));
    done(&project.append("f", "four\n"));
    done(&project.write("f", "five\n"));
}

#[test]
fn x4_appending_needs_no_read_and_gives_no_right_to_overwrite() {
    let project = Project::with("f", "one\n");
    let outcome = project.append("f", "two\nthree\n");
    assert_eq!(outcome.content, "Added 2 lines to f (+2 \u{2212}0).");
    assert_eq!(project.text("f"), "one\ntwo\nthree\n");
    refused(&project.write("f", "x"), "lines 1 never shown whole");
    refused(&project.edit("f", "one", "x"), "has not been read");
    done(&project.read_range("f", 1, 1));
    done(&project.write("f", "x"));
}

#[test]
fn x32_sections_make_the_exact_whole() {
    let project = Project::new();
    done(&project.append("f", "a\nb"));
    done(&project.append("f", "c\n"));
    done(&project.append("f", "d\n"));
    assert_eq!(project.text("f"), "a\nb\nc\nd\n");
    done(&project.write("f", "seen whole\n"));
}

#[test]
fn x32_a_section_begins_a_line_of_its_own_whatever_the_file_ends_with() {
    for (there, section, after) in [
        // A `\r` alone ends a line only where all lines end so.
        ("a\nb\r", "c\n", "a\nb\r\nc\n"),
        ("a\r\nb\r", "c\n", "a\r\nb\r\r\nc\r\n"),
        ("a\rb\r", "c\n", "a\rb\rc\r"),
        ("a\rb", "c\n", "a\rb\rc\r"),
        ("a\u{2028}", "c", "a\u{2028}\nc"),
        // A mark stands at the start of a file and nowhere else.
        ("\u{feff}", "\u{feff}c\n", "\u{feff}c\n"),
        ("\u{feff}a\n", "\u{feff}c\n", "\u{feff}a\nc\n"),
        ("a", "\u{feff}c\n", "a\nc\n"),
        ("", "\u{feff}c\n", "\u{feff}c\n"),
    ] {
        let project = Project::with("f", there);
        done(&project.append("f", section));
        assert_eq!(project.text("f"), after, "{there:?} {section:?}");
    }
}

#[test]
fn x25_e8_keeps_line_ends_mark_and_encoding_of_what_it_replaces() {
    let utf16 = |text: &str| -> Vec<u8> {
        [0xFF, 0xFE]
            .into_iter()
            .chain(text.encode_utf16().flat_map(u16::to_le_bytes))
            .collect()
    };
    let cases: Vec<(Vec<u8>, &str, Vec<u8>)> = vec![
        (b"a\r\nb\r\n".to_vec(), "a\nB\n", b"a\r\nB\r\n".to_vec()),
        (
            b"a\r\nb\nc\r\n".to_vec(),
            "a\nb\nnew\nc\n",
            b"a\r\nb\nnew\r\nc\r\n".to_vec(),
        ),
        ("\u{feff}é\n".into(), "è\n", "\u{feff}è\n".into()),
        ("\u{feff}é\n".into(), "\u{feff}è\n", "\u{feff}è\n".into()),
        (utf16("a\r\n"), "ö\nb", utf16("ö\r\nb")),
        (b"a\n".to_vec(), "x\r\ny\r\n", b"x\ny\n".to_vec()),
        (b"caf\xe9\n".to_vec(), "th\u{e9}\n", b"th\xe9\n".to_vec()),
    ];
    for (before, content, after) in cases {
        let project = Project::with("f", &before);
        done(&project.read("f"));
        let outcome = project.write("f", content);
        done(&outcome);
        assert_eq!(project.bytes("f"), after, "{before:?}");
        assert!(
            !outcome.content.contains("line ends change"),
            "{}",
            outcome.content
        );
    }
    let project = Project::with("f", b"a\r\nb\r\n");
    done(&project.append("f", "c\n"));
    assert_eq!(project.bytes("f"), b"a\r\nb\r\nc\r\n");
}

#[test]
fn x25_the_preview_of_a_crlf_file_shows_only_real_changes() {
    let project = Project::with("f", b"a\r\nb\r\nc\r\n");
    done(&project.read("f"));
    let outcome = project.write("f", "a\nB\nc\n");
    assert_eq!(outcome.note, "+1 \u{2212}1");
}

#[test]
fn the_same_content_writes_nothing() {
    let project = Project::with("f", "same\r\n");
    done(&project.read("f"));
    let outcome = project.write("f", "same\n");
    done(&outcome);
    assert!(outcome.content.contains("nothing was written") && outcome.changes.is_empty());
    assert!(project.journal.told.lock().unwrap().is_empty());
}

#[test]
fn e13_a_save_by_hand_is_never_overwritten() {
    let project = Project::with("f", "one\n");
    done(&project.read("f"));
    project.put("f", "by hand\n");
    refused(&project.write("f", "mine\n"), "it is not what you read");
    assert_eq!(project.text("f"), "by hand\n");
}

#[test]
fn e15_a_call_that_was_cut_off_is_told_to_write_in_parts() {
    let project = Project::new();
    let outcome = project.run("write_file", json!({ "path": "f" }));
    refused(&outcome, "cut off");
    refused(&outcome, "append: true");
    refused(&project.run("write_file", json!({ "content": "x" })), "path");
    assert!(project.names().is_empty());
}

#[test]
fn a_file_that_vanished_is_not_new() {
    let project = Project::with("f", "precious\n");
    project.put("g", "small\n");
    project.workspace.note_names_before_command();
    done(&project.read("g"));
    for name in ["f", "g"] {
        std::fs::remove_file(project.path(name)).unwrap();
    }
    refused(&project.write("f", "mine\n"), "has vanished");
    refused(&project.append("f", "mine\n"), "has vanished");
    done(&project.write("g", "it was seen whole\n"));
    done(&project.write("h", "really new\n"));
    assert_eq!(project.names(), ["g", "h"]);
}

#[test]
fn a_file_that_appeared_meanwhile_is_kept() {
    let project = Project::new();
    let prepared = project
        .prepare("write_file", json!({ "path": "f", "content": "mine" }))
        .unwrap();
    project.put("f", "theirs");
    refused(&project.execute(prepared), "created by something else meanwhile");
    let prepared = project
        .prepare("write_file", json!({ "path": "g", "content": "mine" }))
        .unwrap();
    let path = project.path("g");
    *project.journal.meddle.lock().unwrap() = Some(Box::new(move || std::fs::write(path, "late").unwrap()));
    refused(&project.execute(prepared), "created by something else meanwhile");
    assert_eq!(
        (project.text("f"), project.text("g")),
        ("theirs".to_owned(), "late".to_owned())
    );
}

#[test]
fn coverage_survives_a_restart_while_the_file_matches() {
    let mut project = Project::with("f", "one\n");
    project.put("g", "one\n");
    done(&project.read("f"));
    done(&project.read("g"));
    project.restart();
    project.put("g", "two\n");
    done(&project.write("f", "x"));
    refused(&project.write("g", "x"), "it is not what you read");
}

#[test]
fn t15_a_path_that_ends_like_a_folder_makes_no_file() {
    let project = Project::new();
    refused(&project.write("new/part/", "x\n"), "names a folder");
    refused(&project.append("new/", "x\n"), "names a folder");
    for path in ["new/.", "new/part/..", "./new/./", "new/./."] {
        refused(&project.write(path, "x\n"), "names a folder");
    }
    assert!(project.names().is_empty());
}

#[test]
fn t15_text_stays_text_that_reads_as_it_was_written() {
    let project = Project::with("a", "one\n");
    project.read("a");
    refused(&project.append("a", "b\0\n"), "would not read as that");
    refused(&project.write("a", "b\0\n"), "would not read as that");
    refused(&project.edit("a", "one", "b\0"), "would not read as UTF-8");
    assert_eq!(project.text("a"), "one\n");
    project.put("l", b"caf\xe9\n");
    project.read("l");
    refused(&project.write("l", "\u{c3}\u{a9}\n"), "would not read as that");
    done(&project.write("l", "tea\n"));
    assert_eq!(project.text("l"), "tea\n");
}
