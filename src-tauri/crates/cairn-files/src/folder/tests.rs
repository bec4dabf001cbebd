use std::ffi::CString;
use std::os::unix::fs::symlink;
use std::time::Instant;

use super::*;

fn bare(name: &str) -> CString {
    CString::new(name).unwrap()
}

/// A project with one entry of each kind, and a file with a secret beside it.
fn project() -> (tempfile::TempDir, Root) {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("p");
    std::fs::create_dir_all(project.join("sub")).unwrap();
    std::fs::write(folder.path().join("secret"), "CANARY").unwrap();
    std::fs::write(project.join("file"), "content").unwrap();
    symlink("../secret", project.join("out")).unwrap();
    symlink("file", project.join("in")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        project.join("pipe"),
        FileType::Fifo,
        Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    std::os::unix::net::UnixListener::bind(project.join("socket")).unwrap();
    let root = Root::open(&project).unwrap();
    (folder, root)
}

#[test]
fn lists_every_entry_for_what_it_is() {
    let (_folder, root) = project();
    let folder = root.folder(root.path()).unwrap();
    let mut found = Vec::new();
    folder
        .list(&mut Scratch::default(), |name, kind| {
            found.push((name.to_str().unwrap().to_owned(), kind));
            true
        })
        .unwrap();
    found.sort_by(|one, other| one.0.cmp(&other.0));
    let expected = [
        ("file", Entry::File),
        ("in", Entry::Link),
        ("out", Entry::Link),
        ("pipe", Entry::Other),
        ("socket", Entry::Other),
        ("sub", Entry::Folder),
    ];
    assert_eq!(found, expected.map(|(name, kind)| (name.to_owned(), kind)));
    for (name, kind) in expected {
        assert_eq!(folder.entry(&bare(name)), kind, "{name}");
    }
    assert_eq!(folder.entry(&bare("nothing")), Entry::Other);
}

#[test]
fn a_listing_ends_when_nobody_wants_more() {
    let (_folder, root) = project();
    let mut met = 0;
    root.folder(root.path())
        .unwrap()
        .list(&mut Scratch::default(), |_, _| {
            met += 1;
            met < 2
        })
        .unwrap();
    assert_eq!(met, 2);
}

#[test]
fn more_names_than_fit_into_one_reading_are_all_listed() {
    let folder = tempfile::tempdir().unwrap();
    let long = "n".repeat(200);
    for number in 0..500 {
        std::fs::write(folder.path().join(format!("{long}{number}")), "").unwrap();
    }
    let root = Root::open(folder.path()).unwrap();
    let mut names = std::collections::BTreeSet::new();
    root.folder(root.path())
        .unwrap()
        .list(&mut Scratch::default(), |name, _| names.insert(name.to_owned()))
        .unwrap();
    assert_eq!(names.len(), 500);
}

#[test]
fn opens_regular_files_only_and_waits_for_nobody() {
    let (_folder, root) = project();
    for folder in [
        root.folder(root.path()).unwrap(),
        root.passage(root.path()).unwrap(),
    ] {
        let (file, stat) = folder.open_file(&bare("file")).unwrap();
        assert_eq!(std::io::read_to_string(file).unwrap(), "content");
        assert_eq!(stat.st_size, 7);
        let begun = Instant::now();
        for name in [
            "in",
            "out",
            "pipe",
            "socket",
            "sub",
            "nothing",
            "..",
            ".",
            "../secret",
            "sub/../file",
        ] {
            assert!(folder.open_file(&bare(name)).is_err(), "{name}");
        }
        assert!(begun.elapsed() < Duration::from_secs(5));
        assert!(matches!(
            folder.open_file(&bare("nothing")),
            Err(FileError::Missing(_))
        ));
    }
}

#[test]
fn a_folder_behind_a_link_is_not_opened() {
    let (folder, root) = project();
    symlink(folder.path(), root.path().join("sub/up")).unwrap();
    for way in [Root::folder, Root::passage] {
        assert!(way(&root, &root.path().join("sub")).is_ok());
        assert!(way(&root, &root.path().join("sub/up")).is_err());
        assert!(way(&root, &root.path().join("file")).is_err());
    }
}

#[test]
fn tells_the_time_of_the_entry_itself() {
    let (_folder, root) = project();
    let when = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000);
    let file = File::options()
        .write(true)
        .open(root.path().join("file"))
        .unwrap();
    file.set_modified(when).unwrap();
    let folder = root.folder(root.path()).unwrap();
    assert_eq!(folder.modified(&bare("file")), Some(when));
    assert_ne!(folder.modified(&bare("in")), Some(when));
    assert_eq!(folder.modified(&bare("nothing")), None);
    assert_eq!(
        time(-1, 0_u64),
        Some(SystemTime::UNIX_EPOCH - Duration::from_secs(1))
    );
}
