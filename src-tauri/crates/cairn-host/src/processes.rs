//! The commands of a session as front ends see them, and what earlier runs of the program left behind.
//!
//! Joins what `cairn-exec` knows of processes with the session they belong to. Must never know: how processes are
//! watched or ended.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use cairn_exec::{Facts, Group, Ledger};
use cairn_protocol::{
    CallId, Event, EventBody, Leftover, Notice, NoticeLevel, Process, ProcessPlace, SessionId, UnixMillis,
    WIRE_VERSION,
};

use crate::host::Host;
use crate::project::Project;

/// `seq` of the last event of a session, which transient events repeat.
pub(crate) type LastSeq = Arc<AtomicU64>;

impl Host {
    /// The commands of a session that is being opened; every change of one becomes an event.
    pub(crate) fn group(&self, project: &Project, session: &SessionId, last_seq: &LastSeq) -> Group {
        let (fanout, world) = (self.fanout(&project.key), self.world().clone());
        let (session, last_seq) = (session.clone(), last_seq.clone());
        Group::new(self.processes().clone(), move |facts| {
            fanout.send_event(&Event {
                v: WIRE_VERSION,
                seq: last_seq.load(Ordering::Relaxed),
                session: session.clone(),
                at: world.now(),
                body: EventBody::ProcessChanged {
                    process: view(facts, &session),
                },
            });
        })
    }

    /// Processes that earlier runs left behind, because their helper was killed.
    pub async fn leftovers(&self) -> Vec<Leftover> {
        let ledger = self.ledger().clone();
        blocking(move || ledger.leftovers()).await
    }

    /// Ends a process that was left behind, with what it started; answers what is left then. A name that is none of a
    /// leftover ends nothing.
    pub async fn end_leftover(&self, id: String) -> Vec<Leftover> {
        let ledger = self.ledger().clone();
        blocking(move || {
            ledger.end(&id);
            ledger.leftovers()
        })
        .await
    }

    /// What must be said about processes that were left behind.
    pub(crate) async fn leftovers_notice(&self) -> Option<Notice> {
        let leftovers = self.leftovers().await;
        if leftovers.is_empty() {
            return None;
        }
        let list: Vec<_> = leftovers
            .iter()
            .map(|left| format!("process {}: {}", left.pid, left.command))
            .collect();
        Some(Notice {
            level: NoticeLevel::Warning,
            code: "processes_left".to_owned(),
            text: format!(
                "An earlier run of Cairn left running what it had started, because its helper was killed: {}. End them \
                 under Running in the window, or with kill.",
                list.join("; ")
            ),
        })
    }
}

/// Where supervisors are noted down.
pub(crate) fn ledger(home: &crate::home::Home) -> Ledger {
    Ledger::new(home.data().join("supervisors"))
}

/// What is said at the end of a request about commands that go on in the background. Case X64.
pub(crate) fn still_running(group: &Group) -> Option<Notice> {
    let running: Vec<_> = group
        .list()
        .into_iter()
        .filter(|facts| facts.place == ProcessPlace::Background && facts.state.is_alive())
        .map(|facts| format!("{} ({})", facts.handle, short(&facts.label.command)))
        .collect();
    if running.is_empty() {
        return None;
    }
    Some(Notice {
        level: NoticeLevel::Info,
        code: "processes_running".to_owned(),
        text: format!(
            "Still running in the background, until this session closes: {}.",
            running.join(", ")
        ),
    })
}

/// A command as front ends see it. Tail and ports are filled in where they are asked for.
pub(crate) fn view(facts: &Facts, session: &SessionId) -> Process {
    Process {
        handle: facts.handle.clone(),
        session: session.clone(),
        call: CallId(facts.label.tag.clone()),
        command: facts.label.command.clone(),
        pid: facts.pid,
        place: facts.place,
        started_at: millis(facts.started_at),
        ended_at: facts.ended_at.map(millis),
        state: facts.state.clone(),
        last_output_at: millis(facts.last_output_at),
        silent: facts.silent,
        limit_ms: facts.limit.map(|limit| limit.as_millis() as u64),
        bytes: facts.printed,
        tail: String::new(),
        ports: Vec::new(),
    }
}

fn millis(time: SystemTime) -> UnixMillis {
    time.duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_millis() as UnixMillis)
}

fn short(command: &str) -> String {
    let line: String = command.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= 60 {
        return line;
    }
    line.chars().take(60).chain(['…']).collect()
}

async fn blocking<T: Default + Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| {
        tracing::warn!(%error, "processes of an earlier run were not looked for");
        T::default()
    })
}
