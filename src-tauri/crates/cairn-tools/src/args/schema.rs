//! Schemas out of documented input structs: flat, inline, without `$ref` and `oneOf`, which small models and some
//! servers' grammars cannot follow.

use std::time::Duration;

use cairn_agent::tool::{ToolClass, ToolSpec};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// A tool's description for the model, from the documentation of its input struct.
///
/// The struct's documentation becomes the tool's description, each field's documentation the field's; a single line
/// break in it is a blank, an empty line stays a line break.
pub fn spec<T: JsonSchema>(name: &str, class: ToolClass, limit: Option<Duration>) -> ToolSpec {
    let mut schema = schema_of::<T>();
    let description = schema
        .as_object_mut()
        .and_then(|object| object.remove("description"))
        .and_then(|text| text.as_str().map(str::to_owned))
        .unwrap_or_default();
    ToolSpec {
        name: name.to_owned(),
        description,
        schema,
        class,
        limit,
    }
}

/// The JSON schema of an input struct, with its own documentation as `description`.
pub fn schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    simplify(&mut schema);
    // A struct without fields has no `properties` of its own, and some servers insist on them.
    if let Some(object) = schema.as_object_mut() {
        object.entry("type").or_insert_with(|| json!("object"));
        object.entry("properties").or_insert_with(|| json!({}));
        object.insert("additionalProperties".to_owned(), json!(false));
    }
    schema
}

/// Brings a schema and all in it into the plain form.
fn simplify(schema: &mut Value) {
    let Some(object) = schema.as_object_mut() else {
        return;
    };
    for key in ["$schema", "$defs", "title", "format", "default"] {
        object.remove(key);
    }
    without_alternatives(object);
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            object.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(values)) = object.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    if let Some(Value::String(text)) = object.get_mut("description") {
        *text = reflow(text);
    }
    if let Some(items) = object.get_mut("items") {
        simplify(items);
    }
    if let Some(Value::Object(properties)) = object.get_mut("properties") {
        properties.values_mut().for_each(simplify);
        object.insert("additionalProperties".to_owned(), json!(false));
    }
}

/// `anyOf` with `null` (an optional struct or enum) and `oneOf` of constants (an enum whose variants are documented)
/// become what they mean.
fn without_alternatives(object: &mut Map<String, Value>) {
    for key in ["anyOf", "oneOf"] {
        let Some(Value::Array(mut branches)) = object.remove(key) else {
            continue;
        };
        branches.retain(|branch| branch.get("type").is_none_or(|kind| kind != "null"));
        if branches.len() == 1 {
            if let Some(Value::Object(only)) = branches.pop() {
                for (name, value) in only {
                    object.entry(name).or_insert(value);
                }
            }
            // The one that was left may be an enum with documented variants itself.
            without_alternatives(object);
            continue;
        }
        let constants = branches
            .iter()
            .flat_map(|branch| match (branch.get("const"), branch.get("enum")) {
                (Some(constant), _) => vec![constant.clone()],
                (None, Some(Value::Array(values))) => values.clone(),
                _ => Vec::new(),
            });
        object.insert("enum".to_owned(), Value::Array(constants.collect()));
        object.insert("type".to_owned(), json!("string"));
    }
}

/// Joins the lines of a paragraph; documentation is wrapped for people who read the source.
fn reflow(text: &str) -> String {
    text.split("\n\n")
        .map(|paragraph| paragraph.split('\n').map(str::trim).collect::<Vec<_>>().join(" "))
        .collect::<Vec<_>>()
        .join("\n")
}
