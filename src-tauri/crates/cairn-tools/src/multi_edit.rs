//! The `multi_edit` tool. SPEC T18.
//!
//! Owns: what a model is told about several edits at once. Must never know: how text is matched or bytes get onto the
//! disk.

use std::sync::Arc;

use cairn_agent::tool::{Prepared, Tool, ToolError};
use cairn_files::edit::{self, Edited, Replacement};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::change::{Change, Seen, nothing_to_do};
use crate::edit_file::{places, replacement, to_edit};
use crate::editing::Editing;
use crate::place::Workspace;

const NAME: &str = "multi_edit";
const TITLE: &str = "Edit";
/// Edits of one call. Each goes through the whole file.
const MOST_EDITS: usize = 100;

/// Several edits of one file that you have read, in order, each on the result of the one before.
/// All are made or none. Otherwise like edit_file.
#[derive(Deserialize, JsonSchema)]
struct Input {
    /// The file: relative to the project folder, or absolute.
    path: String,
    /// The edits.
    edits: Vec<Edit>,
}

/// One edit.
#[derive(Deserialize, JsonSchema)]
struct Edit {
    /// The text to replace, exactly as in the file.
    old_string: String,
    /// The text to put in its place. Empty deletes.
    new_string: String,
    /// Replace every occurrence instead of exactly one.
    replace_all: Option<bool>,
}

/// Makes several edits of one file, for one session.
pub fn tool(workspace: Arc<Workspace>) -> Arc<dyn Tool> {
    Arc::new(Editing::new(NAME, workspace, prepare))
}

fn prepare(workspace: &Arc<Workspace>, input: &Input) -> Result<Prepared, ToolError> {
    let count = input.edits.len();
    if count == 0 || count > MOST_EDITS {
        return Err(ToolError::new(format!(
            "`{NAME}` was not run: `edits` has {count} entries; give 1 to {MOST_EDITS}."
        )));
    }
    let (target, before) = to_edit(workspace, &input.path)?;
    let replacements: Vec<Replacement<'_>> = input
        .edits
        .iter()
        .map(|edit| replacement(&edit.old_string, &edit.new_string, edit.replace_all))
        .collect();
    let Edited { bytes, shifts } = edit::apply(&before.bytes, &replacements).map_err(|(index, error)| {
        ToolError::new(format!(
            "{} was not changed: edit {} of {count}: {error}.{} None of the edits was made.",
            target.shown,
            index + 1,
            if index > 0 {
                " It is made on the result of the edits before it."
            } else {
                ""
            }
        ))
    })?;
    let idle: Vec<String> = (1..)
        .zip(&shifts)
        .filter(|(_, shifts)| shifts.is_empty())
        .map(|(number, _): (usize, _)| number.to_string())
        .collect();
    if idle.len() == count {
        return Err(ToolError::new(format!(
            "{} was not changed: in every edit old_string and new_string are the same.",
            target.shown
        )));
    }
    let same = match idle.as_slice() {
        [] => String::new(),
        [one] => format!("; edit {one} has the same old_string and new_string and changed nothing"),
        many => format!(
            "; edits {} have the same old_string and new_string and changed nothing",
            many.join(", ")
        ),
    };
    if bytes == before.bytes {
        let told = format!(
            "The edits undo each other: nothing was written, {} is as it was{same}.",
            target.shown
        );
        return Ok(nothing_to_do(workspace, &target, NAME, TITLE, told));
    }
    let made = count - idle.len();
    let edits = if made == 1 { "edit" } else { "edits" };
    let change = Change {
        workspace: Arc::clone(workspace),
        told: format!(
            "Edited {}: {made} {edits}, {}{same}",
            target.shown,
            places(shifts.iter().flatten())
        ),
        target,
        before: Some(before),
        after: Some(bytes),
        seen: Seen::Edited(shifts),
        tells_diff: true,
    };
    Ok(change.prepare(NAME, TITLE))
}
