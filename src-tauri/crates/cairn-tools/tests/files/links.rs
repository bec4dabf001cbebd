//! Links, and what lies outside the project.

use std::os::unix::fs::symlink;

use cairn_policy::{Effect, Place};
use serde_json::json;

use super::fixture::{Project, done, refused};

fn place_of(effects: &[Effect]) -> (Place, std::path::PathBuf) {
    match effects {
        [Effect::ReadPath { place, path, .. } | Effect::WritePath { place, path, .. }] => {
            (*place, path.clone())
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn f01_f02_what_lies_outside_is_declared_as_outside() {
    let project = Project::new();
    std::fs::write(project.outside("x"), "x").unwrap();
    for path in [
        "../out/x".to_owned(),
        project.outside("x").to_string_lossy().into_owned(),
        "a/../../out/x".into(),
    ] {
        let prepared = project.prepare("read_file", json!({ "path": path })).unwrap();
        assert_eq!(
            place_of(&prepared.effects),
            (Place::Outside, project.outside("x"))
        );
        assert_eq!(prepared.target, project.outside("x").to_string_lossy());
    }
}

#[test]
fn f03_f05_g5_a_link_that_leads_out_is_declared_with_its_target() {
    let project = Project::new();
    std::fs::write(project.outside("x"), "x").unwrap();
    symlink(project.outside("x"), project.path("link")).unwrap();
    symlink("../out", project.path("outbox")).unwrap();
    let prepared = project.prepare("read_file", json!({ "path": "link" })).unwrap();
    assert_eq!(
        place_of(&prepared.effects),
        (Place::Outside, project.outside("x"))
    );
    let prepared = project
        .prepare("write_file", json!({ "path": "outbox/new", "content": "n" }))
        .unwrap();
    assert_eq!(
        place_of(&prepared.effects),
        (Place::Outside, project.outside("new"))
    );
    assert!(!project.outside("new").exists());
}

#[test]
fn x28_an_edit_through_a_link_changes_the_target_and_keeps_the_link() {
    let project = Project::with("real/f", "one\n");
    symlink("real/f", project.path("link")).unwrap();
    done(&project.read("link"));
    done(&project.edit("link", "one", "two"));
    assert_eq!(project.text("real/f"), "two\n");
    assert!(project.path("link").is_symlink());
    done(&project.edit("real/f", "two", "three"));
}

#[test]
fn g5_a_folder_that_became_a_link_since_the_preview_leads_nowhere() {
    let project = Project::with("d/f", "one\n");
    std::fs::write(project.outside("f"), "one\n").unwrap();
    done(&project.read("d/f"));
    let edit = project
        .prepare(
            "edit_file",
            json!({ "path": "d/f", "old_string": "one", "new_string": "two" }),
        )
        .unwrap();
    let new = project
        .prepare("write_file", json!({ "path": "d/new", "content": "n" }))
        .unwrap();
    let read = project.prepare("read_file", json!({ "path": "d/f" })).unwrap();
    std::fs::rename(project.path("d"), project.path("kept")).unwrap();
    symlink(project.outside(""), project.path("d")).unwrap();
    for prepared in [edit, new, read] {
        refused(&project.execute(prepared), "replaced while it was being opened");
    }
    assert_eq!(std::fs::read_to_string(project.outside("f")).unwrap(), "one\n");
    assert!(!project.outside("new").exists());
}
