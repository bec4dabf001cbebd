//! The turn: a pure state machine. `(state, input) → effects`; no clock, no chance, no disk, no network.
//!
//! Owns: the order of things within a request. Must never know: how anything is done. Inputs carry the time; ids are
//! made from the request's own id and a counter, so the same inputs always give the same events.

use cairn_policy::{Edits, Policy};
use cairn_protocol::{
    Activity, ApiError, ApprovalId, ApprovalResolution, Attachment, CallId, ContextChoice, ErrorCode,
    EventBody, Item, ItemBody, ItemId, ItemState, Mark, Mode, Notice, NoticeLevel, RuleScope, SessionState,
    Turn, TurnId, TurnOutcome, UnixMillis,
};

use crate::budget::SharedBudget;
use crate::effect::{Archived, Effect, Input, Moment, ToolFacts};
use crate::log::SessionLog;
use crate::meter::Meter;
use crate::model::ModelInfo;
use crate::repeat::Repeats;
use crate::store::Durability;

mod ahead;
mod aside;
mod asking;
mod calls;
mod cards;
mod changes;
mod choices;
mod ending;
mod gate;
mod messages;
mod outside;
mod planning;
mod rerun;
mod restore;
mod stuck;
mod summarising;
mod walls;

/// Limits of a request. SPEC L2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Model steps per request.
    pub steps: u32,
    /// The same in `auto`.
    pub steps_auto: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            steps: 50,
            steps_auto: 100,
        }
    }
}

/// The machine of one session.
pub struct TurnMachine {
    log: SessionLog,
    policy: Policy,
    limits: Limits,
    model: Option<ModelInfo>,
    tools: Vec<ToolFacts>,
    meter: Meter,
    repeats: Repeats,
    outside: outside::Outside,
    phase: Phase,
    activity: Activity,
    /// Counts ids within the running request.
    counter: u32,
    /// Steps since the request began or was continued.
    steps: u32,
    /// Tokens of the next request right after the last summary.
    summarised_at: Option<u64>,
    /// A reply of this request was cut off by a full window already.
    cut_off: bool,
    /// It was said that the server cuts the prompt.
    told_cut: bool,
    /// The person asked for a summary while a request runs.
    summary_wanted: bool,
    stuck: stuck::Stuck,
    /// A command that the person wants run outside, before the model's next step.
    rerun: Option<ItemId>,
    /// Items of the log that were in a request which the model's server took.
    accepted: usize,
    /// The server refused this request as too long already.
    overflowed: bool,
    /// Messages for the next model step.
    sent_now: Vec<(String, Vec<Attachment>)>,
    now: UnixMillis,
    chance: f64,
    effects: Vec<Effect>,
}

/// What the machine waits for.
#[derive(Debug)]
enum Phase {
    /// A message.
    Idle,
    /// The model.
    Asking(asking::Reply),
    /// The end of a wait before the request is sent again.
    RetryWait(asking::Reply),
    /// A summary of older parts.
    Summarising(summarising::Summarising),
    /// A search for what the server refuses.
    Probing(aside::Probing),
    /// The end of a wait before the summary is asked for again.
    SummaryWait(summarising::Summarising),
    /// Calls of one reply.
    Calling {
        calls: Vec<calls::Call>,
        budget: SharedBudget,
    },
    /// Cancelled calls, before the request ends.
    Ending {
        running: Vec<CallId>,
        outcome: TurnOutcome,
    },
}

impl TurnMachine {
    /// A machine over a session's log. [`Input::Restore`] must come first where the log is not empty.
    pub fn new(log: SessionLog, policy: Policy, limits: Limits, tools: Vec<ToolFacts>) -> Self {
        let mut machine = Self {
            log,
            policy,
            limits,
            model: None,
            tools,
            meter: Meter::new(0, 0),
            repeats: Repeats::default(),
            outside: outside::Outside::default(),
            phase: Phase::Idle,
            activity: Activity::Idle,
            counter: 0,
            steps: 0,
            summarised_at: None,
            cut_off: false,
            told_cut: false,
            summary_wanted: false,
            stuck: stuck::Stuck::default(),
            rerun: None,
            accepted: 0,
            overflowed: false,
            sent_now: Vec::new(),
            now: 0,
            chance: 0.0,
            effects: Vec::new(),
        };
        machine.policy.mode = machine.log.session.mode;
        machine
    }

    /// The folded log.
    pub fn log(&self) -> &SessionLog {
        &self.log
    }

    /// The folded log, for what belongs to no request: drafts.
    pub fn log_mut(&mut self) -> &mut SessionLog {
        &mut self.log
    }

    /// What happens right now.
    pub fn activity(&self) -> &Activity {
        &self.activity
    }

    /// The meter's reading.
    pub fn meter(&self) -> cairn_protocol::ContextMeter {
        self.meter.read(&self.log, self.model.as_ref())
    }

    /// Model steps of the running request, and how many it may have.
    pub fn steps(&self) -> (u32, u32) {
        (self.steps, self.step_limit())
    }

    /// The model, once one is set.
    pub fn model(&self) -> Option<&ModelInfo> {
        self.model.as_ref()
    }

    /// The prompt was put together; these are its estimated tokens.
    pub fn set_prompt_size(&mut self, rules: u64, notes: u64) {
        self.meter.prompt(rules, notes);
    }

    /// Rules that hold changed (granted or revoked elsewhere, configuration read again).
    pub fn policy_mut(&mut self) -> &mut Policy {
        &mut self.policy
    }

    /// Whether a request is going on.
    pub fn is_busy(&self) -> bool {
        !matches!(self.phase, Phase::Idle)
    }

    /// One step: what happened in, what to do out.
    pub fn step(&mut self, moment: Moment, input: Input) -> Vec<Effect> {
        (self.now, self.chance) = (moment.now, moment.chance);
        match input {
            Input::Send {
                text,
                attachments,
                when,
                turn,
                queue,
            } => self.send(text, attachments, when, turn, queue),
            Input::QueueEdit { id, text, now } => self.edit_queue(&id, text, now),
            Input::NextFromQueue { turn } => self.next_from_queue(turn),
            Input::Stop => self.stop(),
            Input::Continue => self.go_on(),
            Input::Summarise => self.summarise_now(),
            Input::Mark { item, choice } => self.mark(&item, choice),
            Input::NeedsRoom => self.look_again(),
            Input::RetryNow | Input::Woke => self.retry(),
            Input::SetMode(mode) => self.set_mode(mode),
            Input::SetModel { profile, info } => self.set_model(profile, info),
            Input::Rename(title) => self.change_session(|session| session.title = title),
            Input::Archive(archived) => {
                self.change_session(|session| session.archived = archived == Archived::Yes);
            }
            Input::SetPlan(plan) => self.set_plan(plan),
            Input::AnswerApproval { approval, answer } => self.answer_approval(&approval, answer),
            Input::RunOutside { item, turn } => self.run_outside(&item, turn),
            Input::AnswerQuestion { question, answers } => self.answer_question(&question, answers),
            Input::Model(event) => self.model_said(event),
            Input::ModelFailed(error) => self.model_failed(error),
            Input::Refused { error, item } => self.refused(error, item),
            Input::RequestFailed(error) => self.finish(TurnOutcome::Failed { error }),
            Input::Prepared { call, facts } => self.prepared(&call, *facts),
            Input::Unprepared { call, message } => self.unprepared(&call, message),
            Input::Finished { call, outcome } => self.finished(&call, *outcome),
            Input::Restore => self.restore(),
        }
        std::mem::take(&mut self.effects)
    }

    // ---- the session around the request

    pub(super) fn set_mode(&mut self, mode: Mode) {
        self.policy.mode = mode;
        self.change_session(|session| session.mode = mode);
    }

    /// The person changes what the model gets of an item; other kinds of items never reach it as they are.
    fn mark(&mut self, id: &ItemId, choice: ContextChoice) {
        let marks = match self.log.item(id).map(|item| &item.body) {
            Some(ItemBody::User { .. } | ItemBody::Assistant { .. } | ItemBody::Tool(_)) => self.log.marks(),
            _ => return,
        };
        let mark = match choice {
            ContextChoice::TakeOut => Some(Mark::TakenOut),
            ContextChoice::Pin => Some(Mark::Pinned),
            ContextChoice::PutBack => None,
        };
        if marks.get(id) == mark.as_ref() {
            return;
        }
        self.record(EventBody::ItemMarked {
            item: id.clone(),
            mark,
        });
        self.meter.marked();
        self.show_meter();
    }

    fn set_model(&mut self, profile: String, info: ModelInfo) {
        if self.model.as_ref().is_some_and(|known| known.name != info.name) {
            self.meter.model_changed();
            self.summarised_at = None;
            self.told_cut = false;
            self.accepted = 0;
        }
        self.model = Some(info);
        if self.log.session.profile.as_deref() != Some(&profile) {
            self.change_session(|session| session.profile = Some(profile));
        }
        self.show_meter();
    }

    fn stop(&mut self) {
        match std::mem::replace(&mut self.phase, Phase::Idle) {
            Phase::Idle => {}
            Phase::Asking(reply) => {
                self.effects.push(Effect::DropModel);
                self.close_reply(&reply, ItemState::Stopped);
                self.finish(TurnOutcome::Stopped);
            }
            Phase::RetryWait(_) => self.finish(TurnOutcome::Stopped),
            Phase::Probing(_) => {
                self.effects.push(Effect::DropModel);
                self.finish(TurnOutcome::Stopped);
            }
            Phase::Summarising(summarising) | Phase::SummaryWait(summarising) => {
                self.stop_summarising(&summarising);
            }
            Phase::Calling { calls, .. } => {
                self.end_calls(
                    calls,
                    TurnOutcome::Stopped,
                    "Interrupted by the user before it ran.",
                );
            }
            ending @ Phase::Ending { .. } => self.phase = ending,
        }
    }

    /// Ends the request: its counts are final, everything is synced, the next queued message may begin.
    fn finish(&mut self, outcome: TurnOutcome) {
        self.phase = Phase::Idle;
        self.forget_rerun();
        self.policy.edits = Edits::AsMode;
        self.policy
            .rules
            .allow
            .retain(|granted| granted.scope != RuleScope::Request);
        let state = match &outcome {
            TurnOutcome::Done => SessionState::Done,
            TurnOutcome::Stopped | TurnOutcome::Denied => SessionState::Stopped,
            TurnOutcome::Failed { .. } => SessionState::Failed,
            TurnOutcome::Paused { .. } => SessionState::Paused,
            TurnOutcome::Interrupted => SessionState::Interrupted,
        };
        let next = outcome == TurnOutcome::Done && (!self.log.queue.is_empty() || !self.sent_now.is_empty());
        if let Some(mut turn) = self.log.last_turn().cloned() {
            turn.ended_at = Some(self.now);
            turn.outcome = Some(outcome);
            self.record_with(EventBody::TurnCompleted { turn }, Durability::Committed);
        }
        self.change_session_with(|session| session.state = state, Durability::Synced);
        self.set_activity(Activity::Idle);
        self.show_meter();
        if next {
            self.effects.push(Effect::StartNext);
        }
    }

    fn step_limit(&self) -> u32 {
        if self.log.session.mode == Mode::Auto {
            self.limits.steps_auto
        } else {
            self.limits.steps
        }
    }

    // ---- small things every part uses

    fn turn_id(&self) -> TurnId {
        self.log
            .last_turn()
            .map_or_else(|| TurnId::from(""), |turn| turn.id.clone())
    }

    fn fresh(&mut self, kind: &str) -> String {
        self.counter += 1;
        format!("{}-{kind}{}", self.turn_id(), self.counter)
    }

    fn new_item(&mut self, state: ItemState, step: Option<u32>, body: ItemBody) -> Item {
        let id = ItemId(self.fresh("i"));
        Item {
            id,
            turn: self.turn_id(),
            at: self.now,
            state,
            step,
            body,
            rendered: None,
        }
    }

    fn record(&mut self, body: EventBody) {
        self.record_with(body, Durability::Committed);
    }

    fn record_with(&mut self, body: EventBody, durability: Durability) {
        self.log.apply(body.clone());
        self.effects.push(Effect::Record(Box::new(body), durability));
    }

    fn change_session(&mut self, change: impl FnOnce(&mut cairn_protocol::Session)) {
        self.change_session_with(change, Durability::Committed);
    }

    fn change_session_with(
        &mut self,
        change: impl FnOnce(&mut cairn_protocol::Session),
        durability: Durability,
    ) {
        let mut session = self.log.session.clone();
        change(&mut session);
        session.updated_at = self.now;
        self.record_with(EventBody::SessionChanged { session }, durability);
    }

    fn set_state(&mut self, state: SessionState) {
        if self.log.session.state != state {
            self.change_session(|session| session.state = state);
        }
    }

    fn update_turn(&mut self, change: impl FnOnce(&mut Turn)) {
        if let Some(mut turn) = self.log.last_turn().cloned() {
            change(&mut turn);
            self.record(EventBody::TurnUpdated { turn });
        }
    }

    fn set_activity(&mut self, activity: Activity) {
        if self.activity != activity {
            self.activity = activity.clone();
            self.effects
                .push(Effect::Show(Box::new(EventBody::ActivityChanged { activity })));
        }
    }

    fn show_meter(&mut self) {
        let meter = self.meter();
        self.effects
            .push(Effect::Show(Box::new(EventBody::MeterChanged { meter })));
    }

    fn notice(&mut self, level: NoticeLevel, code: &str, text: String) {
        let notice = Notice {
            level,
            code: code.to_owned(),
            text,
        };
        let item = self.new_item(ItemState::Done, None, ItemBody::Notice(notice));
        self.record(EventBody::ItemStarted { item });
    }

    fn withdraw_cards(&mut self) {
        let waiting: Vec<ApprovalId> = self
            .log
            .approvals
            .iter()
            .map(|approval| approval.id.clone())
            .collect();
        for approval in waiting {
            self.record(EventBody::ApprovalResolved {
                approval,
                resolution: ApprovalResolution::Withdrawn,
            });
        }
        if let Some(question) = self.log.question.clone() {
            self.record(EventBody::QuestionResolved {
                question: question.id,
                answers: None,
            });
        }
    }
}

fn internal(message: &str) -> ApiError {
    ApiError::new(ErrorCode::Internal, message)
}

#[cfg(test)]
#[path = "turn/tests.rs"]
pub(crate) mod tests;
