//! From the log to the conversation a model gets, repaired in both directions.
//!
//! Every call gets exactly one result right after its own message, results without a call cannot come about, ids are
//! unique, arguments are JSON objects. So a session that was cut off anywhere can always be sent again.

use std::collections::{HashMap, HashSet};

use cairn_protocol::{Attachment, Item, ItemBody, ItemState, Notice, Picture, TodoState, ToolItem};

use crate::model::{Message, Part, Role};
use crate::tool::PictureBytes;

/// Notices with this prefix in their code are told to the model as well.
pub const TOLD_PREFIX: &str = "told_";

/// Pictures of a transcript that a model with vision would get.
pub fn pictures(items: &[Item]) -> Vec<&Picture> {
    items
        .iter()
        .flat_map(|item| match &item.body {
            ItemBody::User { attachments, .. } => attachments
                .iter()
                .filter_map(|attachment| match attachment {
                    Attachment::Picture(picture) => Some(picture),
                    Attachment::File { .. } => None,
                })
                .collect::<Vec<_>>(),
            ItemBody::Tool(tool) => tool.result.iter().flat_map(|result| &result.pictures).collect(),
            _ => Vec::new(),
        })
        .collect()
}

/// The conversation. `bytes` holds the pictures to send; one that is not there becomes a sentence.
pub fn messages(items: &[Item], bytes: &HashMap<String, PictureBytes>) -> Vec<Message> {
    let mut out = Conversation {
        messages: Vec::new(),
        ids: HashSet::new(),
        bytes,
    };
    let mut rest = items;
    while let Some((first, after)) = rest.split_first() {
        if first.step.is_some() && of_model(first) {
            let length = rest
                .iter()
                .take_while(|item| {
                    item.step == first.step && item.turn == first.turn && of_model_or_silent(item)
                })
                .count();
            let (step, after) = rest.split_at(length);
            out.model_step(step);
            rest = after;
        } else {
            out.other(first);
            rest = after;
        }
    }
    out.messages
}

fn of_model(item: &Item) -> bool {
    matches!(
        item.body,
        ItemBody::Assistant { .. } | ItemBody::Tool(_) | ItemBody::Thinking { .. }
    )
}

fn of_model_or_silent(item: &Item) -> bool {
    match &item.body {
        ItemBody::Notice(notice) => !is_told(notice),
        ItemBody::Question(_) | ItemBody::Unknown { .. } => true,
        _ => of_model(item),
    }
}

fn is_told(notice: &Notice) -> bool {
    notice.code.starts_with(TOLD_PREFIX)
}

struct Conversation<'a> {
    messages: Vec<Message>,
    ids: HashSet<String>,
    bytes: &'a HashMap<String, PictureBytes>,
}

impl Conversation<'_> {
    fn other(&mut self, item: &Item) {
        match &item.body {
            ItemBody::User { text, attachments } => self.user(text, attachments),
            ItemBody::Notice(notice) if is_told(notice) => {
                self.push_user(vec![Part::Text(notice.text.clone())]);
            }
            // Without a step: written by a build that did not count them. Each is a step of its own.
            ItemBody::Assistant { .. } | ItemBody::Tool(_) => self.model_step(std::slice::from_ref(item)),
            _ => {}
        }
    }

    fn user(&mut self, text: &str, attachments: &[Attachment]) {
        let mut parts = Vec::new();
        let mut text = text.to_owned();
        for attachment in attachments {
            match attachment {
                Attachment::Picture(picture) => match self.bytes.get(picture.sent.as_str()) {
                    Some(bytes) => parts.push(Part::Picture(bytes.clone())),
                    None => text.push_str(&format!("\n\n{}", unseen(picture))),
                },
                Attachment::File { path } => {
                    text.push_str(&format!("\n\n[The user attached the file `{path}`.]"));
                }
            }
        }
        parts.insert(0, Part::Text(text));
        self.push_user(parts);
    }

    /// Templates of small models want the sides to alternate, so messages of one side are joined.
    fn push_user(&mut self, parts: Vec<Part>) {
        match self.messages.last_mut() {
            Some(last) if last.role == Role::User => last.parts.extend(parts),
            _ => self.messages.push(Message {
                role: Role::User,
                parts,
            }),
        }
    }

    fn model_step(&mut self, step: &[Item]) {
        let mut said = Vec::new();
        let mut results = Vec::new();
        for item in step {
            match &item.body {
                // What a failed try wrote was written again by the next one.
                ItemBody::Assistant { text }
                    if item.state != ItemState::Failed && !text.trim().is_empty() =>
                {
                    said.push(Part::Text(text.clone()));
                }
                ItemBody::Thinking { data: Some(data), .. } if item.state != ItemState::Failed => {
                    said.push(Part::Reasoning((**data).clone()))
                }
                ItemBody::Tool(tool) => {
                    let id = self.unique(tool.call.as_str());
                    said.push(Part::Call {
                        id: id.clone(),
                        name: tool.name.clone(),
                        arguments: object_or_empty(&tool.arguments),
                    });
                    results.push(self.result(id, tool));
                }
                _ => {}
            }
        }
        // Providers refuse a thought that nothing follows.
        while matches!(said.last(), Some(Part::Reasoning(_))) {
            said.pop();
        }
        if said.is_empty() {
            return;
        }
        self.messages.push(Message {
            role: Role::Assistant,
            parts: said,
        });
        if !results.is_empty() {
            self.messages.push(Message {
                role: Role::Tool,
                parts: results,
            });
        }
    }

    fn result(&self, id: String, tool: &ToolItem) -> Part {
        let Some(result) = &tool.result else {
            let text = "Interrupted: the program ended before this call did. It may have had an effect; look before \
                        you do it again.";
            return Part::Result {
                id,
                text: text.to_owned(),
                pictures: Vec::new(),
                ok: false,
            };
        };
        let mut text = result.content.clone();
        let mut pictures = Vec::new();
        for picture in &result.pictures {
            match self.bytes.get(picture.sent.as_str()) {
                Some(bytes) => pictures.push(bytes.clone()),
                None => text.push_str(&format!("\n{}", unseen(picture))),
            }
        }
        Part::Result {
            id,
            text,
            pictures,
            ok: result.ok,
        }
    }

    fn unique(&mut self, id: &str) -> String {
        let mut candidate = if id.is_empty() {
            "call".to_owned()
        } else {
            id.to_owned()
        };
        let mut number = 1;
        while !self.ids.insert(candidate.clone()) {
            number += 1;
            candidate = format!("{id}-{number}");
        }
        candidate
    }
}

fn unseen(picture: &Picture) -> String {
    format!(
        "[{}: a picture of {} × {} pixels. This model cannot see pictures; the user can.]",
        picture.name, picture.width, picture.height
    )
}

/// Providers refuse arguments that are no JSON object, also in the past.
fn object_or_empty(arguments: &str) -> String {
    match serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(arguments) {
        Ok(_) => arguments.to_owned(),
        Err(_) => "{}".to_owned(),
    }
}

/// The sentence that tells the model of a plan the person changed.
pub fn plan_sentence(plan: &[cairn_protocol::TodoItem]) -> String {
    use std::fmt::Write;
    let mut text = "[The user changed the plan. It is now:".to_owned();
    for item in plan {
        let mark = match item.state {
            TodoState::Pending => "pending",
            TodoState::InProgress => "in_progress",
            TodoState::Completed => "completed",
            TodoState::Cancelled => "cancelled",
        };
        // Writing to a string cannot fail.
        write!(text, "\n- {} ({mark})", item.text).unwrap_or_default();
    }
    text.push(']');
    text
}

#[cfg(test)]
#[path = "history/tests.rs"]
mod tests;
