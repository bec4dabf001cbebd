//! What a running window leaves open to others: ports, files, keys. SPEC W2, A7; cases L03, L06, W27.

use std::collections::{HashMap, HashSet};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use cairn_testkit::TempProject;
use cairn_testkit::provider::{Reply, Script};
use serde_json::json;
use tempfile::TempDir;

use crate::app::{App, COMPOSER, Owned, PROGRAM, Setup, button, command, kill, pids, session_bus};
use crate::asking::request;
use crate::closing::is_shown;
use crate::driver::until;

/// A process and all that came of it.
pub(crate) fn family(of: u32) -> Vec<u32> {
    let parents: HashMap<u32, u32> = pids()
        .into_iter()
        .filter_map(|pid| {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            let parent = stat.rsplit(')').next()?.split_whitespace().nth(1)?.parse().ok()?;
            Some((pid, parent))
        })
        .collect();
    let mut family = vec![of];
    let mut at = 0;
    while let Some(parent) = family.get(at).copied() {
        family.extend(
            parents
                .iter()
                .filter(|(_, of)| **of == parent)
                .map(|(pid, _)| *pid),
        );
        at += 1;
    }
    family
}

/// Ports at which these processes take connections or datagrams: what `ss -ltnup` shows of them.
fn ports(of: &[u32]) -> Vec<String> {
    let mut sockets = HashSet::new();
    for pid in of {
        for file in std::fs::read_dir(format!("/proc/{pid}/fd"))
            .into_iter()
            .flatten()
            .flatten()
        {
            let target = std::fs::read_link(file.path()).unwrap_or_default();
            let inode = target
                .to_string_lossy()
                .strip_prefix("socket:[")
                .map(|rest| rest.trim_end_matches(']').to_owned());
            sockets.extend(inode);
        }
    }
    let mut found = Vec::new();
    for (table, listens) in [("tcp", "0A"), ("tcp6", "0A"), ("udp", "07"), ("udp6", "07")] {
        let table_text = std::fs::read_to_string(format!("/proc/net/{table}")).unwrap_or_default();
        for line in table_text.lines().skip(1) {
            let fields: Vec<&str> = line.split_whitespace().collect();
            if fields.get(3) == Some(&listens) && fields.get(9).is_some_and(|inode| sockets.contains(*inode))
            {
                let port = fields[1].rsplit(':').next().unwrap_or_default();
                found.push(format!("{table} {}", u16::from_str_radix(port, 16).unwrap()));
            }
        }
    }
    found
}

/// A command that says that it has begun and waits to be let go.
fn waiting(before: &str) -> Reply {
    let line = format!("{before}; touch started; until [ -e go ]; do sleep 0.1; done");
    Reply::call("shell", json!({ "command": line }))
}

fn started(app: &App) {
    until("the command", || {
        app.project
            .text("started")
            .map(drop)
            .map_err(|error| error.to_string())
    });
}

#[test]
fn l03_nothing_listens_while_a_session_works() {
    let own = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let seen = format!("tcp {}", own.local_addr().unwrap().port());
    assert!(
        ports(&[std::process::id()]).contains(&seen),
        "a port that is open is found"
    );
    let replies = vec![
        Reply::call("read_file", json!({ "path": "docs/axis.png" })),
        waiting("true"),
        Reply::text("All done."),
    ];
    let picture: &[u8] = include_bytes!("axis.png");
    let app = App::start(&[("docs/axis.png", picture)], replies);
    app.say("Work");
    app.card("Run this command?");
    app.driver.click(&button("Allow once"));
    started(&app);
    let pid = app.pid();
    let family = family(pid);
    assert!(
        family.len() > 4,
        "the page's processes and the command are among {family:?}"
    );
    // The driver's own door, which only it opens: `w27` holds that.
    let driver = format!("tcp {}", app.inspector_port());
    assert_eq!(ports(&family), [driver]);
    app.project.write("go", "").unwrap();
    app.driver.wait_for("//*[contains(., 'All done.')]");
}

/// Starts the program as a person does who has these variables set, and waits for its window.
fn plain_start(variables: &[(&str, &str)]) -> (u32, impl Sized + use<>) {
    let home = TempDir::new().unwrap();
    let project = TempProject::new([("README.md", "# Here")]).unwrap();
    let bus = session_bus();
    let child = command(PROGRAM)
        .arg(project.root())
        .env("CAIRN_HOME", home.path())
        .env("DBUS_SESSION_BUS_ADDRESS", &bus.1)
        .env_remove("TAURI_WEBVIEW_AUTOMATION")
        .envs(variables.iter().copied())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let pid = child.id();
    let owned = Owned(child);
    until("the window", || {
        if is_shown(pid) { Ok(()) } else { Err(String::new()) }
    });
    (pid, (owned, bus, home, project))
}

#[test]
fn w27_l03_no_variable_opens_a_window_to_other_programs() {
    let free = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let door = format!("127.0.0.1:{port}");
    for variable in ["WEBKIT_INSPECTOR_SERVER", "WEBKIT_INSPECTOR_HTTP_SERVER"] {
        let (pid, _alive) = plain_start(&[(variable, &door), ("KEPT", "kept")]);
        until("the page's processes", || {
            let names: Vec<String> = family(pid)
                .iter()
                .map(|pid| std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default())
                .collect();
            if names.iter().any(|name| name.starts_with("WebKitWeb")) {
                Ok(())
            } else {
                Err(format!("{names:?}"))
            }
        });
        assert_eq!(ports(&family(pid)), Vec::<String>::new(), "{variable}");
        assert!(TcpStream::connect(&door).is_err(), "{variable} opened {door}");
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap();
        let environment = String::from_utf8_lossy(&environment).into_owned();
        assert!(
            !environment.contains(variable) && environment.contains("KEPT=kept"),
            "only that is gone"
        );
    }
    // The inspector of a release is a feature of the toolkit that is not built in.
    let manifest = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml")).unwrap();
    let toolkit = manifest
        .lines()
        .find(|line| line.starts_with("tauri = "))
        .unwrap();
    assert!(!toolkit.contains("devtools"), "{toolkit}");
}

const KEY: &str = "sk-test-CANARY-7f3a9c0b1d";
const OTHER: &str = "sk-test-CANARY-env-55aa55aa";
/// Stands beside the key wherever it could come to: what finds this would find the key.
const ORDINARY: &str = "ordinary-words-beside-it";

#[test]
fn l06_a_key_that_was_used_is_found_nowhere_afterwards_and_every_file_is_for_the_user_alone() {
    let notes = format!("{ORDINARY} {KEY} {OTHER}\n");
    let replies = vec![
        Reply::call("read_file", json!({ "path": "notes.txt" })),
        waiting("cat notes.txt; env; cat /proc/$PPID/environ; cat /proc/self/environ")
            .and_call("grep", json!({ "pattern": "ordinary" })),
        Reply::text(&format!("The key is {KEY}, and {ORDINARY}.")),
        Reply::error(401, &format!("Incorrect API key provided: {KEY} ({ORDINARY})")).header("x-echo", KEY),
    ];
    let mut script = Script::new(replies);
    script.side = Some(Reply::text(&format!("About {KEY}")));
    let app = App::start_with(Setup {
        script,
        files: vec![("notes.txt".to_owned(), notes.into_bytes())],
        before: Box::new(|_| {
            vec![
                "env".to_owned(),
                format!("OPENAI_API_KEY={OTHER}"),
                "CAIRN_LOG=trace".to_owned(),
            ]
        }),
        ..Setup::new(vec![])
    });
    app.driver.wait_for(COMPOSER);
    let keep = json!({ "profile": "scripted", "key": KEY, "keep": "session" });
    request(&app.driver, "key/set", &keep).unwrap();
    app.say("Look at the notes");
    app.card("Run this command?");
    app.driver.click(&button("Allow once"));
    started(&app);
    let pid = app.pid();
    for child in family(pid).into_iter().skip(1) {
        let name = std::fs::read_to_string(format!("/proc/{child}/comm")).unwrap_or_default();
        let environment = std::fs::read(format!("/proc/{child}/environ")).unwrap_or_default();
        assert!(!holds(&environment, "CANARY"), "in the environment of {name}");
    }
    app.project.write("go", "").unwrap();
    app.shows(&[ORDINARY]);
    app.say("And now?");
    app.shows(&["The key was refused"]);
    let chats = app.server.chats();
    assert!(
        chats.iter().any(|chat| chat
            .header("authorization")
            .is_some_and(|header| header.contains(KEY))),
        "the key was used"
    );
    let page = app
        .driver
        .run("return document.documentElement.outerHTML")
        .to_string();
    assert!(page.contains(ORDINARY) && !page.contains("CANARY"), "on the page");
    assert!(
        app.asked().iter().all(|body| !body.contains("CANARY")),
        "sent to the model"
    );
    kill(pid);
    let said = told(app.home.path(), &app.project);
    assert!(
        said.contains("Look at the notes") && !said.contains("CANARY"),
        "in what the command tells: {said}"
    );
    let mut found = Vec::new();
    let mut ordinary = 0;
    for (what, bytes) in everything(app.home.path()) {
        if holds(&bytes, "CANARY") {
            found.push(what);
        }
        ordinary += usize::from(holds(&bytes, ORDINARY));
    }
    assert_eq!(found, Vec::<String>::new());
    assert!(ordinary > 2, "what stands beside it is found");
    private(app.home.path());
}

fn holds(bytes: &[u8], words: &str) -> bool {
    bytes.windows(words.len()).any(|part| part == words.as_bytes())
}

/// What the command in the terminal says of the session and of the installation.
fn told(home: &Path, project: &TempProject) -> String {
    let cairn = Path::new(PROGRAM).with_file_name("cairn");
    let run = |arguments: &[&str]| {
        let ran = command(cairn.to_str().unwrap())
            .args(arguments)
            .env("CAIRN_HOME", home)
            .env("OPENAI_API_KEY", OTHER)
            .current_dir(project.root())
            .output()
            .unwrap();
        format!(
            "{}{}",
            String::from_utf8_lossy(&ran.stdout),
            String::from_utf8_lossy(&ran.stderr)
        )
    };
    let list = run(&["sessions", "list"]);
    let id = list.split_whitespace().next().unwrap_or_default().to_owned();
    [list, run(&["sessions", "show", &id]), run(&["doctor"])].concat()
}

/// Every file below a folder as it is, what is compressed in them unpacked, and every value of every table.
fn everything(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for path in files(folder) {
        let bytes = std::fs::read(&path).unwrap();
        let name = path.strip_prefix(folder).unwrap().display().to_string();
        if path.extension().is_some_and(|kind| kind == "db") {
            all.extend(
                values(&path)
                    .into_iter()
                    .map(|(table, value)| (format!("{name}: {table}"), unpacked(value))),
            );
        }
        all.push((name, unpacked(bytes)));
    }
    all
}

fn unpacked(bytes: Vec<u8>) -> Vec<u8> {
    if bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        zstd::decode_all(bytes.as_slice()).unwrap()
    } else {
        bytes
    }
}

fn values(database: &Path) -> Vec<(String, Vec<u8>)> {
    let database = rusqlite::Connection::open(database).unwrap();
    let mut tables = database
        .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'")
        .unwrap();
    let tables: Vec<String> = tables
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let mut found = Vec::new();
    for table in tables {
        let mut all = database.prepare(&format!("SELECT * FROM \"{table}\"")).unwrap();
        let columns = all.column_count();
        let mut rows = all.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            for column in 0..columns {
                let value = row.get_ref(column).unwrap();
                let bytes = match value {
                    rusqlite::types::ValueRef::Text(bytes) | rusqlite::types::ValueRef::Blob(bytes) => {
                        bytes.to_vec()
                    }
                    _ => continue,
                };
                found.push((table.clone(), bytes));
            }
        }
    }
    assert!(found.len() > 50, "the tables were read");
    found
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            match entry.file_type().unwrap() {
                kind if kind.is_dir() => folders.push(entry.path()),
                kind if kind.is_file() => found.push(entry.path()),
                _ => {}
            }
        }
    }
    found
}

/// Files 0600, folders 0700; what the test wrote itself excepted.
fn private(home: &Path) {
    let mut wrong = Vec::new();
    let mut folders: HashSet<PathBuf> = HashSet::new();
    let all = files(home);
    for path in &all {
        folders.extend(
            path.ancestors()
                .skip(1)
                .take_while(|folder| folder.starts_with(home))
                .map(Path::to_owned),
        );
        let mode = std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        // What stands in for hidden files is nobody's.
        let fine = mode == 0o600 || (mode == 0 && path.ends_with("sandbox/blank"));
        if !fine && !path.ends_with("config.toml") {
            wrong.push(format!("{} {mode:o}", path.display()));
        }
    }
    for folder in &folders {
        let mode = std::fs::metadata(folder).unwrap().permissions().mode() & 0o777;
        if mode != 0o700 {
            wrong.push(format!("{} {mode:o}", folder.display()));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert!(all.len() > 5 && folders.len() > 3, "{all:?}");
}
