//! The log of one session, folded: what a snapshot holds and what the machine looks back on.
//!
//! The same fold, in the same order of cases, is the page's `reduce.ts`; the golden logs test both.

use std::collections::HashMap;

use cairn_protocol::{
    AcceptedPlan, Activity, Approval, Delta, Event, EventBody, Item, ItemBody, ItemId, ItemState, MarkedItem,
    Question, QueuedMessage, Session, SessionSnapshot, TodoItem, Turn, TurnId,
};

use crate::context::{Context, Marks};

/// One session, folded from its events.
#[derive(Clone, Debug)]
pub struct SessionLog {
    /// The session as last changed.
    pub session: Session,
    /// Its requests, oldest first.
    pub turns: Vec<Turn>,
    items: Vec<Item>,
    places: HashMap<ItemId, usize>,
    /// Cards that wait, oldest first.
    pub approvals: Vec<Approval>,
    /// The question that waits.
    pub question: Option<Question>,
    /// The plan as last written.
    pub plan: Vec<TodoItem>,
    /// The plan in words that the person accepted last.
    pub accepted_plan: Option<AcceptedPlan>,
    /// Messages that wait.
    pub queue: Vec<QueuedMessage>,
    marks: Marks,
    /// What was typed and not sent.
    pub draft: String,
    /// `seq` of the last stored event.
    pub last_seq: u64,
}

impl SessionLog {
    /// A session nothing has happened in.
    pub fn new(session: Session) -> Self {
        Self {
            session,
            turns: Vec::new(),
            items: Vec::new(),
            places: HashMap::new(),
            approvals: Vec::new(),
            question: None,
            plan: Vec::new(),
            accepted_plan: None,
            queue: Vec::new(),
            marks: Marks::new(),
            draft: String::new(),
            last_seq: 0,
        }
    }

    /// Folds stored events over a fresh log. Events at or below the last `seq` are repeats and change nothing.
    pub fn replay(session: Session, events: impl IntoIterator<Item = Event>) -> Self {
        let mut log = Self::new(session);
        for event in events {
            log.apply_event(event);
        }
        log
    }

    /// Folds one event, stored or transient.
    pub fn apply_event(&mut self, event: Event) {
        if event.body.is_stored() {
            if event.seq <= self.last_seq {
                return;
            }
            self.last_seq = event.seq;
        }
        self.apply(event.body);
    }

    /// Folds what happened, whatever its `seq`.
    pub fn apply(&mut self, body: EventBody) {
        match body {
            EventBody::TurnStarted { turn }
            | EventBody::TurnUpdated { turn }
            | EventBody::TurnCompleted { turn } => {
                self.put_turn(turn);
            }
            EventBody::ItemStarted { item }
            | EventBody::ItemUpdated { item }
            | EventBody::ItemCompleted { item } => {
                self.put_item(item);
            }
            EventBody::ItemDelta { item, delta } => self.grow(&item, &delta),
            EventBody::ApprovalRequested { approval } => {
                self.approvals.retain(|waiting| waiting.id != approval.id);
                self.approvals.push(approval);
            }
            EventBody::ApprovalResolved { approval, .. } => {
                self.approvals.retain(|waiting| waiting.id != approval);
            }
            EventBody::QuestionAsked { question } => self.question = Some(question),
            EventBody::QuestionResolved { question, answers } => {
                if self
                    .question
                    .as_ref()
                    .is_some_and(|waiting| waiting.id == question)
                {
                    self.question = None;
                }
                self.note_answers(&question, answers);
            }
            EventBody::SessionChanged { session } => self.session = session,
            EventBody::PlanChanged { plan } => self.plan = plan,
            EventBody::PlanAccepted { accepted } => self.accepted_plan = Some(accepted),
            EventBody::QueueChanged { queue } => self.queue = queue,
            EventBody::ItemMarked { item, mark } => {
                match mark {
                    Some(mark) => self.marks.insert(item, mark),
                    None => self.marks.remove(&item),
                };
            }
            EventBody::MeterChanged { .. }
            | EventBody::ActivityChanged { .. }
            | EventBody::Notice { .. }
            | EventBody::ProcessChanged { .. }
            | EventBody::CloseAsked { .. }
            | EventBody::InboxChanged { .. }
            | EventBody::SessionWanted { .. }
            | EventBody::Unknown { .. } => {}
        }
    }

    fn put_turn(&mut self, turn: Turn) {
        match self.turns.iter_mut().rev().find(|known| known.id == turn.id) {
            Some(known) => *known = turn,
            None => self.turns.push(turn),
        }
    }

    fn put_item(&mut self, item: Item) {
        let known = self
            .places
            .get(&item.id)
            .and_then(|&place| self.items.get_mut(place));
        if let Some(known) = known {
            *known = item;
        } else {
            self.places.insert(item.id.clone(), self.items.len());
            self.items.push(item);
        }
    }

    fn grow(&mut self, id: &ItemId, delta: &Delta) {
        let Some(item) = self.item_mut(id) else { return };
        if let (
            ItemBody::Assistant { text } | ItemBody::Thinking { text, .. },
            Delta::Text { offset, text: piece },
        ) = (&mut item.body, delta)
            && *offset == text.len() as u64
        {
            text.push_str(piece);
        }
    }

    fn note_answers(
        &mut self,
        id: &cairn_protocol::QuestionId,
        answers: Option<Vec<cairn_protocol::QuestionAnswer>>,
    ) {
        for item in self.items.iter_mut().rev() {
            if let ItemBody::Question(question) = &mut item.body
                && question.id == *id
            {
                question.answers = answers;
                return;
            }
        }
    }

    /// The transcript, oldest first.
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// Marks of single items.
    pub fn marks(&self) -> &Marks {
        &self.marks
    }

    /// What of it goes to the model.
    pub fn context(&self) -> Context<'_> {
        let mut context = Context::of(&self.items, &self.marks);
        context.accepted_plan = self.accepted_plan.as_ref().map(|plan| plan.text.as_str());
        context
    }

    /// One item.
    pub fn item(&self, id: &ItemId) -> Option<&Item> {
        self.places.get(id).and_then(|&place| self.items.get(place))
    }

    fn item_mut(&mut self, id: &ItemId) -> Option<&mut Item> {
        let place = *self.places.get(id)?;
        self.items.get_mut(place)
    }

    /// The last request.
    pub fn last_turn(&self) -> Option<&Turn> {
        self.turns.last()
    }

    /// Items of one request that are not over.
    pub fn open_items<'a>(&'a self, turn: &'a TurnId) -> impl Iterator<Item = &'a Item> {
        self.items
            .iter()
            .filter(move |item| item.turn == *turn && is_open(item.state))
    }

    /// What a window needs to draw the session.
    pub fn snapshot(&self, meter: cairn_protocol::ContextMeter, activity: Activity) -> SessionSnapshot {
        SessionSnapshot {
            session: self.session.clone(),
            turns: self.turns.clone(),
            items: self.items.clone(),
            approvals: self.approvals.clone(),
            question: self.question.clone(),
            plan: self.plan.clone(),
            accepted_plan: self.accepted_plan.clone(),
            queue: self.queue.clone(),
            marks: self
                .items
                .iter()
                .filter_map(|item| {
                    let (item, mark) = self.marks.get_key_value(&item.id)?;
                    Some(MarkedItem {
                        item: item.clone(),
                        mark: mark.clone(),
                    })
                })
                .collect(),
            draft: self.draft.clone(),
            meter,
            activity,
            held_by: None,
            last_seq: self.last_seq,
        }
    }
}

/// Whether an item in that state is not over.
pub fn is_open(state: ItemState) -> bool {
    matches!(state, ItemState::Queued | ItemState::Waiting | ItemState::Running)
}
