//! What the tests share: a store in a temporary folder, sessions and events by a few words, child processes.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use cairn_agent::store::{Durability, EventStore};
use cairn_protocol::{
    ChangeCount, Event, EventBody, Item, ItemBody, ItemId, ItemState, Mode, Session, SessionId, SessionState,
    Turn, TurnId, TurnOutcome, TurnSummary, Usage, WIRE_VERSION,
};
use cairn_store::Store;
use tempfile::TempDir;

/// Tells a child process what to do and where.
pub(crate) const CHILD: &str = "CAIRN_STORE_TEST_CHILD";

pub(crate) struct Place {
    pub(crate) folder: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn open(&self) -> Store {
        Store::open(&self.folder.path().join("data")).unwrap()
    }
}

pub(crate) fn id(name: &str) -> SessionId {
    SessionId::from(name)
}

pub(crate) fn session(name: &str, project: &str, at: i64) -> Session {
    Session {
        id: id(name),
        project: project.into(),
        project_path: format!("/home/somebody/{project}"),
        title: format!("Title of {name}"),
        created_at: at,
        updated_at: at,
        state: SessionState::New,
        mode: Mode::Manual,
        profile: None,
        changes: ChangeCount::default(),
        usage: Usage::default(),
        archived: false,
    }
}

pub(crate) fn event(session: &str, seq: u64, body: EventBody) -> Event {
    Event {
        v: WIRE_VERSION,
        seq,
        session: id(session),
        at: 1_000 + seq as i64,
        body,
    }
}

pub(crate) fn item(name: &str, body: ItemBody) -> Item {
    Item {
        id: ItemId::from(name),
        turn: TurnId::from("turn"),
        at: 77,
        state: ItemState::Done,
        step: None,
        body,
        rendered: None,
    }
}

pub(crate) fn user(name: &str, text: &str) -> EventBody {
    EventBody::ItemStarted {
        item: item(
            name,
            ItemBody::User {
                text: text.to_owned(),
                attachments: Vec::new(),
            },
        ),
    }
}

pub(crate) fn begun(name: &str) -> EventBody {
    EventBody::ItemStarted {
        item: item(name, ItemBody::Assistant { text: String::new() }),
    }
}

pub(crate) fn said(name: &str, text: &str) -> EventBody {
    EventBody::ItemCompleted {
        item: item(
            name,
            ItemBody::Assistant {
                text: text.to_owned(),
            },
        ),
    }
}

pub(crate) fn turn(outcome: Option<TurnOutcome>) -> Turn {
    Turn {
        id: TurnId::from("turn"),
        number: 1,
        started_at: 5,
        ended_at: outcome.as_ref().map(|_| 9),
        outcome,
        summary: TurnSummary::default(),
        usage: Usage::default(),
    }
}

/// Makes a session with its first event.
pub(crate) async fn make(store: &Store, name: &str, project: &str, at: i64) {
    let session = session(name, project, at);
    let mut first = event(name, 1, EventBody::SessionChanged { session });
    first.at = at;
    store.append(vec![first], Durability::Committed).await.unwrap();
}

/// Appends bodies after the last stored event.
pub(crate) async fn add(store: &Store, name: &str, bodies: Vec<EventBody>) {
    let last = store.load(&id(name)).await.unwrap().last_seq;
    let events = (last + 1..)
        .zip(bodies)
        .map(|(seq, body)| event(name, seq, body))
        .collect();
    store.append(events, Durability::Committed).await.unwrap();
}

/// Bytes that do not shrink.
pub(crate) fn noise(length: usize) -> Vec<u8> {
    let mut state = 7_u64;
    let step = |_| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..length).map(step).collect()
}

/// Starts this test program again for one ignored test.
#[allow(
    clippy::disallowed_methods,
    reason = "the store's promises are about processes, so its tests need some"
)]
pub(crate) fn child_command(test: &str, what: &str, data: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    arm(&mut command, test, what, data);
    command
}

/// The same through another program that starts it.
#[allow(clippy::disallowed_methods, reason = "see child_command")]
pub(crate) fn child_through(program: &str, before: &[&str], test: &str, what: &str, data: &Path) -> Command {
    let mut command = Command::new(program);
    command.args(before).arg(std::env::current_exe().unwrap());
    arm(&mut command, test, what, data);
    command
}

fn arm(command: &mut Command, test: &str, what: &str, data: &Path) {
    command
        .args(["--exact", test, "--ignored", "--nocapture"])
        .env(CHILD, format!("{what}:{}", data.display()))
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
}

/// What a child was told: what to do, and the data folder.
pub(crate) fn told() -> Option<(String, std::path::PathBuf)> {
    let told = std::env::var(CHILD).ok()?;
    let (what, data) = told.split_once(':').unwrap();
    Some((what.to_owned(), data.into()))
}

/// The lines that the child marked for its parent; the test runner writes others in between.
pub(crate) fn marked_lines(child: &mut Child) -> impl Iterator<Item = String> + use<> {
    let out: ChildStdout = child.stdout.take().unwrap();
    BufReader::new(out)
        .lines()
        .map_while(Result::ok)
        .filter_map(|line| line.split_once("=> ").map(|(_, it)| it.to_owned()))
}

/// Whether a program is on the path; the test that needs it is skipped by name otherwise.
pub(crate) fn has(program: &str) -> bool {
    let found = std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(program).is_file()));
    if !found {
        eprintln!("skipped: {program} is not here");
    }
    found
}

pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}
