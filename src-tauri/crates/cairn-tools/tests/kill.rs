//! A process is killed in the middle of `edit_file`, `write_file`, `multi_edit`, `move_file` and `delete_file`: every
//! file is wholly old or wholly new, its mode stays, and the next start's sweep leaves no temporary file.
//!
//! A few kills in every run; `CAIRN_KILLS=1000 cargo nextest run -p cairn-tools --test kill --no-capture` for more.

// The whole crate is a test; clippy only knows functions marked as tests.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout
)]

#[path = "kill/session.rs"]
mod session;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::Permissions;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;

use cairn_agent::store::{BeforeImage, Journal, StoreError};
use cairn_files::hash;
use cairn_files::swap::{Recovered, Unfinished, is_temporary, recover};
use cairn_protocol::{BlobId, CallId, OutputId, SessionId};
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use session::Session;

/// Kills of every run; another number is named in the environment.
const KILLS: u64 = 20;
const COUNT: &str = "CAIRN_KILLS";
const FOLDER: &str = "CAIRN_TEST_TOOL_KILL_FOLDER";
/// Bytes of each file: enough for a write to take a while.
const SIZE: usize = 100_000;
/// The files that are edited, with their modes.
const EDITED: [(&str, u32); 3] = [("a", 0o640), ("b", 0o755), ("deep/c", 0o600)];

/// A journal in a file, as the store keeps it: what is planned is there before it happens.
struct Written(PathBuf);

impl Written {
    fn add(&self, line: &Value) {
        let mut file = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.0)
            .unwrap();
        file.write_all(format!("{line}\n").as_bytes()).unwrap();
    }
}

impl Journal for Written {
    fn before_change(&self, image: BeforeImage) -> BoxFuture<'_, Result<(), StoreError>> {
        self.add(&json!({
            "path": image.path,
            "temporary": image.temporary,
            "before": image.before.as_deref().map(hash::of_bytes),
            "after": image.after,
            "mode": image.mode,
        }));
        Box::pin(std::future::ready(Ok(())))
    }

    fn after_change(
        &self,
        _: CallId,
        path: PathBuf,
        happened: bool,
    ) -> BoxFuture<'_, Result<(), StoreError>> {
        self.add(&json!({ "end": path, "happened": happened }));
        Box::pin(std::future::ready(Ok(())))
    }

    fn put_blob(&self, _: Vec<u8>) -> BoxFuture<'_, Result<BlobId, StoreError>> {
        Box::pin(std::future::ready(Err(StoreError::Missing("blobs".into()))))
    }

    fn get_blob(&self, _: BlobId) -> BoxFuture<'_, Result<Vec<u8>, StoreError>> {
        Box::pin(std::future::ready(Err(StoreError::Missing("blobs".into()))))
    }

    fn put_output(&self, _: SessionId, _: String) -> BoxFuture<'_, Result<OutputId, StoreError>> {
        Box::pin(std::future::ready(Err(StoreError::Missing("outputs".into()))))
    }

    fn get_output(&self, _: SessionId, _: OutputId) -> BoxFuture<'_, Result<String, StoreError>> {
        Box::pin(std::future::ready(Err(StoreError::Missing("outputs".into()))))
    }
}

/// Uses the tools one after the other until it is killed. Runs only when started by the test below.
#[test]
fn child_that_uses_the_tools() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else {
        return;
    };
    let session = Session::new(&folder.join("p"), Arc::new(Written(folder.join("journal"))));
    let mut versions: Vec<String> = Vec::new();
    for (name, _) in EDITED {
        session.run("read_file", json!({ "path": name, "limit": 3 }));
        let text = std::fs::read_to_string(folder.join("p").join(name)).unwrap();
        versions.push(text.lines().next().unwrap().to_owned());
    }
    println!("ready");
    let body = |version: &str| format!("{version}\n{}\n", "new line of a file\n".repeat(SIZE / 19));
    for number in 0_u64.. {
        let at = number as usize % EDITED.len();
        let next = format!("version {} {number}", std::process::id());
        let edit = json!({ "old_string": versions[at], "new_string": next });
        if number % 2 == 0 {
            session.run(
                "edit_file",
                json!({ "path": EDITED[at].0, "old_string": versions[at], "new_string": next }),
            );
        } else {
            session.run("multi_edit", json!({ "path": EDITED[at].0, "edits": [edit] }));
        }
        let name = format!("new/{next}");
        session.run("write_file", json!({ "path": name, "content": body(&next) }));
        session.run(
            "write_file",
            json!({ "path": name, "content": body("overwritten") }),
        );
        session.run(
            "write_file",
            json!({ "path": name, "content": "the end\n", "append": true }),
        );
        session.run(
            "move_file",
            json!({ "from": name, "to": format!("moved/{next}") }),
        );
        session.run("delete_file", json!({ "path": format!("moved/{next}") }));
        versions[at] = next;
    }
}

#[test]
#[allow(clippy::disallowed_methods)] // A test may start itself again; what is tested starts nothing.
fn x27_a_killed_tool_leaves_the_old_or_the_new_file_whole() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    for (name, mode) in EDITED {
        let path = folder.join("p").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let body = "a line that stays as it is\n".repeat(SIZE / 27);
        std::fs::write(&path, format!("version 0 {name}\n{body}")).unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
    }
    let kills = std::env::var(COUNT).map_or(KILLS, |count| count.parse().unwrap());
    let mut counts = Counts::default();
    let mut random = 0x9E37_79B9_7F4A_7C15_u64;
    for _ in 0..kills {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["child_that_uses_the_tools", "--exact", "--nocapture"])
            .env(FOLDER, &folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        assert!(out.lines().any(|line| line.unwrap().contains("ready")));
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        // The kill follows what the child has come to, not the clock, so that a busy machine tests the same: a few
        // lines of the journal, each written just before or after a change, and then a moment of random length.
        await_lines(&folder, 1 + random % 14, &mut child);
        for _ in 0..random % 100_000 {
            std::hint::spin_loop();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        check(&folder, &mut counts);
    }
    println!("{kills} kills: {counts:?}");
    assert!(
        counts.changes > kills,
        "hardly anything was changed: the test proves nothing"
    );
}

/// Waits until the journal has that many lines.
fn await_lines(folder: &Path, lines: u64, child: &mut std::process::Child) {
    let journal = folder.join("journal");
    loop {
        let have = std::fs::read_to_string(&journal).unwrap_or_default();
        if have.matches('\n').count() as u64 >= lines {
            return;
        }
        assert!(child.try_wait().unwrap().is_none(), "the child ended by itself");
        std::thread::yield_now();
    }
}

/// What was found over all kills.
#[derive(Debug, Default)]
struct Counts {
    changes: u64,
    unfinished: u64,
    happened: u64,
    temporary_files_swept: u64,
}

/// The next start: what was begun is swept, and then everything is as the journal says.
fn check(folder: &Path, counts: &mut Counts) {
    let project = folder.join("p");
    let journal = std::fs::read_to_string(folder.join("journal")).unwrap_or_default();
    let mut open: Vec<Value> = Vec::new();
    // What each file may be now: none when it may be missing.
    let mut may_be: BTreeMap<String, BTreeSet<Option<String>>> = BTreeMap::new();
    let text = |value: &Value| value.as_str().map(ToOwned::to_owned);
    for line in journal.lines() {
        // The last line may be cut off; then its change had not begun.
        let Ok(line) = serde_json::from_str::<Value>(line) else {
            continue;
        };
        if let Some(path) = text(&line["end"]) {
            let at = open
                .iter()
                .position(|begun| begun["path"] == json!(path))
                .unwrap();
            let begun = open.remove(at);
            assert_eq!(line["happened"], json!(true));
            may_be.insert(path, [text(&begun["after"])].into());
            counts.changes += 1;
        } else {
            let either = [text(&line["before"]), text(&line["after"])];
            may_be.insert(text(&line["path"]).unwrap(), either.into());
            open.push(line);
        }
    }
    let before = temporary_files(&project);
    assert!(before.len() <= 1, "{before:?}");
    for begun in &open {
        counts.unfinished += 1;
        let [path, temporary] = ["path", "temporary"].map(|key| PathBuf::from(text(&begun[key]).unwrap()));
        let change = Unfinished {
            path: &path,
            temporary: Some(&temporary),
            before: begun["before"].as_str(),
            after: begun["after"].as_str(),
        };
        let swept = recover(&change).unwrap();
        assert_eq!(swept.kept, None);
        assert_ne!(swept.found, Recovered::Changed, "{begun}");
        counts.happened += u64::from(swept.found == Recovered::Happened);
    }
    counts.temporary_files_swept += before.len() as u64;
    assert_eq!(temporary_files(&project), Vec::<PathBuf>::new());
    for (path, allowed) in &may_be {
        let now = std::fs::read(path).ok().map(|bytes| hash::of_bytes(&bytes));
        assert!(
            allowed.contains(&now),
            "{path} is neither the old nor the new file"
        );
    }
    for (name, mode) in EDITED {
        assert_eq!(
            std::fs::metadata(project.join(name)).unwrap().mode() & 0o7777,
            mode,
            "{name}"
        );
    }
    for name in ["new", "moved"] {
        std::fs::remove_dir_all(project.join(name)).ok();
    }
    std::fs::remove_file(folder.join("journal")).ok();
}

fn temporary_files(project: &Path) -> Vec<PathBuf> {
    ["", "deep", "new", "moved"]
        .iter()
        .filter_map(|name| std::fs::read_dir(project.join(name)).ok())
        .flatten()
        .map(|entry| entry.unwrap())
        .filter(|entry| is_temporary(&entry.file_name()))
        .map(|entry| entry.path())
        .collect()
}
