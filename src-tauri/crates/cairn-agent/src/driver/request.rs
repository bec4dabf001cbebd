//! Putting a request to the model together.

use std::collections::HashMap;
use std::sync::Arc;

use cairn_protocol::{ApiError, ErrorCode, Picture};

use super::Driver;
use crate::effect::Input;
use crate::model::{Message, ModelError, ModelRequest, Part, Role};
use crate::store::Journal;
use crate::summary::Cut;
use crate::tool::PictureBytes;
use crate::{history, prompt, summary};

impl Driver {
    /// Sends the request; what comes back now is why it could not be sent.
    pub(super) async fn ask_model(&mut self) -> Option<Input> {
        let Some(model) = self.model.clone() else {
            let text = "No model is chosen. Choose one in the model settings, then send the message again.";
            return Some(Input::RequestFailed(ApiError::new(ErrorCode::NoModel, text)));
        };
        let info = model.info();
        let surroundings = self.surface.surroundings.surroundings().await;
        let prompt = prompt::assemble(&surroundings, self.machine.log().session.mode, info.window);
        let tools = if info.tools { self.specs.clone() } else { [].into() };
        self.machine.set_prompt_size(
            prompt.rules_tokens() + prompt::tool_tokens(&tools),
            prompt.notes_tokens(),
        );
        // The first request of a session is the first whose fixed part is known.
        if self.machine.needs_room() {
            return Some(Input::NeedsRoom);
        }
        let wanted: Vec<Picture> = history::pictures(&self.machine.log().context())
            .into_iter()
            .cloned()
            .collect();
        let journal = self.surface.journal.clone();
        let pictures = if info.vision {
            load_pictures(&wanted, journal).await
        } else {
            HashMap::new()
        };
        let request = ModelRequest {
            system: prompt.text,
            messages: history::messages(&self.machine.log().context(), &self.machine.log().plan, &pictures),
            tools,
            max_output_tokens: self.machine.most_reply(),
            temperature: info.temperature,
        };
        self.stream = Some(model.stream(request));
        None
    }
}

impl Driver {
    /// Has a summary written; what comes back now is why nobody could be asked.
    pub(super) fn ask_summary(&mut self, cut: &Cut, room: u64, most: u64) -> Option<Input> {
        let Some(model) = self.model.clone() else {
            let text = "No model is chosen.";
            return Some(Input::ModelFailed(ModelError::fatal(ErrorCode::NoModel, text)));
        };
        let text = summary::transcript(&self.machine.log().context(), cut, room);
        let request = ModelRequest {
            system: summary::rules(most),
            messages: vec![Message {
                role: Role::User,
                parts: vec![Part::Text(text)],
            }],
            tools: [].into(),
            // Models that think do so before they write.
            max_output_tokens: model.info().max_output_tokens.map(|own| own.min(most * 4)),
            temperature: model.info().temperature,
        };
        self.stream = Some(model.stream(request));
        None
    }
}

/// Bytes of all pictures in the conversation. One that is gone becomes a sentence in the history.
async fn load_pictures(wanted: &[Picture], journal: Arc<dyn Journal>) -> HashMap<String, PictureBytes> {
    let mut found = HashMap::new();
    for picture in wanted {
        if found.contains_key(picture.sent.as_str()) {
            continue;
        }
        match journal.get_blob(picture.sent.clone()).await {
            Ok(bytes) => {
                let media_type = picture.sent_media_type.clone();
                let bytes = PictureBytes {
                    blob: picture.sent.clone(),
                    media_type,
                    bytes: bytes.into(),
                };
                found.insert(picture.sent.0.clone(), bytes);
            }
            Err(error) => {
                tracing::warn!(%error, picture = %picture.sent, "a picture of the conversation is gone");
            }
        }
    }
    found
}
