//! Putting a request to the model together.

use std::collections::HashMap;
use std::sync::Arc;

use cairn_protocol::{ApiError, AsidePart, ErrorCode, ItemId, Mark, Picture};

use super::Driver;
use crate::context::{Context, Marks};
use crate::effect::Input;
use crate::model::{Message, ModelError, ModelInfo, ModelRequest, Part, Role};
use crate::store::Journal;
use crate::summary::Cut;
use crate::tool::{PictureBytes, ToolSpec};
use crate::{brief, history, prompt, summary};

/// Tokens of a reply that is only to show whether a request is taken.
const PROBE_REPLY: u64 = 16;

impl Driver {
    /// Sends the request; what comes back now is why it could not be sent.
    pub(super) async fn ask_model(&mut self) -> Option<Input> {
        let Some(model) = self.model.clone() else {
            let text = "No model is chosen. Choose one in the model settings, then send the message again.";
            return Some(Input::RequestFailed(ApiError::new(ErrorCode::NoModel, text)));
        };
        let (system, tools) = self.prompt(model.info()).await;
        // The first request of a session is the first whose fixed part is known.
        if self.machine.needs_room() {
            return Some(Input::NeedsRoom);
        }
        let marks = self.machine.log().marks().clone();
        let messages = self.conversation(model.info(), &marks).await;
        let request = ModelRequest {
            system,
            messages,
            tools,
            max_output_tokens: self.machine.most_reply(),
            temperature: model.info().temperature,
        };
        self.stream = Some(model.stream(request));
        None
    }

    /// Sends the request with less in it and for hardly any reply; what comes back now is why it could not be sent.
    pub(super) async fn probe(&mut self, without: &[ItemId]) -> Option<Input> {
        let Some(model) = self.model.clone() else {
            let error = ModelError::fatal(ErrorCode::NoModel, "No model is chosen.");
            return Some(Input::ModelFailed(error));
        };
        let (system, tools) = self.prompt(model.info()).await;
        let mut marks = self.machine.log().marks().clone();
        for item in without {
            let mark = Mark::SetAside {
                part: AsidePart::Whole,
                reason: "probed".to_owned(),
            };
            marks.insert(item.clone(), mark);
        }
        let messages = self.conversation(model.info(), &marks).await;
        let request = ModelRequest {
            system,
            messages,
            tools,
            max_output_tokens: Some(PROBE_REPLY),
            temperature: model.info().temperature,
        };
        self.stream = Some(model.stream(request));
        None
    }

    async fn prompt(&mut self, info: &ModelInfo) -> (String, Arc<[ToolSpec]>) {
        let surroundings = self.surface.surroundings.surroundings().await;
        let mode = self.machine.log().session.mode;
        let prompt = prompt::assemble(&surroundings, mode, info.window);
        let tools = if info.tools {
            brief::told(&self.specs, info.window, mode)
        } else {
            [].into()
        };
        self.machine.set_prompt_size(
            prompt.rules_tokens() + prompt::tool_tokens(&tools),
            prompt.notes_tokens(),
        );
        (prompt.text, tools)
    }

    async fn conversation(&mut self, info: &ModelInfo, marks: &Marks) -> Vec<Message> {
        let wanted: Vec<Picture> = history::pictures(&Context::of(self.machine.log().items(), marks))
            .into_iter()
            .cloned()
            .collect();
        let journal = self.surface.journal.clone();
        let pictures = if info.vision {
            load_pictures(&wanted, journal).await
        } else {
            HashMap::new()
        };
        let log = self.machine.log();
        let mut context = Context::of(log.items(), marks);
        context.accepted_plan = log.context().accepted_plan;
        let (messages, sources) = history::build(&context, &log.plan, &pictures);
        self.sent = sources;
        messages
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
