//! `make_dir`.

use std::os::unix::fs::symlink;

use cairn_policy::{Care, Effect, Place};
use cairn_protocol::{ApprovalSubject, ChangeKind};
use serde_json::json;

use super::fixture::{Project, done, refused};

fn make(project: &Project, path: &str) -> cairn_agent::tool::ToolOutcome {
    project.run("make_dir", json!({ "path": path }))
}

#[test]
fn t19_makes_a_folder_and_those_on_the_way_to_it() {
    let project = Project::new();
    let prepared = project.prepare("make_dir", json!({ "path": "a/b/c" })).unwrap();
    let Some(ApprovalSubject::Edit { diffs }) = &prepared.subject else {
        panic!()
    };
    assert_eq!(
        (diffs[0].path.as_str(), &diffs[0].change),
        ("a/b/c", &ChangeKind::Created)
    );
    assert_eq!(diffs[0].notes, ["a new, empty folder"]);
    assert!(project.names().is_empty(), "nothing happened yet");
    let outcome = project.execute(prepared);
    done(&outcome);
    assert_eq!(outcome.content, "Made the folder a/b/c and 2 on the way to it.");
    assert!(project.path("a/b/c").is_dir());
    assert_eq!(make(&project, "d/").content, "Made the folder d.");
    let again = make(&project, "a/b");
    done(&again);
    assert_eq!(again.content, "a/b is there already: nothing was done.");
}

#[test]
fn t19_only_inside_and_never_over_a_file() {
    let project = Project::with("f", "one\n");
    symlink(project.outside(""), project.path("outbox")).unwrap();
    symlink("nowhere", project.path("dangling")).unwrap();
    for (path, says) in [
        ("f", "f was not made: there is a file of that name"),
        ("f/x", "f is not a folder"),
        ("../out/x", "it is outside the project"),
        ("outbox/x", "it is outside the project"),
        ("", "the path is empty"),
        ("a\0b", "NUL"),
    ] {
        refused(&make(&project, path), says);
    }
    refused(&make(&project, &"x".repeat(300)), "too long");
    refused(&make(&project, &"x/".repeat(2_500)), "too long");
    assert_eq!(std::fs::read_dir(project.outside("")).unwrap().count(), 0);
}

#[test]
fn t19_a_protected_place_is_declared_as_such() {
    let project = Project::new();
    let prepared = project
        .prepare("make_dir", json!({ "path": ".git/hooks/x" }))
        .unwrap();
    let path = project.path(".git/hooks/x");
    assert_eq!(
        prepared.effects,
        [Effect::WritePath {
            path,
            place: Place::Inside,
            care: Care::Protected,
            hard_linked: false
        }]
    );
}

#[test]
fn g5_a_folder_that_became_a_link_since_the_preview_leads_nowhere() {
    let project = Project::with("d/keep", "x");
    let prepared = project.prepare("make_dir", json!({ "path": "d/new" })).unwrap();
    std::fs::rename(project.path("d"), project.path("d2")).unwrap();
    symlink(project.outside(""), project.path("d")).unwrap();
    refused(&project.execute(prepared), "replaced while it was being opened");
    assert_eq!(std::fs::read_dir(project.outside("")).unwrap().count(), 0);
}
