//! The `grep` tool: lines of files by a regular expression. SPEC T14.
//!
//! Owns: what a search means and which files it may look into. Must never know: whether it may run. Built on the
//! crates of ripgrep, in this process: no program is started and no configuration of one is read, so that neither
//! `RIPGREP_CONFIG_PATH` nor `--pre` exist here (case P45).

mod collect;
mod line;
mod matcher;
mod render;
mod search;

use std::sync::Arc;
use std::time::Duration;

use cairn_agent::tool::{
    Action, CallContext, Execute, Prepared, Tool, ToolClass, ToolError, ToolOutcome, ToolSpec,
};
use cairn_files::{FileError, Kind, Resolved};
use cairn_policy::{Care, Effect};
use cairn_protocol::OutputId;
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::args;
use crate::glob::pattern::{Anchor, Pattern};
use crate::place::Workspace;
use crate::prepared::{digest, own, reads};
use crate::walk::{Scope, Stop, interruptible};
use matcher::{Query, Wish};
use render::Words;
use search::{Credentials, Place, Search};

const NAME: &str = "grep";
/// What a path to a kept output begins with.
const KEPT_OUTPUT: &str = "output:";

/// Search the content of files with a regular expression (Rust syntax).
/// Ignored, hidden, binary and credential files are skipped unless `path` names them.
#[derive(Deserialize, JsonSchema)]
struct Input {
    /// What to find.
    pattern: String,
    /// File or folder to search, or `output:ID`; default the project folder.
    #[serde(default)]
    path: Option<String>,
    /// Only files like this, e.g. `*.rs`; `!*.md` leaves out.
    #[serde(default)]
    glob: Option<String>,
    /// Lines to show around each match, 0 to 10.
    #[serde(default)]
    #[schemars(range(min = 0, max = 10))]
    context: Option<u8>,
    /// Ignore upper and lower case.
    #[serde(default)]
    case_insensitive: Option<bool>,
    /// Take the pattern word for word.
    #[serde(default)]
    literal: Option<bool>,
    /// Matches may span lines.
    #[serde(default)]
    multiline: Option<bool>,
    /// `content` (default), `files` or `count`.
    #[serde(default)]
    output: Option<Output>,
}

/// What is shown of the matches.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Output {
    #[default]
    Content,
    Files,
    Count,
}

/// Searches the content of files.
pub struct Grep {
    spec: ToolSpec,
    workspace: Arc<Workspace>,
}

impl Grep {
    /// The tool for that project.
    pub fn new(workspace: Arc<Workspace>) -> Self {
        Self {
            spec: args::spec::<Input>(NAME, ToolClass::Read, Some(Duration::from_secs(30))),
            workspace,
        }
    }

    fn prepare_now(&self, arguments: Map<String, Value>) -> Result<Prepared, ToolError> {
        let input: Input = args::parse(NAME, arguments)?;
        let query = Query::new(&Wish {
            pattern: &input.pattern,
            case_insensitive: input.case_insensitive.unwrap_or(false),
            literal: input.literal.unwrap_or(false),
            multiline: input.multiline.unwrap_or(false),
        })
        .map_err(ToolError::new)?;
        let path = input
            .path
            .filter(|path| !path.is_empty())
            .unwrap_or_else(|| ".".to_owned());
        let output = input.output.unwrap_or_default();
        let context = usize::from(input.context.unwrap_or(0).min(10));
        if let Some(id) = path.strip_prefix(KEPT_OUTPUT) {
            let words = Words {
                pattern: input.pattern,
                place: path.clone(),
                output,
                context,
            };
            return Ok(in_output(query, words, id));
        }
        let glob = input
            .glob
            .as_deref()
            .filter(|glob| !glob.is_empty())
            .map(filter)
            .transpose()?;
        let at = self.workspace.resolve(&path)?;
        let place = self.place(&at)?;
        let effect = self.workspace.reads(&at.real);
        // Whoever names a credential is asked for exactly that, and then means it.
        let credentials = match &effect {
            Effect::ReadPath {
                care: Care::Plain, ..
            } => Credentials::Skipped,
            _ => Credentials::Searched,
        };
        let words = Words {
            pattern: input.pattern,
            place: at.shown.clone(),
            output,
            context,
        };
        let target = words.target();
        let search = Search {
            workspace: Arc::clone(&self.workspace),
            place,
            query,
            glob,
            credentials,
            output,
            context,
        };
        Ok(reads(
            "Search",
            target,
            &at,
            effect,
            Action::Execute(Box::new(InFiles { search, words })),
        ))
    }

    fn place(&self, at: &Resolved) -> Result<Place, ToolError> {
        match at.kind {
            Kind::Folder => Ok(Place::Folder(Scope {
                base: at.real.clone(),
                project: self.workspace.root().path().to_owned(),
                hidden: false,
                ignored: false,
                depth: None,
            })),
            Kind::File => Ok(Place::File(at.real.clone())),
            Kind::Missing => Err(self.workspace.explain(&FileError::Missing(at.shown.clone()))),
            Kind::Special(special) => Err(ToolError::new(format!(
                "{} is {} and cannot be searched",
                at.shown,
                special.words()
            ))),
        }
    }
}

/// The filter that a `glob` means.
fn filter(text: &str) -> Result<search::Filter, ToolError> {
    let (keeps, pattern) = match text.strip_prefix('!') {
        Some(rest) => (search::Keeps::Others, rest),
        None => (search::Keeps::Matching, text),
    };
    Pattern::new(pattern, Anchor::ByShape)
        .map(|pattern| search::Filter { keeps, pattern })
        .map_err(|problem| ToolError::new(format!("`glob` is not a pattern: `{text}`: {problem}.")))
}

/// A search of a kept result: own session only, so it never asks.
fn in_output(query: Query, words: Words, id: &str) -> Prepared {
    let digest = digest(NAME, &[words.place.as_bytes(), words.pattern.as_bytes()]);
    let target = words.target();
    let id = OutputId::from(id);
    let run = InOutput { query, words, id };
    own("Search", target, digest, Action::Execute(Box::new(run)))
}

impl Tool for Grep {
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

/// A search through files.
struct InFiles {
    search: Search,
    words: Words,
}

impl Execute for InFiles {
    fn execute(self: Box<Self>, context: CallContext) -> BoxFuture<'static, ToolOutcome> {
        Box::pin(async move {
            let Self { search, words } = *self;
            let workspace = Arc::clone(&search.workspace);
            match interruptible(&context.cancel, move |stop: &Stop| search.run(stop)).await {
                Some(found) => {
                    render::outcome(found, &words, context.budget, &|path| workspace.root().show(path))
                }
                None => stopped(&words),
            }
        })
    }
}

/// A search through a kept output.
struct InOutput {
    query: Query,
    words: Words,
    id: OutputId,
}

impl Execute for InOutput {
    fn execute(self: Box<Self>, context: CallContext) -> BoxFuture<'static, ToolOutcome> {
        Box::pin(async move {
            let Self { query, words, id } = *self;
            let text = match context.journal.get_output(context.session.clone(), id).await {
                Ok(text) => text,
                Err(error) => {
                    return ToolOutcome::failed(format!("{} could not be searched: {error}.", words.place));
                }
            };
            let (output, around, name) = (words.output, words.context, words.place.clone());
            let work = move |stop: &Stop| search::in_text(&query, &name, &text, output, around, stop);
            match interruptible(&context.cancel, work).await {
                Some(found) => {
                    render::outcome(found, &words, context.budget, &|path| path.display().to_string())
                }
                None => stopped(&words),
            }
        })
    }
}

fn stopped(words: &Words) -> ToolOutcome {
    ToolOutcome::failed(format!(
        "The search for `{}` was stopped before it was done.",
        words.pattern
    ))
}
