//! A request in the form that a bare model takes: turns of text, calls and results written into them. Pure.
//!
//! Owns: how tools are told, which turns follow each other, what of a rendered prompt is a template and what is
//! content. Must never know: tokens, files, threads.

use std::fmt::Write as _;

use cairn_agent::model::{Message, ModelRequest, Part, Role};
use cairn_agent::tool::ToolSpec;
use serde_json::{Value, json};

/// One turn. No two in a row have the same role: many templates refuse that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    /// `system`, `user` or `assistant`; every template knows these three and no others.
    pub(super) role: &'static str,
    pub(super) text: String,
}

/// The turns of a request, the system's first where there is anything to tell.
pub(super) fn turns(request: &ModelRequest) -> Vec<Turn> {
    let mut all: Vec<Turn> = Vec::new();
    add(
        &mut all,
        "system",
        &format!("{}{}", request.system, told(&request.tools)),
    );
    for message in &request.messages {
        let role = match message.role {
            Role::Assistant => "assistant",
            Role::User | Role::Tool => "user",
        };
        add(&mut all, role, &text_of(message));
    }
    all
}

fn add(all: &mut Vec<Turn>, role: &'static str, text: &str) {
    let text = text.trim();
    match all.last_mut() {
        _ if text.is_empty() => {}
        Some(last) if last.role == role => {
            last.text.push_str("\n\n");
            last.text.push_str(text);
        }
        _ => all.push(Turn {
            role,
            text: text.to_owned(),
        }),
    }
}

/// The tools, and how a call is written. The form is the one that most open models were trained on.
fn told(tools: &[ToolSpec]) -> String {
    if tools.is_empty() {
        return String::new();
    }
    let mut text = "\n\n# Tools\n\nTo call a tool, write exactly this and nothing after it:\n<tool_call>\n{\"name\": \
                    \"NAME\", \"arguments\": {…}}\n</tool_call>\nThe result comes back in <tool_response>. The tools:\n"
        .to_owned();
    for tool in tools {
        let line = json!({ "name": tool.name, "description": tool.description, "parameters": tool.schema });
        // Writing to a text cannot fail.
        writeln!(text, "{line}").ok();
    }
    text
}

fn text_of(message: &Message) -> String {
    let pieces = message.parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.clone()),
        Part::Call { name, arguments, .. } => {
            let arguments: Value = serde_json::from_str(arguments).unwrap_or_else(|_| json!({}));
            let call = json!({ "name": name, "arguments": arguments });
            Some(format!("<tool_call>\n{call}\n</tool_call>"))
        }
        Part::Result { text, ok, .. } => {
            let failed = if *ok { "" } else { "Failed: " };
            Some(format!("<tool_response>\n{failed}{text}\n</tool_response>"))
        }
        // A bare model sees no pictures, and another provider's thoughts are not its own.
        Part::Picture(_) | Part::Reasoning(_) => None,
    });
    pieces.collect::<Vec<_>>().join("\n")
}

/// A piece of a rendered prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// What the template wrote: its marks of turns count.
    Template(&'a str),
    /// The text of that turn, in which nothing may count as a mark: it may come from a file or a page.
    Content(usize),
}

/// What stands for the text of a turn while the template is applied. No template has such characters of its own.
pub(super) fn stand_in(turn: usize) -> String {
    format!("\u{e000}{turn}\u{e001}")
}

/// Takes a rendered prompt apart; nothing when the template left a turn out, doubled or reordered one, so that another
/// template has to be used.
pub(super) fn pieces(rendered: &str, turns: usize) -> Option<Vec<Piece<'_>>> {
    let mut rest = rendered;
    let mut all = Vec::with_capacity(2 * turns + 1);
    for turn in 0..turns {
        let (before, after) = rest.split_once(&stand_in(turn))?;
        all.push(Piece::Template(before));
        all.push(Piece::Content(turn));
        rest = after;
    }
    if rest.contains('\u{e000}') {
        return None;
    }
    all.push(Piece::Template(rest));
    all.retain(|piece| *piece != Piece::Template(""));
    Some(all)
}

/// The plainest of all templates, for a model that brings none which is understood.
pub(super) fn chatml(turns: usize, role: impl Fn(usize) -> &'static str) -> String {
    let mut text = String::new();
    for turn in 0..turns {
        // Writing to a text cannot fail.
        write!(text, "<|im_start|>{}\n{}<|im_end|>\n", role(turn), stand_in(turn)).ok();
    }
    text.push_str("<|im_start|>assistant\n");
    text
}

#[cfg(test)]
mod tests;
