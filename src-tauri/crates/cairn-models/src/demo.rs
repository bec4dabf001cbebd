//! The demo model: a script that drives the real agent on a sample project. SPEC M1, A8.
//!
//! Owns: the guided tour and its pace. Must never know: how tools work; it only reads what their results say.

mod sample;
mod script;

use std::time::Duration;

use cairn_agent::model::{FinishReason, Model, ModelError, ModelEvent, ModelInfo, ModelRequest};
use cairn_protocol::Usage;
use futures_util::stream::{self, BoxStream, StreamExt};

pub use sample::sample;
use script::Line;

/// How fast the demo talks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Between two words.
    pub word: Duration,
    /// Before a call, as if it thought.
    pub call: Duration,
}

impl Pace {
    /// So that a person can follow.
    pub const READABLE: Self = Self {
        word: Duration::from_millis(24),
        call: Duration::from_millis(350),
    };
    /// Without any wait, for tests.
    pub const INSTANT: Self = Self {
        word: Duration::ZERO,
        call: Duration::ZERO,
    };
}

/// What is known about the demo.
pub(crate) fn info() -> ModelInfo {
    ModelInfo {
        name: "demo".to_owned(),
        window: Some(32_768),
        window_assumed: false,
        max_output_tokens: None,
        temperature: None,
        tools: true,
        vision: true,
        local: true,
    }
}

/// A model by script.
#[derive(Debug)]
pub struct DemoModel {
    info: ModelInfo,
    pace: Pace,
}

impl DemoModel {
    /// A demo that talks at that pace.
    pub fn new(pace: Pace) -> Self {
        Self { info: info(), pace }
    }
}

impl Model for DemoModel {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn stream(&self, request: ModelRequest) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        let pace = self.pace;
        let lines = script::reply(&request);
        let events = perform(&request, lines);
        stream::iter(events)
            .then(move |event| async move {
                let wait = match event {
                    ModelEvent::Text(_) => pace.word,
                    ModelEvent::Call { .. } => pace.call,
                    _ => Duration::ZERO,
                };
                if !wait.is_zero() {
                    tokio::time::sleep(wait).await;
                }
                Ok(event)
            })
            .boxed()
    }
}

/// The events of a reply: words one by one, calls with ids that the conversation does not hold yet.
fn perform(request: &ModelRequest, lines: Vec<Line>) -> Vec<ModelEvent> {
    let mut events = Vec::new();
    let mut written = 0;
    let mut calls = script::calls_made(request);
    for line in lines {
        match line {
            Line::Say(text) => {
                written += text.len();
                events.extend(
                    text.split_inclusive(' ')
                        .map(|word| ModelEvent::Text(word.to_owned())),
                );
            }
            Line::Call(name, arguments) => {
                calls += 1;
                let arguments = arguments.to_string();
                written += arguments.len();
                events.push(ModelEvent::Call {
                    id: format!("demo_{calls}"),
                    name: name.to_owned(),
                    arguments,
                    from_text: false,
                    cut: false,
                });
            }
        }
    }
    events.push(ModelEvent::Usage(Usage {
        input_tokens: script::tokens(request),
        cached_tokens: 0,
        cache_write_tokens: 0,
        output_tokens: (written as u64).div_ceil(4),
        cost_usd: None,
    }));
    events.push(ModelEvent::Finished(FinishReason::Stop));
    events
}

#[cfg(test)]
mod tests;
