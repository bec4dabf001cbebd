//! The `glob` tool: files by their names, newest first. SPEC T13.
//!
//! Owns: which files a pattern means and their order. Must never know: whether the folder may be searched.

mod find;
pub(crate) mod pattern;

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use cairn_agent::tool::{
    Action, CallContext, Execute, Prepared, Tool, ToolClass, ToolError, ToolOutcome, ToolSpec,
};
use cairn_files::{Kind, Resolved};
use cairn_protocol::{ContentBlock, FileLocations, Locations};
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::args;
use crate::place::Workspace;
use crate::prepared::{counted, lists};
use crate::walk::{Scope, Stop, interruptible};
use find::{Found, Search};
use pattern::{Anchor, Pattern, depth, names_hidden, split};

const NAME: &str = "glob";
/// Files shown.
const MOST_FILES: usize = 500;
/// Characters kept for what is said after the list.
const ROOM_FOR_REST: usize = 240;

/// Find files by name, newest first. Files that .gitignore and the like leave out are not searched.
#[derive(Deserialize, JsonSchema)]
struct Input {
    /// Like `*.rs` (at any depth), `src/**/*_test.go` or `*.{ts,tsx}`.
    pattern: String,
    /// The folder to search, relative to the project; default the project folder.
    #[serde(default)]
    path: Option<String>,
    /// Also hidden files; default false.
    #[serde(default)]
    hidden: Option<bool>,
    /// Also ignored files; default false.
    #[serde(default)]
    ignored: Option<bool>,
}

/// Finds files.
pub struct Glob {
    spec: ToolSpec,
    workspace: Arc<Workspace>,
}

impl Glob {
    /// The tool for that project.
    pub fn new(workspace: Arc<Workspace>) -> Self {
        Self {
            spec: args::spec::<Input>(NAME, ToolClass::Read, Some(Duration::from_secs(30))),
            workspace,
        }
    }

    fn prepare_now(&self, arguments: Map<String, Value>) -> Result<Prepared, ToolError> {
        let input: Input = args::parse(NAME, arguments)?;
        let text = input.pattern.trim_end_matches('\n');
        if text.trim().is_empty() {
            return Err(ToolError::new(
                "The pattern is empty: give one like `*.rs` or `src/**/*.ts`.",
            ));
        }
        // Before it is told back anywhere.
        pattern::short_enough(text)
            .map_err(|problem| ToolError::new(format!("This is not a pattern: {problem}.")))?;
        let path = input
            .path
            .filter(|path| !path.is_empty())
            .unwrap_or_else(|| ".".to_owned());
        let base = folder(&self.workspace, &path)?;
        // What the pattern names plainly is walked to, not searched for.
        let (plain, rest) = split(text);
        let from = match plain {
            "" => base.clone(),
            plain if plain.starts_with(['/', '~']) => self.workspace.resolve(plain)?,
            plain => self
                .workspace
                .root()
                .resolve_path(&base.real.join(plain))
                .map_err(|e| self.workspace.explain(&e))?,
        };
        if rest.split('/').any(|segment| segment == "..") {
            return Err(ToolError::new(format!(
                "`{text}` has `..` after a wildcard: give that folder as `path`."
            )));
        }
        let anchor = if plain.is_empty() {
            Anchor::ByShape
        } else {
            Anchor::Folder
        };
        let search = Search {
            workspace: Arc::clone(&self.workspace),
            scope: Scope {
                base: from.real.clone(),
                project: self.workspace.root().path().to_owned(),
                hidden: input.hidden.unwrap_or(false) || names_hidden(rest),
                ignored: input.ignored.unwrap_or(false),
                depth: depth(rest, anchor),
            },
            is_folder: from.kind == Kind::Folder,
            literal: from.real.join(rest),
            pattern: Pattern::new(rest, anchor),
        };
        if let (Err(problem), false) = (&search.pattern, search.literal.exists()) {
            return Err(ToolError::new(format!("`{text}` is not a pattern: {problem}.")));
        }
        let target = if base.shown == "." {
            text.to_owned()
        } else {
            format!("{text} in {}", base.shown)
        };
        let run = Run {
            search,
            text: text.to_owned(),
            base: base.shown,
        };
        let at = Resolved {
            kind: Kind::Folder,
            ..from
        };
        Ok(lists("Find", target, &at, Action::Execute(Box::new(run))))
    }
}

/// A folder to search in, or why it is none.
fn folder(workspace: &Workspace, path: &str) -> Result<Resolved, ToolError> {
    let at = workspace.resolve(path)?;
    match at.kind {
        Kind::Folder => Ok(at),
        Kind::Missing => Err(workspace.explain(&cairn_files::FileError::Missing(at.shown))),
        Kind::File | Kind::Special(_) => Err(ToolError::new(format!("{} is not a folder", at.shown))),
    }
}

impl Tool for Glob {
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
    search: Search,
    text: String,
    base: String,
}

impl Execute for Run {
    fn execute(self: Box<Self>, context: CallContext) -> BoxFuture<'static, ToolOutcome> {
        Box::pin(async move {
            let Self { search, text, base } = *self;
            let everything = search.scope.hidden && search.scope.ignored;
            match interruptible(&context.cancel, move |stop: &Stop| search.run(MOST_FILES, stop)).await {
                Some(found) => outcome(&found, &text, &base, everything, context.budget),
                None => {
                    ToolOutcome::failed(format!("The search for `{text}` was stopped before it was done."))
                }
            }
        })
    }
}

fn outcome(found: &Found, text: &str, base: &str, everything: bool, budget: usize) -> ToolOutcome {
    let mut content = String::new();
    let mut length = 0;
    let mut files = Vec::new();
    for shown in &found.files {
        length += shown.chars().count() + 1;
        if length + ROOM_FOR_REST > budget {
            break;
        }
        writeln!(content, "{shown}").ok();
        files.push(FileLocations {
            path: shown.clone(),
            lines: Vec::new(),
        });
    }
    let left = found.total - files.len() as u64;
    if found.total == 0 {
        let place = if base == "." {
            String::new()
        } else {
            format!(" in {base}")
        };
        write!(content, "No file matches `{text}`{place}.").ok();
        if !everything {
            content.push_str(" Hidden and ignored files were left out; `hidden` and `ignored` include them.");
        }
    } else if left > 0 {
        write!(
            content,
            "[Stopped at the newest {} of {} files; {left} are left. Narrow the pattern or the path.]",
            files.len(),
            found.total
        )
        .ok();
    }
    if found.failed > 0 {
        let folders = counted(found.failed, "folder or file", "folders or files");
        write!(content, "\n[{folders} could not be looked at]").ok();
    }
    if found.stopped {
        content.push_str("\n[stopped before everything was searched]");
    }
    ToolOutcome {
        ok: !found.stopped,
        note: counted(found.total, "file", "files"),
        blocks: vec![ContentBlock::Locations(Locations {
            files,
            omitted: u32::try_from(left).unwrap_or(u32::MAX),
        })],
        ..ToolOutcome::ok(content.trim())
    }
}
