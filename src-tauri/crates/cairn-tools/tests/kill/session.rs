//! The tools of one run of the program, called as the driver calls them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use cairn_agent::store::Journal;
use cairn_agent::tool::{Action, CallContext, ContextStatus, Execute, Progress, Tool, ToolOutcome};
use cairn_exec::{HelperProgram, Processes};
use cairn_files::Root;
use cairn_tools::place::Workspace;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

struct NoProgress;

impl Progress for NoProgress {
    fn output(&self, _offset: u64, _text: &str) {}
}

pub(crate) struct Session {
    tools: BTreeMap<String, Arc<dyn Tool>>,
    journal: Arc<dyn Journal>,
    runtime: tokio::runtime::Runtime,
}

impl Session {
    pub(crate) fn new(project: &Path, journal: Arc<dyn Journal>) -> Self {
        let root = Root::open(project).unwrap().with_home(None);
        let workspace = Arc::new(Workspace::new(Arc::new(root), Vec::new()));
        let processes = Processes::new(HelperProgram::this_program());
        let tools = cairn_tools::all(
            workspace,
            cairn_exec::Group::new(processes, |_| {}),
            Vec::new(),
            cairn_tools::web::WebConfig::default(),
            Arc::new(cairn_tools::remember::NoMemory),
        );
        Self::of(tools, journal)
    }

    /// With these tools.
    pub(crate) fn of(tools: Vec<Arc<dyn Tool>>, journal: Arc<dyn Journal>) -> Self {
        Self {
            tools: tools
                .into_iter()
                .map(|tool| (tool.spec().name.clone(), tool))
                .collect(),
            journal,
            runtime: tokio::runtime::Builder::new_multi_thread()
                .worker_threads(1)
                .enable_all()
                .build()
                .unwrap(),
        }
    }

    /// The surroundings of a call.
    pub(crate) fn context(&self) -> CallContext {
        CallContext {
            session: "s".into(),
            turn: "t".into(),
            call: "c".into(),
            budget: 40_000,
            outside: false,
            literal: cairn_agent::tool::Addresses::default(),
            runs: None,
            hunks: None,
            vision: false,
            cancel: CancellationToken::new(),
            progress: Arc::new(NoProgress),
            journal: Arc::clone(&self.journal),
            status: Arc::new(ContextStatus::default()),
        }
    }

    /// All that happens before a call is judged; an error is its text.
    pub(crate) fn prepare(&self, tool: &str, arguments: Value) -> Result<Box<dyn Execute>, String> {
        let arguments = arguments.as_object().cloned().unwrap();
        let context = self.context();
        match self
            .runtime
            .block_on(self.tools[tool].prepare(arguments, &context))
        {
            Ok(prepared) => match prepared.action {
                Action::Execute(execute) => Ok(execute),
                Action::Ask(_) => Err("it asks".to_owned()),
            },
            Err(error) => Err(error.message),
        }
    }

    /// All that happens after it.
    pub(crate) fn execute(&self, call: Box<dyn Execute>) -> ToolOutcome {
        self.execute_in(call, self.context())
    }

    /// The same in other surroundings.
    pub(crate) fn execute_in(&self, call: Box<dyn Execute>, context: CallContext) -> ToolOutcome {
        self.runtime.block_on(call.execute(context))
    }

    /// Waits for something beside the calls.
    #[allow(dead_code, reason = "only measurements do")]
    pub(crate) fn wait_for<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    /// Both; fails unless the call ends well.
    pub(crate) fn run(&self, tool: &str, arguments: Value) -> ToolOutcome {
        let outcome = self.execute(self.prepare(tool, arguments).unwrap());
        assert!(outcome.ok, "{}", outcome.content);
        outcome
    }
}
