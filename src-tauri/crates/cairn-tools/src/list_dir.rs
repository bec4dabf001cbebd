//! The `list_dir` tool: what is in one folder. SPEC T12.
//!
//! Owns: the listing. Must never know: whether the folder may be looked into.

mod entries;

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use cairn_agent::tool::{
    Action, CallContext, Execute, Prepared, Tool, ToolClass, ToolError, ToolOutcome, ToolSpec,
};
use cairn_files::Kind;
use cairn_protocol::{ContentBlock, Table};
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::args;
use crate::place::Workspace;
use crate::prepared::{counted, lists};
use crate::walk::{Stop, interruptible};
use entries::{Entry, Listing, What};

const NAME: &str = "list_dir";
/// Entries shown.
const MOST_ENTRIES: usize = 500;
/// Characters kept for the last line, which counts the rest.
const ROOM_FOR_REST: usize = 120;

/// List one folder: folders first, then files with their sizes in bytes.
#[derive(Deserialize, JsonSchema)]
struct Input {
    /// The folder, relative to the project; default the project folder.
    #[serde(default)]
    path: Option<String>,
}

/// Lists a folder.
pub struct ListDir {
    spec: ToolSpec,
    workspace: Arc<Workspace>,
}

impl ListDir {
    /// The tool for that project.
    pub fn new(workspace: Arc<Workspace>) -> Self {
        Self {
            spec: args::spec::<Input>(NAME, ToolClass::Read, Some(Duration::from_secs(5))),
            workspace,
        }
    }

    fn prepare_now(&self, arguments: Map<String, Value>) -> Result<Prepared, ToolError> {
        let input: Input = args::parse(NAME, arguments)?;
        let path = input
            .path
            .filter(|path| !path.is_empty())
            .unwrap_or_else(|| ".".to_owned());
        let at = self.workspace.resolve(&path)?;
        match at.kind {
            Kind::Folder => {}
            Kind::Missing => {
                return Err(self.workspace.explain(&cairn_files::FileError::Missing(at.shown)));
            }
            Kind::File => {
                return Err(ToolError::new(format!(
                    "{} is a file, not a folder: use `read_file`",
                    at.shown
                )));
            }
            Kind::Special(special) => {
                return Err(ToolError::new(format!(
                    "{} is {}, not a folder",
                    at.shown,
                    special.words()
                )));
            }
        }
        let run = Run {
            workspace: Arc::clone(&self.workspace),
            real: at.real.clone(),
            shown: at.shown.clone(),
        };
        Ok(lists(
            "List",
            at.shown.clone(),
            &at,
            Action::Execute(Box::new(run)),
        ))
    }
}

impl Tool for ListDir {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare<'a>(
        &'a self,
        arguments: Map<String, Value>,
        _context: &'a CallContext,
    ) -> BoxFuture<'a, Result<Prepared, ToolError>> {
        Box::pin(std::future::ready(self.prepare_now(arguments)))
    }
}

struct Run {
    workspace: Arc<Workspace>,
    real: PathBuf,
    shown: String,
}

impl Execute for Run {
    fn execute(self: Box<Self>, context: CallContext) -> BoxFuture<'static, ToolOutcome> {
        Box::pin(async move {
            let shown = self.shown.clone();
            let listed = interruptible(&context.cancel, move |stop: &Stop| {
                entries::list(self.workspace.root(), &self.real, MOST_ENTRIES, stop)
            });
            match listed.await {
                Some(Ok(listing)) => outcome(&shown, &listing, context.budget),
                Some(Err(error)) => ToolOutcome::failed(error.to_string()),
                None => ToolOutcome::failed(format!("Listing {shown} was stopped before it was done.")),
            }
        })
    }
}

fn outcome(shown: &str, listing: &Listing, budget: usize) -> ToolOutcome {
    let total = listing.folders + listing.others;
    let note = counted(total, "entry", "entries");
    if total == 0 {
        return ToolOutcome {
            note,
            ..ToolOutcome::ok(format!("{shown} is an empty folder."))
        };
    }
    let mut text = String::new();
    let mut length = 0;
    let mut rows = Vec::new();
    let mut folders_shown = 0;
    for entry in &listing.entries {
        let line = line(entry);
        length += line.chars().count() + 1;
        if length + ROOM_FOR_REST > budget {
            break;
        }
        writeln!(text, "{line}").ok();
        folders_shown += u64::from(entry.what == What::Folder);
        rows.push(vec![name(entry), size(entry)]);
    }
    let left = total - rows.len() as u64;
    if left > 0 {
        let folders = listing.folders - folders_shown;
        write!(
            text,
            "[{} shown; {left} more: {}, {}. `glob` finds files by name.]",
            rows.len(),
            counted(folders, "folder", "folders"),
            counted(left - folders, "file", "files")
        )
        .ok();
    }
    if listing.stopped {
        text.push_str("\n[stopped before all names were read]");
    }
    ToolOutcome {
        ok: !listing.stopped,
        note,
        blocks: vec![ContentBlock::Table(Table {
            headers: vec!["Name".to_owned(), "Size".to_owned()],
            rows,
        })],
        ..ToolOutcome::ok(text.trim_end())
    }
}

fn line(entry: &Entry) -> String {
    match size(entry) {
        size if size.is_empty() => name(entry),
        size => format!("{}  {size}", name(entry)),
    }
}

fn name(entry: &Entry) -> String {
    let name = &entry.name;
    match &entry.what {
        What::Folder => format!("{name}/"),
        What::File { .. } | What::Unknown => name.clone(),
        What::Link { target, leads } => format!("{name} -> {target}{}", leads.words()),
        What::Special(special) => format!("{name} ({})", special.words()),
    }
}

fn size(entry: &Entry) -> String {
    match entry.what {
        What::File { bytes } => bytes.to_string(),
        _ => String::new(),
    }
}
