//! The `delete_file` tool. SPEC T19.
//!
//! Owns: which file may go. Must never know: how it goes, or how it comes back.

use std::sync::Arc;

use cairn_agent::tool::{Prepared, Tool, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::change::{Change, Seen, whole_and_inside};
use crate::editing::Editing;
use crate::place::Workspace;

const NAME: &str = "delete_file";
const TITLE: &str = "Delete";

/// Delete one file of which you have seen every line. What it held is kept, so the user can undo it. No folders.
#[derive(Deserialize, JsonSchema)]
struct Input {
    /// The file, inside the project.
    path: String,
}

/// Deletes files, for one session.
pub fn tool(workspace: Arc<Workspace>) -> Arc<dyn Tool> {
    Arc::new(Editing::new(NAME, workspace, prepare))
}

fn prepare(workspace: &Arc<Workspace>, input: &Input) -> Result<Prepared, ToolError> {
    let (target, before) = whole_and_inside(workspace, &input.path, "deleted")?;
    let change = Change {
        workspace: Arc::clone(workspace),
        told: format!("Deleted {}", target.shown),
        target,
        before: Some(before),
        after: None,
        seen: Seen::Whole,
        tells_diff: false,
    };
    Ok(change.prepare(NAME, TITLE))
}
