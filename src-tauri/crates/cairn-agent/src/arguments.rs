//! Arguments as models write them, before a tool sees them. SPEC T1.

use serde_json::{Map, Value};

use crate::tool::ToolSpec;

/// The arguments as an object; missing or empty counts as `{}`. Anything else never runs: the error names the tool,
/// what is wrong and which fields are expected.
pub fn object(spec: &ToolSpec, raw: &str) -> Result<Map<String, Value>, String> {
    let text = raw.trim();
    if text.is_empty() {
        return Ok(Map::new());
    }
    let problem = match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(map)) => return Ok(map),
        Ok(Value::String(inner)) if serde_json::from_str::<Map<String, Value>>(&inner).is_ok() => {
            "the arguments are a string that holds JSON; send the object itself".to_owned()
        }
        Ok(Value::Null) => "the arguments are `null`, not an object".to_owned(),
        Ok(Value::Array(_)) => "the arguments are a list, not an object".to_owned(),
        Ok(_) => "the arguments are not an object".to_owned(),
        Err(error) => format!("the arguments are not JSON ({error})"),
    };
    Err(format!(
        "`{}` did not run: {problem}. {}",
        spec.name,
        expected(spec)
    ))
}

fn expected(spec: &ToolSpec) -> String {
    let names = |key: &str| -> Vec<String> {
        match spec.schema.get(key) {
            Some(Value::Array(list)) => list
                .iter()
                .filter_map(Value::as_str)
                .map(|name| format!("`{name}`"))
                .collect(),
            Some(Value::Object(map)) => map.keys().map(|name| format!("`{name}`")).collect(),
            _ => Vec::new(),
        }
    };
    let required = names("required");
    let all = names("properties");
    match (required.is_empty(), all.is_empty()) {
        (false, _) => format!(
            "Expected a JSON object with {} (all fields: {}).",
            required.join(", "),
            all.join(", ")
        ),
        (true, false) => format!("Expected a JSON object; its fields are {}.", all.join(", ")),
        (true, true) => "Expected `{}`.".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::ToolClass;

    #[test]
    fn t9_x96_broken_arguments_never_run_and_the_error_names_tool_and_fields() {
        let spec = ToolSpec {
            name: "read_file".to_owned(),
            description: String::new(),
            schema: serde_json::json!({"properties": {"path": {}, "limit": {}}, "required": ["path"]}),
            class: ToolClass::Read,
            limit: None,
        };
        for empty in ["", "  ", "{}"] {
            assert_eq!(object(&spec, empty), Ok(Map::new()));
        }
        for (raw, says) in [
            (r#"{"path": "a" "x"}"#, "not JSON"),
            ("null", "`null`"),
            ("[]", "a list"),
            ("3", "not an object"),
            (r#""{\"path\":\"a\"}""#, "a string that holds JSON"),
            (r#"{"path": "a"#, "not JSON"),
        ] {
            let error = object(&spec, raw).unwrap_err();
            assert!(
                error.contains(says) && error.contains("`read_file`") && error.contains("`path`"),
                "{error}"
            );
        }
    }
}
