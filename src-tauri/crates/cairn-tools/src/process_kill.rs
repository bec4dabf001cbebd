//! The `process_kill` tool: ends a command in the background with all that it started. SPEC T22.
//!
//! Owns: the words. Must never know: how processes are found and ended.

use cairn_agent::tool::{
    Action, CallContext, Execute, Prepared, Tool, ToolClass, ToolError, ToolOutcome, ToolSpec,
};
use cairn_exec::Group;
use cairn_protocol::{CommandEnd, ProcessState};
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::args;
use crate::prepared::{digest, own};
use crate::process_output::{how, known, target};

const NAME: &str = "process_kill";

/// End a background process with all that it started. Its output can still be asked for.
#[derive(Deserialize, JsonSchema)]
struct Input {
    /// Its handle, like `p1`.
    handle: String,
}

/// Ends commands in the background.
pub struct ProcessKill {
    spec: ToolSpec,
    processes: Group,
}

impl ProcessKill {
    /// The tool for the commands of one session.
    pub fn new(processes: Group) -> Self {
        Self {
            spec: args::spec::<Input>(NAME, ToolClass::Own, None),
            processes,
        }
    }

    fn prepare_now(&self, arguments: Map<String, Value>) -> Result<Prepared, ToolError> {
        let input: Input = args::parse(NAME, arguments)?;
        let facts = known(&self.processes, NAME, &input.handle)?;
        let digest = digest(NAME, &[facts.handle.as_bytes()]);
        let target = target(&facts);
        let kill = Kill {
            processes: self.processes.clone(),
            handle: facts.handle,
        };
        Ok(own("End", target, digest, Action::Execute(Box::new(kill))))
    }
}

impl Tool for ProcessKill {
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

/// The end of a command.
struct Kill {
    processes: Group,
    handle: String,
}

impl Execute for Kill {
    fn execute(self: Box<Self>, _context: CallContext) -> BoxFuture<'static, ToolOutcome> {
        Box::pin(async move {
            let before = self.processes.get(&self.handle).map(|facts| facts.state);
            let after = self.processes.stop(&self.handle).await.map(|facts| facts.state);
            let handle = &self.handle;
            match (before, after) {
                (Ok(ProcessState::Ended { end }), _) => {
                    ToolOutcome::ok(format!("{handle} had ended already: it {}.", how(&end)))
                }
                (
                    Ok(_),
                    Ok(ProcessState::Ended {
                        end: CommandEnd::Stopped,
                    }),
                ) => ToolOutcome {
                    note: "ended".to_owned(),
                    ..ToolOutcome::ok(format!("{handle} and all that it had started were ended."))
                },
                (Ok(_), Ok(ProcessState::Ended { end })) => {
                    ToolOutcome::ok(format!("{handle} ended before it was stopped: it {}.", how(&end)))
                }
                (Ok(_), Ok(_)) => ToolOutcome::failed(format!(
                    "{handle} could not be ended within 3 s; a process of it may wait for the system. Look again with \
                     process_output"
                )),
                (Err(error), _) | (_, Err(error)) => {
                    ToolOutcome::failed(format!("`{NAME}` was not run: {error}"))
                }
            }
        })
    }
}
