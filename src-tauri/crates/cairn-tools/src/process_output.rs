//! The `process_output` tool: what a command in the background printed since the last ask. SPEC T22.
//!
//! Owns: the words. Must never know: how output is kept, or where ports are found.

use std::sync::Arc;
use std::time::Duration;

use cairn_agent::tool::{
    Action, CallContext, Execute, Prepared, Tool, ToolClass, ToolError, ToolOutcome, ToolSpec,
};
use cairn_exec::{Facts, Group};
use cairn_protocol::{CommandEnd, ContentBlock, ListeningPort, ProcessState, Terminal};
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::args;
use crate::place::Workspace;
use crate::prepared::{digest, own};
use crate::shell::walled;

const NAME: &str = "process_output";

/// Longest wait, seconds. Fixed.
const MOST_SECONDS: u64 = 60;

/// Tell what a background process printed since the last ask, whether it runs or how it ended, and the ports it
/// listens on.
#[derive(Deserialize, JsonSchema)]
struct Input {
    /// Its handle, like `p1`.
    handle: String,
    /// Seconds to wait for new output or its end; default 0, at most 60.
    #[serde(default)]
    wait: Option<u64>,
}

/// Tells what a command in the background does.
pub struct ProcessOutput {
    spec: ToolSpec,
    processes: Group,
    workspace: Option<Arc<Workspace>>,
}

impl ProcessOutput {
    /// The tool for the commands of one session.
    pub fn new(processes: Group) -> Self {
        Self {
            spec: args::spec::<Input>(NAME, ToolClass::Own, None),
            processes,
            workspace: None,
        }
    }

    /// The same, which also takes out of that project what the commands made there and may not.
    #[must_use]
    pub fn with_workspace(mut self, workspace: Arc<Workspace>) -> Self {
        self.workspace = Some(workspace);
        self
    }

    fn prepare_now(&self, arguments: Map<String, Value>) -> Result<Prepared, ToolError> {
        let input: Input = args::parse(NAME, arguments)?;
        let facts = known(&self.processes, NAME, &input.handle)?;
        let wait = input.wait.unwrap_or(0).min(MOST_SECONDS);
        let parts = [facts.handle.as_bytes(), &wait.to_le_bytes()];
        let digest = digest(NAME, &parts);
        let target = target(&facts);
        let look = Look {
            processes: self.processes.clone(),
            handle: facts.handle,
            wait: Duration::from_secs(wait),
            workspace: self.workspace.clone(),
        };
        Ok(own("Output of", target, digest, Action::Execute(Box::new(look))))
    }
}

impl Tool for ProcessOutput {
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

/// The command of that name; the error names those that there are.
pub(crate) fn known(processes: &Group, tool: &str, handle: &str) -> Result<Facts, ToolError> {
    let found = processes.get(handle);
    found.map_err(|error| ToolError::new(format!("`{tool}` was not run: {error}")))
}

/// The command on one line, for the card.
pub(crate) fn target(facts: &Facts) -> String {
    let line: String = facts
        .label
        .command
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    format!("{}: {line}", facts.handle).chars().take(200).collect()
}

/// How a command ended, as the second half of a sentence.
pub(crate) fn how(end: &CommandEnd) -> String {
    match end {
        CommandEnd::Exited { code } => format!("ended with exit code {code}"),
        CommandEnd::Signalled { signal } => format!("was ended by {signal}"),
        CommandEnd::TimedOut => "was ended at its time limit".to_owned(),
        CommandEnd::Stopped => "was stopped".to_owned(),
        CommandEnd::Running | CommandEnd::Interrupted => {
            "was interrupted; how it ended is not known".to_owned()
        }
    }
}

/// A look at a command.
struct Look {
    processes: Group,
    handle: String,
    wait: Duration,
    workspace: Option<Arc<Workspace>>,
}

impl Execute for Look {
    fn execute(self: Box<Self>, context: CallContext) -> BoxFuture<'static, ToolOutcome> {
        Box::pin(async move {
            let printed = self
                .processes
                .printed(&self.handle, self.wait, &context.cancel)
                .await;
            let printed = match printed {
                Ok(printed) => printed,
                Err(error) => return ToolOutcome::failed(format!("`{NAME}` was not run: {error}")),
            };
            // Only to be missing when it has ended meanwhile.
            let ports = self.processes.ports(&self.handle).await.unwrap_or_default();
            let mut outcome = outcome(&printed.facts, &printed.text, &ports);
            if let Some(workspace) = &self.workspace
                && let Some(bounds) = workspace.bounds()
            {
                let moved = walled::check(bounds, None, workspace, &self.processes).await;
                walled::say(&mut outcome, &moved);
            }
            outcome
        })
    }
}

fn outcome(facts: &Facts, text: &str, ports: &[ListeningPort]) -> ToolOutcome {
    let mut content = match &facts.state {
        ProcessState::Running => format!("{} runs.", facts.handle),
        ProcessState::Left { end } => format!(
            "{}: its shell {}, but what it started still runs.",
            facts.handle,
            how(end)
        ),
        ProcessState::Ended { end } => format!("{} {}.", facts.handle, how(end)),
    };
    if !ports.is_empty() {
        content.push_str(&format!(" It listens on {}.", listed(ports)));
    }
    content.push('\n');
    content.push_str(match text.trim_end_matches('\n') {
        "" => "(no new output)",
        text => text,
    });
    let (end, note) = match &facts.state {
        ProcessState::Ended { end } => (end.clone(), how(end)),
        ProcessState::Running | ProcessState::Left { .. } => (CommandEnd::Running, "runs".to_owned()),
    };
    let until = facts
        .ended_at
        .unwrap_or_else(|| facts.last_output_at.max(facts.started_at));
    ToolOutcome {
        note,
        unsettled: end == CommandEnd::Running,
        blocks: vec![ContentBlock::Terminal(Terminal {
            command: facts.label.command.clone(),
            workdir: String::new(),
            output: text.to_owned(),
            total_bytes: facts.printed,
            omitted_bytes: 0,
            end,
            elapsed_ms: until
                .duration_since(facts.started_at)
                .map_or(0, |elapsed| elapsed.as_millis() as u64),
        })],
        ..ToolOutcome::ok(content)
    }
}

/// `127.0.0.1:3000, [::]:3000`.
fn listed(ports: &[ListeningPort]) -> String {
    let one = |port: &ListeningPort| {
        if port.address.contains(':') {
            format!("[{}]:{}", port.address, port.port)
        } else {
            format!("{}:{}", port.address, port.port)
        }
    };
    ports.iter().map(one).collect::<Vec<_>>().join(", ")
}
