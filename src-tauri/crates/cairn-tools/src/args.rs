//! Arguments: what the model wrote becomes a value of a tool's input struct, or a sentence that says what is wrong.
//!
//! Owns: SPEC T1 and the schemas that describe the structs. Must never know: what any tool does with the value.
//!
//! Lenient where the meaning is certain, strict elsewhere:
//! - a number or a boolean sent as a string is taken (`"12"`, `"true"`);
//! - `null` for an optional field counts as left out;
//! - a string where an object with exactly one required text field is expected becomes that field;
//! - a field nobody knows is an error when its name is close to a real one (`old_str` for `old_string`), because
//!   then the model meant the real one; any other unknown field is ignored.

mod check;
mod schema;

use cairn_agent::tool::{ToolError, ToolSpec};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

pub use schema::{schema_of, spec};

/// Why the text of a call's arguments is not an object of arguments. The model recovers, by sending the call again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArgumentFault {
    /// It is not JSON at all; holds what the parser says and where.
    #[error("its arguments are not valid JSON ({0})")]
    NotJson(String),
    /// It is JSON, but not an object; holds what it is, like `an array`.
    #[error("its arguments are {0}, and a JSON object is expected")]
    NotAnObject(&'static str),
    /// It is a JSON string that holds the JSON.
    #[error("its arguments are a string that holds JSON; send the object itself, not quoted")]
    DoubleEncoded,
}

impl ArgumentFault {
    /// The sentence for the model: tool, problem, what is expected.
    pub fn describe(&self, tool: &ToolSpec) -> ToolError {
        ToolError::new(format!(
            "`{}` was not run: {self}. {}",
            tool.name,
            check::expectation(&tool.schema)
        ))
    }
}

/// The object of arguments in `raw`, as the model wrote it. Nothing at all counts as `{}`.
pub fn object(raw: &str) -> Result<Map<String, Value>, ArgumentFault> {
    let trimmed = raw.trim();
    if trimmed.is_empty() {
        return Ok(Map::new());
    }
    match serde_json::from_str(trimmed) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(Value::String(text)) if text.is_empty() => Ok(Map::new()),
        Ok(Value::String(text))
            if matches!(
                serde_json::from_str(&text),
                Ok(Value::Object(_) | Value::Array(_))
            ) =>
        {
            Err(ArgumentFault::DoubleEncoded)
        }
        Ok(other) => Err(ArgumentFault::NotAnObject(check::kind_of(&other))),
        Err(error) => Err(ArgumentFault::NotJson(error.to_string())),
    }
}

/// The arguments as the input struct of `tool`.
///
/// The error names the tool, the field and what is expected, and lists the required fields.
pub fn parse<T: DeserializeOwned + JsonSchema>(
    tool: &str,
    arguments: Map<String, Value>,
) -> Result<T, ToolError> {
    let schema = schema_of::<T>();
    let arguments = check::conform(&schema, arguments).map_err(|problem| {
        ToolError::new(format!(
            "`{tool}` was not run: {problem}. {}",
            check::expectation(&schema)
        ))
    })?;
    serde_json::from_value(Value::Object(arguments)).map_err(|error| {
        ToolError::new(format!(
            "`{tool}` was not run: its arguments do not fit ({error}). {}",
            check::expectation(&schema)
        ))
    })
}

#[cfg(test)]
mod tests;
