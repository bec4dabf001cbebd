//! The `exit_plan_mode` tool: a plan that the user accepts or not. SPEC T32.
//!
//! Owns: what a plan to be accepted is. Must never know: what plan mode forbids, or what the person answers.

use cairn_agent::tool::{Action, CallContext, Prepared, Tool, ToolClass, ToolError, ToolOutcome, ToolSpec};
use cairn_policy::Effect;
use cairn_protocol::{ApprovalSubject, ContentBlock, MOST_PLAN};
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::args;
use crate::prepared::{Immediately, digest, own};

const NAME: &str = "exit_plan_mode";

/// Present your plan to the user; only in plan mode.
#[derive(Deserialize, JsonSchema)]
struct Input {
    /// The whole plan, Markdown.
    plan: String,
}

/// Presents a plan.
pub struct ExitPlanMode {
    spec: ToolSpec,
}

impl ExitPlanMode {
    /// The tool.
    pub fn new() -> Self {
        Self {
            spec: args::spec::<Input>(NAME, ToolClass::Own, None),
        }
    }
}

impl Default for ExitPlanMode {
    fn default() -> Self {
        Self::new()
    }
}

impl Tool for ExitPlanMode {
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
    let input: Input = args::parse(NAME, arguments)?;
    let plan = input.plan.trim();
    let length = plan.chars().count();
    if length == 0 {
        return Err(ToolError::new("The plan is empty: write the whole plan."));
    }
    if length > MOST_PLAN {
        return Err(ToolError::new(format!(
            "The plan has {length} characters, and at most {MOST_PLAN} are shown: say it shorter."
        )));
    }
    // It never runs: the machine ends the call with the person's answer.
    let action = Action::Execute(Box::new(Immediately(|_| {
        ToolOutcome::failed("The plan was not accepted.")
    })));
    Ok(Prepared {
        effects: vec![Effect::LeavePlan],
        subject: Some(ApprovalSubject::Plan {
            text: plan.to_owned(),
            rendered: None,
        }),
        blocks: vec![ContentBlock::Text {
            text: plan.to_owned(),
        }],
        ..own(
            "Present the plan",
            String::new(),
            digest(NAME, &[plan.as_bytes()]),
            action,
        )
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn with(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn t32_a_plan_is_shown_whole_and_its_digest_is_over_all_of_it() {
        let one = prepare(with(json!({ "plan": " # Rename\n1. a\n" }))).unwrap();
        assert_eq!(
            one.subject,
            Some(ApprovalSubject::Plan {
                text: "# Rename\n1. a".into(),
                rendered: None
            })
        );
        assert_eq!(one.effects, [Effect::LeavePlan]);
        let other = prepare(with(json!({ "plan": "# Rename\n1. b" }))).unwrap();
        assert_ne!(one.digest, other.digest);
    }

    #[test]
    fn t32_an_empty_and_an_endless_plan_are_refused() {
        for plan in [" \n", &"x".repeat(MOST_PLAN + 1)] {
            assert!(prepare(with(json!({ "plan": plan }))).is_err());
        }
        assert!(prepare(with(json!({ "plan": "x".repeat(MOST_PLAN) }))).is_ok());
    }
}
