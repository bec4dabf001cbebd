//! A project and every tool of a session over it, called as the driver calls them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use cairn_agent::store::{BeforeImage, Journal, StoreError};
use cairn_agent::tool::{Action, CallContext, ContextStatus, Progress, Tool, ToolOutcome, ToolSpec};
use cairn_exec::{Group, HelperProgram, Processes};
use cairn_files::Root;
use cairn_policy::Effect;
use cairn_protocol::{BlobId, CallId, OutputId, SessionId};
use cairn_tools::place::{RepositoryTrust, Workspace};
use cairn_tools::remember::NoMemory;
use cairn_tools::web::WebConfig;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

pub(crate) struct Bench {
    folder: tempfile::TempDir,
    tools: BTreeMap<String, Arc<dyn Tool>>,
    group: Group,
    /// Characters that a result may have.
    pub(crate) budget: usize,
    /// The request has read text from outside.
    pub(crate) outside: bool,
    runtime: tokio::runtime::Runtime,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::open(folder.path()).unwrap().with_home(None);
        let trusted = || RepositoryTrust::Trusted { accepted: Vec::new() };
        let workspace = Arc::new(Workspace::new(Arc::new(root), Vec::new()).with_trust(trusted));
        let processes = Processes::new(HelperProgram::at(env!("CARGO_BIN_EXE_cairn-tools-helper-test")));
        let group = Group::new(processes, |_| {});
        let path = std::env::var_os("PATH").unwrap();
        let environment = vec![("PATH".into(), path), ("HOME".into(), folder.path().into())];
        let tools = cairn_tools::all(
            workspace,
            group.clone(),
            environment,
            WebConfig::default(),
            Arc::new(NoMemory),
        );
        Self {
            folder,
            tools: tools
                .into_iter()
                .map(|tool| (tool.spec().name.clone(), tool))
                .collect(),
            group,
            budget: 12_000,
            outside: false,
            runtime: tokio::runtime::Builder::new_multi_thread()
                .worker_threads(1)
                .enable_all()
                .build()
                .unwrap(),
        }
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.tools.keys().cloned().collect()
    }

    pub(crate) fn specs(&self) -> Vec<ToolSpec> {
        self.tools.values().map(|tool| tool.spec().clone()).collect()
    }

    pub(crate) fn write(&self, name: &str, content: &str) {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.folder.path().join(name)).unwrap()
    }

    pub(crate) fn names_in_project(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).unwrap();
        entries
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect()
    }

    /// Makes a repository of the project and commits an empty `f`.
    pub(crate) fn commit(&self) {
        self.write("f", "");
        self.git(&["init", "-q", "-b", "main"]);
        self.git(&["add", "-A"]);
        self.git(&[
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@b",
            "commit",
            "-qm",
            "first",
        ]);
    }

    pub(crate) fn git(&self, arguments: &[&str]) {
        let status = Command::new("git")
            .current_dir(self.folder.path())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .args(arguments)
            .status();
        assert!(status.unwrap().success());
    }

    /// A call, judged and allowed. What could not be prepared is told like a call that failed.
    pub(crate) fn call(&self, name: &str, arguments: &Value) -> ToolOutcome {
        self.runtime.block_on(async {
            let arguments = arguments.as_object().cloned().unwrap();
            let prepared = self.tools[name].prepare(arguments, &self.context()).await;
            match prepared {
                Ok(prepared) => match prepared.action {
                    Action::Execute(action) => action.execute(self.context()).await,
                    Action::Ask(_) => ToolOutcome::ok("It asks."),
                },
                Err(error) => ToolOutcome::failed(error.message),
            }
        })
    }

    /// What a call would do.
    pub(crate) fn effects(&self, name: &str, arguments: &Value) -> Vec<Effect> {
        let arguments = arguments.as_object().cloned().unwrap();
        let context = self.context();
        let prepared = self
            .runtime
            .block_on(self.tools[name].prepare(arguments, &context));
        prepared.unwrap_or_else(|error| panic!("{error}")).effects
    }

    /// Reads a file to its end, however small the budget of the test is.
    pub(crate) fn see(&self, name: &str) {
        let context = CallContext {
            budget: 10_000_000,
            ..self.context()
        };
        for offset in (1..20_001).step_by(2_000) {
            let arguments = serde_json::json!({ "path": name, "offset": offset, "limit": 2_000 });
            self.runtime.block_on(async {
                let arguments = arguments.as_object().cloned().unwrap();
                if let Ok(prepared) = self.tools["read_file"].prepare(arguments, &context).await
                    && let Action::Execute(action) = prepared.action
                {
                    action.execute(context.clone()).await;
                }
            });
        }
    }

    /// Starts a command in the background; its handle.
    pub(crate) fn background(&self, arguments: Value) -> String {
        let outcome = self.call("shell", &arguments);
        assert!(outcome.ok, "{}", outcome.content);
        self.group.list().first().unwrap().handle.clone()
    }

    fn context(&self) -> CallContext {
        CallContext {
            session: "s".into(),
            turn: "t".into(),
            call: "c".into(),
            budget: self.budget,
            outside: self.outside,
            literal: cairn_agent::tool::Addresses::default(),
            runs: None,
            hunks: None,
            vision: false,
            cancel: CancellationToken::new(),
            progress: Arc::new(NoProgress),
            journal: Arc::new(KeepsNothing),
            status: Arc::new(ContextStatus::default()),
        }
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        self.runtime.block_on(self.group.close());
    }
}

struct NoProgress;

impl Progress for NoProgress {
    fn output(&self, _offset: u64, _text: &str) {}
}

/// Takes what it is given.
struct KeepsNothing;

impl Journal for KeepsNothing {
    fn before_change(&self, _image: BeforeImage) -> BoxFuture<'_, Result<(), StoreError>> {
        async { Ok(()) }.boxed()
    }

    fn after_change(
        &self,
        _call: CallId,
        _path: PathBuf,
        _happened: bool,
    ) -> BoxFuture<'_, Result<(), StoreError>> {
        async { Ok(()) }.boxed()
    }

    fn put_blob(&self, _bytes: Vec<u8>) -> BoxFuture<'_, Result<BlobId, StoreError>> {
        async { Ok(BlobId("b".to_owned())) }.boxed()
    }

    fn get_blob(&self, blob: BlobId) -> BoxFuture<'_, Result<Vec<u8>, StoreError>> {
        async move { Err(StoreError::Missing(format!("blob {blob}"))) }.boxed()
    }

    fn put_output(&self, _session: SessionId, _text: String) -> BoxFuture<'_, Result<OutputId, StoreError>> {
        async { Ok("o1".into()) }.boxed()
    }

    fn get_output(&self, _session: SessionId, output: OutputId) -> BoxFuture<'_, Result<String, StoreError>> {
        async move { Err(StoreError::Missing(format!("output {output}"))) }.boxed()
    }
}
