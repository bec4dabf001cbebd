//! What the model says, as it streams in: shown at once after a pause, joined where it comes quickly.

use std::time::Duration;

use tokio::time::Instant;

use super::Driver;
use crate::effect::Input;
use crate::model::{FinishReason, ModelError, ModelEvent};

/// Text that streams in is shown at most this often; what comes first is shown at once.
const TEXT_EVERY: Duration = Duration::from_millis(30);

/// Streamed text that waits for its turn to be shown.
pub(super) struct Held {
    pub(super) thinking: bool,
    pub(super) text: String,
    pub(super) due: Instant,
}

impl Driver {
    pub(super) async fn hear(&mut self, said: Option<Result<ModelEvent, ModelError>>) {
        match said {
            Some(Ok(ModelEvent::Text(text))) => self.hold(false, text).await,
            Some(Ok(ModelEvent::Thinking(text))) => self.hold(true, text).await,
            Some(Ok(event)) => {
                self.release_text().await;
                let over = matches!(event, ModelEvent::Finished(_));
                if over {
                    self.stream = None;
                }
                self.feed(Input::Model(event)).await;
            }
            Some(Err(error)) => {
                self.stream = None;
                self.release_text().await;
                let input = match &error.rejected {
                    Some(rejected) => Input::Refused {
                        item: self.sent.refused(rejected),
                        error,
                    },
                    None => Input::ModelFailed(error),
                };
                self.feed(input).await;
            }
            None => {
                self.stream = None;
                self.release_text().await;
                self.feed(Input::Model(ModelEvent::Finished(FinishReason::Unknown)))
                    .await;
            }
        }
    }

    /// Shows text at once after a pause, and joins what follows quickly.
    pub(super) async fn hold(&mut self, thinking: bool, text: String) {
        if self.held.as_ref().is_some_and(|held| held.thinking != thinking) {
            self.release_text().await;
        }
        let now = Instant::now();
        let due = self.last_text.map_or(now, |last| last + TEXT_EVERY);
        match &mut self.held {
            Some(held) => held.text.push_str(&text),
            None => self.held = Some(Held { thinking, text, due }),
        }
        if due <= now {
            self.release_text().await;
        }
    }

    pub(super) async fn release_text(&mut self) {
        let Some(held) = self.held.take() else { return };
        self.last_text = Some(Instant::now());
        let event = if held.thinking {
            ModelEvent::Thinking(held.text)
        } else {
            ModelEvent::Text(held.text)
        };
        self.feed(Input::Model(event)).await;
    }
}
