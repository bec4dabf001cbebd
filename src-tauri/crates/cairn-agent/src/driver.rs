//! The driver: one task per open session that performs what the turn machine wants.
//!
//! Owns: awaiting. Must never know: what happens next (the machine knows), or where anything is stored.
//! Every event is stored before it is shown; every call is stored before it runs.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use cairn_policy::{Policy, RuleSet};
use cairn_protocol::{
    ApiError, ApprovalAnswer, ApprovalId, CallId, Delta, Event, EventBody, ItemBody, ItemId, QuestionAnswer,
    QuestionId, SessionSnapshot, TurnId, WIRE_VERSION,
};
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use futures_util::{FutureExt, StreamExt};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::effect::{Effect, Input, Moment, ToolFacts};
use crate::history::Sources;
use crate::log::SessionLog;
use crate::model::{Model, ModelError, ModelEvent};
use crate::prompt::SurroundingsSource;
use crate::store::{EventStore, Journal, StoreError};
use crate::tool::{Prepared, Tool, ToolClass, ToolSpec};
use crate::turn::{Limits, TurnMachine};
use crate::world::World;

mod batch;
mod calls;
mod faults;
mod handle;
mod mask;
mod request;
mod text;

use batch::Batch;
pub use faults::storage_error;
pub use handle::SessionHandle;
use text::Held;

/// Everything a session needs from outside.
#[derive(Clone)]
pub struct Surface {
    /// Time and fresh names.
    pub world: Arc<dyn World>,
    /// Keeps events.
    pub store: Arc<dyn EventStore>,
    /// Keeps blobs, outputs and before-images.
    pub journal: Arc<dyn Journal>,
    /// Tells what is true of machine and project.
    pub surroundings: Arc<dyn SurroundingsSource>,
    /// Tools in the order the model sees them.
    pub tools: Vec<Arc<dyn Tool>>,
    /// Time limits by tool that the person has set; a limit that a call names itself wins.
    pub limits: HashMap<String, Duration>,
    /// Rules that changed since the last ask; asked before each call is judged, so that no queued call profits from a
    /// revoked one.
    pub rules: Arc<dyn Fn() -> Option<RuleSet> + Send + Sync>,
    /// Takes stored and transient events. Must not block.
    pub sink: Arc<dyn EventSink>,
    /// Waits until nothing that Stop or a time limit ended is still dying; at most a few seconds. SPEC T2.
    pub settled: Arc<dyn Fn() -> BoxFuture<'static, ()> + Send + Sync>,
    /// Blots known keys out of what tools bring, before it is stored, shown or sent. SPEC A7.
    pub mask: Arc<dyn Fn(&str) -> String + Send + Sync>,
    /// The same for output that is shown live: as many bytes come out as went in, so that offsets hold.
    pub mask_live: Arc<dyn Fn(&str) -> String + Send + Sync>,
}

/// Takes events of one session, in order, after they were stored.
pub trait EventSink: Send + Sync {
    /// One event.
    fn event(&self, event: &Event);

    /// Rules that the person granted for the project.
    fn save_rules(&self, rules: &[String]);
}

/// What a handle asks of the driver.
enum Command {
    Step {
        input: Box<Input>,
        done: oneshot::Sender<Result<(), ApiError>>,
    },
    Approve {
        approval: ApprovalId,
        digest: String,
        answer: ApprovalAnswer,
        done: oneshot::Sender<Result<(), ApiError>>,
    },
    Answer {
        question: QuestionId,
        answers: Vec<QuestionAnswer>,
        done: oneshot::Sender<Result<(), ApiError>>,
    },
    RunOutside {
        item: ItemId,
        turn: TurnId,
        done: oneshot::Sender<Result<(), ApiError>>,
    },
    UseModel {
        profile: String,
        model: Arc<dyn Model>,
    },
    ChangePolicy(Box<dyn FnOnce(&mut Policy) + Send>),
    Draft(String),
    Snapshot(oneshot::Sender<SessionSnapshot>),
    Close(oneshot::Sender<()>),
}

/// What a task of the driver brings back.
enum Brought {
    Prepared {
        call: CallId,
        class: ToolClass,
        prepared: Result<Box<Prepared>, String>,
    },
    Finished {
        call: CallId,
        outcome: Box<crate::tool::ToolOutcome>,
    },
}

struct Driver {
    surface: Surface,
    specs: Arc<[ToolSpec]>,
    machine: TurnMachine,
    model: Option<Arc<dyn Model>>,
    /// Where the parts of the running request came from.
    sent: Sources,
    stream: Option<BoxStream<'static, Result<ModelEvent, ModelError>>>,
    prepared: HashMap<CallId, (ToolClass, Prepared)>,
    budgets: HashMap<CallId, usize>,
    cancel: CancellationToken,
    tasks: JoinSet<Brought>,
    progress: (
        mpsc::Sender<(ItemId, u64, String)>,
        mpsc::Receiver<(ItemId, u64, String)>,
    ),
    wake: Option<Instant>,
    held: Option<Held>,
    last_text: Option<Instant>,
    closing: Option<oneshot::Sender<()>>,
    broken: Option<StoreError>,
}

/// Starts the driver of a session. The task ends when the session is closed or its storage fails.
pub fn open(log: SessionLog, policy: Policy, limits: Limits, surface: Surface) -> SessionHandle {
    let (sender, receiver) = mpsc::channel(64);
    let specs: Arc<[ToolSpec]> = surface.tools.iter().map(|tool| tool.spec().clone()).collect();
    let facts = specs
        .iter()
        .map(|spec| ToolFacts {
            name: spec.name.clone(),
            class: spec.class,
        })
        .collect();
    let machine = TurnMachine::new(log, policy, limits, facts);
    let driver = Driver {
        specs,
        machine,
        model: None,
        sent: Sources::default(),
        stream: None,
        prepared: HashMap::new(),
        budgets: HashMap::new(),
        cancel: CancellationToken::new(),
        tasks: JoinSet::new(),
        progress: mpsc::channel(256),
        wake: None,
        held: None,
        last_text: None,
        closing: None,
        broken: None,
        surface,
    };
    let (session, sink, world) = (
        driver.machine.log().session.id.clone(),
        driver.surface.sink.clone(),
        driver.surface.world.clone(),
    );
    tokio::spawn(async move {
        // A fault inside must not leave anybody waiting for an end that never comes.
        if AssertUnwindSafe(driver.run(receiver))
            .catch_unwind()
            .await
            .is_err()
        {
            tracing::error!(%session, "the session's driver failed inside");
            sink.event(&faults::inside(session, world.now()));
        }
    });
    SessionHandle::new(sender)
}

/// One thing that happened outside.
enum Happened {
    Command(Option<Command>),
    Brought(Brought),
    Said(Option<Result<ModelEvent, ModelError>>),
    Progress(ItemId, u64, String),
    TextDue,
    Woke,
}

impl Driver {
    async fn run(mut self, mut commands: mpsc::Receiver<Command>) {
        loop {
            let happened = self.next(&mut commands).await;
            match happened {
                // What waits for the person stays waiting on disk, also when nobody holds the session any more. SPEC S2.
                Happened::Command(None) if !self.machine.is_busy() || self.waits_for_person() => break,
                Happened::Command(None) => self.feed(Input::Stop).await,
                Happened::Command(Some(command)) => self.obey(command).await,
                Happened::Brought(brought) => self.take(brought).await,
                Happened::Said(said) => self.hear(said).await,
                Happened::Progress(item, offset, text) => {
                    let delta = Delta::Output {
                        offset,
                        text: (self.surface.mask_live)(&text),
                    };
                    self.show(EventBody::ItemDelta { item, delta });
                }
                Happened::TextDue => self.release_text().await,
                Happened::Woke => {
                    self.wake = None;
                    self.feed(Input::Woke).await;
                }
            }
            if self.broken.is_some() {
                self.give_up();
                break;
            }
            if (!self.machine.is_busy() || self.waits_for_person())
                && let Some(done) = self.closing.take()
            {
                // Nobody waits for the answer when the program is already going.
                done.send(()).unwrap_or_default();
                break;
            }
        }
        self.cancel.cancel();
    }

    async fn next(&mut self, commands: &mut mpsc::Receiver<Command>) -> Happened {
        let stream = &mut self.stream;
        let said = async {
            match stream {
                Some(stream) => stream.next().await,
                None => std::future::pending().await,
            }
        };
        let at = |when: Option<Instant>| async move {
            match when {
                Some(when) => tokio::time::sleep_until(when).await,
                None => std::future::pending().await,
            }
        };
        let due = self.held.as_ref().map(|held| held.due);
        tokio::select! {
            biased;
            command = commands.recv() => Happened::Command(command),
            Some(progress) = self.progress.1.recv() => Happened::Progress(progress.0, progress.1, progress.2),
            Some(brought) = self.tasks.join_next(), if !self.tasks.is_empty() => match brought {
                Ok(brought) => Happened::Brought(brought),
                // Tasks catch their own panics; one that is gone was cancelled with the session.
                Err(_) => Happened::TextDue,
            },
            said = said => Happened::Said(said),
            () = at(due) => Happened::TextDue,
            () = at(self.wake) => Happened::Woke,
        }
    }

    async fn obey(&mut self, command: Command) {
        match command {
            Command::Step { input, done } => {
                self.release_text().await;
                self.feed(*input).await;
                done.send(self.stored()).unwrap_or_default();
            }
            Command::Approve {
                approval,
                digest,
                answer,
                done,
            } => {
                let mut taken = self
                    .machine
                    .check_answer(&approval, &digest, &answer)
                    .and_then(|()| self.check_nothing_blotted(&approval, &answer));
                if taken.is_ok() {
                    self.feed(Input::AnswerApproval { approval, answer }).await;
                    taken = self.stored();
                }
                done.send(taken).unwrap_or_default();
            }
            Command::Answer {
                question,
                answers,
                done,
            } => {
                let mut taken = self.machine.check_answers(&question, &answers);
                if taken.is_ok() {
                    self.feed(Input::AnswerQuestion { question, answers }).await;
                    taken = self.stored();
                }
                done.send(taken).unwrap_or_default();
            }
            Command::RunOutside { item, turn, done } => {
                let mut taken = self.machine.check_outside(&item);
                if taken.is_ok() {
                    self.feed(Input::RunOutside { item, turn }).await;
                    taken = self.stored();
                }
                done.send(taken).unwrap_or_default();
            }
            Command::UseModel { profile, model } => {
                let info = model.info().clone();
                self.model = Some(model);
                self.feed(Input::SetModel { profile, info }).await;
            }
            Command::ChangePolicy(change) => change(self.machine.policy_mut()),
            Command::Draft(text) => self.machine.log_mut().draft = text,
            Command::Snapshot(done) => {
                self.release_text().await;
                let snapshot = self
                    .machine
                    .log()
                    .snapshot(self.machine.meter(), self.machine.activity().clone());
                done.send(snapshot).unwrap_or_default();
            }
            Command::Close(done) => {
                self.closing = Some(done);
                // A card that waits stays waiting: it is shown again at the next start. SPEC S2.
                if self.machine.is_busy() && !self.waits_for_person() {
                    self.feed(Input::Stop).await;
                }
            }
        }
    }

    /// Whether all that happened so far is stored.
    fn stored(&self) -> Result<(), ApiError> {
        match &self.broken {
            Some(error) => Err(storage_error(error)),
            None => Ok(()),
        }
    }

    fn waits_for_person(&self) -> bool {
        matches!(self.machine.activity(), cairn_protocol::Activity::WaitingForYou)
    }

    /// Tells the machine and performs what it wants, and what follows from that at once.
    async fn feed(&mut self, input: Input) {
        let mut next = Some(input);
        while let Some(input) = next.take() {
            let moment = Moment {
                now: self.surface.world.now(),
                chance: self.surface.world.chance(),
            };
            let input = mask::input(input, self.surface.mask.as_ref());
            let effects = self.machine.step(moment, input);
            match self.perform(effects).await {
                Ok(follows) => next = follows,
                Err(error) => self.broken = Some(error),
            }
        }
    }

    async fn perform(&mut self, effects: Vec<Effect>) -> Result<Option<Input>, StoreError> {
        let mut follows = None;
        let mut batch = Batch::default();
        for effect in effects {
            match effect {
                Effect::Record(body, durability) => batch.record(self.event(*body), durability),
                Effect::Show(body) => batch.events.push(self.event(*body)),
                other => {
                    self.commit(&mut batch).await?;
                    if let Some(input) = self.perform_one(other).await? {
                        follows = Some(input);
                    }
                }
            }
        }
        self.commit(&mut batch).await?;
        Ok(follows)
    }

    async fn perform_one(&mut self, effect: Effect) -> Result<Option<Input>, StoreError> {
        match effect {
            Effect::Record(..) | Effect::Show(_) => {}
            Effect::Grow { item, offset, text } => {
                let session = self.machine.log().session.id.clone();
                self.surface
                    .store
                    .append_text(session, item.clone(), offset, text.clone())
                    .await?;
                self.show(EventBody::ItemDelta {
                    item,
                    delta: Delta::Text { offset, text },
                });
            }
            Effect::AskModel => return Ok(self.ask_model().await),
            Effect::Probe { without } => return Ok(self.probe(&without).await),
            Effect::AskSummary { cut, room, most } => return Ok(self.ask_summary(&cut, room, most)),
            Effect::DropModel => {
                self.stream = None;
                self.held = None;
            }
            Effect::WakeAt(at) => {
                let wait = u64::try_from(at - self.surface.world.now()).unwrap_or(0);
                self.wake = Some(Instant::now() + Duration::from_millis(wait));
            }
            Effect::Prepare {
                call,
                name,
                arguments,
                budget,
            } => self.prepare(call, &name, arguments, budget),
            Effect::Execute {
                call,
                limit,
                runs,
                hunks,
            } => self.execute(call, limit, runs, hunks),
            Effect::Forget { call } => {
                self.prepared.remove(&call);
                self.budgets.remove(&call);
            }
            Effect::CancelCalls => {
                self.cancel.cancel();
                self.cancel = CancellationToken::new();
            }
            Effect::SaveRules(rules) => self.surface.sink.save_rules(&rules),
            Effect::StartNext => {
                return Ok(Some(Input::NextFromQueue {
                    turn: self.surface.world.fresh_id().into(),
                }));
            }
        }
        Ok(None)
    }

    fn event(&mut self, body: EventBody) -> Event {
        let stored = body.is_stored();
        let log = self.machine.log_mut();
        if stored {
            log.last_seq += 1;
        }
        let (seq, session) = (log.last_seq, log.session.id.clone());
        Event {
            v: WIRE_VERSION,
            seq,
            session,
            at: self.surface.world.now(),
            body,
        }
    }

    fn show(&mut self, body: EventBody) {
        let event = self.event(body);
        self.surface.sink.event(&event);
    }

    async fn commit(&mut self, batch: &mut Batch) -> Result<(), StoreError> {
        let Batch { events, durability } = std::mem::take(batch);
        let stored: Vec<_> = events
            .iter()
            .filter(|event| event.body.is_stored())
            .cloned()
            .collect();
        if !stored.is_empty() {
            self.surface.store.append(stored, durability).await?;
        }
        for event in &events {
            self.surface.sink.event(event);
        }
        Ok(())
    }

    fn item_of(&self, call: &CallId) -> Option<ItemId> {
        let of =
            |item: &&cairn_protocol::Item| matches!(&item.body, ItemBody::Tool(tool) if tool.call == *call);
        self.machine
            .log()
            .items()
            .iter()
            .rev()
            .find(of)
            .map(|item| item.id.clone())
    }
}
