//! `remember`: one fact for the project's memory, shown whole before it is kept. SPEC T26.
//!
//! Owns: what a fact may be. Must never know: where facts are kept, or whether this one may be.

use std::sync::Arc;

use cairn_agent::tool::{Action, CallContext, Prepared, Tool, ToolClass, ToolError, ToolOutcome, ToolSpec};
use cairn_policy::{Effect, Show, show};
use cairn_protocol::{ApprovalSubject, ContentBlock};
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::args;
use crate::prepared::{Immediately, digest, own};

/// Longest fact, characters: memory is for a few plain facts, and all of it has to fit a prompt.
const LONGEST: usize = 500;
/// Longest target on the card, characters.
const TARGET: usize = 100;

/// Keep one fact about this project for later sessions: a decision, a convention, a command that is hard to find. Not
/// what the code or its documents say already, nothing secret, nothing from web pages. The user sees it first.
#[derive(Debug, Deserialize, JsonSchema)]
struct Input {
    /// The fact, in one or two sentences.
    fact: String,
}

/// Where facts are kept.
pub trait Memory: Send + Sync {
    /// Keeps a fact. Fails with a sentence for the model.
    fn keep(&self, fact: &str) -> Result<(), String>;
}

/// Keeps nothing: for where there is no project.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoMemory;

impl Memory for NoMemory {
    fn keep(&self, _fact: &str) -> Result<(), String> {
        Err("Nothing is remembered here.".to_owned())
    }
}

/// The tool.
pub struct Remember {
    spec: ToolSpec,
    memory: Arc<dyn Memory>,
}

impl Remember {
    /// The tool for a project's memory.
    pub fn new(memory: Arc<dyn Memory>) -> Self {
        Self {
            spec: args::spec::<Input>("remember", ToolClass::Own, None),
            memory,
        }
    }

    fn prepare_now(&self, arguments: Map<String, Value>, doubtful: bool) -> Result<Prepared, ToolError> {
        let input: Input = args::parse("remember", arguments)?;
        let fact = input.fact.split_whitespace().collect::<Vec<_>>().join(" ");
        let length = fact.chars().count();
        if fact.is_empty() {
            return Err(ToolError::new(
                "`fact` is empty; nothing was remembered. Say what to keep",
            ));
        }
        if length > LONGEST {
            return Err(ToolError::new(format!(
                "`fact` has {length} characters, and at most {LONGEST} are kept; nothing was remembered. Say it shorter, \
                 or put it in a file of the project"
            )));
        }
        let memory = Arc::clone(&self.memory);
        let target: String = fact.chars().take(TARGET).collect();
        let shown = show(&fact, Show::Name);
        let digest = digest("remember", &[fact.as_bytes()]);
        let blocks = vec![ContentBlock::Text { text: fact.clone() }];
        let action = Immediately(move |_: CallContext| match memory.keep(&fact) {
            Ok(()) => ToolOutcome {
                note: "kept for later sessions".to_owned(),
                ..ToolOutcome::ok("Remembered.")
            },
            Err(why) => ToolOutcome::failed(why),
        });
        Ok(Prepared {
            effects: vec![Effect::Remember { doubtful }],
            subject: Some(ApprovalSubject::Remember { fact: shown }),
            blocks,
            ..own("Remember", target, digest, Action::Execute(Box::new(action)))
        })
    }
}

impl Tool for Remember {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare<'a>(
        &'a self,
        arguments: Map<String, Value>,
        context: &'a CallContext,
    ) -> BoxFuture<'a, Result<Prepared, ToolError>> {
        Box::pin(std::future::ready(self.prepare_now(arguments, context.outside)))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[derive(Default)]
    struct Kept(Mutex<Vec<String>>);

    impl Memory for Kept {
        fn keep(&self, fact: &str) -> Result<(), String> {
            self.0.lock().unwrap().push(fact.to_owned());
            Ok(())
        }
    }

    fn prepare(fact: Value, doubtful: bool) -> Result<Prepared, ToolError> {
        let mut arguments = Map::new();
        arguments.insert("fact".to_owned(), fact);
        Remember::new(Arc::new(Kept::default())).prepare_now(arguments, doubtful)
    }

    #[test]
    fn t26_the_whole_fact_is_shown_and_hidden_letters_with_it() {
        let prepared = prepare("Tests run\nwith `just\u{202e}test`.".into(), false).unwrap();
        let Some(ApprovalSubject::Remember { fact }) = prepared.subject else {
            panic!()
        };
        assert_eq!(
            cairn_policy::shown_text(&fact),
            "Tests run with `just⟨\\u{202e}⟩test`."
        );
        assert_eq!(prepared.effects, [Effect::Remember { doubtful: false }]);
    }

    #[test]
    fn t26_after_text_from_outside_the_effect_says_so() {
        assert_eq!(
            prepare("x".into(), true).unwrap().effects,
            [Effect::Remember { doubtful: true }]
        );
    }

    #[test]
    fn t1_nothing_and_too_much_are_said() {
        for (fact, says) in [
            (Value::from("  \n "), "`fact` is empty"),
            (Value::from("x".repeat(501)), "at most 500"),
            (Value::from(vec![1]), "fact"),
        ] {
            let error = prepare(fact, false).err().unwrap();
            assert!(error.message.contains(says), "{error}");
        }
    }
}
