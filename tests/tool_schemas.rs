//! What models are told about tools, and what they are answered when their arguments are wrong.
//!
//! The snapshot makes every change of a tool's words a decision: they are part of every request to every model.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may fail loudly, also in its own functions"
)]

#[path = "../src-tauri/crates/cairn-tools/tests/search/fixture.rs"]
#[allow(dead_code, reason = "only the surroundings of a call are used here")]
mod fixture;

use std::collections::BTreeSet;
use std::sync::Arc;

use cairn_agent::arguments;
use cairn_agent::tool::{Tool, ToolClass, ToolSpec};
use cairn_exec::{Group, HelperProgram, Processes};
use cairn_tools::remember::NoMemory;
use cairn_tools::web::WebConfig;
use fixture::{Project, runtime};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Characters that one tool's description may have.
const LONGEST_DESCRIPTION: usize = 650;
/// Characters that the description of one field may have.
const LONGEST_FIELD: usize = 130;
/// Characters of all that a request says about tools: names, descriptions, schemas. About 3,000 tokens: a model with a
/// window of 16,000 must have room for work beside it.
const ALL_TOOLS: usize = 12_000;

/// Every tool there is, as a session gets them.
fn tools(project: &Project) -> Vec<Arc<dyn Tool>> {
    let processes = Processes::new(HelperProgram::this_program());
    let group = Group::new(processes, |_| {});
    let environment = vec![("PATH".into(), "/usr/bin:/bin".into())];
    cairn_tools::all(
        project.workspace(),
        group,
        environment,
        WebConfig::default(),
        Arc::new(NoMemory),
    )
}

fn specs() -> Vec<ToolSpec> {
    tools(&Project::new())
        .iter()
        .map(|tool| tool.spec().clone())
        .collect()
}

/// A description without the words that depend on the machine.
fn steady(spec: &ToolSpec) -> String {
    let lines = spec.description.lines().map(|line| {
        if line.starts_with("The line is run by `") {
            "The line is run by `…`."
        } else {
            line
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn every_tool_of_the_crate_is_looked_at() {
    let names: BTreeSet<String> = specs().into_iter().map(|spec| spec.name).collect();
    let sources = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for source in std::fs::read_dir(sources).unwrap() {
        let path = source.unwrap().path();
        // One of them is around the others.
        let is_tool =
            path.extension().is_some_and(|ending| ending == "rs") && !path.ends_with("watched.rs") && {
                let text = std::fs::read_to_string(&path).unwrap();
                text.contains("\nimpl Tool for ") || text.contains("Editing::new(")
            };
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        assert!(
            !is_tool || names.contains(&name),
            "{name} is a tool that is not listed in this test"
        );
    }
}

#[test]
fn what_models_are_told_changes_only_on_purpose() {
    let told: Vec<Value> = specs()
        .iter()
        .map(|spec| {
            json!({
                "name": spec.name,
                "description": steady(spec),
                "schema": spec.schema,
                "class": format!("{:?}", spec.class),
                "seconds": spec.limit.map(|limit| limit.as_secs()),
            })
        })
        .collect();
    insta::assert_json_snapshot!(told);
}

#[test]
fn schemas_are_flat_objects_with_every_field_described() {
    for spec in specs() {
        let text = spec.schema.to_string();
        for word in [
            "$ref",
            "$defs",
            "$schema",
            "oneOf",
            "anyOf",
            "allOf",
            "\"title\"",
            "\"format\"",
            "\"default\"",
            "null",
        ] {
            assert!(!text.contains(word), "{}: {word} in {text}", spec.name);
        }
        described(&spec.name, &spec.schema);
        assert!(
            spec.name.chars().all(|c| c.is_ascii_lowercase() || c == '_'),
            "{}",
            spec.name
        );
        let length = spec.description.chars().count();
        assert!(
            (20..=LONGEST_DESCRIPTION).contains(&length),
            "{}: {length} characters",
            spec.name
        );
    }
}

/// An object names its fields, takes no others, and describes each; so do the objects in it.
fn described(at: &str, schema: &Value) {
    assert_eq!(schema["type"], "object", "{at}");
    assert_eq!(schema["additionalProperties"], false, "{at}");
    let fields = schema["properties"].as_object().unwrap();
    for name in schema["required"].as_array().into_iter().flatten() {
        assert!(fields.contains_key(name.as_str().unwrap()), "{at}: {name}");
    }
    for (name, field) in fields {
        let at = format!("{at}.{name}");
        let length = field["description"].as_str().unwrap_or_default().chars().count();
        assert!(
            (5..=LONGEST_FIELD).contains(&length),
            "{at}: a description of {length} characters"
        );
        assert!(field["type"].is_string(), "{at}: one type, not {}", field["type"]);
        if field["items"]["type"] == "object" {
            described(&format!("{at}[]"), &field["items"]);
        }
    }
}

#[test]
fn all_tools_together_leave_room_in_a_small_window() {
    let size = |spec: &ToolSpec| {
        spec.name.len() + steady(spec).chars().count() + spec.schema.to_string().chars().count()
    };
    let sizes: Vec<(String, usize)> = specs()
        .iter()
        .map(|spec| (spec.name.clone(), size(spec)))
        .collect();
    let all: usize = sizes.iter().map(|(_, size)| size).sum();
    assert!(all <= ALL_TOOLS, "{all} characters: {sizes:?}");
}

#[test]
fn t2_every_tool_has_the_time_limit_of_its_kind() {
    for spec in specs() {
        let seconds = spec.limit.map(|limit| limit.as_secs());
        let expected = match (spec.class, spec.name.as_str()) {
            // Each call of `shell` brings its own: 120 s, or none in the background.
            (ToolClass::Own, _) | (ToolClass::Run, "shell") => None,
            (_, "glob" | "grep" | "git" | "web_fetch" | "web_search") => Some(30),
            (ToolClass::Run, _) => Some(120),
            (ToolClass::Read | ToolClass::Edit, _) => Some(5),
        };
        assert_eq!(seconds, expected, "{}", spec.name);
    }
}

/// T9, X96: text that is no object of arguments, for every tool.
#[test]
fn x96_text_that_is_no_object_names_the_tool_and_its_required_fields() {
    for spec in specs() {
        assert!(arguments::object(&spec, "").unwrap().is_empty());
        for raw in [
            r#"{"path": "a" "x"}"#,
            "null",
            "[]",
            "17",
            r#""{\"path\":\"a\"}""#,
            "{\"path\": \"a",
            "not json",
        ] {
            let message = arguments::object(&spec, raw).unwrap_err();
            assert!(message.starts_with(&format!("`{}` ", spec.name)), "{message}");
            for field in spec.schema["required"].as_array().into_iter().flatten() {
                assert!(
                    message.contains(&format!("`{}`", field.as_str().unwrap())),
                    "{raw}: {message}"
                );
            }
        }
    }
}

/// T1: one wrong field at a time, made from each tool's own schema, so that a new tool is in the table by itself.
#[test]
fn t1_wrong_and_missing_fields_never_run_and_are_named() {
    let project = Project::new();
    let (runtime, context) = (runtime(), project.context());
    let mut rows = 0;
    for tool in tools(&project) {
        let spec = tool.spec().clone();
        let message = |arguments: &Value| {
            let prepared = runtime.block_on(tool.prepare(arguments.as_object().cloned().unwrap(), &context));
            prepared
                .err()
                .unwrap_or_else(|| panic!("{} took {arguments}", spec.name))
                .message
        };
        let good = example(&spec.schema);
        for (name, field) in spec.schema["properties"].as_object().unwrap() {
            let is_required = spec.schema["required"]
                .as_array()
                .is_some_and(|names| names.contains(&json!(name)));
            let mut faults = Vec::new();
            if is_required {
                let mut missing = good.clone();
                missing.as_object_mut().unwrap().remove(name);
                faults.push(missing);
            }
            for wrong in wrong_values(field, is_required) {
                let mut arguments = good.clone();
                arguments[name] = wrong;
                faults.push(arguments);
            }
            for arguments in faults {
                let said = message(&arguments);
                assert!(
                    said.starts_with(&format!("`{}` was not run: ", spec.name)),
                    "{arguments}: {said}"
                );
                assert!(said.contains(&format!("`{name}")), "{arguments}: {said}");
                rows += 1;
            }
            // A near miss of the name is the field that was meant.
            let mut near = good.clone();
            near[format!("{name}_")] = json!("x");
            assert!(
                message(&near).contains(&format!("did you mean `{name}`?")),
                "{near}"
            );
        }
    }
    assert!(rows > 80, "only {rows} rows");
}

/// A value of that schema.
fn example(schema: &Value) -> Value {
    match schema["type"].as_str().unwrap() {
        "object" => {
            let required = schema["required"].as_array().cloned().unwrap_or_default();
            let field = |name: &Value| {
                let name = name.as_str().unwrap();
                (name.to_owned(), example(&schema["properties"][name]))
            };
            Value::Object(required.iter().map(field).collect())
        }
        "array" => json!([]),
        "integer" | "number" => json!(1),
        "boolean" => json!(true),
        _ => schema["enum"]
            .as_array()
            .map_or(json!("x"), |values| values[0].clone()),
    }
}

/// Values that no field of that schema may have.
fn wrong_values(schema: &Value, is_required: bool) -> Vec<Value> {
    let mut wrong = match schema["type"].as_str().unwrap() {
        "string" => vec![json!(7), json!(true), json!(["x"]), json!({"x": 1})],
        "integer" | "number" => vec![json!("many"), json!(true), json!([1]), json!("")],
        "boolean" => vec![json!("maybe"), json!(3), json!([])],
        "array" => vec![json!("x"), json!(7), json!({"0": "x"}), json!("[]"), json!([7])],
        _ => vec![json!(7)],
    };
    if schema["enum"].is_array() {
        wrong.push(json!("no such thing"));
    }
    // Null for an optional field counts as left out.
    if is_required {
        wrong.push(Value::Null);
    }
    wrong
}

/// Numbers and booleans as strings are taken, whatever the tool.
#[test]
fn t1_numbers_and_booleans_as_strings_reach_every_tool() {
    let project = Project::with(&["x"]);
    let (runtime, context) = (runtime(), project.context());
    for tool in tools(&project) {
        let spec = tool.spec().clone();
        for (name, field) in spec.schema["properties"].as_object().unwrap() {
            let sent = match field["type"].as_str().unwrap() {
                "integer" | "number" => "1",
                "boolean" => "false",
                _ => continue,
            };
            let mut arguments = example(&spec.schema);
            arguments[name] = json!(sent);
            let prepared = runtime.block_on(tool.prepare(arguments.as_object().cloned().unwrap(), &context));
            if let Err(error) = prepared {
                assert!(
                    !error.message.contains(&format!("`{name}`")),
                    "{}: {}",
                    spec.name,
                    error.message
                );
            }
        }
    }
}

/// A JSON value of any kind, not deep.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        // Texts that mean something somewhere: paths, patterns, numbers, nothing.
        prop_oneof![
            Just(""),
            Just("."),
            Just("x"),
            Just("/"),
            Just("7"),
            Just("true"),
            Just("**"),
            Just("("),
            Just("a\0b")
        ]
        .prop_map(Value::from),
        ".{0,20}".prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 12, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            proptest::collection::vec(("[a-z_]{0,8}", inner), 0..3)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// Whether no reading of a value makes it one of that type.
fn is_surely_wrong(schema: &Value, value: &Value) -> bool {
    match schema["type"].as_str().unwrap() {
        "string" => !value.is_string(),
        "integer" | "number" => !value.is_number() && !value.is_string(),
        "boolean" => !value.is_boolean() && !value.is_string(),
        "array" => !value.is_array(),
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// T1: whatever a model sends, no tool panics, nothing wrong is prepared, and what is wrong is named.
    #[test]
    fn t1_any_arguments_give_an_answer_that_names_tool_and_field(
        values in proptest::collection::vec(any_json(), 8),
        given in proptest::collection::vec(0..5_u8, 8),
        stray in "[a-z_]{1,10}",
    ) {
        let project = Project::with(&["x"]);
        let (runtime, context) = (runtime(), project.context());
        for tool in tools(&project) {
            let spec = tool.spec().clone();
            let fields = spec.schema["properties"].as_object().unwrap();
            let mut arguments = serde_json::Map::new();
            arguments.insert(stray.clone(), values[0].clone());
            let mut wrong = Vec::new();
            for (at, (name, field)) in fields.iter().enumerate() {
                let is_required = spec.schema["required"].as_array().is_some_and(|names| names.contains(&json!(name)));
                let value = match given[at % given.len()] {
                    0 => None,
                    1 | 2 => Some(example(field)),
                    _ => Some(values[at % values.len()].clone()),
                };
                match &value {
                    None | Some(Value::Null) => wrong.extend(is_required.then_some(name)),
                    Some(value) => wrong.extend(is_surely_wrong(field, value).then_some(name)),
                }
                arguments.remove(name);
                arguments.extend(value.map(|value| (name.clone(), value)));
            }
            let sent = Value::Object(arguments.clone());
            let prepared = runtime.block_on(tool.prepare(arguments, &context));
            match prepared {
                Ok(_) => prop_assert!(wrong.is_empty(), "{} took {sent} in spite of {wrong:?}", spec.name),
                Err(error) => {
                    let said = error.message;
                    prop_assert!(!said.is_empty() && said.chars().count() < 2_000, "{}: {said}", spec.name);
                    if !wrong.is_empty() {
                        prop_assert!(said.starts_with(&format!("`{}` was not run: ", spec.name)), "{sent}: {said}");
                        let names_one = fields.keys().any(|name| said.contains(&format!("`{name}")));
                        prop_assert!(names_one, "{sent}: {said}");
                    }
                }
            }
        }
    }
}
