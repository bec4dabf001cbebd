use cairn_agent::tool::ToolClass;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{parse, schema_of, spec};

/// Finds things.
/// In files.
///
/// And says so.
#[derive(Debug, Deserialize, JsonSchema, PartialEq)]
struct Input {
    /// What to find,
    /// word for word.
    old_string: String,
    /// How many lines.
    #[serde(default)]
    #[schemars(range(min = 1, max = 10))]
    limit: Option<u32>,
    /// Every one of them.
    #[serde(default)]
    replace_all: Option<bool>,
    /// How it is shown.
    #[serde(default)]
    output: Option<Output>,
    /// Choices.
    #[serde(default)]
    options: Vec<Choice>,
}

#[derive(Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Output {
    /// Lines.
    Content,
    /// Names.
    Files,
}

#[derive(Debug, Deserialize, JsonSchema, PartialEq)]
struct Choice {
    /// Its label.
    label: String,
    /// What it means.
    #[serde(default)]
    description: Option<String>,
}

fn map(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}

fn good(value: Value) -> Input {
    parse::<Input>("find", map(value)).unwrap()
}

fn bad(value: Value) -> String {
    parse::<Input>("find", map(value)).unwrap_err().message
}

#[test]
fn numbers_and_booleans_may_come_as_strings() {
    for limit in [json!(7), json!("7"), json!(" 7 "), json!(7.0), json!("7.0")] {
        assert_eq!(
            good(json!({"old_string": "x", "limit": limit})).limit,
            Some(7),
            "{limit}"
        );
    }
    for (sent, meant) in [
        (json!(true), true),
        (json!("true"), true),
        (json!("False"), false),
        (json!(false), false),
    ] {
        assert_eq!(
            good(json!({"old_string": "x", "replace_all": sent})).replace_all,
            Some(meant)
        );
    }
    // A text stays what it is, whatever it looks like.
    assert_eq!(good(json!({"old_string": "7"})).old_string, "7");
    assert_eq!(good(json!({"old_string": "{\"a\":1}"})).old_string, "{\"a\":1}");
}

#[test]
fn null_for_an_optional_field_counts_as_left_out() {
    let input = good(json!({"old_string": "x", "limit": null, "output": null, "options": null}));
    assert_eq!(input, good(json!({"old_string": "x"})));
}

#[test]
fn a_string_stands_for_an_object_with_one_required_text() {
    let input = good(json!({"old_string": "x", "options": ["a", {"label": "b", "description": "c"}]}));
    assert_eq!(input.options.len(), 2);
    assert_eq!(
        input.options[0],
        Choice {
            label: "a".to_owned(),
            description: None
        }
    );
}

#[test]
fn wrong_fields_are_named_with_what_is_expected() {
    for (arguments, says) in [
        (json!({}), "`old_string` is missing: a string is expected"),
        (
            json!({"old_string": null}),
            "`old_string` must be a string, but is null",
        ),
        (
            json!({"old_string": 7}),
            "`old_string` must be a string, but is 7",
        ),
        (
            json!({"old_string": ["x"]}),
            "`old_string` must be a string, but is an array",
        ),
        (
            json!({"old_string": "x", "limit": "many"}),
            "`limit` must be a whole number from 1 to 10, but is \"many\"",
        ),
        (
            json!({"old_string": "x", "limit": ""}),
            "`limit` must be a whole number from 1 to 10, but is \"\"",
        ),
        (
            json!({"old_string": "x", "limit": 1.5}),
            "`limit` must be a whole number from 1 to 10, but is 1.5",
        ),
        (
            json!({"old_string": "x", "limit": 0}),
            "`limit` must be a whole number from 1 to 10, but is 0",
        ),
        (json!({"old_string": "x", "limit": -1}), "but is -1"),
        (json!({"old_string": "x", "limit": 1e300}), "but is 1e+300"),
        (
            json!({"old_string": "x", "replace_all": "yes please"}),
            "`replace_all` must be true or false",
        ),
        (
            json!({"old_string": "x", "output": "lines"}),
            "`output` must be one of `content`, `files`, but is \"lines\"",
        ),
        (
            json!({"old_string": "x", "options": "[{\"label\": \"a\"}]"}),
            "`options` is a string that holds JSON",
        ),
        (
            json!({"old_string": "x", "options": [{"description": "d"}]}),
            "`options[1].label` is missing",
        ),
        (
            json!({"old_string": "x", "options": [7]}),
            "`options[1]` must be an object with `label`, but is 7",
        ),
    ] {
        let message = bad(arguments.clone());
        assert!(message.contains(says), "{arguments}: {message}");
        assert!(message.starts_with("`find` was not run: "), "{message}");
        assert!(message.contains("Required: `old_string`"), "{message}");
    }
}

#[test]
fn an_unknown_field_close_to_a_real_one_is_an_error_and_others_are_ignored() {
    for near in [
        "old_str",
        "oldString",
        "old-string",
        "old_strnig",
        "the_old_string",
        "OLD_STRING",
    ] {
        let message = bad(json!({near: "x"}));
        assert!(
            message.contains(&format!("there is no field `{near}`; did you mean `old_string`?")),
            "{message}"
        );
    }
    assert!(bad(json!({"old_string": "x", "limits": 3})).contains("did you mean `limit`?"));
    assert_eq!(
        good(json!({"old_string": "x", "explanation": "because", "q": 1})).old_string,
        "x"
    );
    // What was sent instead is named beside what is missing.
    let message = bad(json!({"query": "x"}));
    assert!(
        message.contains("`old_string` is missing") && message.contains("`query` is not a field"),
        "{message}"
    );
}

#[test]
fn a_long_wrong_value_is_shown_short() {
    assert!(
        bad(json!({"old_string": "x", "limit": "é".repeat(5_000)}))
            .chars()
            .count()
            < 300
    );
}

#[test]
fn schemas_are_flat_and_described() {
    let schema = schema_of::<Input>();
    let text = schema.to_string();
    for word in [
        "$ref",
        "$defs",
        "$schema",
        "oneOf",
        "anyOf",
        "title",
        "format",
        "null",
        "\"const\"",
    ] {
        assert!(!text.contains(word), "{word} in {text}");
    }
    assert_eq!(schema["type"], "object");
    assert_eq!(schema["additionalProperties"], false);
    assert_eq!(schema["required"], json!(["old_string"]));
    assert_eq!(
        schema["properties"]["old_string"]["description"],
        "What to find, word for word."
    );
    assert_eq!(schema["properties"]["limit"]["type"], "integer");
    assert_eq!(
        schema["properties"]["output"]["enum"],
        json!(["content", "files"])
    );
    assert_eq!(schema["properties"]["output"]["type"], "string");
    assert_eq!(
        schema["properties"]["options"]["items"]["additionalProperties"],
        false
    );

    let spec = spec::<Input>("find", ToolClass::Read, None);
    assert_eq!(spec.description, "Finds things. In files.\nAnd says so.");
    assert!(spec.schema.get("description").is_none());
}

proptest::proptest! {
    #[test]
    fn no_value_makes_it_panic(name in "[a-z_]{0,12}", text in ".{0,40}", number in proptest::num::f64::ANY) {
        for value in [json!(text), json!(number), json!([text]), json!({"label": text})] {
            for field in [name.as_str(), "old_string", "limit", "output", "options"] {
                parse::<Input>("find", map(json!({field: value}))).ok();
            }
        }
    }
}
