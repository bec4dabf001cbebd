use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

use super::super::tests::{Faulty, Project};
use super::*;
use crate::hash;
use crate::swap::{Recovered, Unfinished, make_folder, recover};

fn moving(project: &Project, to: &str) -> Move {
    let hash = hash::of_bytes(b"old");
    Move::new(&project.root, &project.at("f"), &project.at(to), &hash).unwrap()
}

#[test]
fn t19_gives_a_file_another_name_with_its_folders() {
    let project = Project::with("old");
    std::fs::set_permissions(project.at("f"), std::fs::Permissions::from_mode(0o751)).unwrap();
    let inode = std::fs::metadata(project.at("f")).unwrap().ino();
    let calls = Faulty::default();
    let written = moving(&project, "a/b/g")
        .run_with(&project.root, b"old", &calls)
        .unwrap();
    assert_eq!((project.read("a/b/g").as_str(), written.mode), ("old", 0o751));
    assert_eq!(std::fs::metadata(project.at("a/b/g")).unwrap().ino(), inode);
    assert_eq!(written.folders, [project.at("a"), project.at("a/b")]);
    assert_eq!((written.syncs, calls.syncs.get()), (4, 4));
    assert_eq!(project.names(), ["a"]);
}

#[test]
fn x40_never_takes_the_place_of_another() {
    for renames in [vec![], vec![Some(Errno::XDEV)]] {
        let project = Project::with("old");
        let calls = Faulty::default();
        calls.renames.borrow_mut().extend(renames);
        let moving = moving(&project, "g");
        std::fs::write(project.at("g"), "theirs").unwrap();
        let error = moving.run_with(&project.root, b"old", &calls).unwrap_err();
        assert_eq!(error, FileError::Appeared("g".into()));
        assert_eq!(
            (project.read("f"), project.read("g")),
            ("old".into(), "theirs".into())
        );
        assert_eq!(project.names(), ["f", "g"]);
    }
    let project = Project::with("old");
    symlink("nowhere", project.at("g")).unwrap();
    assert!(moving(&project, "g").run(&project.root, b"old").is_err());
    assert_eq!(project.names(), ["f", "g"]);
}

#[test]
fn x26_what_was_saved_in_between_gets_its_name_back() {
    let project = Project::with("old");
    let calls = Faulty::default();
    let path = project.at("f");
    calls
        .before_rename
        .borrow_mut()
        .push_back(Box::new(move || std::fs::write(path, "theirs").unwrap()));
    let error = moving(&project, "deep/g")
        .run_with(&project.root, b"old", &calls)
        .unwrap_err();
    assert_eq!(error, FileError::Changed("f".into()));
    assert_eq!(project.read("f"), "theirs");
    assert_eq!(project.names(), ["f"], "the folder made for it is gone again");
}

#[test]
fn f21_a_file_that_vanished_or_became_a_folder_is_not_moved() {
    let project = Project::with("old");
    std::fs::remove_file(project.at("f")).unwrap();
    let error = moving(&project, "g").run(&project.root, b"old").unwrap_err();
    assert_eq!(error, FileError::Changed("f".into()));
    std::fs::create_dir(project.at("f")).unwrap();
    std::fs::write(project.at("f/inner"), "kept").unwrap();
    let error = moving(&project, "g").run(&project.root, b"old").unwrap_err();
    assert_eq!(error, FileError::Changed("f".into()));
    assert_eq!(
        (project.read("f/inner").as_str(), project.names()),
        ("kept", vec!["f".to_owned()])
    );
}

#[test]
fn t19_is_copied_and_removed_where_it_cannot_be_renamed() {
    for errno in [Errno::XDEV, Errno::NOSYS, Errno::INVAL] {
        let project = Project::with("old");
        std::fs::set_permissions(project.at("f"), std::fs::Permissions::from_mode(0o640)).unwrap();
        let calls = Faulty::default();
        calls.renames.borrow_mut().push_back(Some(errno));
        let written = moving(&project, "d/g")
            .run_with(&project.root, b"old", &calls)
            .unwrap();
        assert_eq!((project.read("d/g").as_str(), written.mode), ("old", 0o640));
        assert_eq!(
            std::fs::metadata(project.at("d/g")).unwrap().mode() & 0o7777,
            0o640
        );
        assert_eq!(written.folders, [project.at("d")]);
        assert_eq!(written.syncs, calls.syncs.get());
        assert_eq!(project.names(), ["d"]);
    }
}

#[test]
fn x26_a_copy_goes_again_when_the_original_changed_meanwhile() {
    let project = Project::with("old");
    let calls = Faulty::default();
    calls.renames.borrow_mut().push_back(Some(Errno::XDEV));
    let path = project.at("f");
    let save = move || std::fs::write(path, "theirs").unwrap();
    // Before the move, before the copy gets its name, before the original goes.
    calls.before_rename.borrow_mut().extend([
        Box::new(|| {}) as Box<dyn FnOnce()>,
        Box::new(|| {}),
        Box::new(save),
    ]);
    let error = moving(&project, "g")
        .run_with(&project.root, b"old", &calls)
        .unwrap_err();
    assert_eq!(error, FileError::Changed("f".into()));
    assert_eq!(
        (project.read("f").as_str(), project.names()),
        ("theirs", vec!["f".to_owned()])
    );
}

#[test]
fn x41_a_crash_on_either_side_of_a_move_is_told_apart() {
    let project = Project::with("old");
    let hash = hash::of_bytes(b"old");
    let moving = moving(&project, "g");
    let judge = || {
        let (from, to) = (project.at("f"), project.at("g"));
        let gone = Unfinished {
            path: &from,
            temporary: Some(moving.temporary_beside_old()),
            before: Some(&hash),
            after: None,
        };
        let came = Unfinished {
            path: &to,
            temporary: Some(moving.temporary_beside_new()),
            before: None,
            after: Some(&hash),
        };
        [gone, came].map(|change| {
            let swept = recover(&change).unwrap();
            assert_eq!(swept.kept, None);
            swept.found
        })
    };
    assert_eq!(judge(), [Recovered::NotHappened; 2]);
    moving.run(&project.root, b"old").unwrap();
    assert_eq!(judge(), [Recovered::Happened; 2]);
    assert_eq!(project.names(), ["g"]);
}

#[test]
fn t19_folders_are_made_once_and_never_over_a_file() {
    let project = Project::with("old");
    let made = make_folder(&project.root, &project.at("a/b")).unwrap();
    assert_eq!(made, [project.at("a"), project.at("a/b")]);
    assert!(make_folder(&project.root, &project.at("a/b")).unwrap().is_empty());
    for path in ["f", "f/deeper"] {
        let error = make_folder(&project.root, &project.at(path)).unwrap_err();
        assert_eq!(error, FileError::NotAFolder(path.into()), "{path}");
    }
    assert_eq!(project.names(), ["a", "f"]);
}

#[test]
fn tells_a_name_that_is_a_link_from_one_beneath_a_link() {
    let project = Project::with("old");
    std::fs::create_dir(project.at("d")).unwrap();
    std::fs::write(project.at("d/g"), "x").unwrap();
    symlink("d", project.at("way")).unwrap();
    symlink("f", project.at("link")).unwrap();
    symlink("nowhere", project.at("dangling")).unwrap();
    for (text, is_link) in [
        ("f", false),
        ("./f", false),
        ("way/g", false),
        ("d/../f", false),
        ("new", false),
        ("way/new/deep", false),
        ("link", true),
        ("d/../link", true),
        ("dangling", true),
        ("way", true),
    ] {
        let found = project.root.resolve(text).unwrap();
        assert_eq!(project.root.ends_in_link(text, &found), is_link, "{text}");
    }
}
