//! Arguments of a call: what is accepted is an object that says the same when it is written again; what is not is a
//! sentence that names the tool.

use cairn_agent::arguments::object;
use cairn_agent::tool::ToolClass;
use cairn_tools::args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Tries every kind of field.
#[derive(Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
struct Fields {
    /// A text.
    path: String,
    /// A number.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000))]
    limit: Option<u32>,
    /// A number with a sign.
    #[serde(skip_serializing_if = "Option::is_none")]
    offset: Option<i64>,
    /// A fraction.
    #[serde(skip_serializing_if = "Option::is_none")]
    share: Option<f64>,
    /// A switch.
    #[serde(skip_serializing_if = "Option::is_none")]
    all: Option<bool>,
    /// A choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<Choice>,
    /// Texts.
    #[serde(default)]
    names: Vec<String>,
    /// Objects.
    #[serde(default)]
    edits: Vec<Edit>,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Choice {
    /// One.
    Content,
    /// Another.
    Files,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
struct Edit {
    /// A text.
    old_string: String,
    /// Another.
    #[serde(skip_serializing_if = "Option::is_none")]
    new_string: Option<String>,
}

/// Reads any bytes as what a model wrote for arguments.
pub fn check(data: &[u8]) {
    let raw = String::from_utf8_lossy(data);
    let spec = args::spec::<Fields>("a_tool", ToolClass::Read, None);
    let given = match object(&spec, &raw) {
        Ok(given) => given,
        Err(words) => return sentence(&words),
    };
    let written = Value::Object(given.clone()).to_string();
    let again = object(&spec, &written).expect("what was accepted is accepted again");
    assert!(
        same(&Value::Object(again), &Value::Object(given.clone())),
        "{written}"
    );
    if let Err(error) = check_fields(given) {
        sentence(&error);
    }
}

fn check_fields(given: Map<String, Value>) -> Result<(), String> {
    let fields: Fields = args::parse("a_tool", given).map_err(|error| error.message)?;
    assert!(
        fields.limit.is_none_or(|limit| (1..=1_000).contains(&limit)),
        "{fields:?}"
    );
    let Ok(Value::Object(again)) = serde_json::to_value(&fields) else {
        panic!("{fields:?} is no object");
    };
    let again: Fields =
        args::parse("a_tool", again).unwrap_or_else(|error| panic!("{fields:?}: {}", error.message));
    let values = [&again, &fields].map(|fields| serde_json::to_value(fields).expect("it was one"));
    assert!(same(&values[0], &values[1]), "{again:?} {fields:?}");
    Ok(())
}

/// Whether two values say the same. A fraction may come back as its neighbour: the parser of `serde_json` is fast
/// rather than exact in the last digit.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) if one.is_f64() && other.is_f64() => {
            let pair = one.as_f64().zip(other.as_f64());
            pair.is_some_and(|(one, other)| (one - other).abs() <= one.abs() * 4.0 * f64::EPSILON)
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .all(|(name, one)| other.get(name).is_some_and(|other| same(one, other)))
        }
        _ => one == other,
    }
}

/// Names the tool and a field, and is short enough to be read.
fn sentence(words: &str) {
    assert!(words.contains("`a_tool`") && words.contains("`path`"), "{words}");
    assert!(
        words.chars().count() < 2_000,
        "{} characters: {words}",
        words.chars().count()
    );
    assert!(!words.contains('\0'), "{words}");
}
