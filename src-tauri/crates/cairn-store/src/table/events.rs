//! Table `events`: what happened, append-only. One transaction appends events and brings up to date what is
//! derived from them: the session's row, the search index, the growing texts, the blob references.

mod decode;

use std::borrow::Cow;
use std::collections::HashMap;

use cairn_agent::store::StoreError;
use cairn_protocol::{
    Event, EventBody, Item, ItemBody, ItemId, QueuedMessage, SessionState, TurnOutcome, WIRE_VERSION,
};
use rusqlite::{Connection, Row, params};

use super::{blob_refs, leases, messages, sessions, texts};
use crate::fault::Fault;
use crate::process::ProcessMark;
use crate::schema::Step;

pub(crate) use decode::message_text;

pub(crate) const STEP: Step = Step {
    version: 3,
    // The key is session * 2^32 + seq: one session's events lie side by side, and reading them all is one walk
    // without an index.
    sql: "CREATE TABLE events (
        key INTEGER PRIMARY KEY,
        at INTEGER NOT NULL,
        kind TEXT NOT NULL,
        version INTEGER NOT NULL,
        json TEXT NOT NULL
    )",
};

/// Version of every event kind that this build writes. A kind whose meaning changes gets a number of its own.
pub(crate) const VERSION: u32 = 1;

/// The key of a session's event.
pub(crate) fn key(session: i64, seq: u64) -> i64 {
    (session << 32) | (seq as i64 & 0xffff_ffff)
}

/// Appends events whose `seq` go on from the last stored one. Transient events are not stored.
pub(crate) fn append(db: &Connection, events: &[Event], own: &ProcessMark) -> Result<(), Fault> {
    let mut rest = events;
    while let Some(first) = rest.first() {
        let run = rest
            .iter()
            .take_while(|event| event.session == first.session)
            .count();
        let (same, others) = rest.split_at(run);
        append_run(db, same, own)?;
        rest = others;
    }
    Ok(())
}

/// Appends events of one session.
fn append_run(db: &Connection, events: &[Event], own: &ProcessMark) -> Result<(), Fault> {
    let mut stored = events.iter().filter(|event| event.body.is_stored()).peekable();
    let Some(first) = stored.peek() else { return Ok(()) };
    let mut position = match (sessions::position(db, &first.session)?, &first.body) {
        (Some(position), _) => position,
        (None, EventBody::SessionChanged { session }) if session.id == first.session => {
            sessions::put(db, session)?;
            sessions::position(db, &session.id)?.ok_or_else(|| sessions::missing(&session.id))?
        }
        (None, _) => return Err(sessions::missing(&first.session)),
    };
    leases::refuse_others(db, position.n, own)?;

    let (mut at, mut state) = (i64::MIN, None);
    for event in stored {
        if event.seq != position.last_seq + 1 {
            return Err(StoreError::Database(format!(
                "event {} of session {} cannot follow event {}; another program has written in between",
                event.seq, event.session, position.last_seq
            ))
            .into());
        }
        position.last_seq = event.seq;
        insert(db, position.n, event)?;
        if let EventBody::SessionChanged { session } = &event.body
            && session.id == event.session
        {
            sessions::put(db, session)?;
            state = None;
        }
        state = state_after(&event.body).or(state);
        index(db, position, event)?;
        at = at.max(event.at);
    }
    sessions::advance(db, position.n, position.last_seq, at, state)?;
    Ok(())
}

fn insert(db: &Connection, session: i64, event: &Event) -> Result<(), Fault> {
    let (kind, version, json) =
        encode(&event.body).map_err(|error| StoreError::Database(error.to_string()))?;
    db.prepare_cached("INSERT INTO events (key, at, kind, version, json) VALUES (?1, ?2, ?3, ?4, ?5)")?
        .execute(params![key(session, event.seq), event.at, kind, version, json])?;
    blob_refs::add_all(db, session, &json)?;
    Ok(())
}

/// Kind, version and JSON of an event's body. Events of a newer build keep what they came with.
fn encode(body: &EventBody) -> serde_json::Result<(String, u32, String)> {
    if let EventBody::Unknown { name, version, json } = body {
        return Ok((name.clone(), *version, json.clone()));
    }
    let json = match body {
        EventBody::ItemStarted { item } if item.rendered.is_some() => {
            serde_json::to_string(&EventBody::ItemStarted {
                item: unrendered(item),
            })?
        }
        EventBody::ItemUpdated { item } if item.rendered.is_some() => {
            serde_json::to_string(&EventBody::ItemUpdated {
                item: unrendered(item),
            })?
        }
        EventBody::ItemCompleted { item } if item.rendered.is_some() => {
            serde_json::to_string(&EventBody::ItemCompleted {
                item: unrendered(item),
            })?
        }
        _ => serde_json::to_string(body)?,
    };
    let kind = decode::kind(&json).unwrap_or_default().to_owned();
    Ok((kind, VERSION, json))
}

/// The typed tree is made anew for every window; stored it would only age.
fn unrendered(item: &Item) -> Item {
    Item {
        rendered: None,
        ..item.clone()
    }
}

/// What the event says about the session's state, where it says something.
fn state_after(body: &EventBody) -> Option<SessionState> {
    match body {
        EventBody::TurnStarted { .. } => Some(SessionState::Running),
        EventBody::TurnCompleted { turn } => turn.outcome.as_ref().map(|outcome| match outcome {
            TurnOutcome::Done => SessionState::Done,
            TurnOutcome::Stopped | TurnOutcome::Denied => SessionState::Stopped,
            TurnOutcome::Failed { .. } => SessionState::Failed,
            TurnOutcome::Paused { .. } => SessionState::Paused,
            TurnOutcome::Interrupted => SessionState::Interrupted,
        }),
        _ => None,
    }
}

/// Feeds the search index; forgets the pieces of what is final.
fn index(db: &Connection, position: sessions::Position, event: &Event) -> Result<(), Fault> {
    let (item, complete) = match &event.body {
        EventBody::ItemCompleted { item } => (item, true),
        EventBody::ItemStarted { item } => (item, false),
        _ => return Ok(()),
    };
    if complete {
        texts::merge_away(db, position.n, &item.id)?;
    }
    match &item.body {
        ItemBody::User { text, .. } => messages::put(db, position, item, event.seq, text),
        ItemBody::Assistant { text } if complete => messages::put(db, position, item, event.seq, text),
        _ => Ok(()),
    }
}

/// All that a session's events tell, with what was still growing.
pub(crate) struct History {
    pub events: Vec<Event>,
    pub partial_texts: HashMap<ItemId, String>,
    pub queue: Vec<QueuedMessage>,
}

/// Reads all events of a session, oldest first.
pub(crate) fn load(db: &Connection, stored: &sessions::Stored) -> Result<History, Fault> {
    let mut events = Vec::with_capacity(stored.last_seq as usize);
    let mut growing: HashMap<ItemId, String> = HashMap::new();
    let mut queue = Vec::new();

    let mut statement = db.prepare_cached(
        "SELECT key, at, kind, version, json FROM events WHERE key BETWEEN ?1 AND ?2 ORDER BY key",
    )?;
    let mut rows = statement.query([key(stored.n, 0), key(stored.n, u64::from(u32::MAX))])?;
    while let Some(row) = rows.next()? {
        let body = decode::body(&text(row, 2)?, row.get(3)?, &text(row, 4)?);
        match &body {
            EventBody::ItemStarted { item } | EventBody::ItemUpdated { item } => {
                growing.insert(item.id.clone(), own_text(item).to_owned());
            }
            EventBody::ItemCompleted { item } => {
                growing.remove(&item.id);
            }
            EventBody::QueueChanged { queue: now } => queue.clone_from(now),
            _ => {}
        }
        events.push(Event {
            v: WIRE_VERSION,
            seq: row.get::<_, i64>(0)? as u64 & 0xffff_ffff,
            session: stored.session.id.clone(),
            at: row.get(1)?,
            body,
        });
    }
    let begun = growing.clone();
    texts::grow(db, stored.n, &mut growing)?;
    growing.retain(|item, text| begun.get(item) != Some(text));
    Ok(History {
        events,
        partial_texts: growing,
        queue,
    })
}

/// A text column without a copy; damaged bytes are shown as such.
fn text<'a>(row: &'a Row<'_>, column: usize) -> rusqlite::Result<Cow<'a, str>> {
    Ok(String::from_utf8_lossy(
        row.get_ref(column)?.as_bytes().map_err(rusqlite::Error::from)?,
    ))
}

/// The text of an item that grows.
fn own_text(item: &Item) -> &str {
    match &item.body {
        ItemBody::Assistant { text } | ItemBody::Thinking { text, .. } => text,
        _ => "",
    }
}

/// Kind, version and JSON of one event, for the search's excerpts.
pub(crate) fn raw(db: &Connection, session: i64, seq: u64) -> rusqlite::Result<String> {
    db.prepare_cached("SELECT json FROM events WHERE key = ?1")?
        .query_row([key(session, seq)], |row| row.get(0))
}

/// Removes all events of a session.
pub(crate) fn purge(db: &Connection, session: i64) -> rusqlite::Result<()> {
    db.prepare_cached("DELETE FROM events WHERE key BETWEEN ?1 AND ?2")?
        .execute([key(session, 0), key(session, u64::from(u32::MAX))])?;
    Ok(())
}
