//! Calls that a small model writes as plain text. SPEC M3. Owns: what of a text is such a call, however it is split.
//! Must never know: frames, servers, what a tool does.
//!
//! A call counts only where it begins a line, names an offered tool, and nothing but calls follows to the end of the
//! reply; without tags it has to be the whole reply. So an example that is quoted in prose stays prose. Text from such
//! a beginning on is held back until it is known not to be one; nothing is ever lost.

use std::sync::Arc;

use cairn_agent::model::ModelEvent;
use cairn_agent::tool::ToolSpec;

use super::spoken_json;

/// Bytes that are held back; what is longer is text.
const MAX_HELD: usize = 1024 * 1024;

/// Held text up to this long is looked at with every piece; longer one whenever it has grown by half.
const LOOK_ALWAYS: usize = 256;

/// What a call in tags begins with.
const TAGS: [&str; 6] = [
    "<tool_call>",
    "<function=",
    "<|python_tag|>",
    "[TOOL_CALLS]",
    "<function_call>",
    "<tool_call=",
];

/// A call found in text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Spoken {
    pub(crate) name: String,
    /// A JSON object as text.
    pub(crate) arguments: String,
}

/// What a text from a line's beginning on may be.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Judged {
    /// Calls and nothing else.
    Calls(Vec<Spoken>),
    /// Calls, if it goes on as it begins.
    Open,
    /// Text.
    Not,
}

/// Looks for calls in the text of one reply.
#[derive(Debug)]
pub(crate) struct Spotter {
    tools: Option<Arc<[ToolSpec]>>,
    held: String,
    looked: usize,
    /// The current line, as far as it was let go; none where it cannot begin a call any more.
    line: Option<String>,
    in_fence: bool,
    spoke: bool,
}

impl Spotter {
    /// Without tools everything is text.
    pub(crate) fn new(tools: Option<Arc<[ToolSpec]>>) -> Self {
        Self {
            tools: tools.filter(|tools| !tools.is_empty()),
            held: String::new(),
            looked: 0,
            line: Some(String::new()),
            in_fence: false,
            spoke: false,
        }
    }

    /// Takes more text; lets go what is no call.
    pub(crate) fn push(&mut self, text: &str, out: &mut Vec<ModelEvent>) {
        if self.tools.is_none() {
            tell(text, out);
            return;
        }
        self.held.push_str(text);
        let enough = self.held.len() <= LOOK_ALWAYS || self.held.len() * 2 >= self.looked * 3;
        if enough || self.held.len() > MAX_HELD {
            self.advance(out);
            self.looked = self.held.len();
        }
    }

    /// What is held is text: something else was said after it.
    pub(crate) fn release(&mut self, out: &mut Vec<ModelEvent>) {
        let held = std::mem::take(&mut self.held);
        self.looked = 0;
        if !held.is_empty() {
            self.pass(&held);
            tell(&held, out);
        }
    }

    /// The reply has ended: the calls that are its end; the rest is text.
    pub(crate) fn finish(&mut self, out: &mut Vec<ModelEvent>) -> Vec<Spoken> {
        self.advance(out);
        let mut calls = Vec::new();
        while !self.held.is_empty() {
            let judged = if self.may_begin() {
                self.judge(true)
            } else {
                Judged::Not
            };
            if let Judged::Calls(found) = judged {
                calls = found;
                self.held.clear();
                break;
            }
            self.let_go_a_line(out);
        }
        calls
    }

    fn advance(&mut self, out: &mut Vec<ModelEvent>) {
        while !self.held.is_empty() {
            if self.may_begin() && self.held.len() <= MAX_HELD && self.judge(false) != Judged::Not {
                return;
            }
            self.let_go_a_line(out);
        }
    }

    /// Whether a call may begin with what is held: at the start of a line, outside of a fence.
    fn may_begin(&self) -> bool {
        !self.in_fence && self.line.as_deref().is_some_and(|line| line.trim().is_empty())
    }

    fn judge(&self, whole: bool) -> Judged {
        let Some(tools) = &self.tools else {
            return Judged::Not;
        };
        let text = self.held.trim_start();
        if text.is_empty() {
            return if whole { Judged::Not } else { Judged::Open };
        }
        let begun = TAGS.iter().any(|tag| text.starts_with(tag));
        let may_be = !whole && TAGS.iter().any(|tag| tag.starts_with(text));
        if begun {
            return tagged(text, tools, whole);
        }
        if may_be {
            return Judged::Open;
        }
        if self.spoke {
            return Judged::Not;
        }
        spoken_json::bare(text, tools, whole)
    }

    /// Lets the held text go up to and with the end of its first line.
    fn let_go_a_line(&mut self, out: &mut Vec<ModelEvent>) {
        let end = self.held.find('\n').map_or(self.held.len(), |at| at + 1);
        let rest = self.held.split_off(end);
        let line = std::mem::replace(&mut self.held, rest);
        self.pass(&line);
        tell(&line, out);
    }

    /// Keeps track of lines and fences in what was let go.
    fn pass(&mut self, text: &str) {
        for piece in text.split_inclusive('\n') {
            self.spoke |= !piece.trim().is_empty();
            let line = self.line.get_or_insert_default();
            // A line's first letters tell whether it opens or closes a fence.
            if line.len() < 64 {
                line.push_str(piece.get(..64).unwrap_or(piece));
            }
            if piece.ends_with('\n') {
                let start = line.trim_start();
                if start.starts_with("```") || start.starts_with("~~~") {
                    self.in_fence = !self.in_fence;
                }
                self.line = Some(String::new());
            }
        }
    }
}

fn tell(text: &str, out: &mut Vec<ModelEvent>) {
    if !text.is_empty() {
        out.push(ModelEvent::Text(text.to_owned()));
    }
}

/// One call in tags after the other, to the end of the text.
fn tagged(text: &str, tools: &[ToolSpec], whole: bool) -> Judged {
    let mut rest = text;
    let mut calls = Vec::new();
    loop {
        rest = rest.trim_start();
        if rest.is_empty() {
            return Judged::Calls(calls);
        }
        let step = if let Some(inner) = strip_any(rest, &["<tool_call>", "<function_call>"]) {
            in_tag(inner, tools, whole)
        } else if rest.starts_with("<function=") || rest.starts_with("<tool_call=") {
            function(rest, tools, whole)
        } else if let Some(inner) = strip_any(rest, &["<|python_tag|>", "[TOOL_CALLS]"]) {
            spoken_json::leading(inner, tools, whole)
        } else if !whole && TAGS.iter().any(|tag| tag.starts_with(rest)) {
            return Judged::Open;
        } else {
            return Judged::Not;
        };
        match step {
            Step::Found(found, after) => {
                calls.extend(found);
                rest = after;
            }
            Step::Open => return Judged::Open,
            Step::Not => return Judged::Not,
        }
    }
}

/// What stands at the beginning of a text.
pub(super) enum Step<'a> {
    Found(Vec<Spoken>, &'a str),
    Open,
    Not,
}

fn strip_any<'a>(text: &'a str, starts: &[&str]) -> Option<&'a str> {
    starts.iter().find_map(|start| text.strip_prefix(start))
}

/// A call inside `<tool_call>`: JSON, or `<function=…>`; the closing tag may be missing at the very end.
fn in_tag<'a>(inner: &'a str, tools: &[ToolSpec], whole: bool) -> Step<'a> {
    let inner = inner.trim_start();
    let step = if inner.starts_with("<function=") {
        function(inner, tools, whole)
    } else if !whole && "<function=".starts_with(inner) {
        return Step::Open;
    } else {
        spoken_json::leading(inner, tools, whole)
    };
    let Step::Found(calls, after) = step else {
        return step;
    };
    let after = after.trim_start();
    if let Some(after) = strip_any(after, &["</tool_call>", "</function_call>"]) {
        return Step::Found(calls, after);
    }
    let may_close = ["</tool_call>", "</function_call>"]
        .iter()
        .any(|close| close.starts_with(after));
    match (after.is_empty(), whole) {
        (true, true) => Step::Found(calls, after),
        (_, false) if may_close => Step::Open,
        _ => Step::Not,
    }
}

/// `<function=NAME><parameter=KEY>VALUE</parameter>…</function>`, or with a JSON object instead of parameters.
fn function<'a>(text: &'a str, tools: &[ToolSpec], whole: bool) -> Step<'a> {
    let open = if whole { Step::Not } else { Step::Open };
    let Some((_, named)) = text.split_once('=') else {
        return Step::Not;
    };
    let Some((name, mut rest)) = named.split_once('>') else {
        return if named.len() > 128 || named.contains('\n') {
            Step::Not
        } else {
            open
        };
    };
    let name = name.trim().trim_matches('"');
    let Some(tool) = tools.iter().find(|tool| tool.name == name) else {
        return Step::Not;
    };
    let mut arguments = serde_json::Map::new();
    loop {
        rest = rest.trim_start();
        if let Some(after) = strip_any(rest, &["</function>", "</tool_call>"]) {
            return Step::Found(vec![spoken_json::spoken(name, arguments)], after);
        }
        if let Some(parameter) = rest.strip_prefix("<parameter=") {
            let Some((key, value)) = parameter.split_once('>') else {
                return open;
            };
            let Some((value, after)) = value.split_once("</parameter>") else {
                return open;
            };
            let key = key.trim().trim_matches('"');
            arguments.insert(key.to_owned(), spoken_json::value(tool, key, value));
            rest = after;
        } else if rest.starts_with('{') && arguments.is_empty() {
            match spoken_json::object(rest) {
                spoken_json::Read::Whole(serde_json::Value::Object(map), after) => {
                    arguments = map;
                    rest = after;
                }
                spoken_json::Read::Open if !whole => return Step::Open,
                _ => return Step::Not,
            }
        } else if ["<parameter=", "</function>", "</tool_call>"]
            .iter()
            .any(|tag| tag.starts_with(rest))
        {
            return open;
        } else {
            return Step::Not;
        }
    }
}

#[cfg(test)]
mod tests;
