//! What real servers refuse, in their own words. Owns: what the rules of all protocols have alike. Pure.

pub(super) mod chat;
mod messages;
mod ollama;
mod responses;

use serde_json::Value;

use super::protocol::Protocol;

/// Limits of the server, beside the rules of the protocol.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Tokens that the model holds, a token being four bytes; 0 for no limit.
    pub(super) tokens: u64,
    /// Pictures of one request.
    pub(super) pictures: usize,
    /// Bytes of one picture as base64.
    pub(super) picture_bytes: usize,
}

/// Checks a request. A refusal is the body of a 400; its words are those of the real server.
pub(super) fn check(protocol: Protocol, body: &Value, limits: Limits) -> Result<(), Value> {
    match protocol {
        Protocol::Chat => chat::check(body)?,
        Protocol::Messages => messages::check(body).map_err(|words| protocol.error(&words))?,
        Protocol::Responses => responses::check(body).map_err(|words| protocol.error(&words))?,
        Protocol::Ollama => ollama::check(body).map_err(|words| protocol.error(&words))?,
    }
    within(protocol, body, limits).map_err(|words| protocol.error(&words))
}

fn within(protocol: Protocol, body: &Value, limits: Limits) -> Result<(), String> {
    let mut pictures = Vec::new();
    find_pictures(body, &mut pictures);
    if pictures.len() > limits.pictures {
        return Err(match protocol {
            Protocol::Messages => format!(
                "Too many images and documents: {} + 0 > {}",
                pictures.len(),
                limits.pictures
            ),
            _ => format!(
                "At most {} image(s) may be provided in one prompt.",
                limits.pictures
            ),
        });
    }
    if let Some(large) = pictures.iter().find(|picture| **picture > limits.picture_bytes) {
        return Err(format!(
            "messages.0.content.0.image.source.base64: image exceeds 5 MB maximum: {large} bytes > {} bytes",
            limits.picture_bytes
        ));
    }
    let tokens = (text_bytes(body) / 4) as u64;
    if limits.tokens > 0 && tokens > limits.tokens {
        let most = limits.tokens;
        return Err(match protocol {
            Protocol::Messages => format!("prompt is too long: {tokens} tokens > {most} maximum"),
            Protocol::Ollama => "the input length exceeds the context length".to_owned(),
            Protocol::Chat | Protocol::Responses => format!(
                "This model's maximum context length is {most} tokens. However, your messages resulted in {tokens} \
                 tokens. Please reduce the length of the messages."
            ),
        });
    }
    Ok(())
}

/// Bytes of a request but for its pictures.
pub(super) fn text_bytes(body: &Value) -> usize {
    let mut pictures = Vec::new();
    find_pictures(body, &mut pictures);
    body.to_string()
        .len()
        .saturating_sub(pictures.iter().sum::<usize>())
}

/// Sizes of all pictures, as base64.
fn find_pictures(value: &Value, found: &mut Vec<usize>) {
    match value {
        Value::String(text) if text.starts_with("data:image/") => found.push(text.len()),
        Value::Object(map) if map.get("type").is_some_and(|kind| kind == "base64") => {
            found.extend(map.get("data").and_then(Value::as_str).map(str::len));
        }
        Value::Object(map) => {
            let images = map.get("images").and_then(Value::as_array);
            found.extend(
                images
                    .into_iter()
                    .flatten()
                    .filter_map(Value::as_str)
                    .map(str::len),
            );
            map.values().for_each(|value| find_pictures(value, found));
        }
        Value::Array(list) => list.iter().for_each(|value| find_pictures(value, found)),
        _ => {}
    }
}

/// Whether every field is one of those.
fn only(value: &Value, known: &[&str], words: impl Fn(&str) -> String) -> Result<(), String> {
    let fields = value.as_object().ok_or("expected an object")?;
    match fields.keys().find(|field| !known.contains(&field.as_str())) {
        Some(field) => Err(words(field)),
        None => Ok(()),
    }
}

fn word<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}

fn list<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value
        .get(field)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// Whether bytes as base64 are of the type that they are said to be.
fn is_of_type(media_type: &str, data: &str) -> bool {
    let starts: &[&str] = match media_type {
        "image/png" => &["iVBORw0KGgo"],
        "image/jpeg" => &["/9j/"],
        "image/gif" => &["R0lGODdh", "R0lGODlh"],
        "image/webp" => &["UklGR"],
        _ => &[],
    };
    starts.iter().any(|start| data.starts_with(start))
}
