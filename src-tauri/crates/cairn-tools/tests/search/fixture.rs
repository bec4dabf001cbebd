//! A project in a temporary folder with a neighbour outside of it, and the tools called as the driver calls them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use cairn_agent::store::{BeforeImage, Journal, StoreError};
use cairn_agent::tool::{
    Action, CallContext, ContextStatus, Execute, Prepared, Progress, Tool, ToolError, ToolOutcome,
};
use cairn_files::Root;
use cairn_protocol::{BlobId, CallId, OutputId, SessionId};
use cairn_tools::place::Workspace;
use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

/// A project folder `p` beside a folder `out`.
pub(crate) struct Project {
    folder: tempfile::TempDir,
    workspace: Arc<Workspace>,
    /// Characters that a result may have.
    pub(crate) budget: usize,
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
            budget: 80_000,
        }
    }

    /// With these files in it, each holding its own path.
    pub(crate) fn with(files: &[&str]) -> Self {
        let project = Self::new();
        for file in files {
            project.write(file, file);
        }
        project
    }

    pub(crate) fn workspace(&self) -> Arc<Workspace> {
        Arc::clone(&self.workspace)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.workspace.root().path().join(name)
    }

    pub(crate) fn outside(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("out").join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        write(&self.path(name), content.as_ref());
    }

    pub(crate) fn write_outside(&self, name: &str, content: impl AsRef<[u8]>) {
        write(&self.outside(name), content.as_ref());
    }

    pub(crate) fn link(&self, name: &str, target: impl AsRef<Path>) {
        std::os::unix::fs::symlink(target, self.path(name)).unwrap();
    }

    /// Makes the files ever newer, in this order.
    pub(crate) fn age(&self, oldest_first: &[&str]) {
        for (name, hours) in oldest_first.iter().zip(1..) {
            let file = std::fs::File::options()
                .write(true)
                .open(self.path(name))
                .unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(3_600 * hours))
                .unwrap();
        }
    }

    pub(crate) fn glob(&self) -> cairn_tools::glob::Glob {
        cairn_tools::glob::Glob::new(self.workspace())
    }

    pub(crate) fn grep(&self) -> cairn_tools::grep::Grep {
        cairn_tools::grep::Grep::new(self.workspace())
    }

    pub(crate) fn list_dir(&self) -> cairn_tools::list_dir::ListDir {
        cairn_tools::list_dir::ListDir::new(self.workspace())
    }

    pub(crate) fn context(&self) -> CallContext {
        CallContext {
            session: SessionId::from("s"),
            turn: "t".into(),
            call: "c".into(),
            budget: self.budget,
            outside: false,
            literal: cairn_agent::tool::Addresses::default(),
            runs: None,
            hunks: None,
            vision: false,
            cancel: CancellationToken::new(),
            progress: Arc::new(NoProgress),
            journal: Arc::new(OneOutput),
            status: Arc::new(ContextStatus::default()),
        }
    }

    pub(crate) fn prepare(&self, tool: &dyn Tool, arguments: Value) -> Result<Prepared, ToolError> {
        let arguments = arguments.as_object().cloned().unwrap();
        runtime().block_on(tool.prepare(arguments, &self.context()))
    }

    pub(crate) fn run(&self, tool: &dyn Tool, arguments: Value) -> ToolOutcome {
        let prepared = self.prepare(tool, arguments).unwrap();
        runtime().block_on(execute(prepared).execute(self.context()))
    }

    /// The lines of a `glob`.
    pub(crate) fn found(&self, arguments: Value) -> Vec<String> {
        lines(&self.run(&self.glob(), arguments))
    }
}

pub(crate) fn execute(prepared: Prepared) -> Box<dyn Execute> {
    match prepared.action {
        Action::Execute(execute) => execute,
        Action::Ask(_) => panic!("it must not ask"),
    }
}

/// The lines of a result without remarks.
pub(crate) fn lines(outcome: &ToolOutcome) -> Vec<String> {
    // `[3 matches …]`, `[Stopped …]`, `[skipped …]`: a file may be called `[id]`, but not that.
    let is_remark = |line: &&str| {
        let word = line
            .strip_prefix('[')
            .and_then(|rest| rest.split(' ').next())
            .unwrap_or_default();
        let is_count = !word.is_empty() && word.chars().all(|c| c.is_ascii_digit());
        is_count || ["Stopped", "skipped:", "stopped"].contains(&word) || line.starts_with("No ")
    };
    outcome
        .content
        .lines()
        .filter(|line| !is_remark(line))
        .map(str::to_owned)
        .collect()
}

pub(crate) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap()
}

fn write(path: &Path, content: &[u8]) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

struct NoProgress;

impl Progress for NoProgress {
    fn output(&self, _offset: u64, _text: &str) {}
}

/// Holds one output, `o1`, of the session `s`.
struct OneOutput;

impl Journal for OneOutput {
    fn before_change(&self, _image: BeforeImage) -> BoxFuture<'_, Result<(), StoreError>> {
        panic!("a search changes nothing")
    }

    fn after_change(
        &self,
        _call: CallId,
        _path: PathBuf,
        _happened: bool,
    ) -> BoxFuture<'_, Result<(), StoreError>> {
        panic!("a search changes nothing")
    }

    fn put_blob(&self, _bytes: Vec<u8>) -> BoxFuture<'_, Result<BlobId, StoreError>> {
        panic!("a search keeps nothing")
    }

    fn get_blob(&self, _blob: BlobId) -> BoxFuture<'_, Result<Vec<u8>, StoreError>> {
        panic!("a search wants no blob")
    }

    fn put_output(&self, _session: SessionId, _text: String) -> BoxFuture<'_, Result<OutputId, StoreError>> {
        panic!("a search keeps nothing")
    }

    fn get_output(&self, session: SessionId, output: OutputId) -> BoxFuture<'_, Result<String, StoreError>> {
        assert_eq!(session.as_str(), "s");
        Box::pin(std::future::ready(if output.as_str() == "o1" {
            Ok("first\nerror: one\0two\nlast error\n".to_owned())
        } else {
            Err(StoreError::Missing(format!("output {output}")))
        }))
    }
}
