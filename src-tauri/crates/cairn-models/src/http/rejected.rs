//! Which part of a request a refusal is about. SPEC M8. Owns: the words that providers refuse with, from their public
//! error texts. Must never know: connections, sessions, what is done about it.

use cairn_agent::model::{ModelRequest, Objection, Part, PictureFault, Place, Rejected};

use super::refusal::Refusal;
use crate::request::{Trace, place};

/// Reads a refusal; none where it is not about a part of the request.
pub(crate) fn read(refusal: &Refusal, trace: &Trace, request: &ModelRequest) -> Option<Rejected> {
    if !refusal.is_about_the_request() {
        return None;
    }
    let text = refusal.everything();
    let named = named_place(&text, trace);
    let call = named_call(&text, trace);
    let what = objection(refusal, &text, call.as_deref(), named.is_some())?;
    let at = match &what {
        Objection::TooLong { .. } | Objection::Parameter(_) | Objection::Tool { .. } => None,
        Objection::Picture(_) => named
            .and_then(|at| only_picture(request, at))
            .or(named)
            .or_else(|| the_only_picture(request)),
        Objection::Pairing { .. } => call.and_then(|call| place_of_call(request, &call)).or(named),
        Objection::Reasoning | Objection::Shape | Objection::Unknown => named,
    };
    Some(Rejected { what, at })
}

fn objection(refusal: &Refusal, text: &str, call: Option<&str>, has_place: bool) -> Option<Objection> {
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if refusal.is_overflow() {
        return Some(overflow(text));
    }
    if let Some(fault) = picture_fault(&has) {
        return Some(Objection::Picture(fault));
    }
    if has(REASONING) {
        return Some(Objection::Reasoning);
    }
    if has(PAIRING) {
        return Some(Objection::Pairing {
            call: call.map(str::to_owned),
        });
    }
    if has(TOOLS) {
        return Some(Objection::Tool {
            name: quoted_after(text, &["function '", "function \"", "tool '", "tool \""]),
        });
    }
    if has(SHAPE) {
        return Some(Objection::Shape);
    }
    if !has_place && let Some(field) = parameter(text) {
        return Some(Objection::Parameter(field));
    }
    has_place.then_some(Objection::Unknown)
}

/// Thoughts of another provider, changed ones, and ones that are missing where they are wanted.
const REASONING: &[&str] = &[
    "signature",
    "thinking block",
    "`thinking`",
    "redacted_thinking",
    "encrypted_content",
    "encrypted content",
    "of type 'reasoning'",
    "reasoning_details",
    "reasoning_content",
];

const PAIRING: &[&str] = &[
    "tool_call_ids did not have response",
    "must be followed by tool messages",
    "must be a response to a prece",
    "no tool output found",
    "no tool call found",
    "without `tool_result`",
    "unexpected `tool_use_id`",
    "single result",
    "`tool_use` ids must be unique",
    "duplicate value for 'tool_call_id'",
    "tool_use.id",
    "tool_use_id",
    "tool_call_id",
    "tool call id was",
    "number of function calls and responses",
    "number of function response parts",
    "number of toolresult blocks",
    "function call turn comes immediately after",
    "function response turn comes immediately after",
    "tool_calls[",
    "call_id",
];

const TOOLS: &[&str] = &[
    "invalid schema for function",
    "tools.0",
    "tools[0]",
    "'tools[",
    "tools.",
    "tool names must be unique",
    "function_declarations",
];

const SHAPE: &[&str] = &[
    "must alternate",
    "roles alternate",
    "non-empty content",
    "must be non-empty",
    "non-whitespace",
    "trailing whitespace",
    "expected last role",
    "unexpected role",
    "invalid_request_message_order",
    "content is empty",
    "empty content",
    "must not be empty",
    "contents is not specified",
    "does not support assistant message prefill",
    "must end with a user message",
    "more assistant messages at the end",
];

fn picture_fault(has: &dyn Fn(&[&str]) -> bool) -> Option<PictureFault> {
    if !has(&["image", "picture", "multimodal", "mmproj", "vision"]) {
        return None;
    }
    if has(&[
        "too many images",
        "image(s) may be provided",
        "number of images",
        "images exceeds",
        "max images",
        "images per request",
    ]) {
        return Some(PictureFault::TooMany);
    }
    if has(&[
        "exceeds 5 mb",
        "image exceeds",
        "image dimensions exceed",
        "max allowed size",
        "image too large",
        "image is too large",
        "image size",
        "mb maximum",
    ]) {
        return Some(PictureFault::TooLarge);
    }
    if has(&[
        "image input is not supported",
        "support image input",
        "not a multimodal model",
        "does not support image",
        "not support images",
        "image_url is only supported",
        "does not support vision",
        "missing data required for image",
        "image content is not supported",
        "mmproj",
    ]) {
        return Some(PictureFault::Unsupported);
    }
    if has(&[
        "could not process image",
        "unsupported image",
        "valid image",
        "invalid image",
        "image_parse_error",
        "invalid_image",
        "process input image",
        "image is not valid",
        "cannot identify image",
        "failed to load image",
        "the image appears to be",
        "unable to process image",
        "decode image",
        "image data",
    ]) {
        return Some(PictureFault::Unreadable);
    }
    has(&[".image", "image.source", "image_url"]).then_some(PictureFault::Unknown)
}

/// The numbers that a server tells: what was sent is the larger one.
fn overflow(text: &str) -> Objection {
    // Anthropic counts what the reply may have: `190000 + 20000 > 200000`.
    if let Some((before, after)) = text.split_once(" > ")
        && let Some((input, reply)) = before.rsplit_once(" + ")
        && let (Some(input), Ok(reply), Some(limit)) =
            (last_number(input), reply.parse::<u64>(), first_number(after))
    {
        return Objection::TooLong {
            sent: Some(input.saturating_add(reply)),
            limit: Some(limit),
        };
    }
    let mut numbers: Vec<u64> = text
        .replace(',', "")
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|word| word.parse().ok())
        .filter(|number| *number >= 256)
        .take(16)
        .collect();
    numbers.sort_unstable_by(|one, other| other.cmp(one));
    numbers.dedup();
    match numbers.as_slice() {
        [sent, next, ..] => Objection::TooLong {
            sent: Some(*sent),
            limit: Some(limit_of(text).filter(|limit| limit < sent).unwrap_or(*next)),
        },
        [limit] => Objection::TooLong {
            sent: None,
            limit: Some(*limit),
        },
        [] => Objection::TooLong {
            sent: None,
            limit: None,
        },
    }
}

/// The number that stands by the word for the limit.
fn limit_of(text: &str) -> Option<u64> {
    let starts = [
        "maximum context length is ",
        "maximum context length of ",
        "context length is ",
        "context length (",
        "context size (",
        "n_ctx\":",
        "allowed (",
        "tokens > ",
        " > ",
    ];
    starts.iter().find_map(|start| {
        let (_, rest) = text.split_once(start)?;
        first_number(rest)
    })
}

fn first_number(text: &str) -> Option<u64> {
    let digits: String = text
        .chars()
        .filter(|c| *c != ',')
        .take_while(char::is_ascii_digit)
        .collect();
    digits.parse().ok()
}

fn last_number(text: &str) -> Option<u64> {
    text.rsplit(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// The place that a path like `messages.3.content.1` or `input[5]` names.
fn named_place(text: &str, trace: &Trace) -> Option<Place> {
    for list in ["messages", "input"] {
        for (at, _) in text.match_indices(list) {
            let Some(rest) = text.get(at + list.len()..) else {
                continue;
            };
            let Some((entry, rest)) = index(rest) else {
                continue;
            };
            let part = ["content", "parts"].iter().find_map(|field| {
                let rest = rest.trim_start_matches(['.', ']']).strip_prefix(field)?;
                index(rest).map(|(part, _)| part)
            });
            if let Some(place) = trace.place(entry, part) {
                return Some(place);
            }
        }
    }
    None
}

/// An index in one of its spellings: `.3`, `[3]`, `.[3]`.
fn index(text: &str) -> Option<(usize, &str)> {
    let inner = text.strip_prefix('.').unwrap_or(text);
    let inner = match inner.strip_prefix('[') {
        Some(inner) => inner,
        None if text.starts_with('.') => inner,
        None => return None,
    };
    let end = inner.find(|c: char| !c.is_ascii_digit()).unwrap_or(inner.len());
    let (digits, rest) = inner.split_at(end);
    Some((digits.parse().ok()?, rest.strip_prefix(']').unwrap_or(rest)))
}

/// The call whose id stands in the text. The longest one, since one id may begin another.
fn named_call(text: &str, trace: &Trace) -> Option<String> {
    trace
        .sent_ids()
        .filter(|(wire, _)| text.contains(&wire.to_lowercase()))
        .max_by_key(|(wire, _)| wire.len())
        .map(|(_, ours)| ours.to_owned())
}

fn place_of_call(request: &ModelRequest, call: &str) -> Option<Place> {
    parts(request).find_map(|(at, part)| match part {
        Part::Call { id, .. } | Part::Result { id, .. } if id == call => Some(at),
        _ => None,
    })
}

fn parts(request: &ModelRequest) -> impl Iterator<Item = (Place, &Part)> {
    request.messages.iter().enumerate().flat_map(|(message, it)| {
        it.parts
            .iter()
            .enumerate()
            .map(move |(part, it)| (place(message, part), it))
    })
}

fn holds_picture(part: &Part) -> bool {
    match part {
        Part::Picture(_) => true,
        Part::Result { pictures, .. } => !pictures.is_empty(),
        _ => false,
    }
}

/// The picture of a message that was named without its part, when it has only one.
fn only_picture(request: &ModelRequest, at: Place) -> Option<Place> {
    if at.part.is_some() {
        return Some(at);
    }
    let mut found = parts(request).filter(|(place, part)| place.message == at.message && holds_picture(part));
    let (first, _) = found.next()?;
    found.next().is_none().then_some(first)
}

/// The picture of a request that has only one.
fn the_only_picture(request: &ModelRequest) -> Option<Place> {
    let mut found = parts(request).filter(|(_, part)| holds_picture(part));
    let (first, _) = found.next()?;
    found.next().is_none().then_some(first)
}

/// The field that a server does not know or support.
fn parameter(text: &str) -> Option<String> {
    let known = [
        "argument supplied: ",
        "unknown parameter: '",
        "unsupported parameter: '",
        "unsupported parameter: ",
        "unsupported value: '",
        "unknown name \\\"",
        "unknown name \"",
        "unknown field \"",
        "unknown field '",
        "support parameters: ['",
        "\"body\",\"",
    ];
    quoted_after(text, &known).or_else(|| {
        if text.contains("does not support tools") || text.contains("support tool use") {
            return Some("tools".to_owned());
        }
        if text.contains("does not support thinking") {
            return Some("think".to_owned());
        }
        let (before, _) = text.split_once(": extra inputs are not permitted")?;
        let field = before.rsplit([' ', '"']).next()?;
        (!field.is_empty()).then(|| field.to_owned())
    })
}

fn quoted_after(text: &str, starts: &[&str]) -> Option<String> {
    starts.iter().find_map(|start| {
        let (_, rest) = text.split_once(start)?;
        let name: String = rest
            .chars()
            .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
            .take(80)
            .collect();
        let name = name.trim_end_matches('.').to_owned();
        (!name.is_empty()).then_some(name)
    })
}

#[cfg(test)]
mod tests;
