//! What Anthropic refuses. Words as its public API says them.

use std::collections::HashSet;

use serde_json::Value;

use super::super::protocol::signature;
use super::{is_of_type, list, only, word};

pub(super) fn check(body: &Value) -> Result<(), String> {
    const FIELDS: [&str; 16] = [
        "model",
        "messages",
        "max_tokens",
        "system",
        "tools",
        "tool_choice",
        "stream",
        "temperature",
        "top_p",
        "top_k",
        "stop_sequences",
        "metadata",
        "thinking",
        "output_config",
        "service_tier",
        "cache_control",
    ];
    only(body, &FIELDS, |field| {
        format!("{field}: Extra inputs are not permitted")
    })?;
    for field in ["model", "messages", "max_tokens"] {
        if body.get(field).is_none() {
            return Err(format!("{field}: Field required"));
        }
    }
    if body.to_string().matches("\"cache_control\"").count() > 4 {
        return Err("A maximum of 4 blocks with cache_control may be provided. Found more.".to_owned());
    }
    let budget = body.pointer("/thinking/budget_tokens").and_then(Value::as_u64);
    let limit = body.get("max_tokens").and_then(Value::as_u64).unwrap_or(0);
    if let Some(budget) = budget
        && (budget < 1_024 || budget >= limit)
    {
        return Err("`max_tokens` must be greater than `thinking.budget_tokens`.".to_owned());
    }
    if body.get("thinking").is_some() && body.get("temperature").is_some_and(|it| it.as_f64() != Some(1.0)) {
        return Err("`temperature` may only be set to 1 when thinking is enabled.".to_owned());
    }
    if body.get("system").is_some()
        && list(body, "system")
            .iter()
            .any(|block| word(block, "text").is_empty())
    {
        return Err("system: text content blocks must be non-empty".to_owned());
    }
    tools(body)?;
    conversation(list(body, "messages"), body.get("thinking").is_some())
}

fn tools(body: &Value) -> Result<(), String> {
    let mut names = HashSet::new();
    for (at, tool) in list(body, "tools").iter().enumerate() {
        only(
            tool,
            &["name", "description", "input_schema", "cache_control", "type"],
            |field| format!("tools.{at}.custom.{field}: Extra inputs are not permitted"),
        )?;
        if !names.insert(word(tool, "name")) {
            return Err("tools: Tool names must be unique.".to_owned());
        }
        if tool.pointer("/input_schema/type").and_then(Value::as_str) != Some("object") {
            return Err(format!(
                "tools.{at}.custom.input_schema.type: Input should be 'object'"
            ));
        }
    }
    Ok(())
}

fn conversation(messages: &[Value], thinks: bool) -> Result<(), String> {
    let Some(last) = messages.last() else {
        return Err("messages: at least one message is required".to_owned());
    };
    if messages.first().is_none_or(|first| word(first, "role") != "user") {
        return Err("messages: first message must use the \"user\" role".to_owned());
    }
    if word(last, "role") != "user" {
        return Err("This model does not support assistant message prefill. The conversation must end with a user message.".to_owned());
    }
    let mut owed: Vec<String> = Vec::new();
    let mut seen = HashSet::new();
    let mut before = "";
    for (at, message) in messages.iter().enumerate() {
        only(message, &["role", "content"], |field| {
            format!("messages.{at}.{field}: Extra inputs are not permitted")
        })?;
        let role = word(message, "role");
        if role == before {
            return Err("messages: roles must alternate between \"user\" and \"assistant\", but found multiple roles in a row".to_owned());
        }
        before = role;
        let content = list(message, "content");
        if content.is_empty() {
            return Err(format!("messages.{at}: all messages must have non-empty content"));
        }
        let calls = std::mem::take(&mut owed);
        if role == "user" {
            answered(at, content, &calls)?;
        }
        for (part, block) in content.iter().enumerate() {
            check_block(block, &format!("messages.{at}.content.{part}"))?;
            if word(block, "type") == "tool_use" {
                let id = word(block, "id").to_owned();
                if !seen.insert(id.clone()) {
                    return Err("messages: `tool_use` ids must be unique".to_owned());
                }
                owed.push(id);
            }
        }
        let thought_first = matches!(
            content.first().map(|block| word(block, "type")),
            Some("thinking" | "redacted_thinking")
        );
        if thinks && !owed.is_empty() && !thought_first && is_open(messages, at) {
            return Err(format!(
                "messages.{at}.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When \
                 `thinking` is enabled, a final `assistant` message must start with a thinking block."
            ));
        }
    }
    Ok(())
}

/// Whether only results came after that message: its turn goes on.
fn is_open(messages: &[Value], at: usize) -> bool {
    messages
        .iter()
        .skip(at + 1)
        .filter(|message| word(message, "role") == "user")
        .all(|message| {
            list(message, "content")
                .iter()
                .all(|block| word(block, "type") == "tool_result")
        })
}

fn answered(at: usize, content: &[Value], calls: &[String]) -> Result<(), String> {
    let results: Vec<&str> = content
        .iter()
        .filter(|block| word(block, "type") == "tool_result")
        .map(|block| word(block, "tool_use_id"))
        .collect();
    if let Some(stray) = results.iter().find(|id| !calls.iter().any(|call| call == **id)) {
        return Err(format!(
            "messages.{at}.content.0: unexpected `tool_use_id` found in `tool_result` blocks: {stray}. Each \
             `tool_result` block must have a corresponding `tool_use` block in the previous message."
        ));
    }
    if let Some(open) = calls.iter().find(|call| !results.contains(&call.as_str())) {
        return Err(format!(
            "messages.{}: `tool_use` ids were found without `tool_result` blocks immediately after: {open}. Each \
             `tool_use` block must have a corresponding `tool_result` block in the next message.",
            at.saturating_sub(1)
        ));
    }
    if results.len() > calls.len() {
        return Err(format!(
            "messages.{at}.content.1: each tool_use must have a single result. Found multiple `tool_result` blocks."
        ));
    }
    Ok(())
}

fn check_block(block: &Value, place: &str) -> Result<(), String> {
    match word(block, "type") {
        "text" => {
            if word(block, "text").trim().is_empty() {
                return Err("messages: text content blocks must contain non-whitespace text".to_owned());
            }
            only(block, &["type", "text", "cache_control"], |field| {
                format!("{place}.text.{field}: Extra inputs are not permitted")
            })
        }
        "image" => {
            let source = block.get("source").unwrap_or(&Value::Null);
            let kind = word(source, "media_type");
            if is_of_type(kind, word(source, "data")) {
                Ok(())
            } else {
                Err(format!(
                    "{place}.image.source.base64.data: The image was specified using the {kind} media type, but the \
                     image appears to be another one"
                ))
            }
        }
        "tool_use" => {
            let id = word(block, "id");
            let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
            if id.is_empty() || !id.chars().all(fits) {
                return Err(format!(
                    "{place}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
                ));
            }
            match block.get("input") {
                Some(Value::Object(_)) => Ok(()),
                _ => Err(format!(
                    "{place}.tool_use.input: Input should be a valid dictionary"
                )),
            }
        }
        "tool_result" => list(block, "content")
            .iter()
            .enumerate()
            .try_for_each(|(at, inner)| check_block(inner, &format!("{place}.tool_result.content.{at}"))),
        "thinking" if word(block, "signature") == signature(word(block, "thinking")) => Ok(()),
        "thinking" => Err(format!("{place}: Invalid `signature` in `thinking` block")),
        "redacted_thinking" => Ok(()),
        other => Err(format!(
            "{place}: Input tag '{other}' found using 'type' does not match any of the expected tags"
        )),
    }
}
