//! The `delete_file` tool. SPEC T19.
//!
//! Owns: which file may go. Must never know: how it goes, or how it comes back.

use std::sync::Arc;
use std::time::Duration;

use cairn_agent::tool::{CallContext, Prepared, Tool, ToolClass, ToolError, ToolSpec};
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::args;
use crate::change::{Change, Seen, whole_and_inside};
use crate::place::Workspace;

const NAME: &str = "delete_file";
const TITLE: &str = "Delete";
/// Time limit of one call. SPEC T2.
const LIMIT: Duration = Duration::from_secs(5);

/// Delete one file of which you have seen every line. What it held is kept, so the user can undo it. No folders.
#[derive(Deserialize, JsonSchema)]
struct Input {
    /// The file, inside the project.
    path: String,
}

/// Deletes files.
pub struct DeleteFile {
    spec: ToolSpec,
    workspace: Arc<Workspace>,
}

impl DeleteFile {
    /// The tool for one session.
    pub fn new(workspace: Arc<Workspace>) -> Self {
        Self {
            spec: args::spec::<Input>(NAME, ToolClass::Edit, Some(LIMIT)),
            workspace,
        }
    }
}

impl Tool for DeleteFile {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare<'a>(
        &'a self,
        arguments: Map<String, Value>,
        _context: &'a CallContext,
    ) -> BoxFuture<'a, Result<Prepared, ToolError>> {
        let workspace = Arc::clone(&self.workspace);
        Box::pin(async move {
            let input: Input = args::parse(NAME, arguments)?;
            tokio::task::spawn_blocking(move || prepare(&workspace, &input))
                .await
                .unwrap_or_else(|error| Err(ToolError::new(format!("`{NAME}` was not run: {error}."))))
        })
    }
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
