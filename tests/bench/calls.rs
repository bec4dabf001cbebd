//! What a call of each tool costs, without a model and without a window: `cargo bench -p cairn-tools --bench calls`.
//!
//! A small project of some hundred files. Measured is all that a tool does: from its arguments until its answer, the
//! judging between not included. Changes include their syncs, on the disk of the temporary folder.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a measurement may fail loudly, prints its figures, and starts git to make a repository"
)]

#[path = "nowhere.rs"]
mod nowhere;
#[path = "../../src-tauri/crates/cairn-tools/tests/kill/session.rs"]
#[allow(dead_code, reason = "each measurement uses its part")]
mod session;

use std::io::{Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use cairn_agent::tool::Tool;
use cairn_exec::{Group, HelperProgram, Processes};
use cairn_files::Root;
use cairn_tools::place::Workspace;
use cairn_tools::remember::Memory;
use cairn_tools::web::{Limits, Network, Web, WebConfig};
use cairn_tools::web_fetch::WebFetch;
use futures_util::future::BoxFuture;
use nowhere::Nowhere;
use serde_json::{Value, json};
use session::Session;

/// Calls of each tool.
const CALLS: usize = 200;
/// Files of the project.
const FILES: usize = 300;
/// What every name resolves to, a public address; connections to it are led to loopback.
const PUBLIC: Ipv4Addr = Ipv4Addr::new(93, 184, 216, 34);

fn main() -> ExitCode {
    // Commands and pages are run by a helper, which is this program in another role.
    if let Some(code) = cairn_exec::helper_main(std::env::args_os()) {
        return code;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    make(&folder);
    let session = session(&folder);
    let build = if cfg!(debug_assertions) {
        "debug"
    } else {
        "release"
    };
    println!("{build} build, a project of {FILES} files, {CALLS} calls of each, milliseconds");
    println!("  {:<34} {:>8} {:>8}", "", "median", "p95");
    reading(&session);
    changing(&session);
    running(&session);
    rest(&session);
    ExitCode::SUCCESS
}

fn reading(session: &Session) {
    row(session, "read_file", |n| json!({ "path": file(n) }));
    row(session, "list_dir", |_| json!({ "path": "src" }));
    row(
        session,
        "glob",
        |n| json!({ "pattern": format!("**/part{}/*.rs", n % 10) }),
    );
    row(
        session,
        "grep",
        |n| json!({ "pattern": format!("value_of_{}\\b", n % FILES) }),
    );
}

fn changing(session: &Session) {
    row(
        session,
        "write_file",
        |n| json!({ "path": format!("new/{n}.txt"), "content": "one\ntwo\nthree\n" }),
    );
    row(session, "edit_file", |n| {
        let (old, new) = (format!("value_of_{n} "), format!("changed_{n} "));
        json!({ "path": file(n), "old_string": old, "new_string": new })
    });
    row(session, "multi_edit", |n| {
        json!({ "path": file(n), "edits": [
            { "old_string": format!("changed_{n} "), "new_string": format!("again_{n} ") },
            { "old_string": "let b = 2;", "new_string": "let b = 3;" },
        ] })
    });
    row(
        session,
        "move_file",
        |n| json!({ "from": format!("new/{n}.txt"), "to": format!("new/moved_{n}.txt") }),
    );
    row(
        session,
        "delete_file",
        |n| json!({ "path": format!("new/moved_{n}.txt") }),
    );
    row(session, "make_dir", |n| json!({ "path": format!("made/{n}") }));
}

fn running(session: &Session) {
    // The first command also starts the supervisor and remembers the names of the project.
    let start = Instant::now();
    session.run("shell", json!({ "command": "true" }));
    let first = milliseconds(start.elapsed());
    row(session, "shell", |_| json!({ "command": "true" }));
    println!("  {:<34} {first:>8.2}", "shell, the first of a session");
    let begun = session.run("shell", json!({ "command": "sleep 600", "background": true }));
    let handle = handle(&begun.content);
    row(session, "process_output", |_| json!({ "handle": handle }));
    session.run("process_kill", json!({ "handle": handle }));
    row(session, "git", |_| json!({ "args": ["status", "--short"] }));
}

/// The handle that a command in the background was given, like `p1`.
fn handle(said: &str) -> &str {
    said.split(|c: char| !c.is_ascii_alphanumeric())
        .find(|word| {
            word.strip_prefix('p')
                .is_some_and(|number| number.parse::<u64>().is_ok())
        })
        .unwrap()
}

fn rest(session: &Session) {
    row(session, "todo_write", |n| {
        json!({ "todos": [
            { "content": format!("Look at {n}"), "status": "completed" },
            { "content": "Mend it", "status": "in_progress" },
        ] })
    });
    row(
        session,
        "remember",
        |n| json!({ "fact": format!("The fact number {n}.") }),
    );
    row(session, "context_status", |_| json!({}));
    row_of(
        session,
        "web_fetch",
        "web_fetch, text over loopback",
        |n| json!({ "url": format!("http://page.example/{n}.txt") }),
    );
    row_of(
        session,
        "web_fetch",
        "web_fetch, HTML over loopback",
        |n| json!({ "url": format!("http://page.example/{n}.html") }),
    );
}

fn row(session: &Session, tool: &str, arguments: impl Fn(usize) -> Value) {
    row_of(session, tool, tool, arguments);
}

fn row_of(session: &Session, tool: &str, what: &str, arguments: impl Fn(usize) -> Value) {
    let mut all: Vec<Duration> = (0..CALLS)
        .map(|number| {
            let arguments = arguments(number);
            let start = Instant::now();
            session.run(tool, arguments);
            start.elapsed()
        })
        .collect();
    all.sort();
    let [median, late] = [all[CALLS / 2], all[CALLS * 95 / 100]].map(milliseconds);
    println!("  {what:<34} {median:>8.2} {late:>8.2}");
}

fn milliseconds(took: Duration) -> f64 {
    took.as_secs_f64() * 1_000.0
}

fn file(number: usize) -> String {
    format!("src/part{}/file{number}.rs", number % 10)
}

fn make(folder: &Path) {
    for number in 0..FILES {
        let path = folder.join(file(number));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let body = "    let a = 1;\n".repeat(40);
        let text = format!("fn work() {{\n    let value_of_{number} = 1;\n    let b = 2;\n{body}}}\n");
        std::fs::write(path, text).unwrap();
    }
    std::fs::create_dir(folder.join("new")).unwrap();
    std::fs::write(folder.join(".gitignore"), "/target/\n*.log\n").unwrap();
    let git = |arguments: &[&str]| {
        let identity = ["-c", "user.name=n", "-c", "user.email=n@example.org"];
        let ended = Command::new("git")
            .args(identity)
            .args(arguments)
            .current_dir(folder)
            .output();
        assert!(ended.unwrap().status.success(), "git {arguments:?}");
    };
    git(&["init", "-q"]);
    git(&["add", "."]);
    git(&["commit", "-q", "-m", "all"]);
}

/// The tools as the program has them, but for the network and the place where facts are kept.
fn session(folder: &Path) -> Session {
    let root = Root::open(folder).unwrap().with_home(None);
    let workspace = Arc::new(Workspace::new(Arc::new(root), Vec::new()));
    let processes = Processes::new(HelperProgram::this_program());
    let mut tools = cairn_tools::all(
        workspace,
        Group::new(processes.clone(), |_| {}),
        cairn_exec::child_environment(std::env::vars_os(), &[]),
        WebConfig::default(),
        Arc::new(Kept::default()),
    );
    let web = Web::over(Arc::new(Loopback(serve())), Limits::default());
    let fetch: Arc<dyn Tool> = Arc::new(WebFetch::new(Arc::new(web), processes));
    for tool in &mut tools {
        if tool.spec().name == fetch.spec().name {
            *tool = Arc::clone(&fetch);
        }
    }
    Session::of(tools, Arc::new(Nowhere))
}

/// Counts facts instead of writing them down.
#[derive(Default)]
struct Kept(AtomicUsize);

impl Memory for Kept {
    fn keep(&self, _fact: &str) -> Result<(), String> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

/// Leads the public address to a server on this machine.
struct Loopback(SocketAddr);

impl Network for Loopback {
    fn lookup(&self, _host: String) -> BoxFuture<'static, std::io::Result<Vec<IpAddr>>> {
        Box::pin(std::future::ready(Ok(vec![IpAddr::V4(PUBLIC)])))
    }

    fn route(&self, _checked: IpAddr) -> SocketAddr {
        self.0
    }
}

/// Answers every request with a page of some paragraphs.
fn serve() -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut head = Vec::new();
            let mut piece = [0; 1_024];
            while !head.windows(4).any(|end| end == b"\r\n\r\n") {
                match stream.read(&mut piece) {
                    Ok(read) if read > 0 => head.extend_from_slice(&piece[..read]),
                    _ => break,
                }
            }
            let is_html = String::from_utf8_lossy(&head)
                .lines()
                .next()
                .is_some_and(|line| line.contains(".html"));
            let (kind, body) = if is_html {
                (
                    "text/html",
                    format!("<h1>Title</h1>{}", "<p>Some <b>words</b>.</p>".repeat(200)),
                )
            } else {
                ("text/plain", "Some words.\n".repeat(400))
            };
            write!(
                stream,
                "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                body.len()
            )
            .ok();
        }
    });
    address
}
