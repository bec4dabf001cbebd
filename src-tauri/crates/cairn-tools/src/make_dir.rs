//! The `make_dir` tool. SPEC T19.
//!
//! Owns: what a model is told about a new folder. Must never know: whether it may be made.

use std::path::PathBuf;
use std::sync::Arc;

use cairn_agent::tool::{Action, CallContext, Execute, Prepared, Tool, ToolError, ToolOutcome};
use cairn_files::swap::make_folder;
use cairn_files::{Kind, Resolved};
use cairn_protocol::{ApprovalSubject, ChangeKind, ContentBlock, FileDiff};
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::change::{Failure, blocking, inside, nothing_to_do};
use crate::editing::Editing;
use crate::place::Workspace;
use crate::prepared::digest;

const NAME: &str = "make_dir";
const TITLE: &str = "Make folder";

/// Make an empty folder, with those on the way to it. write_file makes the folders of a new file by itself.
#[derive(Deserialize, JsonSchema)]
struct Input {
    /// The folder, inside the project.
    path: String,
}

/// Makes folders, for one session.
pub fn tool(workspace: Arc<Workspace>) -> Arc<dyn Tool> {
    Arc::new(Editing::new(NAME, workspace, prepare))
}

fn prepare(workspace: &Arc<Workspace>, input: &Input) -> Result<Prepared, ToolError> {
    let target = inside(workspace, &input.path, "made")?;
    let what = match target.kind {
        Kind::Folder => {
            let told = format!("{} is there already: nothing was done.", target.shown);
            return Ok(nothing_to_do(workspace, &target, NAME, TITLE, told));
        }
        Kind::Missing => None,
        Kind::File => Some("a file"),
        Kind::Special(special) => Some(special.words()),
    };
    if let Some(what) = what {
        return Err(ToolError::new(format!(
            "{} was not made: there is {what} of that name. Choose another.",
            target.shown
        )));
    }
    let diff = FileDiff {
        path: target.shown.clone(),
        change: ChangeKind::Created,
        added: 0,
        removed: 0,
        hunks: Vec::new(),
        omitted_lines: 0,
        before: None,
        after: None,
        notes: vec!["a new, empty folder".to_owned()],
    };
    Ok(Prepared {
        title: TITLE.to_owned(),
        target: target.shown.clone(),
        effects: vec![workspace.writes(&target.real, 0)],
        subject: Some(ApprovalSubject::Edit {
            diffs: vec![diff.clone()],
        }),
        says: None,
        blocks: vec![ContentBlock::Diff(diff)],
        digest: digest(NAME, &[target.real.as_os_str().as_encoded_bytes()]),
        limit: None,
        action: Action::Execute(Box::new(Make {
            workspace: Arc::clone(workspace),
            target,
        })),
    })
}

/// Makes a judged folder.
struct Make {
    workspace: Arc<Workspace>,
    target: Resolved,
}

impl Execute for Make {
    fn execute(self: Box<Self>, context: CallContext) -> BoxFuture<'static, ToolOutcome> {
        Box::pin(async move {
            let Self { workspace, target } = *self;
            if context.cancel.is_cancelled() {
                return Failure::Stopped.outcome(&workspace, &target.shown);
            }
            let making = (Arc::clone(&workspace), target.real.clone());
            let made = blocking(move || {
                let (workspace, real) = making;
                make_folder(workspace.root(), &real)
            });
            match made.await {
                Ok(made) => outcome(&workspace, &target, &made),
                Err(error) => Failure::File(error).outcome(&workspace, &target.shown),
            }
        })
    }
}

fn outcome(workspace: &Workspace, target: &Resolved, made: &[PathBuf]) -> ToolOutcome {
    for folder in made {
        workspace.note_existing(folder);
    }
    let told = match made {
        [] => format!("{} is there: something else made it meanwhile.", target.shown),
        [_] => format!("Made the folder {}.", target.shown),
        several => format!(
            "Made the folder {} and {} on the way to it.",
            target.shown,
            several.len() - 1
        ),
    };
    ToolOutcome {
        note: if made.is_empty() { "unchanged" } else { "made" }.to_owned(),
        ..ToolOutcome::ok(told)
    }
}
