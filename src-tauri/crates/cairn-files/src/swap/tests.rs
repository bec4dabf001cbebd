use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

use rustix::fd::BorrowedFd;
use rustix::fs::XattrFlags;

use super::*;

/// The system with faults put in its way.
#[derive(Default)]
pub(super) struct Faulty {
    pub(super) renames: RefCell<VecDeque<Option<Errno>>>,
    write: Cell<Option<Errno>>,
    /// Permission bits of what is written to, at each write.
    modes: RefCell<Vec<u32>>,
    pub(super) syncs: Cell<u32>,
    sync: Cell<Option<Errno>>,
    pub(super) before_rename: RefCell<VecDeque<Box<dyn FnOnce()>>>,
}

impl Calls for Faulty {
    fn rename(&self, dir: BorrowedFd<'_>, from: &Path, to: &Path, how: Rename) -> Result<(), Errno> {
        if let Some(meddle) = self.before_rename.borrow_mut().pop_front() {
            meddle();
        }
        match self.renames.borrow_mut().pop_front().flatten() {
            Some(errno) => Err(errno),
            None => Kernel.rename(dir, from, to, how),
        }
    }

    fn rename_away(&self, from: (BorrowedFd<'_>, &Path), to: (BorrowedFd<'_>, &Path)) -> Result<(), Errno> {
        if let Some(meddle) = self.before_rename.borrow_mut().pop_front() {
            meddle();
        }
        match self.renames.borrow_mut().pop_front().flatten() {
            Some(errno) => Err(errno),
            None => Kernel.rename_away(from, to),
        }
    }

    fn write(&self, file: BorrowedFd<'_>, bytes: &[u8]) -> Result<(), Errno> {
        self.modes
            .borrow_mut()
            .push(rustix::fs::fstat(file)?.st_mode & 0o7777);
        match self.write.get() {
            Some(errno) => Kernel
                .write(file, bytes.get(..bytes.len() / 2).unwrap_or_default())
                .and(Err(errno)),
            None => Kernel.write(file, bytes),
        }
    }

    fn sync(&self, file: BorrowedFd<'_>) -> Result<(), Errno> {
        self.syncs.set(self.syncs.get() + 1);
        self.sync.get().map_or_else(|| Kernel.sync(file), Err)
    }
}

pub(super) struct Project {
    folder: tempfile::TempDir,
    pub(super) root: Root,
}

impl Project {
    pub(super) fn with(content: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("f"), content).unwrap();
        let root = Root::open(folder.path()).unwrap();
        Self { folder, root }
    }

    pub(super) fn at(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    pub(super) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.at(name)).unwrap()
    }

    fn swap(&self, name: &str, expected: Expected) -> Swap {
        Swap::new(&self.root, &self.at(name), expected).unwrap()
    }

    pub(super) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

fn content(text: &str) -> Expected {
    Expected::Content(hash::of_bytes(text.as_bytes()))
}

/// Its folder may be open to everybody: what replaces a file is as closed as can be until it has that file's rights.
#[test]
fn t17_a_secret_is_nobody_elses_to_read_while_it_is_written() {
    for mode in [0o600, 0o640, 0o644, 0o666] {
        let project = Project::with("old");
        std::fs::set_permissions(project.at("f"), std::fs::Permissions::from_mode(mode)).unwrap();
        let calls = Faulty::default();
        let swap = project.swap("f", content("old"));
        swap.write_with(&project.root, b"new", None, &calls).unwrap();
        assert_eq!(*calls.modes.borrow(), [0o600], "{mode:o}");
        assert_eq!(
            std::fs::metadata(project.at("f")).unwrap().mode() & 0o7777,
            mode,
            "{mode:o}"
        );
    }
}

#[test]
fn x27_keeps_the_mode_and_leaves_no_temporary_file() {
    for mode in [0o644, 0o755, 0o600, 0o4711] {
        let project = Project::with("old");
        std::fs::set_permissions(project.at("f"), std::fs::Permissions::from_mode(mode)).unwrap();
        let calls = Faulty::default();
        let written = project
            .swap("f", content("old"))
            .write_with(&project.root, b"new", None, &calls)
            .unwrap();
        assert_eq!((project.read("f").as_str(), written.mode), ("new", mode));
        assert_eq!(std::fs::metadata(project.at("f")).unwrap().mode() & 0o7777, mode);
        assert_eq!((written.syncs, calls.syncs.get()), (2, 2));
        assert_eq!(written.guard, Guard::Exact);
        assert_eq!(project.names(), ["f"]);
    }
}

#[test]
fn keeps_extended_attributes() {
    let project = Project::with("old");
    let file = std::fs::File::open(project.at("f")).unwrap();
    if rustix::fs::fsetxattr(&file, "user.mark", b"kept", XattrFlags::empty()).is_err() {
        return; // This file system has none.
    }
    project
        .swap("f", content("old"))
        .write(&project.root, b"new")
        .unwrap();
    let mut value = [0; 16];
    let file = std::fs::File::open(project.at("f")).unwrap();
    let length = rustix::fs::fgetxattr(&file, "user.mark", &mut value[..]).unwrap();
    assert_eq!(&value[..length], b"kept");
}

#[test]
fn creates_a_file_with_its_folders() {
    let project = Project::with("x");
    let calls = Faulty::default();
    let swap = project.swap("a/b/new.txt", Expected::Absent);
    let written = swap.write_with(&project.root, b"hello", None, &calls).unwrap();
    assert_eq!(project.read("a/b/new.txt"), "hello");
    assert_eq!(written.folders, [project.at("a"), project.at("a/b")]);
    assert_eq!((written.syncs, calls.syncs.get()), (4, 4));
    assert_eq!(std::fs::read_dir(project.at("a/b")).unwrap().count(), 1);
}

#[test]
fn a_folder_made_for_a_failed_write_goes_again() {
    let project = Project::with("x");
    let calls = Faulty {
        write: Cell::new(Some(Errno::NOSPC)),
        ..Faulty::default()
    };
    let error =
        project
            .swap("a/b/new.txt", Expected::Absent)
            .write_with(&project.root, b"hello", None, &calls);
    assert_eq!(error.unwrap_err(), FileError::NoSpace("a/b/new.txt".into()));
    assert_eq!(project.names(), ["f"]);
}

#[test]
fn x26_e13_keeps_what_another_process_wrote() {
    for meddled in ["theirs", "old2", ""] {
        let project = Project::with("old");
        let target = project.at("f");
        let meddle = move || std::fs::write(target, meddled).unwrap();
        let calls = Faulty {
            before_rename: RefCell::new(VecDeque::from([Box::new(meddle) as Box<dyn FnOnce()>])),
            ..Faulty::default()
        };
        let error = project
            .swap("f", content("old"))
            .write_with(&project.root, b"mine", None, &calls)
            .unwrap_err();
        assert_eq!(error, FileError::Changed("f".into()));
        assert_eq!(
            (project.read("f").as_str(), project.names()),
            (meddled, vec!["f".to_owned()])
        );
    }
}

#[test]
fn x26_the_newest_version_stays_when_two_come_in_between() {
    let project = Project::with("old");
    let write = |text: &'static str| {
        let target = project.at("f");
        Box::new(move || {
            let other = target.with_file_name("editor");
            std::fs::write(&other, text).unwrap();
            std::fs::rename(&other, &target).unwrap();
        }) as Box<dyn FnOnce()>
    };
    let calls = Faulty {
        before_rename: RefCell::new(VecDeque::from([write("first"), write("second")])),
        ..Faulty::default()
    };
    let error = project
        .swap("f", content("old"))
        .write_with(&project.root, b"mine", None, &calls)
        .unwrap_err();
    assert_eq!(error, FileError::Changed("f".into()));
    assert_eq!(
        (project.read("f").as_str(), project.names()),
        ("second", vec!["f".to_owned()])
    );
}

#[test]
fn never_replaces_a_file_that_was_to_be_new() {
    let project = Project::with("theirs");
    let error = project
        .swap("f", Expected::Absent)
        .write(&project.root, b"mine")
        .unwrap_err();
    assert_eq!(error, FileError::Appeared("f".into()));
    let target = project.at("late");
    let meddle = move || std::fs::write(target, "theirs").unwrap();
    let calls = Faulty {
        before_rename: RefCell::new(VecDeque::from([Box::new(meddle) as Box<dyn FnOnce()>])),
        ..Faulty::default()
    };
    let error = project
        .swap("late", Expected::Absent)
        .write_with(&project.root, b"mine", None, &calls)
        .unwrap_err();
    assert_eq!(error, FileError::Appeared("late".into()));
    assert_eq!(
        (project.read("late").as_str(), project.names()),
        ("theirs", vec!["f".to_owned(), "late".to_owned()])
    );
}

#[test]
fn notices_a_file_that_was_deleted_or_became_something_else() {
    for how in 0..3 {
        let project = Project::with("old");
        let target = project.at("f");
        let meddle = move || {
            std::fs::remove_file(&target).unwrap();
            match how {
                0 => {}
                1 => std::fs::create_dir(&target).unwrap(),
                _ => symlink("/etc/passwd", &target).unwrap(),
            }
        };
        let calls = Faulty {
            before_rename: RefCell::new(VecDeque::from([Box::new(meddle) as Box<dyn FnOnce()>])),
            ..Faulty::default()
        };
        let error = project
            .swap("f", content("old"))
            .write_with(&project.root, b"mine", None, &calls)
            .unwrap_err();
        assert_eq!(error, FileError::Changed("f".into()));
        assert_eq!(project.names().len(), usize::from(how > 0));
    }
}

#[test]
fn x27_a_full_disk_and_a_failing_rename_leave_the_original() {
    let faults = [
        Faulty {
            write: Cell::new(Some(Errno::NOSPC)),
            ..Faulty::default()
        },
        Faulty {
            renames: RefCell::new(VecDeque::from([Some(Errno::IO)])),
            ..Faulty::default()
        },
        Faulty {
            renames: RefCell::new(VecDeque::from([Some(Errno::NOSPC)])),
            ..Faulty::default()
        },
        Faulty {
            renames: RefCell::new(VecDeque::from([Some(Errno::INVAL), Some(Errno::IO)])),
            ..Faulty::default()
        },
    ];
    for calls in faults {
        let project = Project::with("old");
        project
            .swap("f", content("old"))
            .write_with(&project.root, b"a longer text", None, &calls)
            .unwrap_err();
        assert_eq!(
            (project.read("f").as_str(), project.names()),
            ("old", vec!["f".to_owned()])
        );
    }
}

#[test]
fn compares_and_renames_where_nothing_can_be_exchanged() {
    for errno in [Errno::INVAL, Errno::NOSYS] {
        let project = Project::with("old");
        let calls = Faulty {
            renames: RefCell::new(VecDeque::from([Some(errno)])),
            ..Faulty::default()
        };
        let written = project
            .swap("f", content("old"))
            .write_with(&project.root, b"new", None, &calls)
            .unwrap();
        assert_eq!(
            (written.guard, written.syncs, project.read("f").as_str()),
            (Guard::Compared, 2, "new")
        );
        let calls = Faulty {
            renames: RefCell::new(VecDeque::from([Some(errno)])),
            ..Faulty::default()
        };
        let error = project
            .swap("f", content("old"))
            .write_with(&project.root, b"newer", None, &calls)
            .unwrap_err();
        assert_eq!(
            (error, project.read("f").as_str()),
            (FileError::Changed("f".into()), "new")
        );
        let calls = Faulty {
            renames: RefCell::new(VecDeque::from([Some(errno)])),
            ..Faulty::default()
        };
        project
            .swap("n", Expected::Absent)
            .write_with(&project.root, b"1", None, &calls)
            .unwrap();
        assert_eq!(project.names(), ["f", "n"]);
    }
}

#[test]
fn x29_refuses_a_read_only_file_and_a_folder() {
    let project = Project::with("old");
    std::fs::set_permissions(project.at("f"), std::fs::Permissions::from_mode(0o444)).unwrap();
    let error = project
        .swap("f", content("old"))
        .write(&project.root, b"new")
        .unwrap_err();
    assert_eq!(
        (error, project.read("f").as_str()),
        (FileError::ReadOnly("f".into()), "old")
    );
    std::fs::create_dir(project.at("d")).unwrap();
    let error = project
        .swap("d", content("old"))
        .write(&project.root, b"new")
        .unwrap_err();
    assert!(matches!(error, FileError::NotAFile { .. }));
}

/// Set in the process that has fewer rights.
const AS_NOBODY: &str = "CAIRN_TEST_FILE_OF_ANOTHER";

#[test]
#[allow(clippy::disallowed_methods, reason = "a test starts itself with fewer rights")]
fn x29_a_file_of_another_that_may_only_be_read_is_told_from_one_that_may_be_written() {
    use std::os::unix::fs::PermissionsExt as _;
    let mode =
        |path: &Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    if let Some(folder) = std::env::var_os(AS_NOBODY) {
        let root = Root::open(Path::new(&folder)).unwrap();
        let of = |name: &str| check_writable(&root, &root.path().join(name));
        assert_eq!(of("theirs"), Err(FileError::ReadOnly("theirs".into())));
        assert_eq!(of("everybodys"), Ok(()));
        return;
    }
    if !rustix::process::geteuid().is_root() {
        eprintln!("NOT TESTED: only root can make files of somebody else");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    mode(folder.path(), 0o755);
    for (name, rights) in [("theirs", 0o644), ("everybodys", 0o666)] {
        std::fs::write(folder.path().join(name), "x").unwrap();
        mode(&folder.path().join(name), rights);
    }
    // The folder of the build may be closed to others.
    let program = folder.path().join("test");
    std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    mode(&program, 0o755);
    let child = std::process::Command::new("setpriv")
        .args(["--reuid", "65534", "--regid", "65534", "--clear-groups", "--"])
        .arg(&program)
        .args([
            "--exact",
            "swap::tests::x29_a_file_of_another_that_may_only_be_read_is_told_from_one_that_may_be_written",
        ])
        .env(AS_NOBODY, folder.path())
        .current_dir("/")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success() && said.contains("1 passed"), "{said}");
}

#[test]
fn f17_an_undo_never_takes_a_later_change_away() {
    let project = Project::with("before");
    project
        .swap("f", content("before"))
        .write(&project.root, b"after")
        .unwrap();
    std::fs::write(project.at("f"), "by hand").unwrap();
    let undo = project.swap("f", content("after"));
    assert_eq!(
        undo.write(&project.root, b"before").unwrap_err(),
        FileError::Changed("f".into())
    );
    assert_eq!(
        undo.remove(&project.root).unwrap_err(),
        FileError::Changed("f".into())
    );
    assert_eq!(
        (project.read("f").as_str(), project.names()),
        ("by hand", vec!["f".to_owned()])
    );
    assert_eq!(
        project
            .swap("f", content("by hand"))
            .remove(&project.root)
            .unwrap()
            .hash,
        None
    );
    assert!(project.names().is_empty());
}

#[test]
fn f21_writes_nothing_into_an_impostor_of_the_project() {
    let outer = tempfile::tempdir().unwrap();
    let outer = outer.path().canonicalize().unwrap();
    std::fs::create_dir(outer.join("p")).unwrap();
    std::fs::write(outer.join("p/f"), "old").unwrap();
    let root = Root::open(&outer.join("p")).unwrap();
    let swap = Swap::new(&root, &outer.join("p/f"), content("old")).unwrap();
    std::fs::rename(outer.join("p"), outer.join("q")).unwrap();
    std::fs::create_dir(outer.join("p")).unwrap();
    std::fs::write(outer.join("p/f"), "old").unwrap();
    assert!(matches!(swap.write(&root, b"new"), Err(FileError::RootGone(_))));
    assert_eq!(std::fs::read_to_string(outer.join("p/f")).unwrap(), "old");
    assert_eq!(std::fs::read_to_string(outer.join("q/f")).unwrap(), "old");
}

#[test]
fn sweeps_after_a_crash_at_each_step() {
    let (old, new) = (hash::of_bytes(b"old"), hash::of_bytes(b"new"));
    // In place, in the temporary file; then: what is found, what is in place, whether the temporary file stays.
    let cases = [
        (Some("old"), None, Recovered::NotHappened, Some("old"), false),
        (
            Some("old"),
            Some("ne"),
            Recovered::NotHappened,
            Some("old"),
            false,
        ),
        (
            Some("old"),
            Some("new"),
            Recovered::NotHappened,
            Some("old"),
            false,
        ),
        (Some("new"), Some("old"), Recovered::Happened, Some("new"), false),
        (Some("new"), None, Recovered::Happened, Some("new"), false),
        (
            Some("new"),
            Some("theirs"),
            Recovered::Changed,
            Some("theirs"),
            false,
        ),
        (
            Some("theirs"),
            Some("new"),
            Recovered::Changed,
            Some("theirs"),
            false,
        ),
        (
            Some("theirs"),
            Some("also theirs"),
            Recovered::Changed,
            Some("theirs"),
            true,
        ),
        (None, Some("theirs"), Recovered::Changed, None, true),
        (None, None, Recovered::Changed, None, false),
    ];
    for (place, leftover, found, left, stays) in cases {
        let project = Project::with("x");
        std::fs::remove_file(project.at("f")).unwrap();
        let temporary = project.at(".cairn-0123456789abcdef.tmp");
        if let Some(text) = place {
            std::fs::write(project.at("f"), text).unwrap();
        }
        if let Some(text) = leftover {
            std::fs::write(&temporary, text).unwrap();
        }
        let change = Unfinished {
            path: &project.at("f"),
            temporary: Some(&temporary),
            before: Some(&old),
            after: Some(&new),
        };
        let swept = recover(&change).unwrap();
        assert_eq!(swept.found, found, "{place:?} {leftover:?}");
        assert_eq!(
            (swept.kept.is_some(), temporary.exists()),
            (stays, stays),
            "{place:?} {leftover:?}"
        );
        assert_eq!(std::fs::read_to_string(project.at("f")).ok().as_deref(), left);
    }
    assert!(is_temporary(".cairn-0123456789abcdef.tmp".as_ref()));
    assert!(!is_temporary(".cairn-notes.tmp".as_ref()));
}

#[test]
fn a_removal_that_took_somebodys_version_away_gives_it_back() {
    let project = Project::with("x");
    std::fs::remove_file(project.at("f")).unwrap();
    let temporary = project.at(".cairn-0123456789abcdef.tmp");
    std::fs::write(&temporary, "theirs").unwrap();
    let change = Unfinished {
        path: &project.at("f"),
        temporary: Some(&temporary),
        before: Some(&hash::of_bytes(b"old")),
        after: None,
    };
    let swept = recover(&change).unwrap();
    assert_eq!((swept.found, swept.kept), (Recovered::Changed, None));
    assert_eq!(std::fs::read_to_string(project.at("f")).unwrap(), "theirs");
    assert!(!temporary.exists());
}

#[test]
fn a_sweep_follows_no_link_and_removes_nothing_of_another_name() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path().canonicalize().unwrap();
    for made in ["real", "away", "real/.cairn-0000000000000005.tmp"] {
        std::fs::create_dir_all(folder.join(made)).unwrap();
    }
    std::os::unix::fs::symlink(folder.join("away"), folder.join("link")).unwrap();
    let victims = [
        "real/precious.tmp",
        "real/.cairn-0000000000000001.txt",
        "away/.cairn-0000000000000002.tmp",
        "away/.cairn-0000000000000003.tmp",
    ];
    for victim in victims {
        std::fs::write(folder.join(victim), "new").unwrap();
    }
    let link = folder.join("real/.cairn-0000000000000004.tmp");
    std::os::unix::fs::symlink(folder.join("away/.cairn-0000000000000003.tmp"), link).unwrap();
    let new = hash::of_bytes(b"new");
    for (path, temporary) in [
        ("real/a", "real/precious.tmp"),
        ("real/a", "real/.cairn-0000000000000001.txt"),
        ("link/a", "link/.cairn-0000000000000002.tmp"),
        ("real/a", "away/.cairn-0000000000000003.tmp"),
        ("real/a", "real/.cairn-0000000000000004.tmp"),
        ("real/a", "real/.cairn-0000000000000005.tmp"),
    ] {
        let change = Unfinished {
            path: &folder.join(path),
            temporary: Some(&folder.join(temporary)),
            before: None,
            after: Some(&new),
        };
        assert!(recover(&change).unwrap().kept.is_some(), "{path} {temporary}");
    }
    assert!(victims.iter().all(|victim| folder.join(victim).exists()));
}

#[test]
fn a_folder_that_is_gone_holds_nothing_to_sweep() {
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().join("gone/f");
    for (before, after, found) in [
        (None, Some("n"), Recovered::NotHappened),
        (Some("o"), None, Recovered::Happened),
        (Some("o"), Some("n"), Recovered::Changed),
    ] {
        let change = Unfinished {
            path: &path,
            temporary: None,
            before,
            after,
        };
        assert_eq!(recover(&change).unwrap().found, found);
    }
}

#[test]
fn a_removal_that_happened_is_told_as_that_where_a_folder_cannot_be_synced() {
    let project = Project::with("x");
    let calls = Faulty {
        sync: Cell::new(Some(Errno::INVAL)),
        ..Faulty::default()
    };
    let removed = project.swap("f", content("x")).remove_with(&project.root, &calls);
    assert_eq!(removed.map(|written| written.hash), Ok(None));
    assert!(project.names().is_empty());
}
