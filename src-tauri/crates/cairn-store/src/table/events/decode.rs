//! From a row to an event. Whatever a row holds, reading it never fails: what this build does not understand
//! becomes an unknown event or item and is drawn as a plain row.

use std::borrow::Cow;

use cairn_protocol::{
    Attachment, EventBody, Item, ItemBody, ItemId, ItemState, Notice, Question, ReasoningData, Summary,
    ToolItem, TurnId, UnixMillis,
};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::VERSION;

/// The body of an event with that kind and version.
pub(super) fn body(kind: &str, version: u32, json: &str) -> EventBody {
    let known = if version > VERSION {
        None
    } else {
        match kind {
            "item_started" => item(json).map(|item| EventBody::ItemStarted { item }),
            "item_updated" => item(json).map(|item| EventBody::ItemUpdated { item }),
            "item_completed" => item(json).map(|item| EventBody::ItemCompleted { item }),
            _ => serde_json::from_str(json).ok(),
        }
    };
    known.unwrap_or_else(|| EventBody::Unknown {
        name: kind.to_owned(),
        version,
        json: json.to_owned(),
    })
}

/// The kind of an event, from its own JSON: serde writes the tag first.
pub(super) fn kind(json: &str) -> Option<&str> {
    json.strip_prefix("{\"type\":\"")?.split('"').next()
}

/// The words of a stored message, for the search's excerpts; none when the event holds no message.
pub(crate) fn message_text(json: &str) -> Option<String> {
    match item(json)?.body {
        ItemBody::User { text, .. } | ItemBody::Assistant { text } => Some(text),
        _ => None,
    }
}

/// An event with an item whose body is read as `B`. Read by hand: serde's tagged enums copy every value once more on
/// the way, and items are nearly all that there is to read.
#[derive(Deserialize)]
struct WithItem<B> {
    item: Parts<B>,
}

#[derive(Deserialize)]
struct Parts<B> {
    id: ItemId,
    turn: TurnId,
    at: UnixMillis,
    state: ItemState,
    #[serde(default)]
    step: Option<u32>,
    body: B,
}

#[derive(Deserialize)]
struct Kind<'a> {
    #[serde(borrow)]
    kind: Cow<'a, str>,
    #[serde(default)]
    version: u32,
}

#[derive(Deserialize)]
struct UserBody {
    text: String,
    attachments: Vec<Attachment>,
}

#[derive(Deserialize)]
struct TextBody {
    text: String,
}

#[derive(Deserialize)]
struct ThinkingBody {
    text: String,
    data: Option<Box<ReasoningData>>,
}

fn item(json: &str) -> Option<Item> {
    expected(json).or_else(|| whole(json, |body: &RawValue| item_body(body.get())))
}

/// Reads the common kinds in one pass, by where this build writes the kind. Whatever is written otherwise is none.
fn expected(json: &str) -> Option<Item> {
    const KIND: &str = "\"body\":{\"kind\":\"";
    let (before, rest) = json.split_once(KIND)?;
    // Two braces before it: the event's and the item's. With more, it is the body of something else.
    if before.matches('{').count() != 2 {
        return None;
    }
    match rest.split('"').next()? {
        "user" => whole(json, |UserBody { text, attachments }| {
            Some(ItemBody::User { text, attachments })
        }),
        "assistant" => whole(json, |TextBody { text }| Some(ItemBody::Assistant { text })),
        "thinking" => whole(json, |ThinkingBody { text, data }| {
            Some(ItemBody::Thinking { text, data })
        }),
        "tool" => whole(json, |tool: ToolItem| Some(ItemBody::Tool(Box::new(tool)))),
        _ => None,
    }
}

fn whole<'a, B: Deserialize<'a>>(json: &'a str, body: impl FnOnce(B) -> Option<ItemBody>) -> Option<Item> {
    let parts = serde_json::from_str::<WithItem<B>>(json).ok()?.item;
    let Parts {
        id,
        turn,
        at,
        state,
        step,
        body: read,
    } = parts;
    Some(Item {
        id,
        turn,
        at,
        state,
        step,
        body: body(read)?,
        rendered: None,
    })
}

fn item_body(json: &str) -> Option<ItemBody> {
    let Kind { kind, version } = serde_json::from_str(json).ok()?;
    let known = match kind.as_ref() {
        "user" => parse(json).map(|UserBody { text, attachments }| ItemBody::User { text, attachments }),
        "assistant" => parse(json).map(|TextBody { text }| ItemBody::Assistant { text }),
        "thinking" => parse(json).map(|ThinkingBody { text, data }| ItemBody::Thinking { text, data }),
        "tool" => parse::<ToolItem>(json).map(|tool| ItemBody::Tool(Box::new(tool))),
        "question" => parse::<Question>(json).map(ItemBody::Question),
        "notice" => parse::<Notice>(json).map(ItemBody::Notice),
        "summary" => parse::<Summary>(json).map(ItemBody::Summary),
        "unknown" => parse(json),
        _ => None,
    };
    Some(known.unwrap_or_else(|| ItemBody::Unknown {
        name: kind.into_owned(),
        version,
    }))
}

fn parse<'a, T: Deserialize<'a>>(json: &'a str) -> Option<T> {
    serde_json::from_str(json).ok()
}
