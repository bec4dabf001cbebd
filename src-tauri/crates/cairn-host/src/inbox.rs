//! The inbox: what waits for the person in all sessions that this process runs. SPEC U3.
//!
//! Owns: the fold of cards and questions over sessions. Must never know: how they are answered.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use cairn_policy::{Show, show};
use cairn_protocol::{
    Approval, ApprovalSubject, Event, EventBody, ProjectKey, Question, SessionId, ShownSpan, Waiting,
    WaitingKind,
};

use crate::host::Host;
use crate::project::Project;

/// Characters of what an entry is about.
const TARGET: usize = 200;

/// What waits.
#[derive(Default)]
pub(crate) struct Inbox {
    sessions: Mutex<HashMap<SessionId, Entry>>,
}

/// What waits in one session.
struct Entry {
    project: ProjectKey,
    waiting: Vec<Waiting>,
}

impl Inbox {
    /// How many things wait.
    pub(crate) fn count(&self) -> u32 {
        let sessions = self.lock();
        sessions.values().map(|entry| entry.waiting.len() as u32).sum()
    }

    /// Everything that waits, oldest first, as a window of that project sees it.
    pub(crate) fn list(&self, here: &ProjectKey) -> Vec<Waiting> {
        let sessions = self.lock();
        let mut all: Vec<Waiting> = sessions
            .values()
            .flat_map(|entry| {
                entry.waiting.iter().cloned().map(|waiting| Waiting {
                    here: entry.project == *here,
                    ..waiting
                })
            })
            .collect();
        all.sort_by(|one, other| (one.at, &one.id).cmp(&(other.at, &other.id)));
        all
    }

    /// The project of a session in which something waits.
    pub(crate) fn project_of(&self, session: &SessionId) -> Option<ProjectKey> {
        let sessions = self.lock();
        let entry = sessions.get(session)?;
        (!entry.waiting.is_empty()).then(|| entry.project.clone())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, Entry>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The place of one session in the inbox; what waits there is gone with it.
pub(crate) struct Place {
    host: Weak<Host>,
    project: Arc<Project>,
    session: SessionId,
    title: Mutex<String>,
}

impl Place {
    /// An empty place.
    pub(crate) fn new(host: &Arc<Host>, project: &Arc<Project>, session: &SessionId, title: &str) -> Self {
        Self {
            host: Arc::downgrade(host),
            project: project.clone(),
            session: session.clone(),
            title: Mutex::new(title.to_owned()),
        }
    }

    /// Follows one event of the session.
    pub(crate) fn hear(&self, event: &Event) {
        match &event.body {
            EventBody::ApprovalRequested { approval } => {
                let (kind, target) = about(approval);
                self.put(approval.id.to_string(), kind, target, approval.at);
            }
            EventBody::QuestionAsked { question } => {
                let target = show(&first_words(question), Show::Name);
                self.put(
                    question.id.to_string(),
                    WaitingKind::Question,
                    target,
                    question.at,
                );
            }
            EventBody::ApprovalResolved { approval, .. } => self.take(approval.as_str()),
            EventBody::QuestionResolved { question, .. } => self.take(question.as_str()),
            EventBody::SessionChanged { session } => self.name(&session.title),
            _ => {}
        }
    }

    fn put(&self, id: String, kind: WaitingKind, target: Vec<ShownSpan>, at: i64) {
        let title = self.title.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let waiting = Waiting {
            id,
            session: self.session.clone(),
            title,
            project: self.project.name(),
            here: false,
            kind,
            target: cut(target),
            at,
        };
        self.change(|entry| {
            entry.waiting.retain(|known| known.id != waiting.id);
            entry.waiting.push(waiting);
        });
    }

    fn take(&self, id: &str) {
        self.change(|entry| entry.waiting.retain(|waiting| waiting.id != id));
    }

    fn name(&self, title: &str) {
        let mut known = self.title.lock().unwrap_or_else(PoisonError::into_inner);
        if *known == title {
            return;
        }
        title.clone_into(&mut known);
        drop(known);
        self.change(|entry| {
            for waiting in &mut entry.waiting {
                title.clone_into(&mut waiting.title);
            }
        });
    }

    fn change(&self, change: impl FnOnce(&mut Entry)) {
        let Some(host) = self.host.upgrade() else { return };
        let changed = {
            let mut sessions = host.inbox().lock();
            let entry = sessions.entry(self.session.clone()).or_insert_with(|| Entry {
                project: self.project.key.clone(),
                waiting: Vec::new(),
            });
            let before = entry.waiting.clone();
            change(entry);
            let changed = entry.waiting != before;
            if entry.waiting.is_empty() {
                sessions.remove(&self.session);
            }
            changed
        };
        if changed {
            host.inbox_changed();
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.change(|entry| entry.waiting.clear());
    }
}

/// Kind of a card, and what it is about.
fn about(approval: &Approval) -> (WaitingKind, Vec<ShownSpan>) {
    match &approval.subject {
        ApprovalSubject::Command { shown, .. } => (WaitingKind::Command, shown.clone()),
        ApprovalSubject::Edit { diffs } => {
            let paths: Vec<&str> = diffs.iter().map(|diff| diff.path.as_str()).collect();
            (WaitingKind::Edit, show(&paths.join(", "), Show::Name))
        }
        ApprovalSubject::Read { path } => (WaitingKind::Read, path.clone()),
        ApprovalSubject::Connect { host, .. } => (WaitingKind::Connect, host.clone()),
        ApprovalSubject::Search { query, .. } => (WaitingKind::Search, query.clone()),
        ApprovalSubject::Remember { fact } => (WaitingKind::Remember, fact.clone()),
        ApprovalSubject::Plan { text, .. } => (WaitingKind::Plan, show(first_line(text), Show::Name)),
        ApprovalSubject::Other { shown } => (WaitingKind::Other, shown.clone()),
    }
}

/// What a plan begins with, without the marks of a heading.
fn first_line(text: &str) -> &str {
    let line = text
        .lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default();
    line.trim_start_matches(['#', ' ']).trim()
}

fn first_words(question: &Question) -> String {
    question
        .asks
        .first()
        .map(|ask| ask.text.clone())
        .unwrap_or_default()
}

/// The first characters of it.
fn cut(spans: Vec<ShownSpan>) -> Vec<ShownSpan> {
    let mut left = TARGET;
    let mut kept = Vec::new();
    for mut span in spans {
        if left == 0 {
            break;
        }
        let length = span.text.chars().count();
        if length > left {
            span.text = span.text.chars().take(left).collect();
            span.text.push('\u{2026}');
        }
        left -= length.min(left);
        kept.push(span);
    }
    kept
}
