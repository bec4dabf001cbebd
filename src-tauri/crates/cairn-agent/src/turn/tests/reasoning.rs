//! What a provider wants back of a thought stands where it was said, and goes only with what followed it. SPEC M7.

use std::collections::HashMap;

use cairn_protocol::{ErrorCode, MAX_REASONING_BYTES, ReasoningData};

use super::*;
use crate::history;
use crate::model::{Part, Role};

impl Bench {
    fn thinks(&mut self, text: &str) {
        self.tell(Input::Model(ModelEvent::Thinking(text.to_owned())));
    }

    fn keeps(&mut self, json: &str) {
        self.tell(Input::Model(ModelEvent::Reasoning(ReasoningData {
            origin: "o".to_owned(),
            json: json.to_owned(),
        })));
    }

    /// The model's messages in short: `r` and the data, `t` and the words, `c` and the id.
    fn in_short(&self) -> Vec<String> {
        let messages = history::messages(&self.machine.log().context(), &[], &HashMap::new());
        let short = |part: &Part| match part {
            Part::Text(text) => format!("t{text}"),
            Part::Reasoning(data) => format!("r{}", data.json),
            Part::Call { id, .. } => format!("c{id}"),
            other => format!("{other:?}"),
        };
        let own = messages.iter().filter(|message| message.role == Role::Assistant);
        own.map(|message| message.parts.iter().map(short).collect::<Vec<_>>().join(" "))
            .collect()
    }
}

fn asking() -> Bench {
    let mut bench = Bench::new();
    bench.send("x");
    bench
}

#[test]
fn m7_thoughts_words_and_calls_keep_their_order() {
    let mut bench = asking();
    bench.thinks("hm");
    bench.keeps("1");
    bench.keeps("2");
    bench.text("First.");
    bench.thinks("well");
    bench.keeps("3");
    bench.text("Second.");
    bench.call("a", "read_file", "{}");
    bench.end(FinishReason::Stop);
    assert_eq!(bench.in_short(), ["r1 r2 tFirst. r3 tSecond. ca"]);
    let thoughts: Vec<(String, bool)> = bench
        .machine
        .log()
        .items()
        .iter()
        .filter_map(|item| match &item.body {
            ItemBody::Thinking { text, data } => Some((text.clone(), data.is_some())),
            _ => None,
        })
        .collect();
    let expected = [("hm", true), ("", true), ("well", true)].map(|(text, kept)| (text.to_owned(), kept));
    assert_eq!(thoughts, expected);
}

#[test]
fn m7_a_thought_that_nothing_followed_is_not_sent() {
    let mut bench = asking();
    bench.text("Yes.");
    bench.thinks("hm");
    bench.keeps("1");
    bench.end(FinishReason::Stop);
    assert_eq!(bench.in_short(), ["tYes."]);
}

#[test]
fn m7_what_a_failed_or_empty_try_thought_is_not_sent_with_the_next() {
    let mut bench = asking();
    bench.text("Before.");
    bench.thinks("hm");
    bench.keeps("1");
    bench.text("Half");
    bench.tell(Input::ModelFailed(ModelError::passing(
        ErrorCode::ModelServer,
        "503",
    )));
    bench.tell(Input::RetryNow);
    bench.keeps("2");
    bench.end(FinishReason::Stop);
    bench.keeps("3");
    bench.text("Whole.");
    bench.end(FinishReason::Stop);
    assert_eq!(bench.in_short(), ["r3 tWhole."]);
}

#[test]
fn m7_data_without_bounds_is_not_kept_and_the_thought_is() {
    let mut bench = asking();
    bench.thinks("hm");
    bench.keeps(&"x".repeat(MAX_REASONING_BYTES + 1));
    bench.text("Yes.");
    bench.end(FinishReason::Stop);
    assert_eq!(bench.in_short(), ["tYes."]);
}
