//! The same call with the same answer twice is allowed, the third is refused before it runs. SPEC L3.

use std::collections::HashMap;

use crate::tool::ToolClass;

/// Calls and their last answers in one session.
#[derive(Clone, Debug, Default)]
pub struct Repeats {
    seen: HashMap<(String, String), Seen>,
}

#[derive(Clone, Debug)]
struct Seen {
    class: ToolClass,
    answer: u64,
    times: u32,
}

impl Repeats {
    /// The sentence that refuses the call, if it was answered the same twice already.
    pub fn refusal(&self, tool: &str, arguments: &str) -> Option<String> {
        let seen = self.seen.get(&(tool.to_owned(), canonical(arguments)))?;
        (seen.times >= 2).then(|| {
            format!(
                "This exact `{tool}` call was answered the same {} times and did not run again. \
                 Change its arguments, change a file it depends on, or go on with what you know.",
                seen.times
            )
        })
    }

    /// Counts an answer.
    pub fn answered(&mut self, class: ToolClass, tool: &str, arguments: &str, answer: &str) {
        let answer = fingerprint(answer);
        let seen = self
            .seen
            .entry((tool.to_owned(), canonical(arguments)))
            .or_insert(Seen {
                class,
                answer,
                times: 0,
            });
        if seen.answer == answer {
            seen.times += 1;
        } else {
            *seen = Seen {
                class,
                answer,
                times: 1,
            };
        }
    }

    /// A file changed: everything may answer differently now.
    pub fn file_changed(&mut self) {
        self.seen.clear();
    }

    /// A command ran: what reads may answer differently now.
    pub fn command_ran(&mut self) {
        self.seen.retain(|_, seen| seen.class != ToolClass::Read);
    }
}

/// The arguments without the accidents of their spelling: keys in order, no blanks.
fn canonical(arguments: &str) -> String {
    serde_json::from_str::<serde_json::Value>(arguments)
        .map_or_else(|_| arguments.trim().to_owned(), |v| v.to_string())
}

fn fingerprint(text: &str) -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x90_the_third_same_call_is_refused_and_a_change_lifts_it() {
        let mut repeats = Repeats::default();
        let refused = |repeats: &Repeats| repeats.refusal("grep", r#"{"pattern": "x"}"#).is_some();
        repeats.answered(ToolClass::Read, "grep", r#"{"pattern":"x"}"#, "nothing");
        assert!(!refused(&repeats));
        repeats.answered(ToolClass::Read, "grep", r#"{ "pattern":"x" }"#, "nothing");
        assert!(refused(&repeats), "spelled differently, still the same call");
        repeats.command_ran();
        assert!(!refused(&repeats));
        for answer in ["nothing", "something", "nothing", "something"] {
            repeats.answered(ToolClass::Read, "grep", r#"{"pattern":"x"}"#, answer);
        }
        assert!(!refused(&repeats), "a changing answer is never refused");
        repeats.answered(ToolClass::Run, "shell", "{}", "same");
        repeats.answered(ToolClass::Run, "shell", "{}", "same");
        repeats.command_ran();
        assert!(repeats.refusal("shell", "").is_none() && repeats.refusal("shell", "{}").is_some());
        repeats.file_changed();
        assert!(repeats.refusal("shell", "{}").is_none());
    }
}
