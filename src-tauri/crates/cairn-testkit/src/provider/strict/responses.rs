//! What OpenAI refuses in a Responses request. Words as its public API says them.

use std::collections::HashSet;

use serde_json::Value;

use super::{is_of_type, list, only, word};

pub(super) fn check(body: &Value) -> Result<(), String> {
    const FIELDS: [&str; 14] = [
        "model",
        "input",
        "instructions",
        "tools",
        "tool_choice",
        "stream",
        "store",
        "include",
        "max_output_tokens",
        "temperature",
        "top_p",
        "reasoning",
        "parallel_tool_calls",
        "prompt_cache_key",
    ];
    only(body, &FIELDS, |field| format!("Unknown parameter: '{field}'."))?;
    if word(body, "model").is_empty() {
        return Err("you must provide a model parameter".to_owned());
    }
    if body
        .get("max_output_tokens")
        .and_then(Value::as_u64)
        .is_some_and(|most| most < 16)
    {
        return Err(
            "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16.".to_owned(),
        );
    }
    if body.get("tools").is_some() && list(body, "tools").is_empty() {
        return Err("Invalid 'tools': empty array.".to_owned());
    }
    for (at, tool) in list(body, "tools").iter().enumerate() {
        if word(tool, "type") != "function" || word(tool, "name").is_empty() {
            return Err(format!("Missing required parameter: 'tools[{at}].name'."));
        }
    }
    items(list(body, "input"))
}

fn items(items: &[Value]) -> Result<(), String> {
    if items.is_empty() {
        return Err(
            "One of \"input\" or \"previous_response_id\" or 'prompt' or 'conversation_id' must be provided."
                .to_owned(),
        );
    }
    let mut owed: Vec<&str> = Vec::new();
    let mut seen = HashSet::new();
    for (at, item) in items.iter().enumerate() {
        match word(item, "type") {
            "message" => message(item, at)?,
            "function_call" => {
                let id = word(item, "call_id");
                if id.is_empty() || id.len() > 64 {
                    return Err(format!(
                        "Invalid 'input[{at}].call_id': string too long. Expected a string with maximum length 64."
                    ));
                }
                if !seen.insert(id) {
                    return Err(format!("Duplicate item found with id {id}."));
                }
                owed.push(id);
            }
            "function_call_output" => {
                let id = word(item, "call_id");
                let Some(place) = owed.iter().position(|call| *call == id) else {
                    return Err(format!(
                        "No tool call found for function call output with call_id {id}."
                    ));
                };
                owed.remove(place);
            }
            "reasoning" => reasoning(item, items.get(at + 1), at)?,
            other => {
                return Err(format!(
                    "Invalid value: '{other}'. Supported values are: 'message', 'function_call' (input[{at}].type)"
                ));
            }
        }
    }
    match owed.first() {
        Some(id) => Err(format!("No tool output found for function call {id}.")),
        None => Ok(()),
    }
}

fn reasoning(item: &Value, next: Option<&Value>, at: usize) -> Result<(), String> {
    let text = list(item, "summary")
        .first()
        .map(|part| word(part, "text"))
        .unwrap_or_default();
    if word(item, "encrypted_content") != super::super::protocol::signature(text) {
        return Err(format!(
            "The encrypted content for item {} could not be verified. Reason: Encrypted content could not be decrypted \
             or parsed. (input[{at}])",
            word(item, "id")
        ));
    }
    let follows = next.is_some_and(|next| {
        matches!(word(next, "type"), "function_call" | "reasoning") || word(next, "role") == "assistant"
    });
    if follows {
        return Ok(());
    }
    Err(format!(
        "Item '{}' of type 'reasoning' was provided without its required following item.",
        word(item, "id")
    ))
}

fn message(item: &Value, at: usize) -> Result<(), String> {
    let role = word(item, "role");
    let text = if role == "assistant" {
        "output_text"
    } else {
        "input_text"
    };
    let content = list(item, "content");
    if content.is_empty() {
        return Err(format!("Invalid 'input[{at}].content': empty array."));
    }
    for (part, it) in content.iter().enumerate() {
        let place = format!("input[{at}].content[{part}]");
        let kind = word(it, "type");
        if kind == text && !word(it, "text").is_empty() {
            continue;
        }
        let picture = word(it, "image_url")
            .strip_prefix("data:")
            .and_then(|url| url.split_once(";base64,"));
        match picture {
            Some((kind, data)) if role == "user" && is_of_type(kind, data) => {}
            Some(_) => {
                return Err(format!(
                    "The image data you provided does not represent a valid image. Please check your input ({place})."
                ));
            }
            None => {
                return Err(format!(
                    "Invalid value: '{kind}'. Supported values are: '{text}' ({place})."
                ));
            }
        }
    }
    Ok(())
}
