//! Which tools a model is told of, and in how many words. SPEC M9.
//!
//! Pure. Owns: what a small window is spared. Must never know: what any tool does; a call to a tool that was not told
//! of is carried out like any other, and arguments are checked by the whole schema.

use std::sync::Arc;

use cairn_protocol::Mode;
use serde_json::Value;

use crate::prompt::is_small;
use crate::tool::ToolSpec;

/// What a small window does without: each of them can be done with others, or is the person's to begin.
const SPARED: [&str; 4] = ["multi_edit", "context_status", "make_dir", "enter_plan_mode"];

/// Presents a plan; there is none to present outside of plan mode.
const PRESENTS: &str = "exit_plan_mode";

/// Parts of a schema that only the check needs.
const FOR_THE_CHECK: [&str; 6] = [
    "additionalProperties",
    "format",
    "minimum",
    "maximum",
    "minItems",
    "maxItems",
];

/// The tools as a model with that window is told of them: all and whole, or the needed ones in their first words.
pub(crate) fn told(specs: &Arc<[ToolSpec]>, window: Option<u64>, mode: Mode) -> Arc<[ToolSpec]> {
    if !is_small(window) {
        return specs.clone();
    }
    specs
        .iter()
        .filter(|spec| !SPARED.contains(&spec.name.as_str()))
        .filter(|spec| spec.name != PRESENTS || mode == Mode::Plan)
        .map(brief)
        .collect()
}

fn brief(spec: &ToolSpec) -> ToolSpec {
    let mut spec = spec.clone();
    first_words(&mut spec.description);
    shorten(&mut spec.schema);
    spec
}

fn shorten(schema: &mut Value) {
    match schema {
        Value::Object(all) => {
            // A property may be called like a part of a schema: those are objects, and stay.
            all.retain(|name, value| value.is_object() || !FOR_THE_CHECK.contains(&name.as_str()));
            for (name, value) in all.iter_mut() {
                match value {
                    Value::String(text) if name == "description" => first_words(text),
                    other => shorten(other),
                }
            }
        }
        Value::Array(all) => all.iter_mut().for_each(shorten),
        _ => {}
    }
}

/// The first sentence, without its full stop.
fn first_words(text: &mut String) {
    let ends = |(at, mark): (usize, &str)| {
        let (before, after) = (
            text.get(..at).unwrap_or_default(),
            text.get(at + 1..).unwrap_or_default(),
        );
        let abbreviated = before.ends_with("e.g") || before.ends_with("i.e");
        let over = after.is_empty() || after.starts_with([' ', '\n']);
        (mark == "\n" || (over && !abbreviated)).then_some(at)
    };
    if let Some(end) = text.match_indices(['.', '\n', ';']).find_map(ends) {
        text.truncate(end);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tool::ToolClass;

    fn spec(name: &str) -> ToolSpec {
        ToolSpec {
            name: name.to_owned(),
            description: "Reads a file like `a.rs`. Then more.\nAnd more.".to_owned(),
            schema: json!({
                "type": "object",
                "additionalProperties": false,
                "properties": {
                    "path": { "type": "string", "description": "The file, e.g. v1.2; relative." },
                    "minimum": { "type": "integer", "minimum": 0, "description": "At least" },
                },
                "required": ["path"],
            }),
            class: ToolClass::Read,
            limit: None,
        }
    }

    fn all() -> Arc<[ToolSpec]> {
        ["read_file", "multi_edit", "exit_plan_mode", "enter_plan_mode"]
            .map(spec)
            .into()
    }

    fn names(specs: &[ToolSpec]) -> Vec<&str> {
        specs.iter().map(|spec| spec.name.as_str()).collect()
    }

    #[test]
    fn m9_a_small_window_is_told_of_few_tools_in_few_words() {
        let told = told(&all(), Some(16_384), Mode::Manual);
        assert_eq!(names(&told), ["read_file"]);
        assert_eq!(told[0].description, "Reads a file like `a.rs`");
        assert_eq!(
            told[0].schema,
            json!({
                "type": "object",
                "properties": {
                    "path": { "type": "string", "description": "The file, e.g. v1.2" },
                    "minimum": { "type": "integer", "description": "At least" },
                },
                "required": ["path"],
            })
        );
    }

    #[test]
    fn m9_a_plan_can_be_presented_in_plan_mode_and_a_large_window_is_told_all() {
        let planning = told(&all(), Some(8_192), Mode::Plan);
        assert_eq!(names(&planning), ["read_file", "exit_plan_mode"]);
        for window in [None, Some(32_768)] {
            assert_eq!(told(&all(), window, Mode::Manual), all());
        }
    }
}
