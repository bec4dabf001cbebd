//! How commands end, and that nothing of them stays.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking and tells its figures"
)]

#[path = "support/processes.rs"]
mod support;

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use cairn_exec::ExecError;
use cairn_protocol::CommandEnd;
use futures_util::StreamExt as _;
use rustix::process::{Pid, Signal, kill_process};
use support::*;

/// The tree is dead this long after Stop or the limit. SPEC T21.
const DEAD: Duration = Duration::from_millis(2500);

/// Stop is answered within 200 ms; the rest is for a machine that does many other things. Were a stubborn command
/// waited for, it would be 2 s.
const ANSWERED: Duration = Duration::from_millis(200 + 250);

/// Lines that do not want to end; each prints `up` once all of it runs.
const STUBBORN: &[&str] = &[
    "echo up; sleep 60",
    "(sleep 60 &); echo up; sleep 60",
    "trap '' TERM; echo up; while :; do sleep 1; done",
    "setsid sleep 60 & echo up; wait",
    "setsid sh -c 'while :; do echo x; sleep 1; done' & echo up; wait",
    "(setsid sh -c 'trap \"\" TERM HUP; sleep 60 & sleep 60' &); echo up; sleep 60",
    "nohup sleep 60 >/dev/null 2>&1 & echo up; wait",
    "sh -c 'sh -c \"sh -c \\\"trap : TERM; sleep 60; sleep 60\\\"\"' & echo up; wait",
    "f=$(mktemp -u); mkfifo $f; (while :; do echo x >$f; sleep 0.2; done) & echo up; while :; do cat $f >/dev/null; done",
    "sleep 60 & kill -STOP $!; echo up; wait",
    "(trap '' TERM; while :; do (sleep 0.05) & sleep 0.02; done) & echo up; wait",
    "yes",
];

/// Runs a line and stops it once it prints; answers how it ended and how long that took.
async fn stop(processes: &cairn_exec::Processes, text: &str, mark: &str) -> (cairn_exec::Finished, Duration) {
    let spec = line(text, mark);
    let cancel = spec.cancel.clone();
    let mut stopped = None;
    let finished = processes
        .run(spec, |_| {
            stopped.get_or_insert_with(Instant::now);
            cancel.cancel();
        })
        .await
        .unwrap();
    (finished, stopped.unwrap().elapsed())
}

#[tokio::test(flavor = "multi_thread")]
async fn s5_stop_is_answered_at_once_and_leaves_nothing() {
    for text in STUBBORN {
        let processes = processes();
        let mark = mark();
        let (finished, answered) = stop(&processes, text, &mark).await;
        let since = Instant::now();
        assert_eq!(finished.end, CommandEnd::Stopped, "{text}");
        assert!(
            within(DEAD, || alive(&mark).is_empty()).await,
            "{text}: {:?} left",
            alive(&mark)
        );
        println!(
            "stopped, answered {answered:>12?}, dead {:>12?} later: {text}",
            since.elapsed()
        );
        assert!(answered <= ANSWERED, "{text}: answered after {answered:?}");
        processes.settled().await;
        assert!(
            since.elapsed() <= DEAD,
            "{text}: settled only after {:?}",
            since.elapsed()
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn x62_s1_s2_the_time_limit_ends_all_of_it() {
    let runs = STUBBORN.iter().map(|text| async move {
        let processes = processes();
        // The time that the supervisor needs to start is not the command's.
        run(&processes, "true").await;
        let mark = mark();
        let mut spec = line(text, &mark);
        spec.limit = Some(Duration::from_secs(1));
        let since = Instant::now();
        let finished = processes.run(spec, |_| {}).await.unwrap();
        let answered = since.elapsed();
        assert_eq!(finished.end, CommandEnd::TimedOut, "{text}");
        assert!(
            within(DEAD, || alive(&mark).is_empty()).await,
            "{text}: {:?} left",
            alive(&mark)
        );
        println!(
            "limit 1 s, answered after {answered:?}, dead after {:?}: {text}",
            since.elapsed()
        );
        // Generous, because the machine may be busy; were a stubborn command waited for, it would be 3 s.
        assert!(
            answered <= Duration::from_millis(2800),
            "{text}: answered after {answered:?}"
        );
    });
    // Some of them keep a processor busy, so only a few run at the same time.
    futures_util::stream::iter(runs)
        .buffer_unordered(3)
        .collect::<Vec<()>>()
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn x61_ten_gigabytes_stay_bounded_and_are_stopped_at_once() {
    const SEEN: u64 = 100 << 20;
    let processes = processes();
    run(&processes, "true").await;
    let (own, supervisor) = (std::process::id(), processes.supervisor().await.unwrap());
    let memory = || kilobytes(own, "VmHWM") + kilobytes(supervisor, "VmHWM");
    let before = memory();
    let mark = mark();
    let mut spec = line("yes | head -c 10G", &mark);
    spec.limit = Some(Duration::from_mins(5));
    let cancel = spec.cancel.clone();
    let mut stopped = None;
    let finished = processes.run(spec, |live| {
        if live.offset > SEEN {
            stopped.get_or_insert_with(Instant::now);
            cancel.cancel();
        }
    });
    let finished = finished.await.unwrap();
    let answered = stopped.unwrap().elapsed();
    let grown = memory() - before;
    println!(
        "`yes | head -c 10G`: after {} MB +{grown} kB, Stop answered after {answered:?}",
        SEEN >> 20
    );
    assert_eq!(finished.end, CommandEnd::Stopped);
    assert!(grown <= 32 << 10, "grew by {grown} kB");
    assert!(answered <= ANSWERED, "answered after {answered:?}");
    assert!(within(DEAD, || alive(&mark).is_empty()).await);
}

#[tokio::test]
async fn what_a_command_says_when_it_is_ended_is_kept() {
    let text = "trap 'echo bye; exit 3' TERM; echo up; while :; do sleep 0.01; done";
    let (finished, _) = stop(&processes(), text, &mark()).await;
    let text = finished.output.text();
    // Between them bash may say that its own `sleep` was terminated.
    assert!(text.starts_with("up\n") && text.ends_with("bye\n"), "{text:?}");
}

#[tokio::test]
async fn s3_a_child_that_keeps_the_pipe_does_not_hold_the_call() {
    for (text, printed) in [
        ("nohup sleep 300 & echo up", "up\n"),
        ("(setsid sleep 300 &); echo up", "up\n"),
        ("sleep 300 >/dev/null 2>&1 & echo up", "up\n"),
        (
            "(while :; do echo x; sleep 0.01; done) & sleep 300 & echo up; exit 0",
            "up\n",
        ),
    ] {
        let processes = processes();
        let mark = mark();
        let finished = processes.run(line(text, &mark), |_| {}).await.unwrap();
        assert_eq!(finished.end, CommandEnd::Exited { code: 0 }, "{text}");
        assert!(finished.output.text().contains(printed), "{text}");
        assert!(
            finished.elapsed < Duration::from_secs(5),
            "{text}: {:?}",
            finished.elapsed
        );
        let named: Vec<_> = finished
            .survivors
            .iter()
            // On a busy machine the shell's child has not become `sleep` yet.
            .filter(|one| one.command.contains("sleep 300"))
            .collect();
        assert!(!named.is_empty(), "{text}: {:?}", finished.survivors);
        assert!(alive(&mark).contains(&named[0].pid), "{text}: it was ended");
        // It does not keep the next command from running, and it ends with the app.
        assert_eq!(run(&processes, "echo next").await.output.text(), "next\n");
        processes.shutdown().await;
        assert!(alive(&mark).is_empty(), "{text}");
    }
}

#[tokio::test]
async fn children_that_end_with_the_shell_are_no_survivors() {
    let processes = processes();
    for text in ["true & true", "(exit 0) & echo x | cat", "sleep 0.005 & echo x"] {
        assert_eq!(run(&processes, text).await.survivors, [], "{text}");
    }
}

#[tokio::test]
async fn stopping_one_command_leaves_others_alone() {
    let processes = processes();
    let (mark, other) = (mark(), mark());
    let goes_on = processes.run(line("echo up; sleep 0.5; echo done", &other), |_| {});
    let (finished, (stopped, _)) = tokio::join!(
        goes_on,
        stop(&processes, "setsid sleep 60 & echo up; wait", &mark)
    );
    assert_eq!(stopped.end, CommandEnd::Stopped);
    assert_eq!(finished.unwrap().output.text(), "up\ndone\n");
}

#[tokio::test]
async fn dropping_the_call_ends_the_command() {
    let processes = processes();
    let mark = mark();
    let (said, mut says) = tokio::sync::mpsc::unbounded_channel();
    tokio::select! {
        _ = processes.run(line("setsid sleep 60 & echo up; wait", &mark), |_| said.send(()).unwrap()) => unreachable!(),
        _ = says.recv() => {}
    }
    assert!(within(DEAD, || alive(&mark).is_empty()).await);
    processes.settled().await;
}

#[tokio::test]
async fn the_next_command_waits_until_a_stopped_one_is_dead() {
    let processes = processes();
    let mark = mark();
    stop(
        &processes,
        "trap '' TERM; echo up; while :; do sleep 0.1; done",
        &mark,
    )
    .await;
    assert!(
        !alive(&mark).is_empty(),
        "it has to be alive for this test to say anything"
    );
    run(&processes, "true").await;
    assert!(alive(&mark).is_empty());
}

#[tokio::test]
async fn a_cancelled_command_is_never_started() {
    let mark = mark();
    let spec = line("touch /tmp/$TEST_MARK", &mark);
    spec.cancel.cancel();
    let finished = processes().run(spec, |_| {}).await.unwrap();
    assert_eq!(finished.end, CommandEnd::Stopped);
    assert!(!std::path::Path::new("/tmp").join(&mark).exists());
}

#[tokio::test]
async fn after_the_shutdown_nothing_is_started() {
    let processes = processes();
    run(&processes, "true").await;
    let supervisor = processes.supervisor().await.unwrap();
    processes.shutdown().await;
    assert!(!is_there(supervisor));
    assert_eq!(
        processes.run(line("true", &mark()), |_| {}).await.unwrap_err(),
        ExecError::Closed
    );
}

#[tokio::test]
async fn dropping_everything_ends_everything() {
    let mark = mark();
    let processes = processes();
    run(&processes, "true").await;
    let supervisor = processes.supervisor().await.unwrap();
    processes
        .run(line("setsid sleep 300 & exit 0", &mark), |_| {})
        .await
        .unwrap();
    assert_eq!(alive(&mark).len(), 1);
    drop(processes);
    assert!(within(DEAD, || alive(&mark).is_empty() && !is_there(supervisor)).await);
}

fn kill(pid: u32) {
    kill_process(Pid::from_raw(i32::try_from(pid).unwrap()).unwrap(), Signal::KILL).unwrap();
}

/// Starts the program that plays the app.
fn app(text: &str, mark: &str) -> Child {
    #[allow(clippy::disallowed_methods, reason = "plays the person who starts the app")]
    std::process::Command::new(HELPER)
        .args(["app", text])
        .env("TEST_MARK", mark)
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

#[tokio::test]
async fn kill_of_the_app_leaves_nothing_alive() {
    for text in STUBBORN {
        let ready = tempfile::NamedTempFile::new().unwrap();
        let mark = mark();
        let text = text.replace("echo up", &format!("echo up >{}", ready.path().display()));
        let mut app = app(&text, &mark);
        let is_up =
            || ready.as_file().metadata().unwrap().len() > 0 || (text == "yes" && alive(&mark).len() > 1);
        assert!(within(Duration::from_secs(10), is_up).await, "{text}");
        let supervisors = children(app.id());
        assert_eq!(supervisors.len(), 1, "{text}");
        app.kill().unwrap();
        app.wait().unwrap();
        let since = Instant::now();
        assert!(
            within(DEAD, || alive(&mark).is_empty()).await,
            "{text}: {:?} left",
            alive(&mark)
        );
        let gone = || !is_there(supervisors[0]);
        assert!(within(DEAD, gone).await, "{text}: the supervisor is still there");
        println!("app killed, all gone {:?} later: {text}", since.elapsed());
    }
}

#[tokio::test]
async fn kill_of_the_supervisor_leaves_nothing_alive_and_another_one_takes_over() {
    let processes = processes();
    run(&processes, "true").await;
    let mark = mark();
    let supervisor = processes.supervisor().await.unwrap();
    let text = "(setsid sh -c 'trap \"\" TERM HUP; sleep 60 & sleep 60' &); echo up; sleep 60";
    let lost = processes
        .run(line(text, &mark), |_| kill(supervisor))
        .await
        .unwrap_err();
    assert_eq!(lost, ExecError::HelperLost);
    assert!(
        within(DEAD, || alive(&mark).is_empty()).await,
        "{:?} left",
        alive(&mark)
    );
    assert_eq!(run(&processes, "echo again").await.output.text(), "again\n");
}

#[tokio::test]
async fn a_command_that_kills_its_keeper_only_ends_itself() {
    let processes = processes();
    let mark = mark();
    let text = "(setsid sleep 60 &); sleep 60 & kill -KILL $PPID; sleep 60";
    let finished = processes.run(line(text, &mark), |_| {}).await.unwrap();
    assert_eq!(finished.end, CommandEnd::Interrupted);
    assert!(
        within(DEAD, || alive(&mark).is_empty()).await,
        "{:?} left",
        alive(&mark)
    );
    assert_eq!(run(&processes, "echo next").await.output.text(), "next\n");
}
