//! The `context_status` tool: tells the model how full its context is and what the session has cost. SPEC T29.
//!
//! Owns: the words. Must never know: how anything in it is counted.

use std::fmt::Write as _;

use cairn_agent::tool::{
    Action, CallContext, ContextStatus as Status, Prepared, Tool, ToolClass, ToolError, ToolOutcome, ToolSpec,
};
use cairn_protocol::{ContentBlock, MeterPart, Table};
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::args;
use crate::prepared::{Immediately, digest, own};

const NAME: &str = "context_status";

/// Tell how full your context window is and what fills it, tokens and cost so far, and how tool calls went.
#[derive(Deserialize, JsonSchema)]
struct Input {}

/// Tells how full the context is.
pub struct ContextStatus {
    spec: ToolSpec,
}

impl ContextStatus {
    /// The tool.
    pub fn new() -> Self {
        Self {
            spec: args::spec::<Input>(NAME, ToolClass::Own, None),
        }
    }
}

impl Default for ContextStatus {
    fn default() -> Self {
        Self::new()
    }
}

impl Tool for ContextStatus {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare<'a>(
        &'a self,
        arguments: Map<String, Value>,
        _context: &'a CallContext,
    ) -> BoxFuture<'a, Result<Prepared, ToolError>> {
        Box::pin(std::future::ready(args::parse::<Input>(NAME, arguments).map(
            |Input {}| {
                let action = Action::Execute(Box::new(Immediately(|context: CallContext| {
                    outcome(&context.status)
                })));
                own("Context", String::new(), digest(NAME, &[]), action)
            },
        )))
    }
}

fn outcome(status: &Status) -> ToolOutcome {
    let rows = rows(status);
    let text = rows.iter().fold(String::new(), |mut text, (name, value)| {
        writeln!(text, "{name}: {value}").ok();
        text
    });
    let rows = rows.into_iter().map(|(name, value)| vec![name, value]).collect();
    ToolOutcome {
        note: note(status),
        blocks: vec![ContentBlock::Table(Table {
            headers: vec!["What".to_owned(), "Now".to_owned()],
            rows,
        })],
        ..ToolOutcome::ok(text.trim_end())
    }
}

fn rows(status: &Status) -> Vec<(String, String)> {
    let meter = &status.meter;
    let mut rows = Vec::new();
    let mut row = |name: &str, value: String| rows.push((name.to_owned(), value));
    row(
        "Window",
        meter.window.map_or_else(|| "not known".to_owned(), tokens),
    );
    row("Used", used(status));
    if let (Some(window), Some(used)) = (meter.window, meter.used) {
        let free = window.saturating_sub(used).saturating_sub(meter.reserve);
        row(
            "Free",
            format!("{}, {} kept for the reply", tokens(free), grouped(meter.reserve)),
        );
    }
    if !meter.parts.is_empty() {
        let parts: Vec<String> = meter
            .parts
            .iter()
            .map(|share| format!("{} {}", part(share.part), grouped(share.tokens)))
            .collect();
        row("Filled by", format!("{} (estimated tokens)", parts.join(", ")));
    }
    row(
        "Compaction",
        match (meter.compacts_at, meter.used) {
            (None, _) => "not known when".to_owned(),
            (Some(at), Some(used)) if used >= at => format!("due now, strikes at {}", tokens(at)),
            (Some(at), Some(used)) => format!("strikes at {}, in {}", tokens(at), tokens(at - used)),
            (Some(at), None) => format!("strikes at {}", tokens(at)),
        },
    );
    row("Requests", status.turns.to_string());
    row(
        "Steps in this request",
        format!("{} of {}", status.steps.0, status.steps.1),
    );
    let usage = &status.usage;
    row(
        "Session",
        format!(
            "{} in ({} from the cache), {} out",
            tokens(usage.input_tokens),
            grouped(usage.cached_tokens),
            grouped(usage.output_tokens)
        ),
    );
    row(
        "Cost",
        usage
            .cost_usd
            .map_or_else(|| "no price known".to_owned(), |cost| format!("${cost:.4}")),
    );
    for (tool, calls, failures, refusals) in &status.tools {
        row(
            tool,
            format!(
                "{} ({failures} failed, {refusals} refused)",
                counted(*calls, "call")
            ),
        );
    }
    rows
}

fn used(status: &Status) -> String {
    match (status.meter.used, status.meter.window) {
        (None, _) => "not known until the next reply".to_owned(),
        (Some(used), Some(window)) if window > 0 => {
            format!("{} ({} %)", tokens(used), used.saturating_mul(100) / window)
        }
        (Some(used), _) => tokens(used),
    }
}

fn note(status: &Status) -> String {
    match (status.meter.used, status.meter.window) {
        (Some(used), Some(window)) if window > 0 => format!("{} % used", used.saturating_mul(100) / window),
        _ => String::new(),
    }
}

fn part(part: MeterPart) -> &'static str {
    match part {
        MeterPart::Rules => "rules and tools",
        MeterPart::Notes => "instructions and memory",
        MeterPart::Results => "tool results",
        MeterPart::Pictures => "pictures",
        MeterPart::Conversation => "conversation",
    }
}

fn tokens(count: u64) -> String {
    format!("{} tokens", grouped(count))
}

fn counted(count: u32, what: &str) -> String {
    if count == 1 {
        format!("1 {what}")
    } else {
        format!("{count} {what}s")
    }
}

/// A number with its thousands apart.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests;
