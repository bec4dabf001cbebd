//! `move_file`.

use std::os::unix::fs::{MetadataExt as _, symlink};

use cairn_agent::store::StoreError;
use cairn_files::swap::{Expected, Swap};
use cairn_policy::{Care, Effect, Place};
use cairn_protocol::{ApprovalSubject, ChangeKind, ContentBlock};
use serde_json::json;

use super::fixture::{Project, done, refused};

fn seen(content: &str) -> Project {
    let project = Project::with("f", content);
    done(&project.read("f"));
    project
}

#[test]
fn t19_shows_both_names_and_then_moves() {
    let project = seen("one\n");
    let prepared = project
        .prepare("move_file", json!({ "from": "f", "to": "src/deep/g" }))
        .unwrap();
    assert_eq!(
        (prepared.title.as_str(), prepared.target.as_str()),
        ("Move", "f \u{2192} src/deep/g")
    );
    let Some(ApprovalSubject::Edit { diffs }) = prepared.subject.clone() else {
        panic!()
    };
    assert_eq!(diffs[0].change, ChangeKind::Moved { from: "f".into() });
    assert_eq!(prepared.blocks, [ContentBlock::Diff(diffs[0].clone())]);
    assert_eq!(project.names(), ["f"], "nothing happened yet");
    let outcome = project.execute(prepared);
    done(&outcome);
    assert_eq!(
        (outcome.content.as_str(), outcome.note.as_str()),
        ("Moved f to src/deep/g (+0 \u{2212}0).", "moved")
    );
    assert_eq!(
        (project.text("src/deep/g").as_str(), project.names()),
        ("one\n", vec!["src".to_owned()])
    );
    assert_eq!(outcome.changes[0].path, "src/deep/g");
}

#[test]
fn x40_an_unread_file_and_one_not_seen_to_its_end_stay() {
    let lines: String = (1..=9).map(|line| format!("line {line}\n")).collect();
    let project = Project::with("f", &lines);
    let outcome = project.move_file("f", "g");
    refused(
        &outcome,
        "f was not moved: it has not been read in this session. Read it with read_file",
    );
    done(&project.read_range("f", 1, 5));
    let outcome = project.move_file("f", "g");
    refused(
        &outcome,
        "f was not moved: you have not seen all of what would be moved (lines 6 to 9",
    );
    assert!(!outcome.content.contains("edit_file"), "{}", outcome.content);
    done(&project.read_range("f", 6, 4));
    project.put("f", "by hand\n");
    refused(
        &project.move_file("f", "g"),
        "f was not moved: it is not what you read",
    );
    done(&project.read("f"));
    done(&project.move_file("f", "g"));
    assert_eq!(project.names(), ["g"]);
}

#[test]
fn x40_nothing_is_ever_overwritten() {
    let project = seen("one\n");
    project.put("g", "theirs\n");
    project.put("d/h", "inner\n");
    symlink("nowhere", project.path("dangling")).unwrap();
    for (to, says) in [
        (
            "g",
            "f was not moved: g is there already, and nothing is overwritten",
        ),
        ("d", "f was not moved: d is a folder; give the whole new path"),
        ("new/", "`new/` names a folder; give the whole new path"),
        ("new/.", "`new/.` names a folder; give the whole new path"),
        ("new/deeper/..", "names a folder; give the whole new path"),
        ("dangling", "is there as a link that leads nowhere"),
        ("f", "f was not moved: both paths are the same"),
        ("./d/../f", "both paths are the same"),
        ("g/deeper", "g is not a folder"),
        ("", "the path is empty"),
        ("a\0b", "NUL"),
    ] {
        refused(&project.move_file("f", to), says);
    }
    refused(&project.move_file("f", &"x/".repeat(2_500)), "too long");
    assert_eq!(
        (project.text("f"), project.text("g")),
        ("one\n".to_owned(), "theirs\n".to_owned())
    );
    assert_eq!(project.names(), ["d", "dangling", "f", "g"]);
}

#[test]
fn x40_what_appears_between_preview_and_move_is_kept() {
    let project = seen("one\n");
    let prepare = || {
        project
            .prepare("move_file", json!({ "from": "f", "to": "new/g" }))
            .unwrap()
    };
    let early = prepare();
    project.put("new/g", "theirs\n");
    refused(
        &project.execute(early),
        "new/g was created by something else meanwhile",
    );
    assert!(project.journal.before_images().is_empty());
    std::fs::remove_dir_all(project.path("new")).unwrap();
    let late = prepare();
    let path = project.path("new");
    *project.journal.meddle.lock().unwrap() = Some(Box::new(move || {
        std::fs::create_dir(&path).unwrap();
        std::fs::write(path.join("g"), "late\n").unwrap();
    }));
    refused(
        &project.execute(late),
        "new/g was created by something else meanwhile",
    );
    assert_eq!(
        (project.text("f"), project.text("new/g")),
        ("one\n".to_owned(), "late\n".to_owned())
    );
    assert_eq!(project.journal.ends(), [false, false]);
}

#[test]
fn x26_e13_what_was_saved_between_preview_and_move_stays_where_it_is() {
    let project = seen("one\n");
    let path = project.path("f");
    *project.journal.meddle.lock().unwrap() = Some(Box::new(move || std::fs::write(path, "late\n").unwrap()));
    refused(
        &project.move_file("f", "new/g"),
        "f was changed by something else meanwhile",
    );
    assert_eq!(
        (project.text("f").as_str(), project.names()),
        ("late\n", vec!["f".to_owned()])
    );
    // What came before the journal was told is noticed before it is told.
    let project = seen("one\n");
    let prepared = project
        .prepare("move_file", json!({ "from": "f", "to": "g" }))
        .unwrap();
    project.put("f", "theirs\n");
    refused(
        &project.execute(prepared),
        "f was changed by something else meanwhile",
    );
    assert!(project.journal.before_images().is_empty());
    assert_eq!(
        (project.text("f").as_str(), project.names()),
        ("theirs\n", vec!["f".to_owned()])
    );
}

#[test]
fn x40_both_ends_are_inside_the_project() {
    let project = seen("one\n");
    std::fs::write(project.outside("x"), "secret text\n").unwrap();
    symlink(project.outside(""), project.path("outbox")).unwrap();
    for (from, to) in [
        ("../out/x", "x"),
        ("outbox/x", "x"),
        ("f", "../out/f"),
        ("f", "outbox/f"),
        ("f", "/f"),
    ] {
        let outcome = project.move_file(from, to);
        refused(&outcome, "it is outside the project");
        assert!(!outcome.content.contains("secret"));
    }
    assert_eq!(project.names(), ["f", "outbox"]);
    assert_eq!(std::fs::read_dir(project.outside("")).unwrap().count(), 1);
}

#[test]
fn t19_both_ends_are_judged() {
    let project = Project::with(".env", "KEY=1\n");
    done(&project.read(".env"));
    let prepared = project
        .prepare(
            "move_file",
            json!({ "from": ".env", "to": ".git/hooks/pre-commit" }),
        )
        .unwrap();
    let write = |name: &str, care| Effect::WritePath {
        path: project.path(name),
        place: Place::Inside,
        care,
        hard_linked: false,
    };
    assert_eq!(
        prepared.effects,
        [
            write(".env", Care::Credential),
            write(".git/hooks/pre-commit", Care::Protected)
        ]
    );
}

#[test]
fn x41_coverage_follows_and_the_old_name_is_free_again() {
    let project = seen("one\n");
    done(&project.move_file("f", "g"));
    done(&project.edit("g", "one", "two"));
    refused(&project.edit("f", "one", "two"), "f does not exist");
    done(&project.write("f", "something new\n"));
    done(&project.write("g", "seen whole\n"));
    done(&project.move_file("g", "h"));
    done(&project.delete("h"));
    assert_eq!(project.names(), ["f"]);
}

#[test]
fn x41_an_undo_out_of_the_journal_restores_the_source_and_removes_the_target() {
    let project = seen("one\n");
    done(&project.move_file("f", "d/g"));
    let root = project.workspace.root();
    // From the last to the first, as an undo goes: at no moment is the content nowhere.
    let images = project.journal.before_images();
    assert_eq!(images.len(), 2);
    assert_eq!(project.journal.ends(), [true, true]);
    for image in images.into_iter().rev() {
        let expected = image.after.clone().map_or(Expected::Absent, Expected::Content);
        let swap = Swap::new(root, &image.path, expected).unwrap();
        match &image.before {
            Some(bytes) => swap.write(root, bytes).unwrap(),
            None => swap.remove(root).unwrap(),
        };
        assert!(project.path("f").exists());
    }
    assert_eq!(project.text("f"), "one\n");
    assert!(!project.path("d/g").exists());
}

#[test]
fn t19_links_and_folders_are_not_moved_but_the_file_beneath_a_link_is() {
    let project = Project::with("d/f", "one\n");
    symlink("d", project.path("way")).unwrap();
    symlink("d/f", project.path("link")).unwrap();
    done(&project.read("link"));
    refused(
        &project.move_file("link", "g"),
        "`link` was not moved: it is a link to d/f. Name d/f itself",
    );
    refused(&project.move_file("d", "e"), "d was not moved: it is a folder");
    refused(&project.move_file("way", "e"), "d was not moved: it is a folder");
    done(&project.move_file("way/f", "way/g"));
    assert_eq!(project.text("d/g"), "one\n");
    refused(&project.move_file("nothing", "e"), "nothing does not exist");
}

#[test]
fn f08_a_hard_linked_file_says_so_and_stays_one() {
    let project = seen("one\n");
    std::fs::hard_link(project.path("f"), project.path("other")).unwrap();
    let prepared = project
        .prepare("move_file", json!({ "from": "f", "to": "g" }))
        .unwrap();
    assert!(matches!(
        prepared.effects[0],
        Effect::WritePath {
            hard_linked: true,
            ..
        }
    ));
    done(&project.execute(prepared));
    let inode = |name: &str| std::fs::metadata(project.path(name)).unwrap().ino();
    assert_eq!(inode("g"), inode("other"));
}

#[test]
fn g5_a_folder_that_became_a_link_since_the_preview_leads_nowhere() {
    let project = Project::with("d/f", "one\n");
    project.put("e/keep", "x");
    std::fs::write(project.outside("f"), "one\n").unwrap();
    done(&project.read("d/f"));
    let out = project
        .prepare("move_file", json!({ "from": "d/f", "to": "e/f" }))
        .unwrap();
    let away = project
        .prepare("move_file", json!({ "from": "d/f", "to": "g" }))
        .unwrap();
    for (name, kept) in [("e", "e2"), ("d", "d2")] {
        std::fs::rename(project.path(name), project.path(kept)).unwrap();
        symlink(project.outside(""), project.path(name)).unwrap();
    }
    for prepared in [out, away] {
        refused(&project.execute(prepared), "replaced while it was being opened");
    }
    assert_eq!(std::fs::read_dir(project.outside("")).unwrap().count(), 1);
    assert_eq!(project.text("d2/f"), "one\n");
}

#[test]
fn a_move_without_a_journal_does_not_happen() {
    let project = seen("one\n");
    *project.journal.fails.lock().unwrap() = Some(StoreError::Full("/data".into()));
    refused(&project.move_file("f", "d/g"), "could not be kept for undo");
    *project.journal.fails.lock().unwrap() = None;
    let cancel = project.cancel.clone();
    *project.journal.meddle.lock().unwrap() = Some(Box::new(move || cancel.cancel()));
    let outcome = project.move_file("f", "d/g");
    assert!(outcome.stopped && !outcome.ok);
    assert_eq!(
        (project.names(), project.journal.ends()),
        (vec!["f".to_owned()], vec![false, false])
    );
}

#[test]
fn x31_a_stale_preview_of_a_move_is_never_carried_out() {
    let project = seen("a\n");
    let arguments = json!({ "from": "f", "to": "g" });
    let first = project.prepare("move_file", arguments.clone()).unwrap();
    let digest = first.digest.clone();
    done(&project.edit("f", "a", "b"));
    refused(
        &project.execute(first),
        "f was changed by something else meanwhile",
    );
    let again = project.prepare("move_file", arguments).unwrap();
    assert_ne!(again.digest, digest);
    let elsewhere = project
        .prepare("move_file", json!({ "from": "f", "to": "h" }))
        .unwrap();
    assert_ne!(again.digest, elsewhere.digest);
    done(&project.execute(again));
    assert_eq!(project.names(), ["g"]);
}
