//! What holds for every change of a file: journal first, stop, faults.

use cairn_agent::store::StoreError;
use cairn_files::swap::{Expected, Swap};
use serde_json::json;

use super::fixture::{Project, done, refused, runtime};

#[test]
fn nothing_changes_when_the_journal_cannot_keep_what_was() {
    let project = Project::with("f", "one\n");
    done(&project.read("f"));
    *project.journal.fails.lock().unwrap() = Some(StoreError::Full("/data".into()));
    let outcome = project.edit("f", "one", "two");
    refused(
        &outcome,
        "f was not changed: what it is now could not be kept for undo",
    );
    assert_eq!(
        (project.text("f").as_str(), project.names()),
        ("one\n", vec!["f".to_owned()])
    );
}

#[test]
fn a_stop_before_the_write_leaves_the_file_and_closes_the_journal() {
    let project = Project::with("f", "one\n");
    done(&project.read("f"));
    let cancel = project.cancel.clone();
    *project.journal.meddle.lock().unwrap() = Some(Box::new(move || cancel.cancel()));
    let outcome = project.edit("f", "one", "two");
    assert!(outcome.stopped && !outcome.ok);
    assert_eq!(
        (project.text("f").as_str(), project.journal.ends()),
        ("one\n", vec![false])
    );
}

#[test]
fn a_change_that_nobody_waits_for_any_more_is_finished() {
    let project = Project::with("f", "one\n");
    done(&project.read("f"));
    let prepared = project
        .prepare(
            "edit_file",
            json!({ "path": "f", "old_string": "one", "new_string": "two" }),
        )
        .unwrap();
    let cairn_agent::tool::Action::Execute(execute) = prepared.action else {
        panic!()
    };
    runtime().block_on(async {
        let mut change = execute.execute(project.context());
        assert!(futures_util::poll!(&mut change).is_pending());
        drop(change);
        // The runtime is kept until the journal heard of the end.
        while project.journal.ends().is_empty() {
            tokio::task::yield_now().await;
        }
    });
    assert_eq!(
        (project.text("f").as_str(), project.journal.ends()),
        ("two\n", vec![true])
    );
}

#[test]
fn f17_an_undo_out_of_the_journal_keeps_a_later_edit() {
    let project = Project::with("f", "one\n");
    done(&project.read("f"));
    done(&project.edit("f", "one", "two"));
    let image = project.journal.before_images().remove(0);
    let root = project.workspace.root();
    let undo = || {
        let expected = Expected::Content(image.after.clone().unwrap());
        Swap::new(root, &image.path, expected)
            .unwrap()
            .write(root, image.before.as_ref().unwrap())
    };
    project.put("f", "by hand\n");
    assert!(undo().is_err());
    assert_eq!(project.text("f"), "by hand\n");
    project.put("f", "two\n");
    assert!(undo().is_ok());
    assert_eq!(project.text("f"), "one\n");
    refused(&project.edit("f", "one", "two"), "it is not what you read");
}

#[test]
fn f21_a_project_folder_that_was_replaced_is_left_alone() {
    let project = Project::with("f", "one\n");
    done(&project.read("f"));
    let prepared = project
        .prepare(
            "edit_file",
            json!({ "path": "f", "old_string": "one", "new_string": "two" }),
        )
        .unwrap();
    let (here, away) = (project.path(""), project.outside("away"));
    std::fs::rename(&here, &away).unwrap();
    std::fs::create_dir(&here).unwrap();
    project.put("f", "one\n");
    refused(
        &project.execute(prepared),
        "was moved or replaced since it was opened",
    );
    refused(&project.read("f"), "was moved or replaced since it was opened");
    assert_eq!(
        (
            project.text("f").as_str(),
            std::fs::read_to_string(away.join("f")).unwrap()
        ),
        ("one\n", "one\n".to_owned())
    );
}

#[test]
fn large_files_are_edited_by_what_was_shown_of_them() {
    let project = Project::with("big", format!("{}\n", "0123456789".repeat(100)).repeat(17_600));
    done(&project.read_range("big", 9_000, 3));
    refused(&project.write("big", "x"), "never shown whole");
    let old = format!("{}\nX", "0123456789".repeat(100));
    refused(&project.edit("big", &old, "y"), "old_string was not found");
    done(&project.append("big", "the end\n"));
    assert_eq!(project.bytes("big").len(), 17_600 * 1_001 + 8);
    done(&project.edit("big", "the end", "The End"));
}
