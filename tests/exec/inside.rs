//! The model runs our own program through the shell: no rule, no trust, no settings, no key and no session of ours
//! changes. SPEC P5, P12.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use cairn_testkit::provider::Reply;
use serde_json::json;

use crate::{Bench, Ran};

/// Ways to make our own program do it: the words before its path, and after it.
const WAYS: &[(&str, &str)] = &[
    ("", "allow add 'run: touch'"),
    ("env -u CAIRN_INSIDE", "allow add 'run: touch'"),
    ("env -i PATH=$PATH CAIRN_HOME=$REAL", "allow add 'run: touch'"),
    ("env -i PATH=$PATH CAIRN_HOME=$REAL/.", "allow add 'run: touch'"),
    ("env -i PATH=$PATH CAIRN_HOME=$PWD/link", "allow add 'run: touch'"),
    (
        "env -i PATH=$PATH CAIRN_HOME=/proc/self/root$REAL",
        "allow add 'run: touch'",
    ),
    (
        "env -i PATH=$PATH HOME=$REAL XDG_CONFIG_HOME=$REAL XDG_DATA_HOME=$REAL XDG_STATE_HOME=$REAL",
        "allow add 'run: touch'",
    ),
    (
        "setsid -w env -i PATH=$PATH CAIRN_HOME=$REAL",
        "allow add 'run: touch'",
    ),
    ("env -i PATH=$PATH CAIRN_HOME=$REAL", "allow reset"),
    ("env -i PATH=$PATH CAIRN_HOME=$REAL", "config key set s --file"),
    (
        "env -i PATH=$PATH CAIRN_HOME=$REAL",
        "exec --trust --profile demo --approve all Hello",
    ),
    (
        "env -i PATH=$PATH CAIRN_HOME=$REAL",
        "exec --continue --profile demo --mode auto Hello",
    ),
    ("env -i PATH=$PATH CAIRN_HOME=$REAL", "sessions delete $SESSION"),
    // What works there is not ours.
    (
        "env -i PATH=$PATH CAIRN_HOME=$PWD/elsewhere",
        "allow add 'run: touch'",
    ),
    ("env -i PATH=$PATH", "--cairn-helper walls"),
    ("env -i PATH=$PATH CAIRN_HOME=$REAL", "--cairn-helper supervise"),
];

/// All of them, with the program where it lies and with a copy of it in the project.
fn script(bench: &Bench, session: &str) -> String {
    let mut text = format!(
        "REAL='{}'\nSESSION='{session}'\nln -sfn \"$REAL\" link\ncp '{}' copy\nset +e\n",
        bench.home.path().display(),
        env!("CARGO_BIN_EXE_cairn"),
    );
    for (before, after) in WAYS {
        for program in [env!("CARGO_BIN_EXE_cairn"), "./copy"] {
            text.push_str(&format!("echo key | timeout 20 {before} {program} {after}\n"));
        }
    }
    text + "echo 'all were tried'\n"
}

/// What holds for the person: rules, sessions, and every file of ours that is no log and no part of the database.
fn ours(bench: &Bench) -> (String, String, BTreeMap<String, String>) {
    let rules = bench.run(&["allow", "list"]);
    let sessions = bench.run(&["sessions", "list"]);
    let mut files = BTreeMap::new();
    collect(bench.home.path(), bench.home.path(), &mut files);
    files.retain(|name, _| {
        ["config.toml", "permissions.toml", "trust.toml", "keys", "secrets"]
            .iter()
            .any(|kept| name.contains(kept))
    });
    (rules.out, sessions.out, files)
}

fn collect(root: &Path, folder: &Path, files: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(root, &path, files);
        } else {
            let name = path.strip_prefix(root).unwrap().display().to_string();
            files.insert(name, std::fs::read_to_string(&path).unwrap_or_default());
        }
    }
}

/// Not beneath the temporary folder, in whose place commands see another one: nothing would be there to be changed.
fn bench(replies: Vec<Reply>) -> Bench {
    let mut bench = Bench::new(replies);
    let base = ["/var/tmp", "/dev/shm"]
        .into_iter()
        .find(|folder| tempfile::tempdir_in(folder).is_ok())
        .unwrap();
    let text = std::fs::read_to_string(bench.home.path().join("config.toml")).unwrap();
    bench.home = tempfile::tempdir_in(base).unwrap();
    bench.configure(&text);
    bench
}

fn session_of(bench: &Bench) -> String {
    let listed = bench.run(&["sessions", "list"]).out;
    listed.split_whitespace().next().unwrap_or_default().to_owned()
}

/// Runs all of it as a command of a session, in the walls that `put` lets the program find.
fn tries_in_vain(put: impl FnOnce(&Command) -> Option<Command>) {
    let shell = Reply::call("shell", json!({ "command": "sh attack.sh", "timeout": 600 }));
    let bench = bench(vec![Reply::text("Hello."), shell, Reply::text("Tried.")]);
    bench.run(&["exec", "Hello"]).ends(0, "");
    let session = session_of(&bench);
    std::fs::write(bench.project.root().join("attack.sh"), script(&bench, &session)).unwrap();
    let before = ours(&bench);
    let plain = bench.command(&["exec", "--continue", "--approve", "all", "Try"]);
    let Some(mut command) = put(&plain) else { return };
    command.current_dir(bench.project.root()).env_clear();
    for (name, value) in plain.get_envs() {
        command.env(name, value.unwrap());
    }
    Ran::of(command.output().unwrap()).ends(0, "1 command");
    let chats = bench.server.chats();
    let told = chats.last().unwrap().body.to_string();
    assert!(told.contains("all were tried"), "{told}");
    assert!(told.contains("This runs inside a command"), "{told}");
    let after = ours(&bench);
    assert_eq!((&after.0, &after.2), (&before.0, &before.2), "{told}");
    assert_eq!(after.1.lines().count(), before.1.lines().count(), "{}", after.1);
    assert!(after.1.contains(&session), "{}", after.1);
    assert_eq!(chats.len(), 3, "nobody else asked the model");
    std::fs::remove_file(bench.project.root().join("link")).unwrap();
}

#[test]
fn p12_our_own_program_changes_nothing_of_ours_within_the_best_walls() {
    tries_in_vain(|plain| {
        let mut command = program(plain.get_program());
        command.args(plain.get_args());
        Some(command)
    });
}

/// The program finds Landlock alone where there is no bubblewrap: bubblewrap itself puts it into such a machine.
#[test]
fn p12_our_own_program_changes_nothing_of_ours_within_landlock_alone() {
    tries_in_vain(|plain| {
        let bwrap = Path::new("/usr/bin/bwrap");
        let mut command = program(bwrap);
        command.args([
            "--dev-bind",
            "/",
            "/",
            "--ro-bind",
            "/dev/null",
            "/usr/bin/bwrap",
            "--",
        ]);
        let works = bwrap.is_file() && {
            let mut trial = program(bwrap);
            trial.args(["--dev-bind", "/", "/", "--", "/bin/true"]);
            trial.status().is_ok_and(|status| status.success())
        };
        if !works {
            eprintln!("NOT TESTED: bubblewrap does not work on this machine");
            return None;
        }
        command.arg(plain.get_program()).args(plain.get_args());
        Some(command)
    });
}

/// The same lines outside of any walls do what they say: what is tried in vain could have worked.
#[test]
fn p12_the_same_lines_without_walls_change_it() {
    let bench = bench(vec![Reply::text("Hello.")]);
    bench.run(&["exec", "Hello"]).ends(0, "");
    let session = session_of(&bench);
    std::fs::write(bench.project.root().join("attack.sh"), script(&bench, &session)).unwrap();
    let before = ours(&bench);
    let mut shell = program("/bin/sh");
    shell
        .arg("attack.sh")
        .current_dir(bench.project.root())
        .env_remove("CAIRN_INSIDE");
    assert!(shell.output().unwrap().status.success());
    let after = ours(&bench);
    assert!(!after.1.contains(&session), "{}", after.1);
    assert!(after.0 != before.0 || after.2 != before.2, "{after:?}");
}

#[test]
fn inside_a_command_our_program_opens_no_window_and_deletes_no_session() {
    let bench = bench(vec![Reply::text("Hello.")]);
    bench.run(&["exec", "Hello"]).ends(0, "");
    let session = session_of(&bench);
    for words in [&["sessions", "delete", session.as_str()][..], &[], &["."]] {
        let mut command = bench.command(words);
        command.env("CAIRN_INSIDE", "1").env("DISPLAY", ":99");
        Ran::of(command.output().unwrap()).ends(2, "inside a command that Cairn started");
    }
    bench.run(&["sessions", "list"]).ends(0, &session);
}

#[allow(clippy::disallowed_methods, reason = "a test starts the program it is about")]
fn program(path: impl AsRef<std::ffi::OsStr>) -> Command {
    Command::new(path)
}
