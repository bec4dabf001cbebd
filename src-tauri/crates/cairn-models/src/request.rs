//! What the bodies of all protocols have alike. Owns: ids in the form that a server takes, where each piece of a body
//! comes from, what is asked for beyond the bare protocol. Must never know: the form of any body.

use std::collections::{HashMap, HashSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cairn_agent::model::{ModelRequest, Part, Place, Role};
use cairn_agent::tool::PictureBytes;
use cairn_protocol::Effort;
use serde_json::Value;

/// Name of the field that limits the reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LimitField {
    /// What nearly every server knows.
    MaxTokens,
    /// What OpenAI's own newer models insist on.
    MaxCompletionTokens,
}

/// How thinking is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Thinking {
    /// As the protocol's first form has it.
    Usual,
    /// Anthropic's newer form: the model decides how much, led by an effort.
    Adaptive,
    /// Not at all: the model knows no such thing.
    Left,
}

/// What beyond the bare protocol is put into a body. Servers differ in what they refuse; what one refused once is left
/// out from then on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extras {
    /// Ask for the count of tokens.
    pub(crate) stream_options: bool,
    /// Ask llama.cpp to tell how far the prompt is read.
    pub(crate) return_progress: bool,
    /// Send the temperature, where one is set.
    pub(crate) temperature: bool,
    /// How the limit is called.
    pub(crate) limit: LimitField,
    /// The most tokens that a reply may ask for, where the server said so.
    pub(crate) most_tokens: Option<u64>,
    /// How to ask for thinking.
    pub(crate) thinking: Thinking,
    /// Ask for thoughts in words.
    pub(crate) summary: bool,
    /// Ask for encrypted thoughts, and that nothing is kept.
    pub(crate) encrypted: bool,
    /// Mark what shall be cached.
    pub(crate) cache_marks: bool,
}

/// What a body is made from.
pub(crate) struct Ask<'a> {
    pub(crate) model: &'a str,
    pub(crate) request: &'a ModelRequest,
    pub(crate) extras: Extras,
    pub(crate) effort: Option<Effort>,
    pub(crate) keep_alive: Option<&'a str>,
    /// Tokens that the model shall be given, for servers that have to be told.
    pub(crate) window: Option<u64>,
    /// Tokens a reply may have, where a protocol insists on a number and the request has none.
    pub(crate) usual_limit: u64,
    /// Whose reasoning data may be sent.
    pub(crate) origin: &'a str,
    pub(crate) ids: IdForm,
}

impl Ask<'_> {
    /// Tokens the reply may have, within what the server said.
    pub(crate) fn limit(&self) -> Option<u64> {
        let asked = self.request.max_output_tokens;
        asked.map(|asked| self.extras.most_tokens.map_or(asked, |most| asked.min(most)))
    }

    /// The temperature, where it is set and the server takes it.
    pub(crate) fn temperature(&self) -> Option<f64> {
        self.request.temperature.filter(|_| self.extras.temperature)
    }

    /// The effort, where it is set and the server takes it.
    pub(crate) fn effort(&self) -> Option<Effort> {
        self.effort.filter(|_| self.extras.thinking != Thinking::Left)
    }

    /// Reasoning data that this server made, read.
    pub(crate) fn own_reasoning(&self, part: &Part) -> Option<Value> {
        match part {
            Part::Reasoning(data) if data.origin == self.origin => serde_json::from_str(&data.json)
                .ok()
                .filter(|it: &Value| !it.is_null()),
            _ => None,
        }
    }

    /// Index of the message with which the person's last words begin; what follows belongs to the work on them.
    pub(crate) fn last_words(&self) -> usize {
        let messages = &self.request.messages;
        messages
            .iter()
            .rposition(|message| message.role == Role::User)
            .unwrap_or_default()
    }
}

/// The form of call ids that a server takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IdForm {
    /// Letters, digits, `_` and `-`, at most that many.
    Plain(usize),
    /// Nine letters and digits, as Mistral wants them.
    Nine,
}

/// Ids as they are sent, and what they stand for.
#[derive(Debug)]
pub(crate) struct WireIds {
    form: IdForm,
    sent: HashMap<String, String>,
    taken: HashSet<String>,
}

impl WireIds {
    pub(crate) fn new(form: IdForm) -> Self {
        Self {
            form,
            sent: HashMap::new(),
            taken: HashSet::new(),
        }
    }

    /// The id as it is sent; the same one for the same call.
    pub(crate) fn wire(&mut self, id: &str) -> String {
        if let Some(known) = self.sent.get(id) {
            return known.clone();
        }
        let mut number = 0_u32;
        let mut wire = formed(id, self.form, number);
        while !self.taken.insert(wire.clone()) {
            number += 1;
            wire = formed(id, self.form, number);
        }
        self.sent.insert(id.to_owned(), wire.clone());
        wire
    }
}

fn formed(id: &str, form: IdForm, number: u32) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    match form {
        IdForm::Plain(most) if number == 0 && !id.is_empty() && id.len() <= most && id.chars().all(fits) => {
            id.to_owned()
        }
        IdForm::Plain(most) => {
            let start: String = id
                .chars()
                .map(|c| if fits(c) { c } else { '_' })
                .take(most.saturating_sub(17))
                .collect();
            format!("{start}_{:016x}", hash(id, number))
        }
        IdForm::Nine if number == 0 && id.len() == 9 && id.chars().all(|c| c.is_ascii_alphanumeric()) => {
            id.to_owned()
        }
        IdForm::Nine => format!("{:09x}", hash(id, number) & 0xF_FFFF_FFFF),
    }
}

/// The same for the same id in every process: a prompt whose ids change is not found in a cache.
fn hash(id: &str, number: u32) -> u64 {
    let start = 0xcbf2_9ce4_8422_2325_u64 ^ u64::from(number);
    id.bytes().fold(start, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// Where the pieces of a body come from: for each entry of its list, and for each part of that, a place in the
/// request. And the ids that were sent.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    entries: Vec<Vec<Place>>,
    ids: HashMap<String, String>,
}

impl Trace {
    /// Notes the next entry with the places of its parts.
    pub(crate) fn entry(&mut self, parts: Vec<Place>) {
        self.entries.push(parts);
    }

    /// Notes more parts of the entry before.
    pub(crate) fn more(&mut self, parts: Vec<Place>) {
        match self.entries.last_mut() {
            Some(last) => last.extend(parts),
            None => self.entries.push(parts),
        }
    }

    /// Notes which ids were sent.
    pub(crate) fn ids(&mut self, ids: WireIds) {
        self.ids = ids.sent.into_iter().map(|(ours, wire)| (wire, ours)).collect();
    }

    /// Where an entry, or a part of it, comes from.
    pub(crate) fn place(&self, entry: usize, part: Option<usize>) -> Option<Place> {
        let parts = self.entries.get(entry)?;
        if let Some(place) = part.and_then(|part| parts.get(part)) {
            return Some(*place);
        }
        let first = parts.first()?;
        Some(match parts.len() {
            1 => *first,
            _ => Place {
                message: first.message,
                part: None,
            },
        })
    }

    /// Every id that was sent, with ours.
    pub(crate) fn sent_ids(&self) -> impl Iterator<Item = (&str, &str)> {
        self.ids.iter().map(|(wire, ours)| (wire.as_str(), ours.as_str()))
    }
}

/// A body with where its pieces come from.
#[derive(Debug)]
pub(crate) struct Sent {
    pub(crate) body: Value,
    pub(crate) trace: Trace,
}

/// Ids of all calls in the conversation.
pub(crate) fn call_ids(request: &ModelRequest) -> HashSet<String> {
    let parts = request.messages.iter().flat_map(|message| &message.parts);
    parts
        .filter_map(|part| match part {
            Part::Call { id, .. } => Some(id.clone()),
            _ => None,
        })
        .collect()
}

/// A place in the request.
pub(crate) fn place(message: usize, part: usize) -> Place {
    Place {
        message,
        part: Some(part),
    }
}

/// A picture as base64.
pub(crate) fn base64(picture: &PictureBytes) -> String {
    STANDARD.encode(&picture.bytes)
}

/// A picture as a data address.
pub(crate) fn data_url(picture: &PictureBytes) -> String {
    format!("data:{};base64,{}", picture.media_type, base64(picture))
}

/// Arguments as an object; by the time they are sent again they are one.
pub(crate) fn arguments(text: &str) -> Value {
    serde_json::from_str::<serde_json::Map<String, Value>>(text)
        .map_or_else(|_| Value::Object(serde_json::Map::new()), Value::Object)
}

#[cfg(test)]
mod tests;
