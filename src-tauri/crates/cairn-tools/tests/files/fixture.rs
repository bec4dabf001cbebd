//! A project in a temporary folder, a journal that remembers, and the tools called as the driver calls them.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use cairn_agent::store::{BeforeImage, Journal, StoreError};
use cairn_agent::tool::{
    Action, CallContext, ContextStatus, Execute, Prepared, Progress, Tool, ToolError, ToolOutcome,
};
use cairn_exec::{HelperProgram, Processes};
use cairn_files::Root;
use cairn_files::coverage::Coverage;
use cairn_protocol::{BlobId, CallId, OutputId, SessionId};
use cairn_tools::place::Workspace;
use cairn_tools::read_file::ReadFile;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// A project folder `p` beside a folder `out`.
pub(crate) struct Project {
    folder: tempfile::TempDir,
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) journal: Arc<Recorder>,
    pub(crate) budget: usize,
    pub(crate) vision: bool,
    pub(crate) cancel: CancellationToken,
}

impl Project {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["p", "out"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        let root = Root::open(&folder.path().join("p")).unwrap().with_home(None);
        Self {
            folder,
            workspace: Arc::new(Workspace::new(Arc::new(root), Vec::new())),
            journal: Arc::default(),
            budget: 40_000,
            vision: true,
            cancel: CancellationToken::new(),
        }
    }

    /// With one file in it.
    pub(crate) fn with(name: &str, content: impl AsRef<[u8]>) -> Self {
        let project = Self::new();
        project.put(name, content);
        project
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.workspace.root().path().join(name)
    }

    pub(crate) fn outside(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("out").join(name)
    }

    /// Puts a file there, as somebody else would.
    pub(crate) fn put(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    pub(crate) fn text(&self, name: &str) -> String {
        String::from_utf8(self.bytes(name)).unwrap()
    }

    /// Every name beneath the project, temporary files included.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.path("")).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    /// Another run of the session: what was seen comes out of its stored form.
    pub(crate) fn restart(&mut self) {
        let kept = serde_json::to_string(&*self.workspace.coverage()).unwrap();
        let coverage: Coverage = serde_json::from_str(&kept).unwrap();
        let root = Root::open(self.workspace.root().path()).unwrap().with_home(None);
        self.workspace = Arc::new(Workspace::new(Arc::new(root), Vec::new()).with_coverage(coverage));
    }

    pub(crate) fn context(&self) -> CallContext {
        CallContext {
            outside: false,
            literal: cairn_agent::tool::Addresses::default(),
            runs: None,
            hunks: None,
            session: SessionId::from("s"),
            turn: "t".into(),
            call: "c".into(),
            budget: self.budget,
            vision: self.vision,
            cancel: self.cancel.clone(),
            progress: Arc::new(NoProgress),
            journal: Arc::clone(&self.journal) as Arc<dyn Journal>,
            status: Arc::new(ContextStatus::default()),
        }
    }

    pub(crate) fn prepare(&self, tool: &str, arguments: Value) -> Result<Prepared, ToolError> {
        let workspace = Arc::clone(&self.workspace);
        let tool: Arc<dyn Tool> = match tool {
            "read_file" => Arc::new(ReadFile::new(workspace, Processes::new(helper()))),
            "write_file" => cairn_tools::write_file::tool(workspace),
            "multi_edit" => cairn_tools::multi_edit::tool(workspace),
            "move_file" => cairn_tools::move_file::tool(workspace),
            "delete_file" => cairn_tools::delete_file::tool(workspace),
            "make_dir" => cairn_tools::make_dir::tool(workspace),
            "edit_file" => cairn_tools::edit_file::tool(workspace),
            other => panic!("{other}"),
        };
        let arguments = arguments.as_object().cloned().unwrap();
        runtime().block_on(tool.prepare(arguments, &self.context()))
    }

    pub(crate) fn execute(&self, prepared: Prepared) -> ToolOutcome {
        runtime().block_on(execute(prepared).execute(self.context()))
    }

    /// Prepares and executes; an error of the first is told as the model would be.
    pub(crate) fn run(&self, tool: &str, arguments: Value) -> ToolOutcome {
        match self.prepare(tool, arguments) {
            Ok(prepared) => self.execute(prepared),
            Err(error) => ToolOutcome::failed(error.message),
        }
    }

    pub(crate) fn read(&self, path: &str) -> ToolOutcome {
        self.run("read_file", json!({ "path": path }))
    }

    pub(crate) fn read_range(&self, path: &str, offset: u64, limit: u64) -> ToolOutcome {
        self.run(
            "read_file",
            json!({ "path": path, "offset": offset, "limit": limit }),
        )
    }

    pub(crate) fn write(&self, path: &str, content: &str) -> ToolOutcome {
        self.run("write_file", json!({ "path": path, "content": content }))
    }

    pub(crate) fn append(&self, path: &str, content: &str) -> ToolOutcome {
        self.run(
            "write_file",
            json!({ "path": path, "content": content, "append": true }),
        )
    }

    /// Edits in order: old and new text of each.
    pub(crate) fn multi_edit(&self, path: &str, edits: &[(&str, &str)]) -> ToolOutcome {
        let edits: Vec<Value> = edits
            .iter()
            .map(|(old, new)| json!({ "old_string": old, "new_string": new }))
            .collect();
        self.run("multi_edit", json!({ "path": path, "edits": edits }))
    }

    pub(crate) fn move_file(&self, from: &str, to: &str) -> ToolOutcome {
        self.run("move_file", json!({ "from": from, "to": to }))
    }

    pub(crate) fn delete(&self, path: &str) -> ToolOutcome {
        self.run("delete_file", json!({ "path": path }))
    }

    pub(crate) fn edit(&self, path: &str, old: &str, new: &str) -> ToolOutcome {
        self.run(
            "edit_file",
            json!({ "path": path, "old_string": old, "new_string": new }),
        )
    }
}

/// Fails with that text in it.
#[track_caller]
pub(crate) fn refused(outcome: &ToolOutcome, part: &str) {
    assert!(
        !outcome.ok && outcome.content.contains(part),
        "{}",
        outcome.content
    );
}

/// Ended well.
#[track_caller]
pub(crate) fn done(outcome: &ToolOutcome) {
    assert!(outcome.ok, "{}", outcome.content);
}

pub(crate) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
}

pub(crate) fn execute(prepared: Prepared) -> Box<dyn Execute> {
    match prepared.action {
        Action::Execute(execute) => execute,
        Action::Ask(_) => panic!("asks"),
    }
}

fn helper() -> HelperProgram {
    HelperProgram::at(env!("CARGO_BIN_EXE_cairn-tools-helper-test"))
}

struct NoProgress;

impl Progress for NoProgress {
    fn output(&self, _offset: u64, _text: &str) {}
}

/// What the journal was told.
#[derive(Clone, Debug)]
pub(crate) enum Told {
    Before(Box<BeforeImage>),
    After { happened: bool },
}

/// Remembers, and does something before a change or fails when told to.
#[derive(Default)]
pub(crate) struct Recorder {
    pub(crate) told: Mutex<Vec<Told>>,
    pub(crate) fails: Mutex<Option<StoreError>>,
    pub(crate) meddle: Mutex<Option<Box<dyn FnOnce() + Send>>>,
    pub(crate) output: Mutex<Option<String>>,
}

impl Recorder {
    pub(crate) fn before_images(&self) -> Vec<BeforeImage> {
        let told = self.told.lock().unwrap();
        told.iter()
            .filter_map(|told| match told {
                Told::Before(image) => Some((**image).clone()),
                Told::After { .. } => None,
            })
            .collect()
    }

    pub(crate) fn ends(&self) -> Vec<bool> {
        let told = self.told.lock().unwrap();
        told.iter()
            .filter_map(|told| match told {
                Told::After { happened } => Some(*happened),
                Told::Before(_) => None,
            })
            .collect()
    }
}

impl Journal for Recorder {
    fn before_change(&self, image: BeforeImage) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            if let Some(error) = self.fails.lock().unwrap().clone() {
                return Err(error);
            }
            self.told.lock().unwrap().push(Told::Before(Box::new(image)));
            if let Some(meddle) = self.meddle.lock().unwrap().take() {
                meddle();
            }
            Ok(())
        })
    }

    fn after_change(&self, _: CallId, _: PathBuf, happened: bool) -> BoxFuture<'_, Result<(), StoreError>> {
        self.told.lock().unwrap().push(Told::After { happened });
        Box::pin(std::future::ready(Ok(())))
    }

    fn put_blob(&self, bytes: Vec<u8>) -> BoxFuture<'_, Result<BlobId, StoreError>> {
        Box::pin(std::future::ready(Ok(BlobId(cairn_files::hash::of_bytes(
            &bytes,
        )))))
    }

    fn get_blob(&self, blob: BlobId) -> BoxFuture<'_, Result<Vec<u8>, StoreError>> {
        Box::pin(std::future::ready(Err(StoreError::Missing(blob.to_string()))))
    }

    fn put_output(&self, _: SessionId, _: String) -> BoxFuture<'_, Result<OutputId, StoreError>> {
        Box::pin(std::future::ready(Ok(OutputId::from("o"))))
    }

    fn get_output(&self, session: SessionId, output: OutputId) -> BoxFuture<'_, Result<String, StoreError>> {
        let known = session.as_str() == "s" && output.as_str() == "o1";
        let text = self.output.lock().unwrap().clone().filter(|_| known);
        Box::pin(std::future::ready(
            text.ok_or(StoreError::Missing(format!("the output {output}"))),
        ))
    }
}
