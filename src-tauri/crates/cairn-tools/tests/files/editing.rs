//! `edit_file`.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use cairn_policy::{Effect, Place};
use cairn_protocol::{ApprovalSubject, ChangeKind, ContentBlock};
use serde_json::json;

use super::fixture::{Project, done, refused};

/// A project with one file that was read.
fn seen(content: impl AsRef<[u8]>) -> Project {
    let project = Project::with("f", content);
    done(&project.read("f"));
    project
}

#[test]
fn shows_the_change_before_and_after_it_is_made() {
    let project = seen("one\ntwo\nthree\n");
    let prepared = project
        .prepare(
            "edit_file",
            json!({ "path": "f", "old_string": "two", "new_string": "2\n2b" }),
        )
        .unwrap();
    assert_eq!((prepared.title.as_str(), prepared.target.as_str()), ("Edit", "f"));
    assert_eq!(project.text("f"), "one\ntwo\nthree\n", "nothing happened yet");
    let Some(ApprovalSubject::Edit { diffs }) = prepared.subject.clone() else {
        panic!()
    };
    assert_eq!((diffs[0].added, diffs[0].removed), (2, 1));
    assert_eq!(prepared.blocks, [ContentBlock::Diff(diffs[0].clone())]);
    let [
        Effect::WritePath {
            place: Place::Inside,
            hard_linked: false,
            ..
        },
    ] = prepared.effects.as_slice()
    else {
        panic!("{:?}", prepared.effects)
    };
    let outcome = project.execute(prepared);
    done(&outcome);
    assert_eq!(project.text("f"), "one\n2\n2b\nthree\n");
    assert!(
        outcome
            .content
            .starts_with("Edited f: 1 replacement on line 2 (+2 \u{2212}1).\n@@ -1,3 +1,4 @@\n")
    );
    assert_eq!(outcome.note, "+2 \u{2212}1");
    assert_eq!(outcome.changes[0].change, ChangeKind::Modified);
    assert_eq!(
        diffs[0].after.as_deref(),
        Some(cairn_files::hash::of_bytes(&project.bytes("f")).as_str())
    );
}

#[test]
fn x1_two_lines_read_allow_an_edit_and_no_overwrite() {
    let project = Project::with(
        "f",
        (1..=50).map(|line| format!("line {line}\n")).collect::<String>(),
    );
    done(&project.read_range("f", 1, 1));
    done(&project.read_range("f", 50, 1));
    refused(&project.write("f", "x"), "lines 2 to 49 never shown whole");
    done(&project.edit("f", "line 30\n", "line thirty\n"));
}

#[test]
fn x20_errors_leave_the_file_untouched() {
    let project = seen("a\nx\nb\nx\n");
    refused(
        &project.edit("f", "gone", "y"),
        "f was not changed: old_string was not found",
    );
    refused(&project.edit("f", "x", "y"), "found 2 times, on lines 2, 4");
    assert_eq!(project.text("f"), "a\nx\nb\nx\n");
    let outcome = project.run(
        "edit_file",
        json!({ "path": "f", "old_string": "x", "new_string": "$&", "replace_all": "true" }),
    );
    assert!(
        outcome
            .content
            .starts_with("Edited f: 2 replacements on lines 2, 4"),
        "{}",
        outcome.content
    );
    assert_eq!(project.text("f"), "a\n$&\nb\n$&\n");
}

#[test]
fn x21_x22_an_empty_text_is_an_error_and_an_empty_replacement_deletes() {
    let project = seen("a\nb\nc\n");
    refused(&project.edit("f", "", "x"), "write_file with append");
    done(&project.edit("f", "b\n", ""));
    assert_eq!(project.text("f"), "a\nc\n");
}

#[test]
fn x23_the_same_text_succeeds_and_writes_nothing() {
    let project = seen("a\n");
    let before = std::fs::metadata(project.path("f")).unwrap();
    let prepared = project
        .prepare(
            "edit_file",
            json!({ "path": "f", "old_string": "a", "new_string": "a" }),
        )
        .unwrap();
    assert!(
        matches!(prepared.effects.as_slice(), [Effect::ReadPath { .. }]),
        "nothing to approve"
    );
    let outcome = project.execute(prepared);
    done(&outcome);
    assert!(outcome.content.contains("nothing was written") && outcome.changes.is_empty());
    let after = std::fs::metadata(project.path("f")).unwrap();
    assert_eq!(
        (before.ino(), before.mtime_nsec()),
        (after.ino(), after.mtime_nsec())
    );
    assert!(project.journal.told.lock().unwrap().is_empty(), "no checkpoint");
}

#[test]
fn x26_e13_a_change_between_preview_and_write_is_kept() {
    let project = seen("one\n");
    let prepared = project
        .prepare(
            "edit_file",
            json!({ "path": "f", "old_string": "one", "new_string": "two" }),
        )
        .unwrap();
    project.put("f", "theirs\n");
    refused(&project.execute(prepared), "changed by something else meanwhile");
    assert_eq!(project.text("f"), "theirs\n");
    assert!(project.journal.before_images().is_empty());
}

#[test]
fn x26_a_change_after_the_journal_is_kept_too() {
    let project = seen("one\n");
    let path = project.path("f");
    *project.journal.meddle.lock().unwrap() = Some(Box::new(move || std::fs::write(path, "late\n").unwrap()));
    refused(
        &project.edit("f", "one", "two"),
        "changed by something else meanwhile",
    );
    assert_eq!(
        (project.text("f").as_str(), project.journal.ends()),
        ("late\n", vec![false])
    );
    assert_eq!(project.names(), ["f"]);
}

#[test]
fn x30_an_unread_file_is_not_edited_nor_one_that_was_put_back() {
    let project = Project::with("f", "one\n");
    refused(
        &project.edit("f", "one", "two"),
        "has not been read in this session. Read it with read_file",
    );
    done(&project.read("f"));
    done(&project.edit("f", "one", "two"));
    project.put("f", "one\n");
    refused(&project.edit("f", "one", "two"), "it is not what you read");
    done(&project.read("f"));
    done(&project.edit("f", "one", "two"));
    refused(&project.edit("nothing.rs", "a", "b"), "nothing.rs does not exist");
}

#[test]
fn x31_a_stale_preview_is_never_applied() {
    let project = seen("a\nb\n");
    let second = project
        .prepare(
            "edit_file",
            json!({ "path": "f", "old_string": "b", "new_string": "B" }),
        )
        .unwrap();
    let digest = second.digest.clone();
    done(&project.edit("f", "a", "A"));
    refused(&project.execute(second), "changed by something else meanwhile");
    let again = project
        .prepare(
            "edit_file",
            json!({ "path": "f", "old_string": "b", "new_string": "B" }),
        )
        .unwrap();
    assert_ne!(again.digest, digest);
    done(&project.execute(again));
    assert_eq!(project.text("f"), "A\nB\n");
}

#[test]
fn x27_the_mode_stays_and_the_journal_gets_what_it_needs() {
    let project = seen("one\n");
    std::fs::set_permissions(project.path("f"), std::fs::Permissions::from_mode(0o750)).unwrap();
    done(&project.edit("f", "one", "two"));
    assert_eq!(
        std::fs::metadata(project.path("f")).unwrap().mode() & 0o7777,
        0o750
    );
    let images = project.journal.before_images();
    let image = &images[0];
    assert_eq!(
        (image.before.as_deref(), image.mode),
        (Some(&b"one\n"[..]), Some(0o750))
    );
    assert_eq!(
        image.after.as_deref(),
        Some(cairn_files::hash::of_bytes(b"two\n").as_str())
    );
    let temporary = image.temporary.clone().unwrap();
    assert_eq!(temporary.parent(), image.path.parent());
    assert!(cairn_files::swap::is_temporary(temporary.file_name().unwrap()) && !temporary.exists());
    assert_eq!(
        (project.journal.ends(), project.names()),
        (vec![true], vec!["f".to_owned()])
    );
}

#[test]
fn x29_read_only_files_and_folders_give_a_plain_error() {
    let project = seen("one\n");
    std::fs::set_permissions(project.path("f"), std::fs::Permissions::from_mode(0o444)).unwrap();
    refused(&project.edit("f", "one", "two"), "f is read-only");
    std::fs::create_dir(project.path("d")).unwrap();
    refused(&project.edit("d", "one", "two"), "d is a folder, not a file");
}

#[test]
fn several_edits_after_one_read_keep_the_rest_seen() {
    let project = seen("a\nb\nc\nd\n");
    done(&project.edit("f", "b\n", "b1\nb2\nb3\n"));
    done(&project.edit("f", "d\n", "D\n"));
    done(&project.write("f", "all of it was seen\n"));
}

#[test]
fn f08_a_file_with_another_name_says_so() {
    let project = seen("one\n");
    std::fs::hard_link(project.path("f"), project.outside("other")).unwrap();
    let prepared = project
        .prepare(
            "edit_file",
            json!({ "path": "f", "old_string": "one", "new_string": "two" }),
        )
        .unwrap();
    let [Effect::WritePath { hard_linked, .. }] = prepared.effects.as_slice() else {
        panic!()
    };
    assert!(hard_linked);
}

#[test]
fn e3_e7_e8_x12_x25_bytes_outside_the_edit_stay() {
    let cases: [(&[u8], &str, &str, &[u8]); 6] = [
        (
            b"alpha\r\nbeta\r\ngamma",
            "alpha\nbeta",
            "A\nB",
            b"A\r\nB\r\ngamma",
        ),
        (b"one\n\x99\xe9", "one", "two", b"two\n\x99\xe9"),
        (b"\xef\xbb\xbf\xc3\xa9 x", "x", "y", b"\xef\xbb\xbf\xc3\xa9 y"),
        (b"a\nb\r\nc", "b", "B", b"a\nB\r\nc"),
        (
            b"\xff\xfea\0\r\0\n\0b\0",
            "b",
            "\u{e9}",
            b"\xff\xfea\0\r\0\n\0\xe9\0",
        ),
        (b"no end", "end", "finish", b"no finish"),
    ];
    for (before, old, new, after) in cases {
        let project = seen(before);
        done(&project.edit("f", old, new));
        assert_eq!(project.bytes("f"), after);
    }
    let project = seen(b"old \x99\xe9\n");
    refused(&project.edit("f", "old", "日"), "has no `日`");
}

#[test]
fn e9_says_what_the_file_really_has() {
    let project = seen("func a() {\n\tx := 1\n\ty := 2\n\tz := 3\n}\n");
    let outcome = project.edit("f", "func a() {\n\tx := 1\n\ty := 99\n\tz := 3\n}", "");
    refused(&outcome, "The nearest text is at lines 1 to 5:\n1\tfunc a() {");
    refused(&outcome, "Line 3 differs");
}
