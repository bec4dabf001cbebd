//! The `todo_write` tool: the plan, whole, each time. SPEC T28.
//!
//! Owns: what a valid plan is. Must never know: where it is pinned or how the person edits it.

use std::fmt::Write as _;

use cairn_agent::tool::{Action, CallContext, Prepared, Tool, ToolClass, ToolError, ToolOutcome, ToolSpec};
use cairn_protocol::{ContentBlock, TodoItem, TodoState};
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::args;
use crate::prepared::{Immediately, digest, own};

const NAME: &str = "todo_write";
/// Entries a plan may have: more than a person can follow helps nobody.
const MOST_ENTRIES: usize = 100;
/// Characters an entry may have.
const LONGEST_ENTRY: usize = 500;

/// Write the whole plan, replacing the former one; an empty list clears it.
/// For work of three steps or more: write it first, then update it as each step begins and ends.
#[derive(Deserialize, JsonSchema)]
struct Input {
    /// All entries, in order.
    todos: Vec<Entry>,
}

/// One step.
#[derive(Deserialize, JsonSchema)]
struct Entry {
    /// What is to be done, in a few words.
    content: String,
    /// `pending`, `in_progress` (at most one), `completed` or `cancelled`.
    status: String,
}

/// Keeps the plan.
pub struct TodoWrite {
    spec: ToolSpec,
}

impl TodoWrite {
    /// The tool.
    pub fn new() -> Self {
        Self {
            spec: args::spec::<Input>(NAME, ToolClass::Own, None),
        }
    }
}

impl Default for TodoWrite {
    fn default() -> Self {
        Self::new()
    }
}

impl Tool for TodoWrite {
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
    let plan = plan(input.todos)?;
    let target = progress(&plan);
    let text = describe(&plan);
    let digest = digest(NAME, &[text.as_bytes()]);
    let action = Action::Execute(Box::new(Immediately(move |_| ToolOutcome {
        note: progress(&plan),
        blocks: vec![ContentBlock::Todo { items: plan.clone() }],
        plan: Some(plan),
        ..ToolOutcome::ok(text)
    })));
    Ok(own("Plan", target, digest, action))
}

fn plan(entries: Vec<Entry>) -> Result<Vec<TodoItem>, ToolError> {
    if entries.len() > MOST_ENTRIES {
        return Err(ToolError::new(format!(
            "The plan has {} entries, and at most {MOST_ENTRIES} are kept: join steps that belong together.",
            entries.len()
        )));
    }
    let items = entries
        .into_iter()
        .enumerate()
        .map(|(index, entry)| item(index + 1, entry));
    let items: Vec<TodoItem> = items.collect::<Result<_, _>>()?;
    let running: Vec<String> = items
        .iter()
        .zip(1..)
        .filter(|(item, _)| item.state == TodoState::InProgress)
        .map(|(_, number): (_, usize)| number.to_string())
        .collect();
    if running.len() > 1 {
        return Err(ToolError::new(format!(
            "Entries {} are all in progress, and at most one may be: leave the one you work on now, make the \
             others pending or completed.",
            running.join(", ")
        )));
    }
    Ok(items)
}

fn item(number: usize, entry: Entry) -> Result<TodoItem, ToolError> {
    // One entry is one line, in the window and in the prompt.
    let text = entry.content.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.is_empty() {
        return Err(ToolError::new(format!(
            "Entry {number} has no content: say what is to be done."
        )));
    }
    let length = text.chars().count();
    if length > LONGEST_ENTRY {
        return Err(ToolError::new(format!(
            "Entry {number} has {length} characters, and at most {LONGEST_ENTRY} are kept: say it shorter."
        )));
    }
    let Some(state) = state(&entry.status) else {
        return Err(ToolError::new(format!(
            "Entry {number} has the status {:?}, which is none of `pending`, `in_progress`, `completed`, `cancelled`.",
            entry.status.chars().take(40).collect::<String>()
        )));
    };
    Ok(TodoItem { text, state })
}

/// The state in the spellings that models and people use.
fn state(spelling: &str) -> Option<TodoState> {
    let plain: String = spelling
        .chars()
        .filter(|c| c.is_alphanumeric())
        .collect::<String>()
        .to_lowercase();
    match plain.as_str() {
        // A bare checkbox holds no letters: `[ ]`.
        "" if spelling.contains('[') => Some(TodoState::Pending),
        "pending" | "todo" | "open" | "notstarted" | "new" | "planned" | "queued" | "waiting"
        | "incomplete" => Some(TodoState::Pending),
        "inprogress" | "progress" | "doing" | "active" | "current" | "running" | "started" | "working"
        | "ongoing" | "wip" => Some(TodoState::InProgress),
        "completed" | "complete" | "done" | "finished" | "closed" | "x" | "ok" | "resolved" => {
            Some(TodoState::Completed)
        }
        "cancelled" | "canceled" | "cancel" | "dropped" | "skipped" | "abandoned" | "removed"
        | "obsolete" | "wontdo" => Some(TodoState::Cancelled),
        _ => None,
    }
}

/// `2 of 4`, of those that are not dropped.
fn progress(plan: &[TodoItem]) -> String {
    let counted = plan
        .iter()
        .filter(|item| item.state != TodoState::Cancelled)
        .count();
    let done = plan
        .iter()
        .filter(|item| item.state == TodoState::Completed)
        .count();
    if plan.is_empty() {
        "empty".to_owned()
    } else {
        format!("{done} of {counted}")
    }
}

fn describe(plan: &[TodoItem]) -> String {
    if plan.is_empty() {
        return "The plan is empty now.".to_owned();
    }
    let mut text = format!("The plan now, {} done:", progress(plan));
    for (item, number) in plan.iter().zip(1_usize..) {
        let mark = match item.state {
            TodoState::Pending => ' ',
            TodoState::InProgress => '>',
            TodoState::Completed => 'x',
            TodoState::Cancelled => '-',
        };
        write!(text, "\n{number}. [{mark}] {}", item.text).ok();
    }
    text
}

#[cfg(test)]
mod tests;
