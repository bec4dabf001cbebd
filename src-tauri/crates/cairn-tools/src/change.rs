//! A change of one file on its way from a call to the disk: judged as a diff, then done exactly as shown.
//!
//! Owns: the order check, journal, swap, coverage. Must never know: how the new content was made up.

mod chosen;

use std::path::PathBuf;
use std::sync::Arc;

use cairn_agent::store::{BeforeImage, StoreError};
use cairn_agent::tool::{Action, CallContext, Execute, Prepared, ToolError, ToolOutcome};
use cairn_files::coverage::{Gap, LineRange};
use cairn_files::diff::{self, Side};
use cairn_files::edit::Shift;
use cairn_files::read::{self, Content, EDIT_LIMIT};
use cairn_files::swap::{Expected, Swap};
use cairn_files::{FileError, Kind, Resolved, encoding, hash, lines};
use cairn_policy::Place;
use cairn_protocol::{ApprovalSubject, ContentBlock, FileChange, FileDiff};
use futures_util::future::BoxFuture;

use crate::place::Workspace;
use crate::prepared::digest;

/// What of the new content counts as seen.
#[derive(Clone, Debug)]
pub(crate) enum Seen {
    /// All of it.
    Whole,
    /// What was seen before, moved by each edit in turn, and what was put in its place.
    Edited(Vec<Vec<Shift>>),
    /// What was seen before, and the lines from this one on.
    Appended(u64),
}

/// A change that is known in full and not done yet.
pub(crate) struct Change {
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) target: Resolved,
    /// What is there now; none when nothing is.
    pub(crate) before: Option<Content>,
    /// What will be there; none when it will be gone.
    pub(crate) after: Option<Vec<u8>>,
    pub(crate) seen: Seen,
    /// What the model is told once it is done, before the counts: `Edited src/a.rs: 1 replacement on line 4`.
    pub(crate) told: String,
    /// Whether the model is told the difference as well; it knows what it wrote into a new file.
    pub(crate) tells_diff: bool,
}

impl Change {
    /// The call as it is judged. `tool` and `title` are those of the tool.
    pub(crate) fn prepare(self, tool: &str, title: &str) -> Prepared {
        let after_hash = self.after.as_deref().map(hash::of_bytes);
        let before = self.before.as_ref().map(|before| Side {
            bytes: &before.bytes,
            hash: &before.hash,
        });
        let after = self.after.as_deref().zip(after_hash.as_deref());
        let after = after.map(|(bytes, hash)| Side { bytes, hash });
        let diff = diff::file_diff(&self.target.shown, before, after);
        let before_hash = before.map_or("", |side| side.hash);
        let path = self.target.real.as_os_str().as_encoded_bytes();
        let links = self.before.as_ref().map_or(0, |before| before.links);
        Prepared {
            title: title.to_owned(),
            target: self.target.shown.clone(),
            effects: vec![self.workspace.writes(&self.target.real, links)],
            subject: Some(ApprovalSubject::Edit {
                diffs: vec![diff.clone()],
            }),
            says: None,
            blocks: vec![ContentBlock::Diff(diff.clone())],
            digest: digest(
                tool,
                &[
                    path,
                    before_hash.as_bytes(),
                    after_hash.as_deref().unwrap_or_default().as_bytes(),
                ],
            ),
            limit: None,
            action: Action::Execute(Box::new(Apply {
                change: self,
                diff,
                after_hash,
                by_person: false,
            })),
        }
    }
}

/// A call that finds nothing to change: it succeeds and writes nothing.
pub(crate) fn nothing_to_do(
    workspace: &Workspace,
    target: &Resolved,
    tool: &str,
    title: &str,
    told: String,
) -> Prepared {
    Prepared {
        title: title.to_owned(),
        target: target.shown.clone(),
        effects: vec![workspace.reads(&target.real)],
        subject: None,
        says: None,
        blocks: Vec::new(),
        digest: digest(tool, &[target.real.as_os_str().as_encoded_bytes(), b"unchanged"]),
        limit: None,
        action: Action::Execute(Box::new(crate::prepared::Immediately(move |_| ToolOutcome {
            note: "unchanged".to_owned(),
            ..ToolOutcome::ok(told)
        }))),
    }
}

/// The file that is to leave its place, with its content.
///
/// Fails unless it lies inside the project, is named by itself and not by a link to it, may be written, and was seen
/// to its end. `doing` is what would become of it, like `deleted`.
pub(crate) fn whole_and_inside(
    workspace: &Workspace,
    path: &str,
    doing: &str,
) -> Result<(Resolved, Content), ToolError> {
    let target = inside(workspace, path, doing)?;
    if target.kind == Kind::Folder {
        return Err(ToolError::new(format!(
            "{0} was not {doing}: it is a folder, and this takes one file at a time. Take the files in it one by one, \
             or use the shell for the whole folder.",
            target.shown
        )));
    }
    if workspace.root().ends_in_link(path, &target) {
        return Err(ToolError::new(format!(
            "`{path}` was not {doing}: it is a link to {0}. Name {0} itself, or use the shell for the link.",
            target.shown
        )));
    }
    let Some(content) = present(workspace, &target)? else {
        return Err(crate::read_file::explain_missing(workspace, &target));
    };
    let covered = workspace.coverage().check_overwrite(&target.real, &content);
    match covered {
        Ok(()) => Ok((target, content)),
        Err(Gap::NeverRead) if encoding::decode(&content.bytes).is_none() => Err(ToolError::new(format!(
            "{} was not {doing}: it is a binary file of {} bytes, so you cannot have seen what would be lost. Ask the \
             user, or use the shell.",
            target.shown,
            content.bytes.len()
        ))),
        Err(gap) => Err(ToolError::new(
            explain_gap(&gap, &target.shown)
                .message
                .replace("was not changed", &format!("was not {doing}"))
                .replace("would be overwritten", &format!("would be {doing}"))
                .replace(", or change only a part with edit_file", ""),
        )),
    }
}

/// Where a path leads, which must be inside the project.
pub(crate) fn inside(workspace: &Workspace, path: &str, doing: &str) -> Result<Resolved, ToolError> {
    let target = workspace.resolve(path)?;
    if target.place == Place::Outside {
        return Err(ToolError::new(format!(
            "{} was not {doing}: it is outside the project, and this works only inside it. Ask the user to do it.",
            target.shown
        )));
    }
    Ok(target)
}

/// Reads the file that is to be changed; none when nothing is there. Anything but a file is an error.
pub(crate) fn present(workspace: &Workspace, target: &Resolved) -> Result<Option<Content>, ToolError> {
    let read = match target.kind {
        Kind::Missing => return Ok(None),
        Kind::Folder => Err(FileError::NotAFile {
            shown: target.shown.clone(),
            what: "a folder",
        }),
        Kind::Special(special) => Err(FileError::NotAFile {
            shown: target.shown.clone(),
            what: special.words(),
        }),
        Kind::File => cairn_files::swap::check_writable(workspace.root(), &target.real)
            .and_then(|()| read::whole(workspace.root(), &target.real, EDIT_LIMIT)),
    };
    read.map(Some).map_err(|error| workspace.explain(&error))
}

/// A gap in what was read, as the model is told it.
pub(crate) fn explain_gap(gap: &Gap, shown: &str) -> ToolError {
    ToolError::new(match gap {
        Gap::NeverRead => {
            format!(
                "{shown} was not changed: it has not been read in this session. Read it with read_file first."
            )
        }
        Gap::Changed => format!(
            "{shown} was not changed: it is not what you read, something else changed it since. That change is \
             kept; read it again with read_file."
        ),
        Gap::Unseen { ranges } => {
            let first = ranges.first().map_or(1, |range| range.first);
            format!(
                "{shown} was not changed: you have not seen all of what would be overwritten ({} never shown whole). \
                 Read the rest (read_file with offset {first}), or change only a part with edit_file.",
                name_ranges(ranges)
            )
        }
    })
}

fn name_ranges(ranges: &[LineRange]) -> String {
    let name = |range: &LineRange| match (range.first, range.last) {
        (first, u64::MAX) => format!("{first} and after"),
        (first, last) if first == last => first.to_string(),
        (first, last) => format!("{first} to {last}"),
    };
    let mut named: Vec<String> = ranges.iter().take(5).map(name).collect();
    if ranges.len() > 5 {
        named.push("...".to_owned());
    }
    format!("lines {}", named.join(", "))
}

/// Lines of a content; 0 for what is not text.
pub(crate) fn count_lines(bytes: &[u8]) -> u64 {
    encoding::decode(bytes).map_or(0, |decoded| {
        lines::split(&decoded.text, lines::ends_of(&decoded.text)).len() as u64
    })
}

/// Does a judged change.
struct Apply {
    change: Change,
    diff: FileDiff,
    /// None when the file will be gone.
    after_hash: Option<String>,
    /// The person changed it before allowing it.
    by_person: bool,
}

impl Execute for Apply {
    fn takes_hunks(&self) -> bool {
        let Change { before, after, .. } = &self.change;
        let before = before.as_ref().map_or(&[][..], |before| &before.bytes);
        after
            .as_ref()
            .is_some_and(|after| diff::is_divisible(before, after, &self.diff))
    }

    fn execute(mut self: Box<Self>, context: CallContext) -> BoxFuture<'static, ToolOutcome> {
        Box::pin(async move {
            if let Some(choices) = &context.hunks
                && let Err(refused) = self.take_only(choices)
            {
                return *refused;
            }
            // A task of its own: whoever stops waiting for it does not stop it between the journal and the disk.
            tokio::spawn(self.run(context))
                .await
                .unwrap_or_else(|error| ToolOutcome::failed(format!("The change broke off: {error}.")))
        })
    }
}

/// How far a change came.
pub(crate) enum Failure {
    Stopped,
    File(FileError),
    Journal(StoreError),
}

impl Apply {
    async fn run(mut self: Box<Self>, context: CallContext) -> ToolOutcome {
        let image = self.take_image();
        let apply = Arc::new(*self);
        match apply.write(&context, image).await {
            Ok(unrecorded) => apply.outcome(unrecorded),
            Err(failure) => apply.failed(&failure),
        }
    }

    /// The bytes that the journal is to keep. They are handed over, not copied: with what they become they are all of
    /// the file that is held. Only what was appended to is looked at once more afterwards.
    fn take_image(&mut self) -> Option<Vec<u8>> {
        let before = self.change.before.as_mut()?;
        Some(match self.change.seen {
            Seen::Appended(_) => before.bytes.clone(),
            Seen::Whole | Seen::Edited(_) => std::mem::take(&mut before.bytes),
        })
    }

    /// Checks, journals, writes. What comes back is what the journal said to the end of it, when it failed.
    async fn write(
        self: &Arc<Self>,
        context: &CallContext,
        image: Option<Vec<u8>>,
    ) -> Result<Option<StoreError>, Failure> {
        let checking = Arc::clone(self);
        let swap = blocking(move || checking.check()).await?;
        if context.cancel.is_cancelled() {
            return Err(Failure::Stopped);
        }
        let journal = &context.journal;
        let image = self.before_image(context, image, swap.temporary().to_owned());
        journal.before_change(image).await.map_err(Failure::Journal)?;
        let path = self.change.target.real.clone();
        if context.cancel.is_cancelled() {
            journal
                .after_change(context.call.clone(), path, false)
                .await
                .map_err(Failure::Journal)?;
            return Err(Failure::Stopped);
        }
        let writing = Arc::clone(self);
        let written = blocking(move || {
            let root = writing.change.workspace.root();
            match &writing.change.after {
                Some(after) => swap.write(root, after),
                None => swap.remove(root),
            }
        })
        .await;
        let recorded = journal
            .after_change(context.call.clone(), path, written.is_ok())
            .await;
        written?;
        self.note();
        Ok(recorded.err())
    }

    /// Whether everything still is as it was when the change was made up.
    fn check(&self) -> Result<Swap, FileError> {
        let Change {
            workspace,
            target,
            before,
            ..
        } = &self.change;
        let root = workspace.root();
        let now = root.resolve_path(&target.real)?;
        if now.real != target.real {
            return Err(FileError::Swapped(target.shown.clone()));
        }
        let expected = match (before, now.kind) {
            (None, Kind::Missing) => Expected::Absent,
            (None, _) => return Err(FileError::Appeared(target.shown.clone())),
            (Some(_), Kind::Missing) => return Err(FileError::Changed(target.shown.clone())),
            (Some(before), _) => {
                if read::whole_hash(root, &target.real, EDIT_LIMIT)? != before.hash {
                    return Err(FileError::Changed(target.shown.clone()));
                }
                Expected::Content(before.hash.clone())
            }
        };
        Swap::new(root, &target.real, expected)
    }

    fn before_image(&self, context: &CallContext, image: Option<Vec<u8>>, temporary: PathBuf) -> BeforeImage {
        let before = self.change.before.as_ref();
        BeforeImage {
            session: context.session.clone(),
            turn: context.turn.clone(),
            call: context.call.clone(),
            path: self.change.target.real.clone(),
            before: image,
            mode: before.map(|before| before.mode),
            after: self.after_hash.clone(),
            temporary: Some(temporary),
        }
    }

    /// What the model wrote counts as seen.
    fn note(&self) {
        let Change {
            workspace,
            target,
            before,
            after,
            seen,
            ..
        } = &self.change;
        let mut coverage = workspace.coverage();
        let (Some(after), Some(hash)) = (after, &self.after_hash) else {
            coverage.forget(&target.real);
            workspace.note_gone(&target.real);
            return;
        };
        let total = count_lines(after);
        workspace.note_existing(&target.real);
        match (seen, before) {
            (Seen::Edited(edits), _) => {
                for shifts in edits {
                    coverage.note_edited(&target.real, hash, shifts, total);
                }
            }
            (Seen::Appended(first), Some(before)) => {
                let added = LineRange {
                    first: *first,
                    last: total,
                };
                coverage.note_appended(&target.real, before, hash, added);
            }
            (Seen::Whole, _) | (Seen::Appended(_), None) => {
                coverage.note_whole(&target.real, hash, total);
            }
        }
    }

    fn outcome(&self, unrecorded: Option<StoreError>) -> ToolOutcome {
        let tells_diff = self.change.tells_diff;
        let mut outcome = outcome_of(&self.change.told, &self.diff, unrecorded.as_ref(), tells_diff);
        if self.by_person {
            outcome.note.push_str(", changed by you");
        }
        outcome
    }

    fn failed(&self, failure: &Failure) -> ToolOutcome {
        failure.outcome(&self.change.workspace, &self.change.target.shown)
    }
}

/// A change that happened, as it is told: counts, remarks, and the difference where `tells_diff`.
pub(crate) fn outcome_of(
    told: &str,
    diff: &FileDiff,
    unrecorded: Option<&StoreError>,
    tells_diff: bool,
) -> ToolOutcome {
    let FileDiff { added, removed, .. } = *diff;
    let note = format!("+{added} \u{2212}{removed}");
    let mut content = format!("{told} ({note}).");
    for remark in &diff.notes {
        content.push_str("\nNote: ");
        content.push_str(remark);
        content.push('.');
    }
    if let Some(error) = unrecorded {
        content.push_str(&format!(
            "\nThe file is changed, but the end of the change was not recorded: {error}."
        ));
    }
    if tells_diff {
        content.push('\n');
        content.push_str(&diff::unified(diff));
    }
    ToolOutcome {
        note,
        blocks: vec![ContentBlock::Diff(diff.clone())],
        changes: vec![FileChange {
            path: diff.path.clone(),
            change: diff.change.clone(),
            added,
            removed,
        }],
        ..ToolOutcome::ok(content)
    }
}

impl Failure {
    /// What the model is told of a change that did not happen.
    pub(crate) fn outcome(&self, workspace: &Workspace, shown: &str) -> ToolOutcome {
        match self {
            Self::Stopped => ToolOutcome {
                stopped: true,
                ..ToolOutcome::failed(format!(
                    "{shown} was not changed: the call was stopped before it began."
                ))
            },
            Self::File(error) => ToolOutcome::failed(workspace.explain(error).message),
            Self::Journal(error) => ToolOutcome::failed(format!(
                "{shown} was not changed: what it is now could not be kept for undo ({error})."
            )),
        }
    }
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        Self::File(error)
    }
}

/// Runs file work on a thread that may block.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, FileError> + Send + 'static,
) -> Result<T, FileError> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| {
        Err(FileError::Io {
            doing: "change",
            shown: "the file".to_owned(),
            reason: error.to_string(),
        })
    })
}
