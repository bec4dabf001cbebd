//! The `enter_plan_mode` tool: planning before anything is changed. SPEC T32.
//!
//! Owns: the call. Must never know: what plan mode forbids.

use cairn_agent::tool::{Action, CallContext, Prepared, Tool, ToolClass, ToolError, ToolOutcome, ToolSpec};
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::args;
use crate::prepared::{Immediately, digest, own};

const NAME: &str = "enter_plan_mode";

/// Plan before you change anything. For large or unclear work.
#[derive(Deserialize, JsonSchema)]
struct Input {}

/// Enters plan mode.
pub struct EnterPlanMode {
    spec: ToolSpec,
}

impl EnterPlanMode {
    /// The tool.
    pub fn new() -> Self {
        Self {
            spec: args::spec::<Input>(NAME, ToolClass::Own, None),
        }
    }
}

impl Default for EnterPlanMode {
    fn default() -> Self {
        Self::new()
    }
}

impl Tool for EnterPlanMode {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare<'a>(
        &'a self,
        arguments: Map<String, Value>,
        _context: &'a CallContext,
    ) -> BoxFuture<'a, Result<Prepared, ToolError>> {
        Box::pin(std::future::ready(prepare(arguments)))
    }
}

fn prepare(arguments: Map<String, Value>) -> Result<Prepared, ToolError> {
    let Input {} = args::parse(NAME, arguments)?;
    let action = Action::Execute(Box::new(Immediately(|_| ToolOutcome {
        enters_plan: true,
        ..ToolOutcome::ok(
            "Plan mode is on: nothing may be changed. Read and search, ask what only the user can decide, then call \
             `exit_plan_mode` with the whole plan.",
        )
    })));
    Ok(own("Plan first", String::new(), digest(NAME, &[]), action))
}

#[cfg(test)]
mod tests {
    use cairn_policy::Effect;

    use super::*;

    #[test]
    fn t32_entering_needs_no_question() {
        assert_eq!(prepare(Map::new()).unwrap().effects, [Effect::Own]);
    }
}
