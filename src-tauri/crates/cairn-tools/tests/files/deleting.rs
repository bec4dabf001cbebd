//! `delete_file`.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use cairn_files::swap::{Expected, Swap};
use cairn_policy::{Care, Effect, Place};
use cairn_protocol::{ApprovalSubject, ChangeKind};
use serde_json::json;

use super::fixture::{Project, done, refused};

#[test]
fn t19_shows_what_goes_and_then_deletes_it() {
    let project = Project::with("f", "one\ntwo\n");
    done(&project.read("f"));
    let prepared = project.prepare("delete_file", json!({ "path": "f" })).unwrap();
    let Some(ApprovalSubject::Edit { diffs }) = prepared.subject.clone() else {
        panic!()
    };
    assert_eq!((&diffs[0].change, diffs[0].removed), (&ChangeKind::Deleted, 2));
    assert_eq!(diffs[0].hunks[0].lines.len(), 2, "the whole of it is shown");
    assert!(project.path("f").exists(), "nothing happened yet");
    let outcome = project.execute(prepared);
    done(&outcome);
    assert_eq!(outcome.content, "Deleted f (+0 \u{2212}2).");
    assert_eq!(outcome.changes[0].change, ChangeKind::Deleted);
    assert!(project.names().is_empty());
}

#[test]
fn x40_unread_half_read_and_changed_files_stay() {
    let project = Project::with("f", "one\ntwo\n");
    refused(
        &project.delete("f"),
        "f was not deleted: it has not been read in this session",
    );
    done(&project.read_range("f", 1, 1));
    refused(
        &project.delete("f"),
        "what would be deleted (lines 2 never shown whole)",
    );
    done(&project.read("f"));
    project.put("f", "one\n2\n");
    refused(&project.delete("f"), "f was not deleted: it is not what you read");
    done(&project.append("g", "mine\n"));
    done(&project.delete("g"));
    assert_eq!(project.text("f"), "one\n2\n");
}

#[test]
fn x40_folders_links_pipes_and_what_is_outside_are_refused() {
    let project = Project::with("d/f", "one\n");
    done(&project.read("d/f"));
    symlink("d/f", project.path("link")).unwrap();
    symlink(project.outside(""), project.path("outbox")).unwrap();
    std::fs::write(project.outside("x"), "secret text\n").unwrap();
    let pipe = project.path("pipe");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    for (path, says) in [
        ("d", "d was not deleted: it is a folder"),
        (".", ". was not deleted: it is a folder"),
        ("link", "`link` was not deleted: it is a link to d/f"),
        ("pipe", "a named pipe (FIFO), not a file"),
        ("outbox/x", "it is outside the project"),
        ("../out/x", "it is outside the project"),
        ("nothing", "nothing does not exist"),
        ("d/f/deeper", "d/f is not a folder"),
    ] {
        let outcome = project.delete(path);
        refused(&outcome, says);
        // X42: nothing of an outside file's text is ever told.
        assert!(!outcome.content.contains("secret"), "{}", outcome.content);
    }
    assert_eq!(project.names(), ["d", "link", "outbox", "pipe"]);
    assert!(project.outside("x").exists());
}

#[test]
fn x42_a_refusal_of_an_outside_file_does_not_hold_its_text() {
    let project = Project::new();
    std::fs::write(project.outside("x"), "secret text\n").unwrap();
    for (tool, arguments) in [
        ("delete_file", json!({ "path": "../out/x" })),
        ("move_file", json!({ "from": "../out/x", "to": "x" })),
        ("move_file", json!({ "from": "../out/x", "to": "../out/y" })),
    ] {
        let Err(error) = project.prepare(tool, arguments) else {
            panic!("{tool} was prepared")
        };
        assert!(error.message.contains("outside the project") && !error.message.contains("secret"));
    }
}

#[test]
fn t19_a_deleted_file_is_restored_out_of_the_journal() {
    for content in [
        &b"one\r\n\xff\x99"[..],
        b"",
        b"no end",
        "\u{feff}\u{e9}\n".as_bytes(),
    ] {
        let project = Project::with("f", content);
        std::fs::set_permissions(project.path("f"), std::fs::Permissions::from_mode(0o755)).unwrap();
        done(&project.read("f"));
        done(&project.delete("f"));
        let images = project.journal.before_images();
        let image = &images[0];
        assert_eq!(
            (image.before.as_deref(), image.mode, &image.after),
            (Some(content), Some(0o755), &None)
        );
        assert_eq!(project.journal.ends(), [true]);
        let root = project.workspace.root();
        Swap::new(root, &image.path, Expected::Absent)
            .unwrap()
            .write(root, image.before.as_ref().unwrap())
            .unwrap();
        assert_eq!(project.bytes("f"), content);
        assert_eq!(project.names(), ["f"]);
    }
}

#[test]
fn x26_e13_a_save_between_preview_and_deletion_is_kept() {
    let project = Project::with("f", "one\n");
    done(&project.read("f"));
    let prepared = project.prepare("delete_file", json!({ "path": "f" })).unwrap();
    project.put("f", "theirs\n");
    refused(
        &project.execute(prepared),
        "f was changed by something else meanwhile",
    );
    assert!(project.journal.before_images().is_empty());
    done(&project.read("f"));
    let path = project.path("f");
    *project.journal.meddle.lock().unwrap() = Some(Box::new(move || std::fs::write(path, "late\n").unwrap()));
    refused(&project.delete("f"), "f was changed by something else meanwhile");
    assert_eq!(
        (project.text("f").as_str(), project.names()),
        ("late\n", vec!["f".to_owned()])
    );
    assert_eq!(project.journal.ends(), [false]);
    done(&project.read("f"));
    let path = project.path("f");
    *project.journal.meddle.lock().unwrap() = Some(Box::new(move || std::fs::remove_file(path).unwrap()));
    refused(&project.delete("f"), "f was changed by something else meanwhile");
}

#[test]
fn t15_what_a_tool_deleted_may_be_written_anew() {
    let project = Project::with("f", "one\n");
    project.workspace.note_names_before_command();
    done(&project.read("f"));
    done(&project.delete("f"));
    done(&project.write("f", "new\n"));
    refused(&project.delete("g"), "g does not exist");
}

#[test]
fn x29_a_read_only_file_is_not_deleted() {
    let project = Project::with("f", "one\n");
    done(&project.read("f"));
    std::fs::set_permissions(project.path("f"), std::fs::Permissions::from_mode(0o444)).unwrap();
    refused(&project.delete("f"), "f is read-only");
    assert!(project.path("f").exists());
}

#[test]
fn p2_p3_credentials_and_protected_files_are_declared_as_such() {
    let project = Project::with(".env", "KEY=1\n");
    project.put(".git/config", "[core]\n");
    for (name, care) in [(".env", Care::Credential), (".git/config", Care::Protected)] {
        done(&project.read(name));
        let prepared = project.prepare("delete_file", json!({ "path": name })).unwrap();
        assert_eq!(
            prepared.effects,
            [Effect::WritePath {
                path: project.path(name),
                place: Place::Inside,
                care,
                hard_linked: false
            }]
        );
    }
}

#[test]
fn g8_a_binary_file_is_not_deleted_unseen_but_a_picture_that_was_looked_at_is() {
    let project = Project::with("a.zip", b"PK\x03\x04\x14\0\0\0\x08\0rest");
    refused(&project.read("a.zip"), "binary");
    refused(
        &project.delete("a.zip"),
        "a.zip was not deleted: it is a binary file of 14 bytes",
    );
    project.put("dot.png", super::pictures::DOT);
    refused(
        &project.delete("dot.png"),
        "dot.png was not deleted: it is a binary file",
    );
    done(&project.read("dot.png"));
    refused(&project.write("dot.png", "text"), "which text does not replace");
    done(&project.move_file("dot.png", "img/dot.png"));
    done(&project.delete("img/dot.png"));
    assert_eq!(project.names(), ["a.zip", "img"]);
}
