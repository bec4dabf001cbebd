//! What the person says: messages, the queue, going on, the plan.

use cairn_protocol::{
    Attachment, EventBody, ItemBody, ItemState, NoticeLevel, QueuedMessage, SendWhen, SessionState, Turn,
    TurnId, TurnOutcome, TurnSummary, Usage,
};

use super::stuck::Stuck;
use super::{Phase, TurnMachine};
use crate::effect::Effect;

impl TurnMachine {
    pub(super) fn send(
        &mut self,
        text: String,
        attachments: Vec<Attachment>,
        when: SendWhen,
        turn: TurnId,
        queue: cairn_protocol::QueueId,
    ) {
        match (&self.phase, when) {
            (Phase::Idle, _) => self.begin(turn, text, attachments),
            (_, SendWhen::Now) => self.sent_now.push((text, attachments)),
            (_, SendWhen::Queue) => {
                let mut waiting = self.log.queue.clone();
                waiting.push(QueuedMessage {
                    id: queue,
                    text,
                    at: self.now,
                });
                self.record(EventBody::QueueChanged { queue: waiting });
            }
        }
    }

    pub(super) fn edit_queue(&mut self, id: &cairn_protocol::QueueId, text: Option<String>, now: bool) {
        let mut waiting = self.log.queue.clone();
        let Some(place) = waiting.iter().position(|message| message.id == *id) else {
            return;
        };
        match (text, now) {
            (Some(text), true) => {
                waiting.remove(place);
                self.sent_now.push((text, Vec::new()));
            }
            (Some(text), false) => {
                if let Some(message) = waiting.get_mut(place) {
                    message.text = text;
                }
            }
            (None, _) => {
                waiting.remove(place);
            }
        }
        self.record(EventBody::QueueChanged { queue: waiting });
        if matches!(self.phase, Phase::Idle) && !self.sent_now.is_empty() {
            self.effects.push(Effect::StartNext);
        }
    }

    pub(super) fn next_from_queue(&mut self, turn: TurnId) {
        if self.is_busy() {
            return;
        }
        if !self.sent_now.is_empty() {
            let (text, attachments) = self.sent_now.remove(0);
            return self.begin(turn, text, attachments);
        }
        let mut waiting = self.log.queue.clone();
        if waiting.is_empty() {
            return;
        }
        let message = waiting.remove(0);
        self.record(EventBody::QueueChanged { queue: waiting });
        self.begin(turn, message.text, Vec::new());
    }

    pub(super) fn begin(&mut self, id: TurnId, text: String, attachments: Vec<Attachment>) {
        self.open_turn(id);
        self.user_item(text.clone(), attachments);
        let title = title_of(&text);
        self.change_session(|session| {
            session.state = SessionState::Running;
            if session.title.is_empty() {
                session.title = title;
            }
        });
        self.ask();
    }

    /// Begins a request without a message.
    pub(super) fn open_turn(&mut self, id: TurnId) {
        (self.counter, self.steps) = (0, 0);
        self.overflowed = false;
        self.cut_off = false;
        self.stuck = Stuck::default();
        let number = self.log.turns.last().map_or(1, |turn| turn.number + 1);
        let turn = Turn {
            id,
            number,
            started_at: self.now,
            ended_at: None,
            outcome: None,
            summary: TurnSummary::default(),
            usage: Usage::default(),
        };
        self.record(EventBody::TurnStarted { turn });
    }

    pub(super) fn user_item(&mut self, text: String, attachments: Vec<Attachment>) {
        self.person_wrote(&text);
        let item = self.new_item(ItemState::Done, None, ItemBody::User { text, attachments });
        self.record(EventBody::ItemStarted { item });
    }

    /// Messages sent into the running request join it before the next model step.
    pub(super) fn join_sent_now(&mut self) -> bool {
        let messages = std::mem::take(&mut self.sent_now);
        let any = !messages.is_empty();
        for (text, attachments) in messages {
            self.user_item(text, attachments);
        }
        any
    }

    pub(super) fn go_on(&mut self) {
        if self.is_busy() {
            return;
        }
        let Some(turn) = self.log.last_turn() else { return };
        let may = matches!(
            turn.outcome,
            Some(
                TurnOutcome::Paused { .. }
                    | TurnOutcome::Failed { .. }
                    | TurnOutcome::Interrupted
                    | TurnOutcome::Stopped
            )
        );
        if may {
            self.steps = 0;
            self.overflowed = false;
            self.stuck = Stuck::default();
            self.resume_counter();
            self.update_turn(|turn| (turn.ended_at, turn.outcome) = (None, None));
            self.set_state(SessionState::Running);
            self.ask();
        }
    }

    pub(super) fn set_plan(&mut self, plan: Vec<cairn_protocol::TodoItem>) {
        let text = crate::history::plan_sentence(&plan);
        self.record(EventBody::PlanChanged { plan });
        if self.log.last_turn().is_some() {
            self.notice(
                NoticeLevel::Info,
                &format!("{}plan", crate::context::TOLD_PREFIX),
                text,
            );
        }
    }
}

/// The first words of a message, for a session that has no title yet.
fn title_of(text: &str) -> String {
    const LONGEST: usize = 60;
    let line = text
        .lines()
        .map(|line| line.replace(|c: char| c.is_control() && c != '\t', ""))
        .map(|line| line.trim().to_owned())
        .find(|line| !line.is_empty())
        .unwrap_or_else(|| "New session".to_owned());
    if line.chars().count() <= LONGEST {
        return line;
    }
    let cut: String = line.chars().take(LONGEST).collect();
    let words = cut.rsplit_once(' ').map_or(cut.as_str(), |(words, _)| words);
    format!("{words}…")
}
