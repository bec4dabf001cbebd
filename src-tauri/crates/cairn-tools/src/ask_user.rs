//! The `ask_user` tool: puts questions to the person and waits for ever. SPEC T30.
//!
//! Owns: what a valid question is. Must never know: how it is shown, or where the answer comes from.

use cairn_agent::tool::{Action, CallContext, Prepared, Tool, ToolClass, ToolError, ToolSpec};
use cairn_protocol::{Ask, AskOption};
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::args;
use crate::prepared::{digest, own};

const NAME: &str = "ask_user";
/// Questions in one call.
const MOST_QUESTIONS: usize = 4;
/// Options of one question: they sit on the keys 1 to 9.
const MOST_OPTIONS: usize = 9;
/// Characters of a question.
const LONGEST_QUESTION: usize = 2_000;
/// Characters of an option's label, and of its description.
const LONGEST_OPTION: usize = 300;

/// Ask the user when a decision is theirs to make and you cannot find the answer yourself.
/// They pick an option, write an answer of their own, or tell you to decide; the result says which.
#[derive(Deserialize, JsonSchema)]
struct Input {
    /// 1 to 4 questions.
    questions: Vec<QuestionInput>,
}

#[derive(Deserialize, JsonSchema)]
struct QuestionInput {
    /// The whole question.
    question: String,
    /// 2 to 9 different answers to pick from, the one you would take first. Leave out "other": it is always offered.
    options: Vec<OptionInput>,
    /// Whether several may be picked; default false.
    #[serde(default)]
    multiple: Option<bool>,
}

#[derive(Deserialize, JsonSchema)]
struct OptionInput {
    /// The answer, in a few words.
    label: String,
    /// What it would mean, if that is not plain.
    #[serde(default)]
    description: Option<String>,
}

/// Asks the person.
pub struct AskUser {
    spec: ToolSpec,
}

impl AskUser {
    /// The tool.
    pub fn new() -> Self {
        Self {
            spec: args::spec::<Input>(NAME, ToolClass::Own, None),
        }
    }
}

impl Default for AskUser {
    fn default() -> Self {
        Self::new()
    }
}

impl Tool for AskUser {
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
    let count = input.questions.len();
    if count == 0 || count > MOST_QUESTIONS {
        return Err(ToolError::new(format!(
            "{count} questions were put; send 1 to {MOST_QUESTIONS} in one call."
        )));
    }
    let asks = input
        .questions
        .into_iter()
        .zip(1..)
        .map(|(question, number)| ask(number, question));
    let asks: Vec<Ask> = asks.collect::<Result<_, _>>()?;
    let first = asks.first().map(|ask| one_line(&ask.text)).unwrap_or_default();
    let target = if count == 1 {
        first
    } else {
        format!("{first} (and {} more)", count - 1)
    };
    let digest = digest(NAME, &[format!("{asks:?}").as_bytes()]);
    Ok(own("Ask", target, digest, Action::Ask(asks)))
}

fn ask(number: usize, input: QuestionInput) -> Result<Ask, ToolError> {
    let text = input.question.trim().to_owned();
    if text.is_empty() {
        return Err(ToolError::new(format!(
            "Question {number} is empty: write the whole question."
        )));
    }
    if text.chars().count() > LONGEST_QUESTION {
        return Err(ToolError::new(format!(
            "Question {number} is longer than {LONGEST_QUESTION} characters: explain before you ask, then ask shortly."
        )));
    }
    let count = input.options.len();
    if !(2..=MOST_OPTIONS).contains(&count) {
        return Err(ToolError::new(format!(
            "Question {number} has {count} options; it needs 2 to {MOST_OPTIONS}. An own answer is always offered, \
             so \"other\" need not be one of them."
        )));
    }
    let mut options: Vec<AskOption> = Vec::with_capacity(count);
    for (option, place) in input.options.into_iter().zip(1_usize..) {
        let label = one_line(&option.label);
        let description = option.description.unwrap_or_default().trim().to_owned();
        if label.is_empty() {
            return Err(ToolError::new(format!(
                "Option {place} of question {number} has no label."
            )));
        }
        if label.chars().count().max(description.chars().count()) > LONGEST_OPTION {
            return Err(ToolError::new(format!(
                "Option {place} of question {number} is longer than {LONGEST_OPTION} characters: say it shorter."
            )));
        }
        if options.iter().any(|earlier| earlier.label == label) {
            return Err(ToolError::new(format!(
                "Question {number} has the option \"{label}\" twice."
            )));
        }
        options.push(AskOption { label, description });
    }
    Ok(Ask {
        text,
        options,
        multiple: input.multiple.unwrap_or(false),
    })
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
