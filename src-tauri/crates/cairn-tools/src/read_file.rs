//! The `read_file` tool. SPEC T10, T11.
//!
//! Owns: what a model and a person get to see of a file. Must never know: how bytes are found, decoded or scaled.

mod names;
mod shown;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use cairn_agent::tool::{
    Action, CallContext, Execute, Prepared, Tool, ToolClass, ToolError, ToolOutcome, ToolSpec,
};
use cairn_exec::{MAX_PICTURE_BYTES, MAX_PICTURE_EDGE, MAX_PICTURE_PIXELS, PictureError, Processes};
use cairn_files::read::{self, Lines, Page, PageRequest, Total};
use cairn_files::{FileError, Kind, Resolved};
use cairn_policy::{Effect, show_path};
use cairn_protocol::{ApprovalSubject, OutputId};
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::args;
use crate::picture::{self, Sniffed};
use crate::place::Workspace;
use crate::prepared::digest;
pub(crate) use names::explain_missing;
pub(crate) use shown::picture as shown_picture;

const NAME: &str = "read_file";
const TITLE: &str = "Read";
/// Time limit of one call. SPEC T2.
const LIMIT: Duration = Duration::from_secs(5);
/// Lines of one call.
const LINES: u64 = 2_000;
/// Bytes of a file that is read without a range.
const WITHOUT_RANGE: u64 = 2 * 1024 * 1024;
/// What stands before the id of a result that was cut.
const OUTPUT: &str = "output:";

/// Read a text file with line numbers, or look at a picture (PNG, JPEG, GIF, WebP).
/// Gives up to 2000 lines, or as many as fit, and says at its end how many there are and with which offset to go on.
/// A file over 2 MB needs an offset or a limit. The number and the tab before each line are not part of the file.
#[derive(Deserialize, JsonSchema)]
struct Input {
    /// The file: relative to the project folder, or absolute. Or `output:ID` for a result that was cut.
    path: String,
    /// First line to read, from 1.
    offset: Option<u64>,
    /// How many lines to read, at most 2000.
    limit: Option<u64>,
}

/// Reads files.
pub struct ReadFile {
    spec: ToolSpec,
    workspace: Arc<Workspace>,
    processes: Processes,
}

impl ReadFile {
    /// The tool for one session. `processes` decodes pictures.
    pub fn new(workspace: Arc<Workspace>, processes: Processes) -> Self {
        Self {
            spec: args::spec::<Input>(NAME, ToolClass::Read, Some(LIMIT)),
            workspace,
            processes,
        }
    }
}

impl Tool for ReadFile {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare<'a>(
        &'a self,
        arguments: Map<String, Value>,
        _context: &'a CallContext,
    ) -> BoxFuture<'a, Result<Prepared, ToolError>> {
        Box::pin(async move {
            let input: Input = args::parse(NAME, arguments)?;
            match input.path.strip_prefix(OUTPUT) {
                Some(id) => Ok(prepare_output(OutputId::from(id.trim()), Range::of(&input))),
                None => self.prepare_file(&input).await,
            }
        })
    }
}

/// The lines that are asked for.
#[derive(Clone, Copy, Debug)]
struct Range {
    first: u64,
    count: u64,
    given: bool,
}

impl Range {
    fn of(input: &Input) -> Self {
        Self {
            first: input.offset.unwrap_or(1).max(1),
            count: input.limit.unwrap_or(LINES).clamp(1, LINES),
            given: input.offset.is_some() || input.limit.is_some(),
        }
    }

    fn within(self, budget: usize) -> PageRequest {
        PageRequest {
            first: self.first,
            count: self.count,
            chars: budget.saturating_sub(shown::FOOTER),
        }
    }
}

impl ReadFile {
    async fn prepare_file(&self, input: &Input) -> Result<Prepared, ToolError> {
        let (workspace, path) = (Arc::clone(&self.workspace), input.path.clone());
        let target = blocking(move || find(&workspace, &path)).await?;
        let range = Range::of(input);
        let bounds = [
            range.first.to_le_bytes(),
            range.count.to_le_bytes(),
            u64::from(range.given).to_le_bytes(),
        ];
        let path = target.real.as_os_str().as_encoded_bytes();
        Ok(Prepared {
            title: TITLE.to_owned(),
            target: target.shown.clone(),
            effects: vec![self.workspace.reads(&target.real)],
            subject: Some(ApprovalSubject::Read {
                path: show_path(&target.real),
            }),
            says: None,
            blocks: Vec::new(),
            digest: digest(NAME, &[path, bounds.as_flattened()]),
            limit: None,
            action: Action::Execute(Box::new(ReadFromDisk {
                workspace: Arc::clone(&self.workspace),
                processes: self.processes.clone(),
                target,
                range,
            })),
        })
    }
}

/// Finds the file. Only its name is looked at: what is in it is for the gate to give.
fn find(workspace: &Workspace, path: &str) -> Result<Resolved, ToolError> {
    let target = workspace.resolve(path)?;
    match target.kind {
        Kind::File => Ok(target),
        Kind::Missing => Err(explain_missing(workspace, &target)),
        Kind::Folder => Err(ToolError::new(format!(
            "{} is a folder, not a file: list what is in it with list_dir.",
            target.shown
        ))),
        Kind::Special(special) => Err(ToolError::new(format!(
            "{} is {}, which is never read.",
            target.shown,
            special.words()
        ))),
    }
}

/// Reads a file once allowed.
struct ReadFromDisk {
    workspace: Arc<Workspace>,
    processes: Processes,
    target: Resolved,
    range: Range,
}

impl Execute for ReadFromDisk {
    fn execute(self: Box<Self>, context: CallContext) -> BoxFuture<'static, ToolOutcome> {
        Box::pin(async move {
            let cancel = context.cancel.clone();
            tokio::select! {
                biased;
                () = cancel.cancelled() => ToolOutcome {
                    stopped: true,
                    ..ToolOutcome::failed(format!("Reading {} was stopped.", self.target.shown))
                },
                outcome = self.run(&context) => {
                    outcome.unwrap_or_else(|error| ToolOutcome::failed(error.message))
                }
            }
        })
    }
}

/// What the disk gave.
enum Found {
    Text(Page),
    Binary(u64),
    Picture(Vec<u8>),
    NeedsRange(u64),
    Refused(PictureError),
}

impl ReadFromDisk {
    async fn run(&self, context: &CallContext) -> Result<ToolOutcome, ToolError> {
        let (workspace, target) = (Arc::clone(&self.workspace), self.target.real.clone());
        let (range, request, cancel) = (
            self.range,
            self.range.within(context.budget),
            context.cancel.clone(),
        );
        let found = blocking(move || {
            take(&workspace, target, range, &request, &|| cancel.is_cancelled())
                .map_err(|error| workspace.explain(&error))
        });
        let shown = &self.target.shown;
        match found.await? {
            Found::Text(page) => Ok(self.text(&page)),
            Found::Picture(bytes) => Ok(self.picture(bytes, context).await),
            Found::Binary(bytes) => Err(ToolError::new(format!(
                "{shown} is a binary file of {bytes} bytes: it has no text to read."
            ))),
            Found::Refused(error) => Err(ToolError::new(format!(
                "{shown} cannot be shown as a picture: {error}."
            ))),
            Found::NeedsRange(bytes) => Err(ToolError::new(format!(
                "{shown} has {bytes} bytes, over the 2 MB that are read without a range. Give offset and limit, or \
                 search it with grep."
            ))),
        }
    }

    fn text(&self, page: &Page) -> ToolOutcome {
        if let Some(content) = page.content.clone() {
            let total = match page.total {
                Total::Lines(lines) => Some(lines),
                Total::Bytes(_) => None,
            };
            self.workspace
                .coverage()
                .note_read(&self.target.real, content, &page.seen(), total);
        }
        let name = self.target.real.file_name().unwrap_or_default();
        shown::page(
            &self.target.shown,
            &name.to_string_lossy(),
            page,
            self.range.first,
        )
    }

    async fn picture(&self, bytes: Vec<u8>, context: &CallContext) -> ToolOutcome {
        let name = &self.target.shown;
        let looked = picture::look(
            &self.processes,
            context.journal.as_ref(),
            bytes,
            name,
            &context.cancel,
        )
        .await;
        match looked {
            Ok(picture) => {
                if context.vision {
                    // Seen to its end, as far as a picture has one: it may be moved and deleted.
                    let hash = &picture.blob.0;
                    self.workspace.coverage().note_whole(&self.target.real, hash, 0);
                }
                shown::picture(picture, context.vision)
            }
            Err(problem) => ToolOutcome::failed(format!("{problem}.")),
        }
    }
}

fn take(
    workspace: &Workspace,
    real: PathBuf,
    range: Range,
    request: &PageRequest,
    stopped: &dyn Fn() -> bool,
) -> Result<Found, FileError> {
    let root = workspace.root();
    let (first, stamp) = read::first_bytes(root, &real)?;
    if let Sniffed::Picture(_) = picture::sniff(&first) {
        if let Some(too_large) = refused_by_size(&first) {
            return Ok(Found::Refused(too_large));
        }
        return Ok(Found::Picture(read::whole(root, &real, MAX_PICTURE_BYTES)?.bytes));
    }
    if cairn_files::encoding::detect(&first) == cairn_files::encoding::Detected::Binary {
        return Ok(Found::Binary(stamp.size));
    }
    if stamp.size > WITHOUT_RANGE && !range.given {
        return Ok(Found::NeedsRange(stamp.size));
    }
    Ok(match read::page(root, &real, request, stopped)? {
        Lines::Text(page) => Found::Text(page),
        Lines::Binary { bytes } => Found::Binary(bytes),
    })
}

/// A picture whose first bytes already say that it is too large is not read any further.
fn refused_by_size(first: &[u8]) -> Option<PictureError> {
    let cairn_exec::Sniffed::Picture(kind) = cairn_exec::sniff(first) else {
        return None;
    };
    let cairn_exec::Dimensions { width, height } = cairn_exec::dimensions(kind, first)?;
    let too_large =
        width.max(height) > MAX_PICTURE_EDGE || u64::from(width) * u64::from(height) > MAX_PICTURE_PIXELS;
    too_large.then_some(PictureError::TooManyPixels { width, height })
}

/// Reading a result of this session that was cut: never asks.
fn prepare_output(id: OutputId, range: Range) -> Prepared {
    let bounds = [range.first.to_le_bytes(), range.count.to_le_bytes()];
    Prepared {
        title: TITLE.to_owned(),
        target: format!("{OUTPUT}{id}"),
        effects: vec![Effect::Own],
        subject: None,
        says: None,
        blocks: Vec::new(),
        digest: digest(
            NAME,
            &[OUTPUT.as_bytes(), id.as_str().as_bytes(), bounds.as_flattened()],
        ),
        limit: None,
        action: Action::Execute(Box::new(ReadOutput { id, range })),
    }
}

/// Reads a result that was cut.
struct ReadOutput {
    id: OutputId,
    range: Range,
}

impl Execute for ReadOutput {
    fn execute(self: Box<Self>, context: CallContext) -> BoxFuture<'static, ToolOutcome> {
        Box::pin(async move {
            let target = format!("{OUTPUT}{}", self.id);
            match context
                .journal
                .get_output(context.session.clone(), self.id.clone())
                .await
            {
                Ok(text) => shown::output(&target, &text, &self.range.within(context.budget)),
                Err(error) => ToolOutcome::failed(format!(
                    "{target} could not be read: {error}. Only results of this session that were cut can be read so."
                )),
            }
        })
    }
}

/// Runs file work on a thread that may block.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|error| Err(ToolError::new(format!("Reading broke off: {error}."))))
}
