//! What real servers refuse in a chat request, with errors of OpenAI's form. Owns: the rules. Pure.

use std::collections::HashSet;

use serde_json::{Value, json};

/// Checks a chat request. A refusal is the body of a 400; its words name the rule.
pub fn check(body: &Value) -> Result<(), Value> {
    let Some(body) = body.as_object() else {
        return refuse("We could not parse the JSON body of your request.", None);
    };
    if body
        .get("model")
        .and_then(Value::as_str)
        .is_none_or(str::is_empty)
    {
        return refuse("you must provide a model parameter", Some("model"));
    }
    for field in body.keys() {
        if !FIELDS.contains(&field.as_str()) {
            return refuse(
                &format!("Unrecognized request argument supplied: {field}"),
                Some(field),
            );
        }
    }
    if body.get("stream_options").is_some() && body.get("stream") != Some(&Value::Bool(true)) {
        return refuse(
            "'stream_options' is only allowed when 'stream' is enabled.",
            Some("stream_options"),
        );
    }
    if body.contains_key("max_tokens") && body.contains_key("max_completion_tokens") {
        return refuse(
            "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",
            None,
        );
    }
    tools(body.get("tools"))?;
    let messages = body.get("messages").and_then(Value::as_array);
    let Some(messages) = messages.filter(|messages| !messages.is_empty()) else {
        return refuse("'messages' must contain at least one message.", Some("messages"));
    };
    conversation(messages)
}

const FIELDS: &[&str] = &[
    "model",
    "messages",
    "tools",
    "tool_choice",
    "stream",
    "stream_options",
    "max_tokens",
    "max_completion_tokens",
    "temperature",
    "top_p",
    "stop",
    "seed",
    "parallel_tool_calls",
    "reasoning_effort",
    "return_progress",
];

fn tools(tools: Option<&Value>) -> Result<(), Value> {
    let Some(tools) = tools else { return Ok(()) };
    let Some(tools) = tools.as_array().filter(|tools| !tools.is_empty()) else {
        return refuse("[] is too short - 'tools'", Some("tools"));
    };
    let mut names = HashSet::new();
    for tool in tools {
        let name = tool
            .pointer("/function/name")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        if tool.get("type") != Some(&json!("function"))
            || name.is_empty()
            || name.len() > 64
            || !name.chars().all(fits)
        {
            return refuse(
                &format!("Invalid 'tools': \"{name}\" is no name of a function"),
                Some("tools"),
            );
        }
        if !names.insert(name) {
            return refuse(&format!("Tool names must be unique: {name}"), Some("tools"));
        }
        let schema = tool.pointer("/function/parameters");
        if schema.is_some_and(|schema| schema.get("type") != Some(&json!("object"))) {
            return refuse(
                &format!("Invalid schema for function '{name}': type must be \"object\""),
                Some("tools"),
            );
        }
    }
    Ok(())
}

fn conversation(messages: &[Value]) -> Result<(), Value> {
    let mut owed: Vec<String> = Vec::new();
    let mut seen = HashSet::new();
    for (at, message) in messages.iter().enumerate() {
        let role = message.get("role").and_then(Value::as_str).unwrap_or_default();
        let place = format!("messages.[{at}]");
        if role != "tool" && !owed.is_empty() {
            return unanswered(&owed, &place);
        }
        match role {
            "system" | "developer" => text(message, &place)?,
            "user" => user(message, &place)?,
            "assistant" => owed = assistant(message, &place, &mut seen)?,
            "tool" => {
                text(message, &place)?;
                let id = message
                    .get("tool_call_id")
                    .and_then(Value::as_str)
                    .unwrap_or_default();
                let Some(of) = owed.iter().position(|call| call == id) else {
                    return refuse(
                        "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
                        Some(&place),
                    );
                };
                owed.remove(of);
            }
            other => return refuse(&format!("Invalid value: '{other}' is no role"), Some(&place)),
        }
    }
    if owed.is_empty() {
        Ok(())
    } else {
        unanswered(&owed, "messages")
    }
}

fn unanswered(owed: &[String], place: &str) -> Result<(), Value> {
    let ids = owed.join(", ");
    refuse(
        &format!(
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each \
             'tool_call_id'. The following tool_call_ids did not have response messages: {ids}"
        ),
        Some(place),
    )
}

fn assistant(message: &Value, place: &str, seen: &mut HashSet<String>) -> Result<Vec<String>, Value> {
    let calls = message.get("tool_calls");
    match (message.get("content"), calls) {
        (Some(Value::String(_)), _) | (None | Some(Value::Null), Some(_)) => {}
        _ => {
            return refuse(
                "Invalid value for 'content': expected a string, got null.",
                Some(place),
            );
        }
    }
    let Some(calls) = calls else { return Ok(Vec::new()) };
    let Some(calls) = calls.as_array().filter(|calls| !calls.is_empty()) else {
        return refuse("Invalid 'tool_calls': empty array.", Some(place));
    };
    let mut ids = Vec::new();
    for call in calls {
        let id = call.get("id").and_then(Value::as_str).unwrap_or_default();
        let name = call
            .pointer("/function/name")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let arguments = call.pointer("/function/arguments").and_then(Value::as_str);
        if id.is_empty() || name.is_empty() || call.get("type") != Some(&json!("function")) {
            return refuse("Invalid 'tool_calls': id, type and name are needed.", Some(place));
        }
        if !seen.insert(id.to_owned()) {
            return refuse(
                &format!("Duplicate value for 'tool_call_id' of '{id}'"),
                Some(place),
            );
        }
        // OpenAI itself takes any string here; llama.cpp and vLLM parse it and fail.
        let object = arguments
            .and_then(|text| serde_json::from_str::<Value>(text).ok())
            .is_some_and(|it| it.is_object());
        if !object {
            return refuse(
                &format!("Invalid 'arguments' of '{id}': not a JSON object."),
                Some(place),
            );
        }
        ids.push(id.to_owned());
    }
    Ok(ids)
}

fn user(message: &Value, place: &str) -> Result<(), Value> {
    let Some(parts) = message.get("content").and_then(Value::as_array) else {
        return text(message, place);
    };
    if parts.is_empty() {
        return refuse("Invalid 'content': empty array.", Some(place));
    }
    for part in parts {
        let fine = match part.get("type").and_then(Value::as_str) {
            Some("text") => part
                .get("text")
                .and_then(Value::as_str)
                .is_some_and(|text| !text.is_empty()),
            Some("image_url") => part
                .pointer("/image_url/url")
                .and_then(Value::as_str)
                .is_some_and(is_picture),
            _ => false,
        };
        if !fine {
            return refuse(
                "Invalid 'content': a part is neither text nor a picture.",
                Some(place),
            );
        }
    }
    Ok(())
}

/// A data address whose bytes are what its media type says.
fn is_picture(url: &str) -> bool {
    // The first bytes of each kind, as base64 writes them.
    let starts: &[(&str, &[&str])] = &[
        ("data:image/png;base64,", &["iVBORw0KGgo"]),
        ("data:image/jpeg;base64,", &["/9j/"]),
        ("data:image/gif;base64,", &["R0lGODdh", "R0lGODlh"]),
        ("data:image/webp;base64,", &["UklGR"]),
    ];
    starts.iter().any(|(head, magic)| {
        url.strip_prefix(head)
            .is_some_and(|data| magic.iter().any(|magic| data.starts_with(magic)))
    })
}

fn text(message: &Value, place: &str) -> Result<(), Value> {
    match message.get("content") {
        Some(Value::String(_)) => Ok(()),
        _ => refuse("Invalid value for 'content': expected a string.", Some(place)),
    }
}

fn refuse<T>(message: &str, param: Option<&str>) -> Result<T, Value> {
    Err(json!({ "error": {
        "message": message, "type": "invalid_request_error", "param": param, "code": null,
    } }))
}
