//! What is left when a supervisor and its keepers are killed is found by its mark, and nothing else is.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[path = "support/processes.rs"]
mod support;

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use cairn_exec::{Group, HelperProgram, Label, Ledger, Processes};
use rustix::process::{Pid, Signal, kill_process};
use support::*;
use tokio_util::sync::CancellationToken;

const SOON: Duration = Duration::from_secs(10);

fn kill(pid: u32, signal: Signal) {
    kill_process(Pid::from_raw(i32::try_from(pid).unwrap()).unwrap(), signal).unwrap();
}

fn notes(folder: &Path) -> Vec<std::path::PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// Runs a line until it prints, then kills the supervisor and all keepers before any of them can clean up.
async fn left_by(ledger: &Ledger, text: &str, mark: &str) -> Processes {
    let before = ledger.leftovers();
    let processes = Processes::recorded(HelperProgram::at(HELPER), ledger.clone());
    let group = Group::new(processes.clone(), |_| {});
    let begun = group.start(line(text, mark), Label::default()).await.unwrap();
    let printed = group
        .printed(&begun.handle, SOON, &CancellationToken::new())
        .await
        .unwrap();
    assert_eq!(printed.text, "up\n");
    // What an earlier one left may be dying meanwhile; nothing of this one may be among it.
    let is_old = |left: &cairn_protocol::Leftover| before.iter().any(|known| known.id == left.id);
    assert!(ledger.leftovers().iter().all(is_old), "its supervisor lives");
    let supervisor = processes.supervisor().await.unwrap();
    kill(supervisor, Signal::STOP);
    for keeper in children(supervisor) {
        kill(keeper, Signal::KILL);
    }
    kill(supervisor, Signal::KILL);
    assert!(within(SOON, || !is_there(supervisor)).await);
    processes
}

fn bystander(variables: &[(&str, &str)]) -> Child {
    #[allow(clippy::disallowed_methods, reason = "plays somebody else's process")]
    let mut command = std::process::Command::new("sleep");
    command
        .arg("300")
        .stdout(Stdio::null())
        .envs(variables.iter().copied());
    command.spawn().unwrap()
}

#[tokio::test]
async fn x63_what_a_killed_supervisor_left_is_found_and_ended_and_nothing_else_is() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = Ledger::new(folder.path().join("supervisors"));
    let forged = "0".repeat(32);
    let mut others = [
        bystander(&[]),
        bystander(&[("CAIRN_MARK", &forged)]),
        bystander(&[("CAIRN_MARK", "")]),
    ];
    let (plain, stubborn) = (mark(), mark());
    let first = left_by(&ledger, "setsid sleep 300 & echo up; wait", &plain).await;
    let text = "setsid sh -c 'trap \"\" TERM; echo up; sleep 301; sleep 302' & wait";
    let second = left_by(&ledger, text, &stubborn).await;

    let found = || {
        let mut commands: Vec<_> = ledger.leftovers().into_iter().map(|left| left.command).collect();
        commands.sort_unstable();
        commands
    };
    let expected = [
        "sh -c trap \"\" TERM; echo up; sleep 301; sleep 302",
        "sleep 300",
        "sleep 301",
    ];
    assert!(within(SOON, || found() == expected).await, "{:?}", found());
    let left = ledger.leftovers();
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap();
    for one in &left {
        let age = now.as_millis() as i64 - one.started_at;
        assert!((-2_000..60_000).contains(&age), "{one:?} is {age} ms old");
    }

    // Neither a wrong name nor an id of something else ends anything.
    let sleep = left.iter().find(|one| one.command == "sleep 300").unwrap();
    for wrong in [
        "",
        "1",
        "1-1",
        &format!("{}-1", sleep.pid),
        &format!("{}-{}", others[0].id(), 1),
    ] {
        assert!(!ledger.end(wrong), "{wrong}");
    }
    assert_eq!(ledger.leftovers().len(), 3);

    assert!(ledger.end(&sleep.id));
    assert!(alive(&plain).is_empty());
    assert!(!ledger.end(&sleep.id), "it is gone");
    assert!(
        !alive(&stubborn).is_empty(),
        "the other one is somebody's decision"
    );
    let shell = left.iter().find(|one| one.command.starts_with("sh ")).unwrap();
    let since = Instant::now();
    assert!(ledger.end(&shell.id));
    assert!(
        alive(&stubborn).is_empty(),
        "with what it started: {:?}",
        alive(&stubborn)
    );
    assert!(
        since.elapsed() < Duration::from_millis(3_500),
        "{:?}",
        since.elapsed()
    );
    assert_eq!(ledger.leftovers(), []);
    assert_eq!(
        notes(&folder.path().join("supervisors")),
        Vec::<std::path::PathBuf>::new()
    );
    for other in &mut others {
        assert!(other.try_wait().unwrap().is_none(), "a bystander was ended");
        other.kill().unwrap();
        other.wait().unwrap();
    }
    drop((first, second));
}

#[tokio::test]
async fn a_note_is_for_the_user_alone_and_goes_with_an_orderly_end() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("supervisors");
    let ledger = Ledger::new(&at);
    let processes = Processes::recorded(HelperProgram::at(HELPER), ledger.clone());
    run(&processes, "true").await;
    let [note] = notes(&at).try_into().unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&note), mode(&at)), (0o600, 0o700));
    processes.shutdown().await;
    assert!(within(SOON, || notes(&at).is_empty()).await);
}

#[tokio::test]
async fn notes_of_another_run_of_the_machine_or_of_nobody_end_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = Ledger::new(folder.path());
    let mark = "a".repeat(32);
    let mut bystander = bystander(&[("CAIRN_MARK", &mark)]);
    let note = folder.path().join(&mark);
    for (text, stays) in [
        (r#"{"boot":"another","pid":1,"started":1}"#, false),
        ("no note", true),
        ("", true),
    ] {
        std::fs::write(&note, text).unwrap();
        assert_eq!(ledger.leftovers(), [], "{text}");
        assert_eq!(note.exists(), stays, "{text}");
    }
    std::fs::write(folder.path().join("README"), "not ours").unwrap();
    assert_eq!(ledger.leftovers(), []);
    bystander.kill().unwrap();
    bystander.wait().unwrap();
}

#[tokio::test]
async fn after_kill_of_the_app_nothing_is_offered_and_the_note_goes() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = Ledger::new(folder.path());
    assert_eq!(ledger.leftovers(), [], "no folder, no notes");
    // A note of a supervisor that has ended and left nothing.
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let note = folder.path().join("b".repeat(32));
    std::fs::write(
        &note,
        format!(r#"{{"boot":"{}","pid":1,"started":1}}"#, boot.trim()),
    )
    .unwrap();
    assert_eq!(ledger.leftovers(), []);
    assert!(!note.exists());
}
