//! The `move_file` tool. SPEC T19.
//!
//! Owns: which file may move where, and the order check, journal, move, coverage. Must never know: whether a call may
//! run, or how a name is changed.

use std::path::PathBuf;
use std::sync::Arc;

use cairn_agent::store::{BeforeImage, StoreError};
use cairn_agent::tool::{Action, CallContext, Execute, Prepared, Tool, ToolError, ToolOutcome};
use cairn_files::read::{self, Content, EDIT_LIMIT};
use cairn_files::swap::Move;
use cairn_files::{FileError, Kind, Resolved};
use cairn_protocol::{ApprovalSubject, ChangeKind, ContentBlock, FileDiff};
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::change::{Failure, blocking, inside, outcome_of, whole_and_inside};
use crate::editing::Editing;
use crate::place::{Workspace, names_folder};
use crate::prepared::digest;

const NAME: &str = "move_file";
const TITLE: &str = "Move";

/// Move or rename one file of which you have seen every line. Missing folders are made; nothing is overwritten.
#[derive(Deserialize, JsonSchema)]
struct Input {
    /// The file, inside the project.
    from: String,
    /// Its new path with its name, inside the project.
    to: String,
}

/// Moves files, for one session.
pub fn tool(workspace: Arc<Workspace>) -> Arc<dyn Tool> {
    Arc::new(Editing::new(NAME, workspace, prepare))
}

fn prepare(workspace: &Arc<Workspace>, input: &Input) -> Result<Prepared, ToolError> {
    let (from, content) = whole_and_inside(workspace, &input.from, "moved")?;
    let to = inside(workspace, &input.to, "made")?;
    check_free(workspace, &from, &to, &input.to)?;
    let diff = FileDiff {
        path: to.shown.clone(),
        change: ChangeKind::Moved {
            from: from.shown.clone(),
        },
        added: 0,
        removed: 0,
        hunks: Vec::new(),
        omitted_lines: 0,
        before: Some(content.hash.clone()),
        after: Some(content.hash.clone()),
        notes: Vec::new(),
    };
    let [old, new] = [&from, &to].map(|path| path.real.as_os_str().as_encoded_bytes());
    Ok(Prepared {
        title: TITLE.to_owned(),
        target: format!("{} \u{2192} {}", from.shown, to.shown),
        effects: vec![
            workspace.writes(&from.real, content.links),
            workspace.writes(&to.real, 0),
        ],
        subject: Some(ApprovalSubject::Edit {
            diffs: vec![diff.clone()],
        }),
        says: None,
        blocks: vec![ContentBlock::Diff(diff.clone())],
        digest: digest(NAME, &[old, new, content.hash.as_bytes()]),
        limit: None,
        action: Action::Execute(Box::new(Apply {
            workspace: Arc::clone(workspace),
            from,
            to,
            content,
            diff,
        })),
    })
}

/// The new name must be nobody's.
fn check_free(workspace: &Workspace, from: &Resolved, to: &Resolved, text: &str) -> Result<(), ToolError> {
    let refused = |why: String| Err(ToolError::new(format!("{} was not moved: {why}", from.shown)));
    if from.real == to.real {
        return refused("both paths are the same.".to_owned());
    }
    match to.kind {
        Kind::Missing if workspace.root().ends_in_link(text, to) => refused(format!(
            "`{text}` is there as a link that leads nowhere, and nothing is overwritten."
        )),
        Kind::Missing if names_folder(text) => refused(format!(
            "`{text}` names a folder; give the whole new path with the file's name."
        )),
        Kind::Missing => Ok(()),
        Kind::Folder => refused(format!(
            "{} is a folder; give the whole new path with the file's name.",
            to.shown
        )),
        Kind::File | Kind::Special(_) => refused(format!(
            "{} is there already, and nothing is overwritten. Choose another name.",
            to.shown
        )),
    }
}

/// Does a judged move.
struct Apply {
    workspace: Arc<Workspace>,
    from: Resolved,
    to: Resolved,
    content: Content,
    diff: FileDiff,
}

impl Execute for Apply {
    fn execute(self: Box<Self>, context: CallContext) -> BoxFuture<'static, ToolOutcome> {
        Box::pin(async move {
            // A task of its own: whoever stops waiting for it does not stop it between the journal and the disk.
            tokio::spawn(self.run(context))
                .await
                .unwrap_or_else(|error| ToolOutcome::failed(format!("The move broke off: {error}.")))
        })
    }
}

impl Apply {
    async fn run(self: Box<Self>, context: CallContext) -> ToolOutcome {
        let apply = Arc::new(*self);
        match apply.carry_out(&context).await {
            Ok(unrecorded) => {
                let told = format!("Moved {} to {}", apply.from.shown, apply.to.shown);
                ToolOutcome {
                    note: "moved".to_owned(),
                    ..outcome_of(&told, &apply.diff, unrecorded.as_ref(), false)
                }
            }
            Err(failure) => failure.outcome(&apply.workspace, &apply.from.shown),
        }
    }

    /// Checks, journals, moves. What comes back is what the journal said to the end of it, when it failed.
    async fn carry_out(self: &Arc<Self>, context: &CallContext) -> Result<Option<StoreError>, Failure> {
        let checking = Arc::clone(self);
        let planned = blocking(move || checking.check()).await?;
        if context.cancel.is_cancelled() {
            return Err(Failure::Stopped);
        }
        let journal = &context.journal;
        // Undone from the last to the first: the old file is back before the new one goes.
        let images = [self.arrival(context, &planned), self.departure(context, &planned)];
        let paths = [self.to.real.clone(), self.from.real.clone()];
        let mut begun: Vec<PathBuf> = Vec::new();
        for (image, path) in images.into_iter().zip(paths) {
            if let Err(error) = journal.before_change(image).await {
                end(context, begun, false).await;
                return Err(Failure::Journal(error));
            }
            begun.push(path);
        }
        if context.cancel.is_cancelled() {
            end(context, begun, false).await;
            return Err(Failure::Stopped);
        }
        let moving = Arc::clone(self);
        let moved = blocking(move || planned.run(moving.workspace.root(), &moving.content.bytes)).await;
        let unrecorded = end(context, begun, moved.is_ok()).await;
        moved?;
        self.note();
        Ok(unrecorded)
    }

    /// Whether everything still is as it was when the move was made up.
    fn check(&self) -> Result<Move, FileError> {
        let root = self.workspace.root();
        for path in [&self.from, &self.to] {
            if root.resolve_path(&path.real)?.real != path.real {
                return Err(FileError::Swapped(path.shown.clone()));
            }
        }
        let now = read::whole_hash(root, &self.from.real, EDIT_LIMIT).map_err(|error| match error {
            FileError::Missing(shown) => FileError::Changed(shown),
            other => other,
        })?;
        if now != self.content.hash {
            return Err(FileError::Changed(self.from.shown.clone()));
        }
        if root.kind(&self.to.real)? != Kind::Missing {
            return Err(FileError::Appeared(self.to.shown.clone()));
        }
        Move::new(root, &self.from.real, &self.to.real, &self.content.hash)
    }

    fn arrival(&self, context: &CallContext, planned: &Move) -> BeforeImage {
        BeforeImage {
            session: context.session.clone(),
            turn: context.turn.clone(),
            call: context.call.clone(),
            path: self.to.real.clone(),
            before: None,
            mode: None,
            after: Some(self.content.hash.clone()),
            temporary: Some(planned.temporary_beside_new().to_owned()),
        }
    }

    fn departure(&self, context: &CallContext, planned: &Move) -> BeforeImage {
        BeforeImage {
            path: self.from.real.clone(),
            before: Some(self.content.bytes.clone()),
            mode: Some(self.content.mode),
            after: None,
            temporary: Some(planned.temporary_beside_old().to_owned()),
            ..self.arrival(context, planned)
        }
    }

    /// What was seen of the file goes along with it.
    fn note(&self) {
        self.workspace
            .coverage()
            .follow_move(&self.from.real, &self.to.real);
        self.workspace.note_gone(&self.from.real);
        self.workspace.note_existing(&self.to.real);
    }
}

/// Tells the journal what became of the changes that it knows of; the first thing it had against that.
async fn end(context: &CallContext, paths: Vec<PathBuf>, happened: bool) -> Option<StoreError> {
    let mut first = None;
    for path in paths {
        let told = context.journal.after_change(context.call.clone(), path, happened);
        if let (Err(error), None) = (told.await, &first) {
            first = Some(error);
        }
    }
    first
}
