//! Checks arguments against the plain schemas of this crate, field by field, so that each problem has a name.

use std::fmt::Write as _;

use serde_json::{Map, Number, Value};

/// The arguments with numbers, booleans and short forms put right, or the first problem in words.
pub(super) fn conform(schema: &Value, arguments: Map<String, Value>) -> Result<Map<String, Value>, String> {
    fields(schema, arguments, "")
}

/// What the tool expects, in one sentence.
pub(super) fn expectation(schema: &Value) -> String {
    let required = required(schema);
    let optional: Vec<&str> = properties(schema)
        .map(|(name, _)| name)
        .filter(|name| !required.contains(name))
        .collect();
    match (required.is_empty(), optional.is_empty()) {
        (true, true) => "It takes no arguments: send {}".to_owned(),
        (true, false) => format!("No field is required; optional: {}", quoted(&optional)),
        (false, true) => format!("Required: {}", quoted(&required)),
        (false, false) => format!("Required: {}; optional: {}", quoted(&required), quoted(&optional)),
    }
}

/// What a value is, with its article.
pub(super) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

fn fields(schema: &Value, mut given: Map<String, Value>, at: &str) -> Result<Map<String, Value>, String> {
    let required = required(schema);
    given.retain(|name, value| !value.is_null() || required.contains(&name.as_str()));
    let unknown: Vec<String> = given
        .keys()
        .filter(|name| properties(schema).all(|(known, _)| known != name.as_str()))
        .cloned()
        .collect();
    for name in &unknown {
        if let Some((meant, _)) = properties(schema).find(|(known, _)| close(name, known)) {
            return Err(format!(
                "there is no field `{}`; did you mean `{}`?",
                path(at, name),
                path(at, meant)
            ));
        }
        given.remove(name);
    }
    let mut good = Map::new();
    for (name, expected) in properties(schema) {
        let here = path(at, name);
        match given.remove(name) {
            Some(value) => {
                good.insert(name.to_owned(), conform_value(expected, value, &here)?);
            }
            None if required.contains(&name) => {
                let mut problem = format!("`{here}` is missing: {} is expected", wanted(expected));
                if !unknown.is_empty() {
                    let sent: Vec<&str> = unknown.iter().map(String::as_str).collect();
                    write!(problem, ", and {} is not a field", quoted(&sent)).ok();
                }
                return Err(problem);
            }
            None => {}
        }
    }
    Ok(good)
}

fn conform_value(schema: &Value, value: Value, at: &str) -> Result<Value, String> {
    let kind = schema.get("type").and_then(Value::as_str).unwrap_or_default();
    let wrong = |value: &Value| {
        Err(format!(
            "`{at}` must be {}, but is {}",
            wanted(schema),
            shown(value)
        ))
    };
    match (kind, value) {
        ("string", Value::String(text)) => match schema.get("enum").and_then(Value::as_array) {
            Some(allowed) if !allowed.iter().any(|one| one == text.as_str()) => wrong(&Value::String(text)),
            _ => Ok(Value::String(text)),
        },
        ("boolean", Value::Bool(truth)) => Ok(Value::Bool(truth)),
        ("boolean", Value::String(text)) => match text.trim().to_ascii_lowercase().as_str() {
            "true" => Ok(Value::Bool(true)),
            "false" => Ok(Value::Bool(false)),
            _ => wrong(&Value::String(text)),
        },
        ("integer" | "number", Value::Number(number)) => match in_range(schema, &number) {
            Some(number) => Ok(Value::Number(number)),
            None => wrong(&Value::Number(number)),
        },
        ("integer" | "number", Value::String(text)) => {
            match text
                .trim()
                .parse::<Number>()
                .ok()
                .and_then(|number| in_range(schema, &number))
            {
                Some(number) => Ok(Value::Number(number)),
                None => wrong(&Value::String(text)),
            }
        }
        ("array", Value::Array(items)) => {
            let each = schema.get("items").unwrap_or(&Value::Null);
            let items = items.into_iter().enumerate().map(|(index, item)| {
                // Counted from 1: it is read as a sentence, not as code.
                conform_value(each, item, &format!("{at}[{}]", index + 1))
            });
            Ok(Value::Array(items.collect::<Result<_, _>>()?))
        }
        ("array" | "object", Value::String(text)) if holds_json(&text) => Err(format!(
            "`{at}` is a string that holds JSON; send the {kind} itself, not quoted"
        )),
        ("object", Value::Object(given)) => Ok(Value::Object(fields(schema, given, at)?)),
        ("object", Value::String(text)) => match short_form(schema) {
            Some(name) => Ok(Value::Object(Map::from_iter([(
                name.to_owned(),
                Value::String(text),
            )]))),
            None => wrong(&Value::String(text)),
        },
        ("", value) => Ok(value),
        (_, value) => wrong(&value),
    }
}

/// The number as the schema wants it, or nothing when it is out of range or has a fraction where none may be.
fn in_range(schema: &Value, number: &Number) -> Option<Number> {
    let value = number.as_f64()?;
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    if bound("minimum").is_some_and(|least| value < least)
        || bound("maximum").is_some_and(|most| value > most)
    {
        return None;
    }
    if schema.get("type").is_some_and(|kind| kind == "number") || number.is_i64() || number.is_u64() {
        return Some(number.clone());
    }
    // `12.0` is a whole number in every language but this one.
    (value.fract() == 0.0 && value.abs() < 9e15).then(|| Number::from(value as i64))
}

fn holds_json(text: &str) -> bool {
    matches!(serde_json::from_str(text), Ok(Value::Array(_) | Value::Object(_)))
}

/// The one required field of an object that may be given as a bare string.
fn short_form(schema: &Value) -> Option<&str> {
    match required(schema).as_slice() {
        [only] => {
            let text = properties(schema)
                .any(|(name, field)| name == *only && field.get("type").is_some_and(|kind| kind == "string"));
            text.then_some(*only)
        }
        _ => None,
    }
}

/// What a field wants, in words.
fn wanted(schema: &Value) -> String {
    if let Some(allowed) = schema.get("enum").and_then(Value::as_array) {
        let names: Vec<&str> = allowed.iter().filter_map(Value::as_str).collect();
        return format!("one of {}", quoted(&names));
    }
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    let range = match (bound("minimum"), bound("maximum")) {
        (Some(least), Some(most)) => format!(" from {least} to {most}"),
        (Some(least), None) => format!(" of at least {least}"),
        (None, Some(most)) => format!(" of at most {most}"),
        (None, None) => String::new(),
    };
    match schema.get("type").and_then(Value::as_str) {
        Some("string") => "a string".to_owned(),
        Some("boolean") => "true or false".to_owned(),
        Some("integer") => format!("a whole number{range}"),
        Some("number") => format!("a number{range}"),
        Some("array") => match schema
            .get("items")
            .and_then(|items| items.get("type"))
            .and_then(Value::as_str)
        {
            Some("string") => "an array of strings".to_owned(),
            Some("object") => {
                let names: Vec<&str> = schema.get("items").map(required).unwrap_or_default();
                format!("an array of objects with {}", quoted(&names))
            }
            _ => "an array".to_owned(),
        },
        Some("object") => format!("an object with {}", quoted(&required(schema))),
        _ => "a value".to_owned(),
    }
}

/// A value as the model sent it, short.
fn shown(value: &Value) -> String {
    const LONGEST: usize = 60;
    match value {
        Value::Array(_) | Value::Object(_) | Value::Null => kind_of(value).to_owned(),
        simple => {
            let text = simple.to_string();
            match text.char_indices().nth(LONGEST) {
                Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
                None => text,
            }
        }
    }
}

fn properties(schema: &Value) -> impl Iterator<Item = (&str, &Value)> {
    schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flat_map(|object| object.iter().map(|(name, field)| (name.as_str(), field)))
}

fn required(schema: &Value) -> Vec<&str> {
    schema
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default()
}

fn quoted(names: &[&str]) -> String {
    names
        .iter()
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ")
}

fn path(at: &str, name: &str) -> String {
    if at.is_empty() {
        name.to_owned()
    } else {
        format!("{at}.{name}")
    }
}

/// Whether a name that nobody knows was most likely meant as `known`.
fn close(name: &str, known: &str) -> bool {
    let plain = |text: &str| text.to_ascii_lowercase().replace(['_', '-'], "");
    let (name, known) = (plain(name), plain(known));
    if name == known {
        return true;
    }
    let shorter = name.chars().count().min(known.chars().count());
    let contained = shorter >= 4 && (name.contains(&known) || known.contains(&name));
    contained
        || (shorter >= 4 && distance(&name, &known) <= 2)
        || (shorter == 3 && distance(&name, &known) <= 1)
}

/// Edit distance between two short names.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (index, here) in left.chars().take(64).enumerate() {
        let mut diagonal = index;
        let mut last = index + 1;
        let mut next = vec![last];
        for (above, there) in row.iter().skip(1).zip(&right) {
            last = (diagonal + usize::from(here != *there))
                .min(above + 1)
                .min(last + 1);
            diagonal = *above;
            next.push(last);
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}
