//! What Ollama refuses: little, since it decodes into types and ignores what it does not know.

use serde_json::Value;

use super::{list, word};

pub(super) fn check(body: &Value) -> Result<(), String> {
    if word(body, "model").is_empty() {
        return Err("model is required".to_owned());
    }
    for message in list(body, "messages") {
        let role = word(message, "role");
        if !["system", "user", "assistant", "tool"].contains(&role) {
            return Err(format!("invalid role: {role}"));
        }
        if message.get("content").is_some_and(|content| !content.is_string()) {
            return Err("json: cannot unmarshal array into Go struct field ChatRequest.messages.content of type string".to_owned());
        }
        for call in list(message, "tool_calls") {
            if !call.pointer("/function/arguments").is_some_and(Value::is_object) {
                return Err("json: cannot unmarshal string into Go struct field ChatRequest.messages.tool_calls.function.arguments of type api.ToolCallFunctionArguments".to_owned());
            }
        }
        for image in list(message, "images") {
            let plain = image.as_str().is_some_and(|data| {
                !data.is_empty()
                    && data
                        .chars()
                        .all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '='))
            });
            if !plain {
                return Err("illegal base64 data at input byte 4".to_owned());
            }
        }
    }
    if body
        .pointer("/options/num_ctx")
        .is_some_and(|window| window.as_u64().is_none_or(|it| it == 0))
    {
        return Err("option \"num_ctx\" must be of type integer".to_owned());
    }
    Ok(())
}
