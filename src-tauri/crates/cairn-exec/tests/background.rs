//! Commands with a name: in the background, moved there, given more time, ended, and looked at.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking and tells its figures"
)]

#[path = "support/processes.rs"]
mod support;

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use cairn_exec::{ExecError, Facts, Group, Label, Printed, Ran};
use cairn_protocol::{CommandEnd, ProcessPlace, ProcessState};
use support::*;
use tokio_util::sync::CancellationToken;

/// Nothing of a command is left so long after its end.
const DEAD: Duration = Duration::from_millis(2500);

/// How long anything may take that happens at once on a machine that is not busy.
const SOON: Duration = Duration::from_secs(10);

const EXITED: ProcessState = ProcessState::Ended {
    end: CommandEnd::Exited { code: 0 },
};

const STOPPED: ProcessState = ProcessState::Ended {
    end: CommandEnd::Stopped,
};

/// A group and all that it said about its commands.
struct Watched {
    group: Group,
    said: Arc<Mutex<Vec<Facts>>>,
}

fn watched(silence: Duration) -> Watched {
    let said = Arc::new(Mutex::new(Vec::new()));
    let hears = Arc::clone(&said);
    let changed = move |facts: &Facts| hears.lock().unwrap().push(facts.clone());
    Watched {
        group: Group::with_silence(processes(), changed, silence),
        said,
    }
}

fn group() -> Group {
    Group::new(processes(), |_| {})
}

fn label(text: &str) -> Label {
    Label {
        command: text.to_owned(),
        tag: "call".to_owned(),
    }
}

async fn start(group: &Group, text: &str, mark: &str) -> Facts {
    let mut spec = line(text, mark);
    spec.limit = None;
    group.start(spec, label(text)).await.unwrap()
}

/// What is new, waited for as long as it takes.
async fn news(group: &Group, handle: &str) -> Printed {
    group
        .printed(handle, SOON, &CancellationToken::new())
        .await
        .unwrap()
}

/// What is new right now.
async fn now(group: &Group, handle: &str) -> Printed {
    group
        .printed(handle, Duration::ZERO, &CancellationToken::new())
        .await
        .unwrap()
}

/// A FIFO that holds a command until the test writes into it. For one reader: what lets the first go on would still hold
/// it open for a second.
struct Gate {
    _folder: tempfile::TempDir,
    path: String,
}

impl Gate {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gate");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &path,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        Self {
            path: path.to_str().unwrap().to_owned(),
            _folder: folder,
        }
    }

    /// Lets the command go on; waits until it reads.
    async fn open(&self) {
        let path = self.path.clone();
        tokio::task::spawn_blocking(move || std::fs::write(path, "go\n").unwrap())
            .await
            .unwrap();
    }
}

#[tokio::test]
async fn x63_first_the_new_then_only_newer_then_the_code() {
    let group = group();
    let (gate, last, mark) = (Gate::new(), Gate::new(), mark());
    let text = format!(
        "echo one; read x <{}; echo two; read x <{}; exit 3",
        gate.path, last.path
    );
    let begun = start(&group, &text, &mark).await;
    assert_eq!(
        (begun.handle.as_str(), begun.place, &begun.state),
        ("p1", ProcessPlace::Background, &ProcessState::Running)
    );
    assert!(alive(&mark).contains(&begun.pid.unwrap()));

    let first = news(&group, "p1").await;
    assert_eq!(
        (first.text.as_str(), first.facts.state),
        ("one\n", ProcessState::Running)
    );
    assert_eq!(now(&group, "p1").await.text, "");
    gate.open().await;
    let second = news(&group, "p1").await;
    assert_eq!(second.text, "two\n");
    last.open().await;
    let last = news(&group, "p1").await;
    assert_eq!(last.text, "");
    let end = CommandEnd::Exited { code: 3 };
    assert_eq!(last.facts.state, ProcessState::Ended { end });
    // What it printed can still be read by the window, and nothing is new.
    assert_eq!(group.read("p1", 0).await.unwrap().output.text(), "one\ntwo\n");
    assert_eq!(group.tail("p1", 4).await.unwrap().output.text(), "two\n");
    assert_eq!(now(&group, "p1").await.text, "");
    assert!(last.facts.ended_at.unwrap() >= last.facts.started_at);
}

#[tokio::test]
async fn x63_kill_takes_the_children_however_they_hide() {
    let group = group();
    for text in [
        "(setsid sleep 300 &); nohup sleep 300 >/dev/null 2>&1 & echo up; wait",
        "trap '' TERM HUP INT; setsid sh -c 'trap \"\" TERM; sleep 300 & sleep 300' & echo up; while :; do sleep 1; done",
        "sh -c '(sleep 300 & sleep 300) & exit 0'; echo up; exec sleep 300",
        "setsid sleep 300 & echo up",
    ] {
        let mark = mark();
        let begun = start(&group, text, &mark).await;
        assert_eq!(news(&group, &begun.handle).await.text, "up\n", "{text}");
        // A process that is just being replaced by another program has no environment for a moment.
        assert!(within(DEAD, || !alive(&mark).is_empty()).await, "{text}");
        let since = Instant::now();
        let ended = group.stop(&begun.handle).await.unwrap();
        println!("ended after {:?}: {text}", since.elapsed());
        assert!(alive(&mark).is_empty(), "{text}: {:?} left", alive(&mark));
        assert!(since.elapsed() <= DEAD, "{text}: {:?}", since.elapsed());
        assert_eq!(ended.state, STOPPED, "{text}");
    }
}

#[tokio::test]
async fn x63_the_end_of_the_group_ends_all_of_it() {
    for closes in [true, false] {
        let group = group();
        let mark = mark();
        let processes = group.processes().clone();
        for _ in 0..3 {
            start(&group, "setsid sleep 300 & sleep 300", &mark).await;
        }
        assert!(alive(&mark).len() >= 3);
        if closes {
            group.close().await;
            assert!(alive(&mark).is_empty(), "{:?} left", alive(&mark));
            let refused = group.start(line("true", &mark), label("true")).await.unwrap_err();
            assert_eq!(refused, ExecError::Closed);
        } else {
            drop(group);
            assert!(within(DEAD, || alive(&mark).is_empty()).await);
        }
        // Other groups of the same supervisor go on.
        assert_eq!(run(&processes, "echo on").await.output.text(), "on\n");
    }
}

#[tokio::test]
async fn s3_what_a_command_leaves_running_has_a_name_and_goes_on_printing() {
    let group = group();
    let (gate, last, mark) = (Gate::new(), Gate::new(), mark());
    let text = format!(
        "(read x <{}; echo later; read x <{}) & echo up",
        gate.path, last.path
    );
    let ran = group.run(line(&text, &mark), label(&text), |_| {}).await.unwrap();
    let Ran::Finished { finished, handle } = ran else {
        panic!("{ran:?}")
    };
    assert_eq!(
        (finished.end, finished.output.text().as_str()),
        (CommandEnd::Exited { code: 0 }, "up\n")
    );
    let handle = handle.unwrap();
    let facts = group.get(&handle).unwrap();
    let end = CommandEnd::Exited { code: 0 };
    assert_eq!(facts.state, ProcessState::Left { end });
    assert_eq!(facts.place, ProcessPlace::Background);
    assert_eq!(
        now(&group, &handle).await.text,
        "",
        "what the call told is not new"
    );
    gate.open().await;
    assert_eq!(news(&group, &handle).await.text, "later\n");
    last.open().await;
    assert_eq!(news(&group, &handle).await.facts.state, EXITED);
}

#[tokio::test]
async fn a_command_that_ends_as_a_whole_leaves_no_name() {
    let group = group();
    let ran = group
        .run(line("echo x", &mark()), label("echo x"), |_| {})
        .await
        .unwrap();
    assert!(matches!(ran, Ran::Finished { handle: None, .. }), "{ran:?}");
    assert_eq!(group.list(), []);
}

/// Runs a line in a task of its own; answers once it prints.
async fn waited_for(
    group: &Group,
    spec: cairn_exec::CommandSpec,
) -> tokio::task::JoinHandle<Result<Ran, ExecError>> {
    let (says, mut said) = tokio::sync::mpsc::unbounded_channel();
    let group = group.clone();
    let task = tokio::spawn(async move {
        group
            .run(spec, label("line"), |live| {
                says.send(live.text.to_owned()).unwrap_or_default();
            })
            .await
    });
    tokio::time::timeout(SOON, said.recv()).await.unwrap().unwrap();
    // Held, so that the receiver outlives the command.
    tokio::spawn(async move { while said.recv().await.is_some() {} });
    task
}

#[tokio::test]
async fn a_call_ends_when_its_command_is_moved_and_the_command_goes_on() {
    let group = group();
    let (gate, mark) = (Gate::new(), mark());
    let mut spec = line(&format!("echo up; read x <{}; echo done", gate.path), &mark);
    spec.limit = Some(Duration::from_secs(2));
    let task = waited_for(&group, spec).await;
    let since = Instant::now();
    assert_eq!(group.to_background("p1").unwrap().place, ProcessPlace::Background);
    let Ran::Moved { facts, output } = task.await.unwrap().unwrap() else {
        panic!("it is not moved")
    };
    assert!(since.elapsed() < Duration::from_secs(1), "{:?}", since.elapsed());
    assert_eq!((facts.handle.as_str(), output.text().as_str()), ("p1", "up\n"));
    // Its limit is gone: it is alive when the limit has passed.
    let past = Instant::now() + Duration::from_millis(2300);
    within(Duration::from_secs(4), || Instant::now() > past).await;
    assert!(within(DEAD, || !alive(&mark).is_empty()).await);
    assert!(!alive(&mark).is_empty());
    gate.open().await;
    let last = news(&group, "p1").await;
    assert_eq!(last.text, "done\n");
    assert!(group.to_background("p1").is_err(), "it is there already");
}

#[tokio::test]
async fn a_command_that_was_given_more_time_outlives_its_limit() {
    let group = group();
    let (gate, mark) = (Gate::new(), mark());
    let mut spec = line(&format!("echo up; read x <{}; echo done", gate.path), &mark);
    spec.limit = Some(Duration::from_millis(800));
    let task = waited_for(&group, spec).await;
    let facts = group.more_time("p1", Duration::from_mins(5)).unwrap();
    assert_eq!(facts.limit, Some(Duration::from_millis(300_800)));
    let past = Instant::now() + Duration::from_millis(1_200);
    within(Duration::from_secs(4), || Instant::now() > past).await;
    assert!(!task.is_finished());
    gate.open().await;
    let Ran::Finished { finished, .. } = task.await.unwrap().unwrap() else {
        panic!("it was moved")
    };
    assert_eq!(
        (finished.end, finished.output.text().as_str()),
        (CommandEnd::Exited { code: 0 }, "up\ndone\n")
    );
    assert!(matches!(
        group.more_time("p1", Duration::from_secs(1)),
        Err(ExecError::Unknown { .. })
    ));
}

#[tokio::test]
async fn a_command_that_a_call_waits_for_can_be_ended_by_its_name() {
    let group = group();
    let mark = mark();
    let task = waited_for(&group, line("setsid sleep 300 & echo up; wait", &mark)).await;
    let handle = group.list()[0].handle.clone();
    group.stop(&handle).await.unwrap();
    assert!(alive(&mark).is_empty());
    let Ran::Finished { finished, handle } = task.await.unwrap().unwrap() else {
        panic!("it was moved")
    };
    assert_eq!((finished.end, handle), (CommandEnd::Stopped, None));
    assert_eq!(finished.output.text(), "up\n");
}

#[tokio::test]
async fn dropping_a_call_ends_its_command_but_not_one_that_was_moved() {
    let group = group();
    let (gone, stays) = (mark(), mark());
    let task = waited_for(&group, line("setsid sleep 300 & echo up; wait", &gone)).await;
    task.abort();
    assert!(within(DEAD, || alive(&gone).is_empty()).await);
    let task = waited_for(&group, line("echo up; sleep 300", &stays)).await;
    group.to_background(&group.list()[0].handle).unwrap();
    task.abort();
    task.await.map(drop).unwrap_or_default();
    group.processes().settled().await;
    // A process that is just being replaced by another program has no environment for a moment.
    assert!(within(DEAD, || !alive(&stays).is_empty()).await);
}

#[tokio::test]
async fn a_command_that_prints_nothing_is_called_silent_until_it_prints() {
    let Watched { group, said } = watched(Duration::from_millis(300));
    let (gate, last, mark) = (Gate::new(), Gate::new(), mark());
    let text = format!(
        "echo up; read x <{}; echo again; read x <{}",
        gate.path, last.path
    );
    let task = waited_for(&group, line(&text, &mark)).await;
    let silent = || group.list().first().is_some_and(|facts| facts.silent);
    assert!(within(SOON, silent).await);
    let before = group.list()[0].last_output_at;
    gate.open().await;
    assert!(
        within(SOON, || group
            .list()
            .first()
            .is_none_or(|facts| facts.last_output_at > before))
        .await
    );
    assert!(within(SOON, silent).await, "and again");
    last.open().await;
    task.await.unwrap().unwrap();
    let silences: Vec<_> = said.lock().unwrap().iter().map(|facts| facts.silent).collect();
    let mut changes = silences.clone();
    changes.dedup();
    // Twice at least; on a busy machine also before it printed at all.
    assert!(changes.len() >= 5 && !changes[0], "{silences:?}");
    assert_eq!(changes.last(), Some(&false), "one that has ended is not silent");
}

#[tokio::test]
async fn an_unknown_name_names_those_that_there_are() {
    let group = group();
    let none = group.get("p1").unwrap_err().to_string();
    assert_eq!(
        none,
        "there is no process `p1`; none was started in the background"
    );
    let mark = mark();
    start(&group, "sleep 300", &mark).await;
    start(&group, "sleep 300", &mark).await;
    let error = group.stop("p9").await.unwrap_err().to_string();
    assert_eq!(error, "there is no process `p9`; there are: p1, p2");
}

#[tokio::test]
async fn what_cannot_be_started_in_the_background_says_so() {
    let group = group();
    let mut nowhere = line("true", &mark());
    nowhere.workdir = "/no/such/folder".into();
    let error = group.start(nowhere, label("true")).await.unwrap_err();
    assert!(matches!(error, ExecError::Workdir { .. }), "{error}");
    assert_eq!(group.list(), []);
}

#[tokio::test]
async fn t22_the_ports_of_a_tree_are_told_and_no_others() {
    let group = group();
    let mark = mark();
    let server = "import socket, time; a = socket.create_server(('127.0.0.1', 0)); \
                  b = socket.create_server(('::1', 0), family=socket.AF_INET6); \
                  print(a.getsockname()[1], b.getsockname()[1], flush=True); time.sleep(300)";
    let begun = start(&group, &format!("setsid python3 -c \"{server}\" & wait"), &mark).await;
    let text = news(&group, &begun.handle).await.text;
    let mut expected: Vec<(u16, &str)> = text
        .split_whitespace()
        .map(|port| port.parse().unwrap())
        .zip(["127.0.0.1", "::1"])
        .collect();
    expected.sort_unstable();
    let since = Instant::now();
    let ports = group.ports(&begun.handle).await.unwrap();
    println!("ports of a tree: {:?}", since.elapsed());
    let found: Vec<_> = ports
        .iter()
        .map(|port| (port.port, port.address.as_str()))
        .collect();
    assert_eq!(found, expected);
    assert!(alive(&mark).contains(&ports[0].pid));
    let other = start(&group, "sleep 300", &mark).await;
    assert_eq!(group.ports(&other.handle).await.unwrap(), []);
    group.stop(&begun.handle).await.unwrap();
    assert_eq!(group.ports(&begun.handle).await.unwrap(), []);
    let free = std::net::TcpListener::bind((
        "127.0.0.1",
        found.iter().find(|port| port.1 == "127.0.0.1").unwrap().0,
    ));
    assert!(free.is_ok(), "s5: the port is free again");
}

#[tokio::test]
async fn x61_a_flood_in_the_background_stays_bounded_and_quiet() {
    let Watched { group, said } = watched(Duration::from_secs(90));
    let mark = mark();
    start(&group, "true", &mark).await;
    let supervisor = group.processes().supervisor().await.unwrap();
    let own = std::process::id();
    let before = (kilobytes(own, "VmHWM"), kilobytes(supervisor, "VmHWM"));
    said.lock().unwrap().clear();
    let since = Instant::now();
    let begun = start(&group, "yes | head -c 500M; echo last", &mark).await;
    let ended = || !group.get(&begun.handle).unwrap().state.is_alive();
    assert!(within(Duration::from_mins(1), ended).await);
    let took = since.elapsed();
    let printed = now(&group, &begun.handle).await;
    assert!(printed.text.starts_with("y\ny\n") && printed.text.ends_with("y\nlast\n"));
    assert!(printed.text.contains("bytes left out") && printed.text.len() <= 330 << 10);
    assert_eq!(printed.facts.printed, (500 << 20) + 5);
    let after = (kilobytes(own, "VmHWM"), kilobytes(supervisor, "VmHWM"));
    let grown = after.0 - before.0 + after.1 - before.1;
    let messages = said.lock().unwrap().len();
    println!("500 MB in the background: +{grown} kB, {messages} messages, {took:?}");
    assert!(grown <= 32 << 10, "grew by {grown} kB");
    assert!(
        messages as u64 <= 4 + took.as_secs(),
        "{messages} messages in {took:?}"
    );
}

#[tokio::test]
async fn a_waiting_ask_ends_when_it_is_stopped() {
    let group = group();
    let mark = mark();
    let begun = start(&group, "sleep 300", &mark).await;
    let cancel = CancellationToken::new();
    let asks = group.printed(&begun.handle, Duration::from_mins(1), &cancel);
    let since = Instant::now();
    let (printed, ()) = tokio::join!(asks, async { cancel.cancel() });
    assert_eq!(printed.unwrap().text, "");
    assert!(since.elapsed() < Duration::from_secs(1));
}

#[tokio::test]
async fn a_lost_helper_ends_what_ran_under_it() {
    let group = group();
    let mark = mark();
    let begun = start(&group, "setsid sleep 300 & echo up; wait", &mark).await;
    news(&group, &begun.handle).await;
    let supervisor = group.processes().supervisor().await.unwrap();
    rustix::process::kill_process(
        rustix::process::Pid::from_raw(i32::try_from(supervisor).unwrap()).unwrap(),
        rustix::process::Signal::KILL,
    )
    .unwrap();
    let last = news(&group, &begun.handle).await;
    let end = CommandEnd::Interrupted;
    assert_eq!(last.facts.state, ProcessState::Ended { end });
    assert!(within(DEAD, || alive(&mark).is_empty()).await);
    let next = start(&group, "echo again", &mark).await;
    assert_eq!(news(&group, &next.handle).await.text, "again\n");
}
