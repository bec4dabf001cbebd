//! Tool calls put together from their pieces. Owns: which piece belongs to which call, however a server numbers
//! them. Must never know: text, usage, tools, servers.

use std::collections::HashSet;

use cairn_agent::model::ModelEvent;
use serde_json::Value;

/// How the stream came to its end, as far as an open call is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The model was done: every call is as it wanted it, unless its JSON simply stops.
    Whole,
    /// A limit struck: the last call was not written to its end, even where its JSON happens to be whole.
    Limit,
    /// The connection ended without a word: only calls whose JSON is whole are whole.
    Silence,
}

#[derive(Debug, Default)]
struct OpenCall {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
}

impl OpenCall {
    fn is_whole(&self) -> bool {
        !self.arguments.trim().is_empty()
            && serde_json::from_str::<serde::de::IgnoredAny>(&self.arguments).is_ok()
    }

    /// Whether the arguments stop in the middle, as opposed to being broken.
    fn stops_short(&self) -> bool {
        serde_json::from_str::<serde::de::IgnoredAny>(&self.arguments).is_err_and(|error| error.is_eof())
            && !self.arguments.trim().is_empty()
    }
}

/// Collects the calls of one reply.
#[derive(Debug)]
pub(crate) struct CallCollector {
    calls: Vec<OpenCall>,
    taken: HashSet<String>,
    salt: String,
    bytes: usize,
}

impl CallCollector {
    /// `taken` are ids that the conversation holds already; `salt` makes ids of ours unlike those of other replies.
    pub(crate) fn new(taken: HashSet<String>, salt: String) -> Self {
        Self {
            calls: Vec::new(),
            taken,
            salt,
            bytes: 0,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// The call with that number, if there is one, is over: what comes with the number is another.
    pub(crate) fn begin(&mut self, index: u64) {
        for call in &mut self.calls {
            if call.index == Some(index) {
                call.index = None;
            }
        }
    }

    /// Takes a call that came whole, whatever its id and number.
    pub(crate) fn push_whole(&mut self, call: &Value) {
        let function = call.get("function").unwrap_or(call);
        let arguments = written(function.get("arguments").or_else(|| function.get("parameters")));
        let name = text(function.get("name")).to_owned();
        self.bytes += name.len() + arguments.len();
        self.calls.push(OpenCall {
            index: None,
            id: text(call.get("id")).to_owned(),
            name,
            arguments,
        });
    }

    /// Bytes of all names and arguments.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether the call with that index has arguments already.
    pub(crate) fn has_arguments(&self, index: u64) -> bool {
        self.calls
            .iter()
            .any(|call| call.index == Some(index) && !call.arguments.is_empty())
    }

    /// Takes the `tool_calls` of one frame.
    pub(crate) fn push(&mut self, pieces: &Value) {
        // An object where a list is expected means one piece.
        let pieces = pieces
            .as_array()
            .map_or_else(|| std::slice::from_ref(pieces), Vec::as_slice);
        for piece in pieces.iter().filter(|piece| piece.is_object()) {
            let function = piece.get("function").unwrap_or(piece);
            self.push_piece(
                piece.get("index").and_then(Value::as_u64),
                text(piece.get("id")),
                text(function.get("name")),
                &written(function.get("arguments").or_else(|| function.get("parameters"))),
                pieces.len() > 1,
            );
        }
    }

    /// Takes one piece of a call; an empty id or name says nothing.
    pub(crate) fn push_piece(
        &mut self,
        index: Option<u64>,
        id: &str,
        name: &str,
        arguments: &str,
        among_others: bool,
    ) {
        self.bytes += name.len() + arguments.len();
        let found = self.find(index, id, name, among_others);
        let Some(call) = found.and_then(|at| self.calls.get_mut(at)) else {
            self.calls.push(OpenCall {
                index,
                id: id.to_owned(),
                name: name.to_owned(),
                arguments: arguments.to_owned(),
            });
            return;
        };
        if call.id.is_empty() {
            id.clone_into(&mut call.id);
        }
        // Some servers repeat the name with every piece, some write it in pieces.
        if call.name != name && call.arguments.is_empty() {
            call.name.push_str(name);
        }
        call.arguments.push_str(arguments);
    }

    /// Which call a piece goes on with; none when it begins a new one.
    fn find(&self, index: Option<u64>, id: &str, name: &str, among_others: bool) -> Option<usize> {
        let by_index = index.and_then(|index| self.calls.iter().rposition(|call| call.index == Some(index)));
        let begins_anew = |at: usize| {
            self.calls
                .get(at)
                .is_some_and(|call| !name.is_empty() && !call.name.is_empty() && call.is_whole())
        };
        if !id.is_empty() {
            let by_id = self.calls.iter().rposition(|call| call.id == id);
            return match (by_index, by_id) {
                // Equal ids with different indexes are two calls; with equal ones, the whole first one tells.
                (Some(at), Some(_)) if self.calls.get(at).is_some_and(|call| call.id == id) => {
                    (!begins_anew(at)).then_some(at)
                }
                // The id came later than the call's first piece.
                (Some(at), None) if self.calls.get(at).is_some_and(|call| call.id.is_empty()) => {
                    (!begins_anew(at)).then_some(at)
                }
                (None, Some(at)) if index.is_none() => (!begins_anew(at)).then_some(at),
                _ => None,
            };
        }
        if index.is_some() {
            return by_index.filter(|&at| !begins_anew(at));
        }
        let last = self.calls.len().checked_sub(1)?;
        let call = self.calls.get(last)?;
        let goes_on = name.is_empty()
            || call.name.is_empty()
            || (call.name == name && !call.is_whole() && !among_others && !call.arguments.is_empty());
        goes_on.then_some(last)
    }

    /// All calls, each with an id of its own.
    pub(crate) fn finish(&mut self, ending: Ending) -> Vec<ModelEvent> {
        let calls = std::mem::take(&mut self.calls);
        let last = calls.len().saturating_sub(1);
        calls
            .into_iter()
            .enumerate()
            .map(|(at, call)| {
                let cut = match ending {
                    Ending::Whole => call.stops_short(),
                    Ending::Limit => at == last || !call.is_whole(),
                    Ending::Silence => !call.is_whole(),
                };
                ModelEvent::Call {
                    id: self.unique(&call.id),
                    name: call.name,
                    arguments: call.arguments,
                    from_text: false,
                    cut,
                }
            })
            .collect()
    }

    /// An id that no other call has; one of ours where none was given.
    pub(crate) fn unique(&mut self, id: &str) -> String {
        let stem = if id.is_empty() {
            format!("call_{}", self.salt)
        } else {
            id.to_owned()
        };
        let mut name = if id.is_empty() {
            format!("{stem}_1")
        } else {
            stem.clone()
        };
        let mut count = 1_u32;
        while !self.taken.insert(name.clone()) {
            count += 1;
            name = format!("{stem}_{count}");
        }
        name
    }
}

fn text(value: Option<&Value>) -> &str {
    value.and_then(Value::as_str).unwrap_or_default()
}

/// Arguments as text, also where a server sends them as an object.
pub(crate) fn written(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}
