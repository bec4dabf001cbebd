//! Full disks, folders that cannot be written, logs that grow. SPEC R2, R4, cases D1, D2.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use cairn_agent::store::{BeforeImage, Durability, EventStore, Journal, StoreError};
use cairn_protocol::{EventBody, ItemBody};
use cairn_store::Store;

use crate::kit::{
    Place, child_command, child_through, event, has, id, is_root, item, make, noise, said, told,
};

/// A small file system of its own; none where that is not permitted.
struct SmallDisk {
    folder: tempfile::TempDir,
}

impl SmallDisk {
    fn mount() -> Option<Self> {
        if !is_root() {
            eprintln!("skipped: only root can mount a small disk");
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let mounted = run(
            "mount",
            &[
                "-t",
                "tmpfs",
                "-o",
                "size=1m",
                "tmpfs",
                folder.path().to_str().unwrap(),
            ],
        );
        if !mounted {
            eprintln!("skipped: mounting is not permitted here");
        }
        mounted.then_some(Self { folder })
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        assert!(run("umount", &["-l", self.folder.path().to_str().unwrap()]));
    }
}

#[allow(clippy::disallowed_methods, reason = "mounting is no work of the product")]
fn run(program: &str, arguments: &[&str]) -> bool {
    std::process::Command::new(program)
        .args(arguments)
        .status()
        .is_ok_and(|status| status.success())
}

#[tokio::test]
async fn r2_a_full_disk_is_said_loses_nothing_and_goes_on_when_there_is_room() {
    let Some(disk) = SmallDisk::mount() else { return };
    let filler = disk.folder.path().join("filler");
    let data = disk.folder.path().join("data");
    let store = Store::open(&data).unwrap();
    make(&store, "s", "p", 10).await;
    fs::write(&filler, vec![7; 300_000]).unwrap();

    let words: String = (0..4000).map(|n| format!("word{n} ")).collect();
    let mut kept = 1;
    let full = loop {
        let next = event("s", kept + 1, said(&format!("i{kept}"), &words));
        match store.append(vec![next], Durability::Committed).await {
            Ok(()) => kept += 1,
            Err(error) => break error,
        }
    };
    assert!(
        matches!(&full, StoreError::Full(path) if path.contains("cairn.db")),
        "{full:?}"
    );
    assert!(full.to_string().contains("Make room"));
    let image = BeforeImage {
        session: id("s"),
        turn: "t".into(),
        call: "c".into(),
        path: "/p/a".into(),
        before: Some(noise(200_000)),
        mode: None,
        after: None,
        temporary: None,
    };
    assert!(matches!(
        store.before_change(image.clone()).await,
        Err(StoreError::Full(_))
    ));
    let blob = store.put_blob(noise(400_000)).await;
    assert!(matches!(blob, Err(StoreError::Full(_))), "{blob:?}");
    assert_eq!(store.load(&id("s")).await.unwrap().last_seq, kept);

    fs::remove_file(&filler).unwrap();
    store
        .append(
            vec![event("s", kept + 1, said("after", "room again"))],
            Durability::Synced,
        )
        .await
        .unwrap();
    store.before_change(image).await.unwrap();
    drop(store);
    let loaded = Store::open(&data).unwrap().load(&id("s")).await.unwrap();
    assert_eq!(loaded.events.len() as u64, kept + 1);
    let leftovers = leftovers(&data);
    assert!(leftovers.is_empty(), "{leftovers:?}");
}

#[tokio::test]
async fn r2_no_room_for_a_new_database_leaves_no_half_of_one() {
    let Some(disk) = SmallDisk::mount() else { return };
    let filler = disk.folder.path().join("filler");
    fs::write(&filler, vec![7; 1000 << 10]).unwrap();
    let data = disk.folder.path().join("data");
    let error = Store::open(&data).err().unwrap();
    assert!(matches!(error, StoreError::Full(_)), "{error:?}");
    assert!(!data.join("cairn.db").exists());
    fs::remove_file(&filler).unwrap();
    make(&Store::open(&data).unwrap(), "s", "p", 10).await;
}

/// Temporary files under a folder.
fn leftovers(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            found.extend(leftovers(&path));
        } else if path.to_string_lossy().ends_with(".tmp") || path.to_string_lossy().ends_with(".new") {
            found.push(path);
        }
    }
    found
}

#[tokio::test]
async fn r2_a_folder_that_cannot_be_written_is_named_and_nothing_in_it_changes() {
    if is_root() && !has("setpriv") {
        return;
    }
    let place = Place::new();
    fs::set_permissions(place.folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    for case in ["missing", "folder", "file"] {
        let data = place.folder.path().join(case).join("data");
        fs::create_dir_all(data.parent().unwrap()).unwrap();
        if case != "missing" {
            make(&Store::open(&data).unwrap(), "s", "p", 10).await;
            for entry in fs::read_dir(&data).unwrap().map(Result::unwrap) {
                let mode = if case == "file" { 0o444 } else { 0o666 };
                fs::set_permissions(entry.path(), fs::Permissions::from_mode(mode)).unwrap();
            }
            fs::set_permissions(&data, fs::Permissions::from_mode(0o555)).unwrap();
        }
        fs::set_permissions(data.parent().unwrap(), fs::Permissions::from_mode(0o555)).unwrap();
        let test = "faults::opens_and_says_what_came_of_it";
        let nobody = ["--reuid=65534", "--regid=65534", "--clear-groups", "--"];
        let mut command = if is_root() {
            child_through("setpriv", &nobody, test, "open", &data)
        } else {
            child_command(test, "open", &data)
        };
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            said.contains("=> Cairn's data folder cannot be written"),
            "{case}: {said}"
        );
        assert!(said.contains(data.to_str().unwrap()), "{case}: {said}");
        fs::set_permissions(data.parent().unwrap(), fs::Permissions::from_mode(0o755)).unwrap();
        if case != "missing" {
            fs::set_permissions(&data, fs::Permissions::from_mode(0o755)).unwrap();
            assert_eq!(
                Store::open(&data).unwrap().load(&id("s")).await.unwrap().last_seq,
                1
            );
        }
    }
}

#[tokio::test]
#[ignore = "the child process of other tests"]
async fn opens_and_says_what_came_of_it() {
    let Some((_, data)) = told() else { return };
    match Store::open(&data) {
        Ok(_) => println!("=> opened"),
        Err(error) => println!("=> {error}"),
    }
}

#[tokio::test]
async fn d1_r4_the_log_stays_bounded_while_text_streams() {
    let place = Place::new();
    let store = place.open();
    make(&store, "s", "p", 10).await;
    let log = place.folder.path().join("data/cairn.db-wal");
    let text = "x".repeat(100_000);
    let mut most = 0;
    for seq in 2..402 {
        store
            .append(vec![event("s", seq, said("i", &text))], Durability::Committed)
            .await
            .unwrap();
        most = most.max(fs::metadata(&log).unwrap().len());
    }
    assert!(
        most < 12 << 20,
        "40 MB were written; the log grew to {most} bytes"
    );
}

#[tokio::test]
async fn d2_deleted_sessions_give_their_space_back() {
    let place = Place::new();
    let store = place.open();
    make(&store, "s", "p", 10).await;
    let thought = ItemBody::Thinking {
        text: "some words ".repeat(20_000),
        data: None,
    };
    for seq in 2..40 {
        let thought = EventBody::ItemCompleted {
            item: item("i", thought.clone()),
        };
        let events = vec![event("s", seq, thought)];
        store.append(events, Durability::Committed).await.unwrap();
    }
    store.delete(&id("s")).await.unwrap();
    let path = store.path().to_owned();
    let db = rusqlite::Connection::open(&path).unwrap();
    db.execute("UPDATE sessions SET deleter_start = 'gone'", [])
        .unwrap();
    drop((store, db));
    let before = fs::metadata(&path).unwrap().len();
    assert!(before > 5 << 20, "{before}");
    drop(place.open());
    let after = fs::metadata(&path).unwrap().len();
    assert!(after < 1 << 20, "{before} bytes before, {after} after");
}
