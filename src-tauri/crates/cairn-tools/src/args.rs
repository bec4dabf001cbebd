//! Arguments: an object becomes a value of a tool's input struct, or a sentence that says what is wrong with it.
//!
//! Owns: the fields' part of SPEC T1 and the schemas that describe the structs. Must never know: what any tool does
//! with the value, or how the object was written; that part is `cairn_agent::arguments`.
//!
//! Lenient where the meaning is certain, strict elsewhere:
//! - a number or a boolean sent as a string is taken (`"12"`, `"true"`);
//! - `null` for an optional field counts as left out;
//! - a string where an object with exactly one required text field is expected becomes that field;
//! - a field nobody knows is an error when its name is close to a real one (`old_str` for `old_string`), because
//!   then the model meant the real one; any other unknown field is ignored.

mod check;
mod schema;

use cairn_agent::tool::ToolError;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

pub use schema::{schema_of, spec};

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
