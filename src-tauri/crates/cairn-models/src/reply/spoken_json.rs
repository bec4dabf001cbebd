//! JSON that says a call: its usual shapes, and how much of a text is one value. Pure.

use cairn_agent::tool::ToolSpec;
use serde_json::{Map, Value};

use super::spoken::{Judged, Spoken, Step};

/// Keys that the JSON of a call begins with in one of its usual shapes.
const FIRST_KEYS: [&str; 10] = [
    "name",
    "function",
    "tool",
    "tool_name",
    "function_name",
    "type",
    "id",
    "arguments",
    "parameters",
    "tool_calls",
];

/// A value at the beginning of a text.
pub(super) enum Read<'a> {
    Whole(Value, &'a str),
    Open,
    Not,
}

/// Reads one JSON value.
pub(super) fn object(text: &str) -> Read<'_> {
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    match stream.next() {
        Some(Ok(value)) => Read::Whole(value, text.get(stream.byte_offset()..).unwrap_or_default()),
        Some(Err(error)) if error.is_eof() => Read::Open,
        None => Read::Open,
        Some(Err(_)) => Read::Not,
    }
}

/// A whole reply that is bare or fenced JSON.
pub(super) fn bare(text: &str, tools: &[ToolSpec], whole: bool) -> Judged {
    if text.starts_with('{') || text.starts_with('[') {
        return several(text, tools, whole, false);
    }
    let Some(fence) = text.strip_prefix("```") else {
        return if !whole && "```".starts_with(text) {
            Judged::Open
        } else {
            Judged::Not
        };
    };
    let Some((language, body)) = fence.split_once('\n') else {
        let fits = ["json", "tool_call", "tool_code"]
            .iter()
            .any(|known| known.starts_with(fence.trim_end()));
        return if fits && !whole { Judged::Open } else { Judged::Not };
    };
    if !["", "json", "tool_call", "tool_code"].contains(&language.trim()) {
        return Judged::Not;
    }
    several(body.trim_start(), tools, whole, true)
}

/// Values one after the other, to the end of the text or of its fence.
fn several(text: &str, tools: &[ToolSpec], whole: bool, fenced: bool) -> Judged {
    let mut rest = text;
    let mut calls = Vec::new();
    loop {
        rest = rest.trim_start();
        if fenced && let Some(after) = rest.strip_prefix("```") {
            return match (after.trim().is_empty(), calls.is_empty()) {
                (true, false) => Judged::Calls(calls),
                _ => Judged::Not,
            };
        }
        if rest.is_empty() {
            return match (whole, calls.is_empty() || fenced) {
                (_, false) => Judged::Calls(calls),
                (false, true) => Judged::Open,
                (true, true) => Judged::Not,
            };
        }
        if fenced && !whole && "```".starts_with(rest) {
            return Judged::Open;
        }
        match leading(rest, tools, whole) {
            Step::Found(found, after) => {
                calls.extend(found);
                rest = after;
            }
            Step::Open => return Judged::Open,
            Step::Not => return Judged::Not,
        }
    }
}

/// The value at the beginning of a text, if it says calls of offered tools.
pub(super) fn leading<'a>(text: &'a str, tools: &[ToolSpec], whole: bool) -> Step<'a> {
    let text = text.trim_start();
    if !begins_like_a_call(text) {
        return Step::Not;
    }
    match object(text) {
        Read::Whole(value, after) => {
            calls_of(&value, tools).map_or(Step::Not, |calls| Step::Found(calls, after))
        }
        Read::Open if !whole => Step::Open,
        Read::Open | Read::Not => Step::Not,
    }
}

/// Whether it may be the JSON of a call, as far as it goes. A document that merely is JSON is not held back for long.
fn begins_like_a_call(text: &str) -> bool {
    let inside = text.strip_prefix('[').unwrap_or(text).trim_start();
    if inside.is_empty() {
        return true;
    }
    let Some(key) = inside.strip_prefix('{') else {
        return false;
    };
    let key = key.trim_start();
    if key.is_empty() {
        return true;
    }
    let Some(key) = key.strip_prefix('"') else {
        return false;
    };
    match key.split_once('"') {
        Some((key, _)) => FIRST_KEYS.contains(&key),
        None => FIRST_KEYS.iter().any(|known| known.starts_with(key)),
    }
}

fn calls_of(value: &Value, tools: &[ToolSpec]) -> Option<Vec<Spoken>> {
    if let Some(list) = value
        .as_array()
        .or_else(|| value.get("tool_calls").and_then(Value::as_array))
    {
        let calls: Option<Vec<Spoken>> = list.iter().map(|value| call_of(value, tools)).collect();
        return calls.filter(|calls| !calls.is_empty());
    }
    call_of(value, tools).map(|call| vec![call])
}

fn call_of(value: &Value, tools: &[ToolSpec]) -> Option<Spoken> {
    let inner = value.get("function").filter(|it| it.is_object()).unwrap_or(value);
    let name = ["name", "tool", "tool_name", "function_name", "function"]
        .iter()
        .find_map(|key| inner.get(key).and_then(Value::as_str))?;
    tools.iter().find(|tool| tool.name == name)?;
    let arguments = ["arguments", "parameters", "args", "input"]
        .iter()
        .find_map(|key| inner.get(key));
    let arguments = match arguments {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(map)) => map.clone(),
        Some(Value::String(text)) => serde_json::from_str(text).ok()?,
        Some(_) => return None,
    };
    Some(spoken(name, arguments))
}

pub(super) fn spoken(name: &str, arguments: Map<String, Value>) -> Spoken {
    Spoken {
        name: name.to_owned(),
        arguments: Value::Object(arguments).to_string(),
    }
}

/// A parameter's value: text where the tool wants text, else JSON where it is some.
pub(super) fn value(tool: &ToolSpec, key: &str, text: &str) -> Value {
    let text = text.strip_prefix('\n').unwrap_or(text);
    let text = text.strip_suffix('\n').unwrap_or(text);
    let kind = tool.schema.pointer(&format!("/properties/{key}/type"));
    let wants_text = kind.is_some_and(|kind| {
        kind == "string"
            || kind
                .as_array()
                .is_some_and(|kinds| kinds.iter().any(|it| it == "string"))
    });
    if wants_text {
        return text.into();
    }
    serde_json::from_str(text.trim()).unwrap_or_else(|_| text.into())
}
