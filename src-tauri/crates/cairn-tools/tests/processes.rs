//! `process_output` and `process_kill` over real processes.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[path = "shell/support.rs"]
mod support;

use std::sync::Arc;
use std::time::{Duration, Instant};

use cairn_agent::tool::{Action, Tool, ToolClass, ToolOutcome};
use cairn_exec::{CommandSpec, Group, Label, Program, Shell, child_environment};
use cairn_policy::Effect;
use cairn_protocol::{CommandEnd, ContentBlock};
use cairn_tools::process_kill::ProcessKill;
use cairn_tools::process_output::ProcessOutput;
use serde_json::{Value, json};
use support::{Live, context, processes};
use tokio_util::sync::CancellationToken;

struct Session {
    group: Group,
    output: ProcessOutput,
    kill: ProcessKill,
    folder: tempfile::TempDir,
}

impl Session {
    fn new() -> Self {
        let group = Group::new(processes(), |_| {});
        Self {
            output: ProcessOutput::new(group.clone()),
            kill: ProcessKill::new(group.clone()),
            group,
            folder: tempfile::tempdir().unwrap(),
        }
    }

    async fn start(&self, line: &str) {
        let path = [("PATH".into(), std::env::var_os("PATH").unwrap())];
        let spec = CommandSpec {
            program: Program::Line {
                shell: Shell::find(None),
                line: line.to_owned(),
            },
            workdir: self.folder.path().to_owned(),
            environment: child_environment(path, &[]),
            limit: None,
            cancel: CancellationToken::new(),
            walls: None,
        };
        let label = Label {
            command: line.to_owned(),
            tag: String::new(),
        };
        self.group.start(spec, label).await.unwrap();
    }

    /// Makes a FIFO. For one reader: what lets the first go on would still hold it open for a second.
    fn gate(&self, name: &str) -> std::path::PathBuf {
        let path = self.folder.path().join(name);
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        path
    }
}

/// Lets a command that reads the FIFO go on.
async fn open(gate: &std::path::Path) {
    let gate = gate.to_owned();
    tokio::task::spawn_blocking(move || std::fs::write(gate, "go\n").unwrap())
        .await
        .unwrap();
}

async fn call(tool: &dyn Tool, arguments: Value, cancel: CancellationToken) -> Result<ToolOutcome, String> {
    let Value::Object(arguments) = arguments else {
        unreachable!()
    };
    let context = context(Arc::new(Live::default()), cancel);
    let prepared = tool
        .prepare(arguments, &context)
        .await
        .map_err(|error| error.message)?;
    assert_eq!(prepared.effects, [Effect::Own], "it never asks");
    let Action::Execute(work) = prepared.action else {
        unreachable!()
    };
    Ok(work.execute(context).await)
}

async fn told(tool: &dyn Tool, arguments: Value) -> String {
    call(tool, arguments, CancellationToken::new())
        .await
        .unwrap()
        .content
}

#[tokio::test]
async fn x63_each_ask_tells_only_what_is_newer_and_at_last_the_code() {
    let session = Session::new();
    let (first, second) = (session.gate("first"), session.gate("second"));
    session
        .start("echo one; read x <first; echo two; read x <second; exit 3")
        .await;
    let ask = json!({ "handle": "p1", "wait": 30 });
    assert_eq!(told(&session.output, ask.clone()).await, "p1 runs.\none");
    let at_once = json!({ "handle": " p1 " });
    assert_eq!(told(&session.output, at_once).await, "p1 runs.\n(no new output)");
    open(&first).await;
    assert_eq!(told(&session.output, ask.clone()).await, "p1 runs.\ntwo");
    open(&second).await;
    let outcome = call(&session.output, ask.clone(), CancellationToken::new())
        .await
        .unwrap();
    assert_eq!(outcome.content, "p1 ended with exit code 3.\n(no new output)");
    assert_eq!(outcome.note, "ended with exit code 3");
    let [ContentBlock::Terminal(terminal)] = &outcome.blocks[..] else {
        unreachable!()
    };
    assert_eq!(terminal.end, CommandEnd::Exited { code: 3 });
    // Asked again it still tells how it ended, and killing it says that there is nothing to end.
    assert_eq!(
        told(&session.output, ask).await,
        "p1 ended with exit code 3.\n(no new output)"
    );
    assert_eq!(
        told(&session.kill, json!({ "handle": "p1" })).await,
        "p1 had ended already: it ended with exit code 3."
    );
}

#[tokio::test]
async fn x63_kill_takes_the_children_and_frees_their_port() {
    let session = Session::new();
    let server = "import socket, time; s = socket.create_server(('127.0.0.1', 0)); \
                  print(s.getsockname()[1], flush=True); time.sleep(300)";
    session
        .start(&format!(
            "setsid python3 -c \"{server}\" & (trap '' TERM; sleep 300) & exit 0"
        ))
        .await;
    let first = told(&session.output, json!({ "handle": "p1", "wait": 60 })).await;
    let port: u16 = first.lines().last().unwrap().parse().unwrap();
    let begins = [
        format!("p1 runs. It listens on 127.0.0.1:{port}.\n"),
        format!(
            "p1: its shell ended with exit code 0, but what it started still runs. It listens on 127.0.0.1:{port}.\n"
        ),
    ];
    assert!(begins.iter().any(|begin| first.starts_with(begin)), "{first}");
    assert!(std::net::TcpListener::bind(("127.0.0.1", port)).is_err());
    let since = Instant::now();
    let outcome = call(&session.kill, json!({ "handle": "p1" }), CancellationToken::new())
        .await
        .unwrap();
    assert_eq!(outcome.content, "p1 and all that it had started were ended.");
    assert!(
        outcome.ok && since.elapsed() < Duration::from_secs(3),
        "{:?}",
        since.elapsed()
    );
    assert!(std::net::TcpListener::bind(("127.0.0.1", port)).is_ok());
    assert_eq!(
        told(&session.output, json!({ "handle": "p1" })).await,
        "p1 was stopped.\n(no new output)"
    );
}

#[tokio::test]
async fn t22_an_unknown_handle_names_those_that_there_are() {
    let session = Session::new();
    let ask = |tool: &'static str, handle: &'static str| {
        let tool: &dyn Tool = if tool == "output" {
            &session.output
        } else {
            &session.kill
        };
        call(tool, json!({ "handle": handle }), CancellationToken::new())
    };
    assert_eq!(
        ask("output", "p1").await.unwrap_err(),
        "`process_output` was not run: there is no process `p1`; none was started in the background"
    );
    session.start("sleep 300").await;
    session.start("sleep 300").await;
    for (tool, handle) in [("output", "p3"), ("kill", "sleep"), ("kill", "")] {
        let message = ask(tool, handle).await.unwrap_err();
        assert!(message.ends_with("there are: p1, p2"), "{message}");
    }
}

#[tokio::test]
async fn s11_of_progress_only_the_last_state_is_told_and_no_sequence() {
    let session = Session::new();
    session
        .start("for i in $(seq 1 500); do printf '\\r\\033[32m%d%%\\033[0m' $i; done; exec sleep 300")
        .await;
    let mut told_in_all = String::new();
    let since = Instant::now();
    while !told_in_all.ends_with("500%") {
        assert!(since.elapsed() < Duration::from_secs(30), "{told_in_all}");
        told_in_all = told(&session.output, json!({ "handle": "p1", "wait": 30 })).await;
        assert_eq!(told_in_all.lines().count(), 2, "{told_in_all:?}");
    }
    assert_eq!(told_in_all, "p1 runs.\n500%");
}

#[tokio::test]
async fn a_wait_ends_when_the_call_is_stopped() {
    let session = Session::new();
    session.start("exec sleep 300").await;
    let cancel = CancellationToken::new();
    let since = Instant::now();
    let (outcome, ()) = tokio::join!(
        call(
            &session.output,
            json!({ "handle": "p1", "wait": 60 }),
            cancel.clone()
        ),
        async { cancel.cancel() }
    );
    assert_eq!(outcome.unwrap().content, "p1 runs.\n(no new output)");
    assert!(since.elapsed() < Duration::from_secs(2), "{:?}", since.elapsed());
}

#[tokio::test]
async fn both_touch_only_our_own_things() {
    let session = Session::new();
    for tool in [&session.output as &dyn Tool, &session.kill] {
        assert_eq!((tool.spec().class, tool.spec().limit), (ToolClass::Own, None));
    }
}
