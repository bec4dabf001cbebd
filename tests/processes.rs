//! Processes of a session as the window sees them, and that none of them outlives its session, the program, or a kill.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test fails by a panic, and says why on the terminal"
)]

use std::net::TcpListener;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use cairn_host::parts::{HelperProgram, Pace};
use cairn_host::{Desk, Environment, Host, Subscription, Window};
use cairn_protocol::{
    ApiError, ClientId, CloseWork, Envelope, ErrorCode, Event, EventBody, Mode, Process, ProcessListResult,
    ProcessOutput, ProcessPlace, ProcessState, Request, Session,
};
use cairn_testkit::TempProject;
use cairn_testkit::provider::{Reply, Script, ScriptedServer};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tempfile::TempDir;

/// How long after its end nothing may be left. Issue 3.
const GONE: Duration = Duration::from_secs(3);

const SOON: Duration = Duration::from_mins(1);

struct NoDesk;

impl Desk for NoDesk {
    fn open_link(&self, _href: &str) -> Result<(), String> {
        unreachable!()
    }

    fn close(&self, _work: CloseWork) {
        unreachable!()
    }
}

struct Bench {
    host: Arc<Host>,
    window: Window,
    events: Subscription,
    session: Session,
    mark: String,
    next: std::cell::Cell<u32>,
    _server: ScriptedServer,
    _home: TempDir,
    files: TempProject,
}

fn mark() -> String {
    static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let number = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    format!("{}-{number}", std::process::id())
}

/// Ids of the living processes with that mark in their environment.
fn alive(mark: &str) -> Vec<u32> {
    let needle = format!("TEST_MARK={mark}\0");
    let carries = |pid: &u32| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment
            .windows(needle.len())
            .any(|window| window == needle.as_bytes())
    };
    std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(carries)
        .collect()
}

async fn within(limit: Duration, mut holds: impl FnMut() -> bool) -> bool {
    let until = Instant::now() + limit;
    while !holds() {
        if Instant::now() > until {
            return false;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    true
}

async fn server_for(home: &Path, replies: Vec<Reply>) -> ScriptedServer {
    let server = ScriptedServer::start(Script::new(replies)).await.unwrap();
    let config = format!(
        "[profiles.s]\nbase_url = \"{}\"\nmodel = \"scripted\"\n",
        server.base_url()
    );
    std::fs::write(home.join("config.toml"), config).unwrap();
    server
}

impl Bench {
    /// A session whose model says that.
    async fn new(replies: Vec<Reply>) -> Self {
        let home = TempDir::new().unwrap();
        let server = server_for(home.path(), replies).await;
        let files = TempProject::new([("a.txt", "a")]).unwrap();
        let mark = mark();
        let variables = [
            ("CAIRN_HOME".into(), home.path().into()),
            ("PATH".into(), std::env::var_os("PATH").unwrap()),
            ("TEST_MARK".into(), mark.clone().into()),
        ];
        let helper = HelperProgram::at(env!("CARGO_BIN_EXE_cairn"));
        let host = Host::start(Environment::new(variables), helper, Pace::INSTANT).unwrap();
        let project = host.project(Some(files.root())).await.unwrap();
        let session = host.create_session(&project, Mode::Manual).await.unwrap();
        let (window, events) = Window::new(host.clone(), project, NoDesk);
        let bench = Self {
            host,
            window,
            events,
            session,
            mark,
            next: std::cell::Cell::new(0),
            _server: server,
            _home: home,
            files,
        };
        let of = json!({ "session": bench.session.id });
        bench.ask::<Value>("session/open", of).await.unwrap();
        bench
    }

    async fn ask<T: DeserializeOwned>(&self, method: &str, params: Value) -> Result<T, ApiError> {
        let request: Request = serde_json::from_value(json!({ "method": method, "params": params })).unwrap();
        self.next.set(self.next.get() + 1);
        let client = ClientId(self.next.get().to_string());
        let answer = self.window.request(Envelope { client, request }).await?;
        Ok(serde_json::from_value(answer).unwrap())
    }

    async fn of(&self, method: &str, handle: &str) -> Result<Process, ApiError> {
        self.ask(method, json!({ "session": self.session.id, "handle": handle }))
            .await
    }

    async fn list(&self) -> Vec<Process> {
        let of = json!({ "session": self.session.id });
        self.ask::<ProcessListResult>("process/list", of)
            .await
            .unwrap()
            .processes
    }

    async fn send(&self) {
        let message = json!({ "session": self.session.id, "text": "go" });
        self.ask::<Value>("turn/send", message).await.unwrap();
    }

    /// Events up to the first that fits; cards on the way are allowed.
    async fn until(&mut self, fits: impl Fn(&EventBody) -> bool) -> Vec<Arc<Event>> {
        let mut seen = Vec::new();
        loop {
            let event = tokio::time::timeout(SOON, self.events.events.recv());
            let event = event.await.expect("it comes within a minute").unwrap();
            seen.push(event.clone());
            if let EventBody::ApprovalRequested { approval } = &event.body {
                let answer = json!({
                    "session": self.session.id,
                    "approval": approval.id,
                    "digest": approval.digest,
                    "answer": { "kind": "allow_once" },
                });
                self.ask::<Value>("approval/answer", answer).await.unwrap();
            }
            if fits(&event.body) {
                return seen;
            }
        }
    }
}

/// A command that serves at a port of this machine, in a session of its own and deaf to whoever asks politely; writes the
/// port to `ready`.
fn serve() -> String {
    let text = "import socket, signal, os; signal.signal(15, signal.SIG_IGN); signal.signal(1, signal.SIG_IGN); \
                s = socket.socket(); s.setsockopt(1, 2, 1); s.bind(('127.0.0.1', 0)); s.listen(); \
                open('new', 'w').write(str(s.getsockname()[1])); os.rename('new', 'ready'); s.accept()";
    format!("setsid python3 -c \"{text}\"")
}

/// The port that it serves at.
async fn port(project: &Path) -> u16 {
    let ready = project.join("ready");
    assert!(within(SOON, || ready.exists()).await);
    let port = std::fs::read_to_string(ready).unwrap().parse().unwrap();
    let taken = TcpListener::bind(("127.0.0.1", port)).unwrap_err();
    assert_eq!(taken.kind(), std::io::ErrorKind::AddrInUse);
    port
}

fn networked(command: &str, background: bool) -> Reply {
    let arguments = json!({ "command": command, "background": background, "network": true });
    Reply::call("shell", arguments)
}

fn shell(command: &str, background: bool) -> Reply {
    Reply::call("shell", json!({ "command": command, "background": background }))
}

#[tokio::test(flavor = "multi_thread")]
async fn x64_what_still_runs_is_named_at_the_end_of_a_request_listed_and_ended_with_the_window() {
    let replies = vec![
        shell("echo ready; setsid sleep 300 & exec sleep 300", true),
        Reply::text("Done."),
    ];
    let mut bench = Bench::new(replies).await;
    bench.send().await;
    let notice =
        |body: &EventBody| matches!(body, EventBody::Notice { notice } if notice.code == "processes_running");
    let seen = bench.until(notice).await;
    let EventBody::Notice { notice } = &seen.last().unwrap().body else {
        unreachable!()
    };
    assert!(
        notice.text.contains("p1 (echo ready; setsid sleep 300"),
        "{}",
        notice.text
    );
    let changes: Vec<_> = seen
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::ProcessChanged { process } => Some((event, process)),
            _ => None,
        })
        .collect();
    assert!(!changes.is_empty());
    for (event, process) in &changes {
        assert_eq!(
            (&event.session, &process.session),
            (&bench.session.id, &bench.session.id)
        );
        assert!(event.seq > 0, "transient events repeat the position before them");
        assert_eq!(
            (process.handle.as_str(), process.place),
            ("p1", ProcessPlace::Background)
        );
    }

    let [listed] = <[Process; 1]>::try_from(bench.list().await).unwrap();
    assert_eq!(
        (listed.tail.as_str(), listed.state.clone()),
        ("ready\n", ProcessState::Running)
    );
    assert!(!listed.call.as_str().is_empty() && alive(&bench.mark).contains(&listed.pid.unwrap()));
    let of = json!({ "session": bench.session.id, "handle": "p1", "offset": null });
    let output: ProcessOutput = bench.ask("process/output", of).await.unwrap();
    assert_eq!(
        (output.offset, output.text.as_str(), output.stable),
        (0, "ready\n", 6)
    );
    let of = json!({ "session": bench.session.id, "handle": "p1", "offset": 6 });
    assert_eq!(
        bench
            .ask::<ProcessOutput>("process/output", of)
            .await
            .unwrap()
            .text,
        ""
    );
    // Nobody waits for it, and there is no other.
    for method in ["process/more_time", "process/to_background"] {
        assert_eq!(
            bench.of(method, "p1").await.unwrap_err().code,
            ErrorCode::Stale,
            "{method}"
        );
    }
    let unknown = bench.of("process/stop", "p7").await.unwrap_err();
    assert_eq!(
        (unknown.code, unknown.message.as_str()),
        (ErrorCode::NotFound, "There is no process `p7`; there are: p1.")
    );
    let foreign = json!({ "session": "another", "handle": "p1" });
    let foreign = bench.ask::<Process>("process/stop", foreign).await.unwrap_err();
    assert_eq!(foreign.code, ErrorCode::NotFound);

    bench.window.end_sessions().await;
    assert!(alive(&bench.mark).is_empty(), "{:?} left", alive(&bench.mark));
    bench.host.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn t21_the_person_gives_more_time_moves_and_ends_a_command() {
    let replies = vec![shell("echo up; exec sleep 300", false), Reply::text("Moved.")];
    let mut bench = Bench::new(replies).await;
    bench.send().await;
    let runs =
        |body: &EventBody| matches!(body, EventBody::ProcessChanged { process } if process.pid.is_some());
    bench.until(runs).await;
    let [process] = <[Process; 1]>::try_from(bench.list().await).unwrap();
    assert_eq!(
        (process.place, process.limit_ms),
        (ProcessPlace::Foreground, Some(120_000))
    );
    let longer = bench.of("process/more_time", "p1").await.unwrap();
    assert_eq!(longer.limit_ms, Some(420_000));
    let moved = bench.of("process/to_background", "p1").await.unwrap();
    assert_eq!((moved.place, moved.limit_ms), (ProcessPlace::Background, None));
    bench
        .until(|body| matches!(body, EventBody::TurnCompleted { .. }))
        .await;
    assert!(
        !alive(&bench.mark).is_empty(),
        "the request is over and it runs on"
    );
    let ended = bench.of("process/stop", "p1").await.unwrap();
    assert!(!ended.state.is_alive() && alive(&bench.mark).is_empty());
    bench.host.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn s5_a_port_is_free_after_stop_and_after_the_window() {
    for by_stop in [true, false] {
        let replies = vec![networked(&serve(), true), Reply::text("It serves.")];
        let mut bench = Bench::new(replies).await;
        bench.send().await;
        bench
            .until(|body| matches!(body, EventBody::TurnCompleted { .. }))
            .await;
        let port = port(bench.files.root()).await;
        if by_stop {
            bench.of("process/stop", "p1").await.unwrap();
        } else {
            bench.window.end_sessions().await;
        }
        TcpListener::bind(("127.0.0.1", port)).unwrap();
        assert!(alive(&bench.mark).is_empty(), "{:?} left", alive(&bench.mark));
        bench.host.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn s5_nothing_outlives_the_program_however_it_ends() {
    let line = format!("{} & nohup sleep 300 & sleep 300 & wait", serve());
    for (kills, background) in [(true, true), (true, false), (false, true)] {
        let home = TempDir::new().unwrap();
        let files = TempProject::new([("a.txt", "a")]).unwrap();
        // The model thinks until what it started serves, and for ever where the program is killed.
        let last = Reply::text("Done.").gate("it serves");
        let server = server_for(home.path(), vec![networked(&line, background), last]).await;
        let mark = mark();
        #[allow(clippy::disallowed_methods, reason = "a test starts the program it is about")]
        let mut program = Command::new(env!("CARGO_BIN_EXE_cairn"))
            .args([
                "exec",
                "--profile",
                "s",
                "--mode",
                "auto",
                "--approve",
                "all",
                "go",
            ])
            .current_dir(files.root())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("CAIRN_HOME", home.path())
            .env("TEST_MARK", &mark)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let port = port(files.root()).await;
        if kills {
            program.kill().unwrap();
        } else {
            server.open("it serves");
        }
        let ended = tokio::task::spawn_blocking(move || program.wait().unwrap())
            .await
            .unwrap();
        assert_eq!(ended.signal().is_some(), kills, "{ended}");
        let since = Instant::now();
        assert!(
            within(GONE, || alive(&mark).is_empty()).await,
            "{:?} left",
            alive(&mark)
        );
        // A process on its way out has no environment any more and may still hold its port.
        assert!(within(GONE, || TcpListener::bind(("127.0.0.1", port)).is_ok()).await);
        println!(
            "killed {kills}, in the background {background}: nothing left {:?} later",
            since.elapsed()
        );
    }
}
