//! From one session's driver to everybody who looks: windows get drawn text, the headless command gets plain events.
//!
//! Owns: who gets which event in which form. Must never know: how events come about.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use cairn_agent::driver::EventSink;
use cairn_exec::Group;
use cairn_protocol::{
    AcceptedPlan, Approval, ApprovalSubject, Delta, Event, EventBody, Item, ItemBody, ItemId, Notice,
    SessionId, Summary, UnixMillis, WIRE_VERSION,
};
use tokio::sync::mpsc;

use crate::inbox::Place;
use crate::processes::{self, LastSeq};
use crate::render::{self, Growing};

/// Events of a project as one front end gets them.
pub struct Subscription {
    /// Where they arrive, in order.
    pub events: mpsc::UnboundedReceiver<Arc<Event>>,
}

/// In which form text arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// As the model wrote it.
    Plain,
    /// As a typed tree, ready to be drawn.
    Drawn,
}

struct Subscriber {
    form: Form,
    /// Sessions whose every event is wanted; of others only what the list shows.
    opened: HashSet<SessionId>,
    // Unbounded, because a driver must never wait for a page; text comes at most every 30 ms, and a page that has
    // fallen behind asks for a snapshot.
    sender: mpsc::UnboundedSender<Arc<Event>>,
}

/// The subscribers of one project.
#[derive(Default)]
pub(crate) struct Fanout {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    next: u64,
    subscribers: HashMap<u64, Subscriber>,
    growing: HashMap<ItemId, Growing>,
}

impl Fanout {
    /// A new subscriber and its number.
    pub(crate) fn subscribe(&self, form: Form) -> (u64, Subscription) {
        let (sender, events) = mpsc::unbounded_channel();
        let mut inner = self.lock();
        inner.next += 1;
        let number = inner.next;
        inner.subscribers.insert(
            number,
            Subscriber {
                form,
                opened: HashSet::new(),
                sender,
            },
        );
        (number, Subscription { events })
    }

    /// From now on the subscriber gets every event of that session.
    pub(crate) fn open(&self, subscriber: u64, session: &SessionId) {
        if let Some(subscriber) = self.lock().subscribers.get_mut(&subscriber) {
            subscriber.opened.insert(session.clone());
        }
    }

    /// Forgets a subscriber.
    pub(crate) fn leave(&self, subscriber: u64) {
        self.lock().subscribers.remove(&subscriber);
    }

    /// Says something that belongs to no session.
    pub(crate) fn notice(&self, notice: Notice, at: UnixMillis) {
        self.to_all(EventBody::Notice { notice }, at);
    }

    /// Sends what belongs to no session.
    pub(crate) fn to_all(&self, body: EventBody, at: UnixMillis) {
        self.send_event(&Event {
            v: WIRE_VERSION,
            seq: 0,
            session: SessionId::from(""),
            at,
            body,
        });
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends an event to everybody who wants it.
    pub(crate) fn send_event(&self, event: &Event) {
        let mut inner = self.lock();
        let wanted = |subscriber: &Subscriber| {
            subscriber.opened.contains(&event.session) || is_for_the_list(&event.body)
        };
        let drawn = inner
            .subscribers
            .values()
            .any(|subscriber| subscriber.form == Form::Drawn && wanted(subscriber));
        let drawn = drawn.then(|| Arc::new(inner.draw(event)));
        let plain = Arc::new(event.clone());
        inner.subscribers.retain(|_, subscriber| {
            if !wanted(subscriber) {
                return true;
            }
            let event = match (subscriber.form, &drawn) {
                (Form::Drawn, Some(drawn)) => drawn.clone(),
                _ => plain.clone(),
            };
            subscriber.sender.send(event).is_ok()
        });
    }
}

impl Inner {
    fn draw(&mut self, event: &Event) -> Event {
        let mut event = event.clone();
        match &mut event.body {
            EventBody::ItemDelta { item, delta } => {
                if let Delta::Text { text, .. } = delta
                    && let Some(growing) = self.growing.get_mut(item)
                {
                    let (keep, blocks) = growing.push(text);
                    *delta = Delta::Rich { keep, blocks };
                }
            }
            EventBody::ItemStarted { item } => {
                if let ItemBody::Assistant { text } = &item.body {
                    let mut growing = Growing::new();
                    growing.push(text);
                    self.growing.insert(item.id.clone(), growing);
                }
                draw_item(item);
            }
            EventBody::ApprovalRequested { approval } => draw_card(approval),
            EventBody::PlanAccepted { accepted } => draw_plan(accepted),
            EventBody::ItemUpdated { item } | EventBody::ItemCompleted { item } => {
                self.growing.remove(&item.id);
                draw_item(item);
            }
            _ => {}
        }
        event
    }
}

/// Adds the typed tree of an item's text.
pub(crate) fn draw_item(item: &mut Item) {
    if let ItemBody::Assistant { text } | ItemBody::Summary(Summary { text, .. }) = &item.body {
        item.rendered = Some(render::markdown(text));
    }
}

/// Adds the typed tree of a plan that is asked about.
pub(crate) fn draw_card(approval: &mut Approval) {
    if let ApprovalSubject::Plan { text, rendered } = &mut approval.subject {
        *rendered = Some(render::markdown(text));
    }
}

/// Adds the typed tree of a plan that was accepted.
pub(crate) fn draw_plan(accepted: &mut AcceptedPlan) {
    accepted.rendered = Some(render::markdown(&accepted.text));
}

fn is_for_the_list(body: &EventBody) -> bool {
    matches!(
        body,
        EventBody::SessionChanged { .. }
            | EventBody::Notice { .. }
            | EventBody::CloseAsked { .. }
            | EventBody::InboxChanged { .. }
            | EventBody::SessionWanted { .. }
    )
}

/// What a driver sends to: the fan-out, and where granted rules are saved.
pub(crate) struct Sink {
    pub(crate) fanout: Arc<Fanout>,
    pub(crate) save_rules: Box<dyn Fn(&[String]) + Send + Sync>,
    /// Keeps what was seen of the project's files; called after each tool call.
    pub(crate) keep_coverage: Box<dyn Fn() + Send + Sync>,
    /// Where the session's position is noted for events that its driver does not send.
    pub(crate) last_seq: LastSeq,
    /// The session's commands.
    pub(crate) processes: Group,
    /// What of the session waits for the person.
    pub(crate) inbox: Place,
}

impl EventSink for Sink {
    fn event(&self, event: &Event) {
        if let EventBody::ItemCompleted { item } = &event.body
            && matches!(item.body, ItemBody::Tool(_))
        {
            (self.keep_coverage)();
        }
        self.last_seq.store(event.seq, Ordering::Relaxed);
        self.fanout.send_event(event);
        self.inbox.hear(event);
        if matches!(event.body, EventBody::TurnCompleted { .. })
            && let Some(notice) = processes::still_running(&self.processes)
        {
            self.fanout.send_event(&Event {
                body: EventBody::Notice { notice },
                ..event.clone()
            });
        }
    }

    fn save_rules(&self, rules: &[String]) {
        (self.save_rules)(rules);
    }
}
