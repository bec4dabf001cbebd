//! The `edit_file` tool. SPEC T16.
//!
//! Owns: what a model is told about an edit. Must never know: how text is matched or bytes get onto the disk.

use std::sync::Arc;

use cairn_agent::tool::{Prepared, Tool, ToolError};
use cairn_files::Resolved;
use cairn_files::edit::{self, EditError, Edited, Occurrences, Replacement, Shift};
use cairn_files::read::Content;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::change::{Change, Seen, explain_gap, nothing_to_do, present};
use crate::editing::Editing;
use crate::place::Workspace;
use crate::read_file::explain_missing;

const NAME: &str = "edit_file";
const TITLE: &str = "Edit";
/// Lines that are named when many places changed.
const LINES_NAMED: usize = 5;

/// Replace text in a file that you have read. The text must be in the file exactly as given, and only once.
/// Give enough lines around the change to make it unique. Line ends are taken from the file.
#[derive(Deserialize, JsonSchema)]
struct Input {
    /// The file: relative to the project folder, or absolute.
    path: String,
    /// The text to replace, exactly as in the file: with its indentation, without line numbers.
    old_string: String,
    /// The text to put in its place; it is taken literally. Empty deletes.
    new_string: String,
    /// Replace every occurrence instead of exactly one.
    replace_all: Option<bool>,
}

/// Edits files, for one session.
pub fn tool(workspace: Arc<Workspace>) -> Arc<dyn Tool> {
    Arc::new(Editing::new(NAME, workspace, prepare))
}

fn prepare(workspace: &Arc<Workspace>, input: &Input) -> Result<Prepared, ToolError> {
    let (target, before) = to_edit(workspace, &input.path)?;
    let refused = |error: &EditError| ToolError::new(format!("{} was not changed: {error}.", target.shown));
    let replacement = replacement(&input.old_string, &input.new_string, input.replace_all);
    let Edited { bytes, shifts } =
        edit::apply(&before.bytes, &[replacement]).map_err(|(_, error)| refused(&error))?;
    if bytes == before.bytes {
        let told = format!(
            "old_string and new_string are the same: nothing was written, {} is as it was.",
            target.shown
        );
        return Ok(nothing_to_do(workspace, &target, NAME, TITLE, told));
    }
    let change = Change {
        workspace: Arc::clone(workspace),
        told: format!("Edited {}: {}", target.shown, places(shifts.iter().flatten())),
        target,
        before: Some(before),
        after: Some(bytes),
        seen: Seen::Edited(shifts),
        tells_diff: true,
    };
    Ok(change.prepare(NAME, TITLE))
}

/// The file that is to be edited, once it is known that it may be: nothing of an unread one is told.
pub(crate) fn to_edit(workspace: &Workspace, path: &str) -> Result<(Resolved, Content), ToolError> {
    let target = workspace.resolve(path)?;
    let Some(before) = present(workspace, &target)? else {
        return Err(explain_missing(workspace, &target));
    };
    let covered = workspace.coverage().check_edit(&target.real, &before);
    covered.map_err(|gap| explain_gap(&gap, &target.shown))?;
    Ok((target, before))
}

/// One replacement as a call names it.
pub(crate) fn replacement<'a>(old: &'a str, new: &'a str, replace_all: Option<bool>) -> Replacement<'a> {
    Replacement {
        old,
        new,
        occurrences: if replace_all == Some(true) {
            Occurrences::Every
        } else {
            Occurrences::Once
        },
    }
}

/// How many places were replaced, and where.
pub(crate) fn places<'a>(shifts: impl Iterator<Item = &'a Shift>) -> String {
    let shifts: Vec<&Shift> = shifts.collect();
    let mut lines: Vec<String> = shifts
        .iter()
        .take(LINES_NAMED)
        .map(|shift| shift.first.to_string())
        .collect();
    if shifts.len() > LINES_NAMED {
        lines.push("...".to_owned());
    }
    match shifts.len() {
        1 => format!("1 replacement on line {}", lines.join("")),
        count => format!("{count} replacements on lines {}", lines.join(", ")),
    }
}
