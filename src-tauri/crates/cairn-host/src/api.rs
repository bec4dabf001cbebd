//! Methods: a window asks, the host answers. The window's project is what the host knows, never an argument.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cairn_agent::driver::storage_error;
use cairn_policy::Presence;
use cairn_protocol::{
    ApiError, ClientId, CloseWork, Envelope, ErrorCode, EventBody, Nothing, Request, SessionId,
};
use serde::Serialize;
use serde_json::Value;

use crate::fanout::{Form, Subscription};
use crate::host::Host;
use crate::project::Project;
use crate::session::OpenSession;

mod processes;
mod rules;
mod sessions;
mod settings;
mod turns;

/// Mutating requests whose ids are remembered, so that a repeat is dropped.
const REMEMBERED: usize = 1_024;

/// How often a window out of sight looks at its sessions although none told of a change.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// One window: bound to one project for its whole life.
pub struct Window {
    host: Arc<Host>,
    project: Arc<Project>,
    subscriber: AtomicU64,
    done: Mutex<VecDeque<ClientId>>,
    desk: Box<dyn Desk>,
}

/// Who is needed where a window works out of sight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needed {
    /// The person is asked something.
    Person,
    /// Nothing works any more.
    Nobody,
}

/// What only the window toolkit can do.
pub trait Desk: Send + Sync {
    /// Opens a checked address in the person's browser or mail program. Fails with the reason.
    fn open_link(&self, href: &str) -> Result<(), String>;

    /// Closes the window that had asked what becomes of its work.
    fn close(&self, work: CloseWork);
}

impl Window {
    /// A window on a project, and the events that it gets.
    pub fn new(host: Arc<Host>, project: Arc<Project>, desk: impl Desk + 'static) -> (Self, Subscription) {
        let (subscriber, subscription) = host.fanout(&project.key).subscribe(Form::Drawn);
        let desk = Box::new(desk);
        (
            Self {
                host,
                project,
                subscriber: subscriber.into(),
                done: Mutex::default(),
                desk,
            },
            subscription,
        )
    }

    /// The window's page was loaded again: its old subscription ends, this one goes on.
    pub fn resubscribe(&self) -> Subscription {
        let fanout = self.host.fanout(&self.project.key);
        let (subscriber, subscription) = fanout.subscribe(Form::Drawn);
        fanout.leave(self.subscriber.swap(subscriber, Ordering::SeqCst));
        subscription
    }

    /// The project.
    pub fn project(&self) -> &Arc<Project> {
        &self.project
    }

    /// How many sessions of this window work right now. One that waits for the person does not: its card is shown
    /// again at the next start.
    pub async fn working(&self) -> u32 {
        let mut working = 0;
        for session in self.host.open_of(&self.project.key).await {
            let seen = session.handle.snapshot().await;
            working += u32::from(seen.is_ok_and(|seen| {
                !matches!(
                    seen.activity,
                    cairn_protocol::Activity::Idle | cairn_protocol::Activity::WaitingForYou
                )
            }));
        }
        working
    }

    /// Waits until the person is asked something, or nothing works any more.
    pub async fn until_needed(&self) -> Needed {
        let fanout = self.host.fanout(&self.project.key);
        let (number, mut changes) = fanout.subscribe(Form::Plain);
        let needed = loop {
            if self.waits().await {
                break Needed::Person;
            }
            if self.working().await == 0 {
                break Needed::Nobody;
            }
            // Sessions tell when their state changes; looking now and then costs nothing and misses nothing.
            let next = tokio::time::timeout(LOOK_AGAIN, changes.events.recv()).await;
            if let Ok(None) = next {
                break Needed::Nobody;
            }
        };
        fanout.leave(number);
        needed
    }

    async fn waits(&self) -> bool {
        for session in self.host.open_of(&self.project.key).await {
            let seen = session.handle.snapshot().await;
            if seen.is_ok_and(|seen| seen.activity == cairn_protocol::Activity::WaitingForYou) {
                return true;
            }
        }
        false
    }

    /// Asks the page what becomes of running work; it answers with `window/close`.
    pub fn ask_to_close(&self, working: u32) {
        let body = EventBody::CloseAsked { working };
        self.host
            .fanout(&self.project.key)
            .to_all(body, self.host.world().now());
    }

    /// Stops what works in this window's sessions and gives them back.
    pub async fn end_sessions(&self) {
        for session in self.host.open_of(&self.project.key).await {
            session.handle.close().await;
            session.processes.close().await;
        }
        let mut open = self.host.open_sessions().await;
        open.retain(|_, session| session.project.key != self.project.key);
    }

    /// Carries a request out.
    pub async fn request(&self, envelope: Envelope) -> Result<Value, ApiError> {
        if changes_something(&envelope.request) && self.is_repeat(&envelope.client) {
            return json(Nothing {});
        }
        match envelope.request {
            Request::ProjectGet(_) => json(self.project_view()),
            Request::SessionList(params) => json(self.list(params).await?),
            Request::SessionSearch(params) => json(self.search(params).await?),
            Request::SessionCreate(_) => json(self.create().await?),
            Request::SessionOpen(params) => json(self.open(params).await?),
            Request::SessionShow(params) => json(self.show_elsewhere(&params.session).await?),
            Request::SessionRename(params) => json(self.rename(params).await?),
            Request::SessionArchive(params) => json(self.archive(params).await?),
            Request::SessionDelete(params) => json(self.delete(params).await?),
            Request::SessionUndelete(params) => json(self.undelete(params).await?),
            Request::SessionMode(params) => json(self.set_mode(params).await?),
            Request::SessionProfile(params) => json(self.set_profile(params).await?),
            Request::DraftSet(params) => json(self.set_draft(params).await?),
            Request::TurnSend(params) => json(self.send(params).await?),
            Request::TurnStop(params) => json(self.stop(params).await?),
            Request::TurnContinue(params) => json(self.go_on(params).await?),
            Request::TurnRetryNow(params) => json(self.retry_now(params).await?),
            Request::CallRunOutside(params) => json(self.run_outside(params).await?),
            Request::ContextSummarise(params) => json(self.summarise(params).await?),
            Request::ContextMark(params) => json(self.mark(params).await?),
            Request::QueueEdit(params) => json(self.edit_queue(params).await?),
            Request::ApprovalAnswer(params) => json(self.answer_approval(params).await?),
            Request::QuestionAnswer(params) => json(self.answer_question(params).await?),
            Request::InboxList(_) => json(self.inbox()),
            Request::InboxShow(params) => json(self.show_waiting(&params.session)?),
            Request::PlanSet(params) => json(self.set_plan(params).await?),
            Request::PictureAdd(params) => json(self.add_picture(params).await?),
            Request::ProcessList(params) => json(self.processes(params).await?),
            Request::ProcessOutput(params) => json(self.process_output(params).await?),
            Request::ProcessStop(params) => json(self.stop_process(params).await?),
            Request::ProcessMoreTime(params) => json(self.more_time(params).await?),
            Request::ProcessToBackground(params) => json(self.to_background(params).await?),
            Request::ProcessLeftovers(_) => json(self.leftovers().await),
            Request::ProcessEndLeftover(params) => json(self.end_leftover(params).await),
            Request::SandboxGet(_) => json(crate::sandbox::view(&self.host.processes().walls().await)),
            Request::SettingsGet(_) => json(self.settings()),
            Request::SettingsSet(params) => json(self.change_settings(&params).await?),
            Request::ProfileSave(params) => json(self.save_profile(params).await?),
            Request::ProfileDelete(params) => json(self.delete_profile(params).await?),
            Request::ProfileWindow(params) => json(self.set_window(params).await?),
            Request::KeySet(params) => json(self.set_key(params).await?),
            Request::KeyDelete(params) => json(self.delete_key(params).await?),
            Request::ModelTest(params) => json(self.test_model(params).await?),
            Request::ModelDiscover(_) => json(self.discover().await),
            Request::MemoryList(_) => json(self.list_facts()?),
            Request::MemoryChange(params) => json(self.change_fact(&params)?),
            Request::TrustGet(_) => json(self.trust_view()),
            Request::TrustGive(params) => json(self.give_trust(&params).await?),
            Request::TrustWithdraw(_) => json(self.withdraw_trust().await?),
            Request::RuleList(_) => json(self.list_rules().await),
            Request::RuleCheck(params) => json(Self::check_rule(&params)?),
            Request::RuleAdd(params) => json(self.add_rule(&params).await?),
            Request::RuleRevoke(params) => json(self.revoke_rule(params).await?),
            Request::LinkOpen(params) => json(self.link(&params.href)?),
            Request::WindowClose(params) => {
                self.desk.close(params.work);
                json(Nothing {})
            }
        }
    }

    /// Bytes and media type of a picture, for the window's own scheme.
    pub async fn blob(&self, id: &str) -> Result<Vec<u8>, ApiError> {
        let fine = id.len() == 64 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !fine {
            return Err(ApiError::new(ErrorCode::NotFound, "That is no picture."));
        }
        let blob = cairn_agent::store::Journal::get_blob(self.host.store(), id.into());
        blob.await.map_err(|error| storage_error(&error))
    }

    fn is_repeat(&self, client: &ClientId) -> bool {
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        if done.contains(client) {
            return true;
        }
        if done.len() == REMEMBERED {
            done.pop_front();
        }
        done.push_back(client.clone());
        false
    }

    async fn session(&self, id: &SessionId) -> Result<Arc<OpenSession>, ApiError> {
        self.host.open_session(&self.project, id, Presence::Person).await
    }

    /// Opens a link in the person's browser or mail program, if it is one that may be opened.
    fn link(&self, href: &str) -> Result<Nothing, ApiError> {
        let Some(href) = crate::render::alive(href) else {
            return Err(ApiError::new(
                ErrorCode::BadRequest,
                "Only http, https and mailto links are opened, without attachments, of at most 2,048 characters.",
            ));
        };
        self.desk.open_link(&href).map(|()| Nothing {}).map_err(|why| {
            ApiError::new(
                ErrorCode::Internal,
                format!("The link could not be opened: {why}. Copy it instead."),
            )
        })
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        self.host
            .fanout(&self.project.key)
            .leave(self.subscriber.load(Ordering::SeqCst));
    }
}

fn json(value: impl Serialize) -> Result<Value, ApiError> {
    serde_json::to_value(value).map_err(|error| ApiError::new(ErrorCode::Internal, error.to_string()))
}

fn changes_something(request: &Request) -> bool {
    !matches!(
        request,
        Request::ProjectGet(_)
            | Request::SessionList(_)
            | Request::SessionSearch(_)
            | Request::SessionOpen(_)
            | Request::InboxList(_)
            | Request::ProcessList(_)
            | Request::ProcessOutput(_)
            | Request::ProcessLeftovers(_)
            | Request::SandboxGet(_)
            | Request::SettingsGet(_)
            | Request::ModelTest(_)
            | Request::ModelDiscover(_)
            | Request::TrustGet(_)
            | Request::RuleList(_)
            | Request::RuleCheck(_)
            | Request::MemoryList(_)
    )
}
