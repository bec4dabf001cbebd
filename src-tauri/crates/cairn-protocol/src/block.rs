//! Content blocks: what a tool returns and the window draws. The window knows blocks, never tools.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::BlobId;

/// One drawable piece of a tool's result or of an approval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "block", rename_all = "snake_case")]
#[ts(export)]
pub enum ContentBlock {
    /// Plain text.
    Text {
        /// The text.
        text: String,
    },
    /// Lines of a file or other code.
    Code(CodeBlock),
    /// A change to one file.
    Diff(FileDiff),
    /// A command and what it printed.
    Terminal(Terminal),
    /// A picture the model saw.
    Picture(Picture),
    /// Places in files.
    Locations(Locations),
    /// Rows and columns.
    Table(Table),
    /// The plan.
    Todo {
        /// Its entries, in order.
        items: Vec<TodoItem>,
    },
    /// Anything else, as indented JSON text.
    Data {
        /// JSON text.
        json: String,
    },
}

/// Lines of code with their numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct CodeBlock {
    /// Language by its short name, like `rust`; empty when unknown.
    pub language: String,
    /// Number of the first line, from 1; 0 for code that has none.
    pub first_line: u32,
    /// The lines, without line numbers.
    pub text: String,
}

/// What happened to a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[ts(export)]
pub enum ChangeKind {
    /// It was not there before.
    Created,
    /// Its content changed.
    Modified,
    /// It is gone.
    Deleted,
    /// It has another name.
    Moved {
        /// The former path.
        from: String,
    },
}

/// A change to one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct FileDiff {
    /// Path relative to the project, or absolute outside it.
    pub path: String,
    /// What happens to it.
    pub change: ChangeKind,
    /// Lines added, of the whole change.
    pub added: u32,
    /// Lines removed, of the whole change.
    pub removed: u32,
    /// Changed places with three lines around each.
    pub hunks: Vec<Hunk>,
    /// Lines of hunks that were left out because the diff is very large; 0 when whole.
    pub omitted_lines: u32,
    /// Hex SHA-256 of the content before; none when it was not there.
    pub before: Option<String>,
    /// Hex SHA-256 of the content after; none when it is gone.
    pub after: Option<String>,
    /// Things to know, like `the file has no newline at its end`.
    pub notes: Vec<String>,
}

/// One changed place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Hunk {
    /// First line in the old file, from 1.
    pub old_start: u32,
    /// First line in the new file, from 1.
    pub new_start: u32,
    /// The lines.
    pub lines: Vec<DiffLine>,
}

/// Role of a line in a diff.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum DiffLineKind {
    /// Unchanged.
    Context,
    /// New.
    Added,
    /// Gone.
    Removed,
}

/// One line of a diff.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct DiffLine {
    /// Its role.
    pub kind: DiffLineKind,
    /// Number in the old file, from 1; none for added lines.
    pub old: Option<u32>,
    /// Number in the new file, from 1; none for removed lines.
    pub new: Option<u32>,
    /// Its text without the line end, in pieces; changed words are marked.
    pub spans: Vec<ShownSpan>,
}

/// How a piece of text is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum ShownKind {
    /// As it is.
    Plain,
    /// A word that differs from the other side of a diff.
    Changed,
    /// Stands for something invisible, misleading or very long: drawn as a chip.
    Chip,
}

/// A piece of text that is safe to draw: it holds no control, invisible or direction-changing character.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ShownSpan {
    /// How it is drawn.
    pub kind: ShownKind,
    /// The text, or for a chip its stand-in, like `\u{202e}` or `300 spaces`.
    pub text: String,
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[ts(export)]
pub enum CommandEnd {
    /// It runs.
    Running,
    /// It ended by itself.
    Exited {
        /// Exit status.
        code: i32,
    },
    /// A signal ended it.
    Signalled {
        /// Name, like `SIGSEGV`.
        signal: String,
    },
    /// Its time limit struck.
    TimedOut,
    /// The person stopped it.
    Stopped,
    /// The program ended while it ran.
    Interrupted,
}

/// A command and what it printed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Terminal {
    /// The command line.
    pub command: String,
    /// Folder it ran in, relative to the project.
    pub workdir: String,
    /// What it printed, escape sequences removed, head and tail kept.
    pub output: String,
    /// Bytes it printed in all.
    pub total_bytes: u64,
    /// Bytes missing from `output`; 0 when whole.
    pub omitted_bytes: u64,
    /// How it ended.
    pub end: CommandEnd,
    /// Milliseconds it took, or has taken so far.
    pub elapsed_ms: u64,
}

/// A picture in the blob store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Picture {
    /// The original bytes, for the person.
    pub blob: BlobId,
    /// The scaled bytes that went to the model; the same as `blob` when nothing had to change.
    pub sent: BlobId,
    /// Media type of `blob` by its first bytes, like `image/png`.
    pub media_type: String,
    /// Media type of `sent`.
    pub sent_media_type: String,
    /// Width of the original, pixels.
    pub width: u32,
    /// Height of the original, pixels.
    pub height: u32,
    /// Size of the original, bytes.
    pub bytes: u64,
    /// Where it came from, like `docs/axis.png`.
    pub name: String,
}

/// Places in files, grouped by file in path order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Locations {
    /// Files with places, or only files.
    pub files: Vec<FileLocations>,
    /// Places not listed.
    pub omitted: u32,
}

/// Places in one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct FileLocations {
    /// Path relative to the project.
    pub path: String,
    /// Lines, in order; empty when only the file is meant.
    pub lines: Vec<LocationLine>,
}

/// One line of a place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct LocationLine {
    /// Line number, from 1.
    pub line: u32,
    /// False for lines around a match.
    pub matched: bool,
    /// The text, matches marked as changed.
    pub spans: Vec<ShownSpan>,
}

/// Rows and columns of plain text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Table {
    /// Column headings.
    pub headers: Vec<String>,
    /// Rows; each has as many cells as there are headings.
    pub rows: Vec<Vec<String>>,
}

/// State of a plan entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum TodoState {
    /// Not begun.
    Pending,
    /// Being done; at most one.
    InProgress,
    /// Done.
    Completed,
    /// Dropped.
    Cancelled,
}

/// One entry of the plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct TodoItem {
    /// What is to be done.
    pub text: String,
    /// How far it is.
    pub state: TodoState,
}
