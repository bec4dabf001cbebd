//! Putting a request to the model together.

use std::collections::HashMap;
use std::sync::Arc;

use cairn_protocol::{ApiError, ErrorCode, Picture};

use super::Driver;
use crate::effect::Input;
use crate::model::ModelRequest;
use crate::store::Journal;
use crate::tool::PictureBytes;
use crate::{history, prompt};

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
        if let Some(full) = self.machine.window_full() {
            return Some(Input::RequestFailed(full));
        }
        let wanted: Vec<Picture> = history::pictures(self.machine.log().items())
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
            messages: history::messages(self.machine.log().items(), &pictures),
            tools,
            max_output_tokens: info.max_output_tokens,
            temperature: info.temperature,
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
