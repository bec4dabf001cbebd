//! From the log to the conversation a model gets, repaired in both directions.
//!
//! Every call gets exactly one result right after its own message, results without a call cannot come about, ids are
//! unique, arguments are JSON objects. So a session that was cut off anywhere can always be sent again.

use std::collections::{HashMap, HashSet};

use cairn_protocol::{
    AsidePart, Attachment, Item, ItemBody, ItemId, ItemState, Mark, Picture, TodoItem, TodoState, ToolItem,
};

use crate::context::{Context, is_of_model, is_told, piece};
use crate::model::{Message, Objection, Part, Rejected, Role};
use crate::tool::PictureBytes;

/// Pictures of the context that a model with vision would get.
pub fn pictures<'a>(context: &Context<'a>) -> Vec<&'a Picture> {
    let all = context.pinned.iter().chain(&context.items);
    let sent = all.filter(|item| !matches!(context.mark(item), Some(Mark::TakenOut | Mark::SetAside { .. })));
    sent.flat_map(|item| pictures_of(item)).collect()
}

/// Pictures of one item.
pub fn pictures_of(item: &Item) -> Vec<&Picture> {
    match &item.body {
        ItemBody::User { attachments, .. } => attachments
            .iter()
            .filter_map(|attachment| match attachment {
                Attachment::Picture(picture) => Some(picture),
                Attachment::File { .. } => None,
            })
            .collect(),
        ItemBody::Tool(tool) => tool.result.iter().flat_map(|result| &result.pictures).collect(),
        _ => Vec::new(),
    }
}

/// Where the parts of a conversation came from, for whoever has to find what a server refused.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// The item of each part of each message; none for what no single item says.
    messages: Vec<Vec<Option<ItemId>>>,
    /// The item of each call, by its id in the request.
    calls: HashMap<String, ItemId>,
}

impl Sources {
    /// The item that a refusal is about, as far as it tells.
    pub fn refused(&self, rejected: &Rejected) -> Option<ItemId> {
        if let Objection::Pairing { call: Some(call) } = &rejected.what
            && let Some(item) = self.calls.get(call)
        {
            return Some(item.clone());
        }
        let at = rejected.at?;
        let parts = self.messages.get(at.message)?;
        if let Some(part) = at.part {
            return parts.get(part)?.clone();
        }
        let mut items: Vec<_> = parts.iter().flatten().collect();
        items.dedup();
        // Of several any may be meant.
        match items.as_slice() {
            [only] => Some((*only).clone()),
            _ => None,
        }
    }
}

/// The conversation alone; see [`build`].
pub fn messages(
    context: &Context<'_>,
    plan: &[TodoItem],
    bytes: &HashMap<String, PictureBytes>,
) -> Vec<Message> {
    build(context, plan, bytes).0
}

/// The conversation, and where its parts came from. `bytes` holds the pictures to send; one that is not there becomes a sentence. The plan is told
/// where a summary stands for what told it before.
pub fn build(
    context: &Context<'_>,
    plan: &[TodoItem],
    bytes: &HashMap<String, PictureBytes>,
) -> (Vec<Message>, Sources) {
    let mut out = Conversation {
        messages: Vec::new(),
        sources: Sources::default(),
        ids: HashSet::new(),
        context,
        bytes,
    };
    out.before(plan);
    let mut rest = context.items.as_slice();
    while let Some((one, after)) = rest
        .split_at_checked(piece(rest))
        .filter(|(one, _)| !one.is_empty())
    {
        match one.first() {
            Some(first) if first.step.is_some() && is_of_model(first) => out.model_step(one),
            Some(first) => out.other(first),
            None => {}
        }
        rest = after;
    }
    // Providers refuse a conversation that the model begins.
    if out.messages.first().is_some_and(|first| first.role != Role::User) {
        let text = "[The beginning of the conversation is not here any more.]".to_owned();
        let first = Message {
            role: Role::User,
            parts: vec![Part::Text(text)],
        };
        out.messages.insert(0, first);
        out.sources.messages.insert(0, vec![None]);
    }
    (out.messages, out.sources)
}

struct Conversation<'a> {
    messages: Vec<Message>,
    sources: Sources,
    ids: HashSet<String>,
    context: &'a Context<'a>,
    bytes: &'a HashMap<String, PictureBytes>,
}

impl Conversation<'_> {
    /// What stands for all that was before.
    fn before(&mut self, plan: &[TodoItem]) {
        let Some(summary) = self.context.summary else {
            return;
        };
        let text = format!(
            "[The conversation before this point was summarised to save room. The summary, as data:]\n\n{}",
            summary.text
        );
        self.push_user(None, vec![Part::Text(text)]);
        for item in &self.context.pinned {
            let mut parts = Vec::new();
            self.pinned(item, &mut parts);
            self.push_user(Some(item), parts);
        }
        if let Some(accepted) = self.context.accepted_plan {
            let text = format!("[The plan that the user accepted:]\n\n{accepted}");
            self.push_user(None, vec![Part::Text(text)]);
        }
        if !plan.is_empty() {
            self.push_user(None, vec![Part::Text(plan_text("[The plan as it stands:", plan))]);
        }
    }

    /// Something from before that the person wants kept. It is told as words: a call without its reply is refused.
    fn pinned(&self, item: &Item, parts: &mut Vec<Part>) {
        let text = match &item.body {
            ItemBody::User { text, .. } => format!("[Kept from before; the user wrote:]\n{text}"),
            ItemBody::Assistant { text } => format!("[Kept from before; you wrote:]\n{text}"),
            ItemBody::Tool(tool) => format!(
                "[Kept from before; `{}` with {} gave:]\n{}",
                tool.name,
                object_or_empty(&tool.arguments),
                tool.result.as_ref().map_or("", |result| result.content.as_str()),
            ),
            _ => return,
        };
        parts.push(Part::Text(text));
        for picture in pictures_of(item) {
            parts.push(match self.bytes.get(picture.sent.as_str()) {
                Some(bytes) => Part::Picture(bytes.clone()),
                None => Part::Text(unseen(picture)),
            });
        }
    }

    fn other(&mut self, item: &Item) {
        match &item.body {
            ItemBody::User { text, attachments } => self.user(item, text, attachments),
            ItemBody::Notice(notice) if is_told(notice) => {
                self.push_user(Some(item), vec![Part::Text(notice.text.clone())]);
            }
            // Without a step: written by a build that did not count them. Each is a step of its own.
            ItemBody::Assistant { .. } | ItemBody::Tool(_) => self.model_step(&[item]),
            _ => {}
        }
    }

    fn user(&mut self, item: &Item, text: &str, attachments: &[Attachment]) {
        let aside = match self.context.mark(item) {
            None | Some(Mark::Pinned) => None,
            Some(Mark::TakenOut) => {
                let text = "[The user took a message out of the conversation here.]".to_owned();
                return self.push_user(Some(item), vec![Part::Text(text)]);
            }
            Some(Mark::SetAside { part, reason }) => Some((*part, reason.as_str())),
        };
        if let Some((AsidePart::Whole, reason)) = aside {
            let text = format!("[A message of the user could not be sent and was set aside: {reason}]");
            return self.push_user(Some(item), vec![Part::Text(text)]);
        }
        let mut parts = Vec::new();
        let mut text = text.to_owned();
        for attachment in attachments {
            match (attachment, aside) {
                (Attachment::Picture(picture), Some((_, reason))) => {
                    text.push_str(&format!("\n\n{}", refused(picture, reason)));
                }
                (Attachment::Picture(picture), None) => match self.bytes.get(picture.sent.as_str()) {
                    Some(bytes) => parts.push(Part::Picture(bytes.clone())),
                    None => text.push_str(&format!("\n\n{}", unseen(picture))),
                },
                (Attachment::File { path }, _) => {
                    text.push_str(&format!("\n\n[The user attached the file `{path}`.]"));
                }
            }
        }
        parts.insert(0, Part::Text(text));
        self.push_user(Some(item), parts);
    }

    /// Templates of small models want the sides to alternate, so messages of one side are joined.
    fn push_user(&mut self, item: Option<&Item>, parts: Vec<Part>) {
        let sources = parts.iter().map(|_| item.map(|item| item.id.clone()));
        match (self.messages.last_mut(), self.sources.messages.last_mut()) {
            (Some(last), Some(known)) if last.role == Role::User => {
                known.extend(sources);
                last.parts.extend(parts);
            }
            _ if parts.is_empty() => {}
            _ => {
                let sources = sources.collect();
                self.push(Role::User, parts, sources);
            }
        }
    }

    fn push(&mut self, role: Role, parts: Vec<Part>, sources: Vec<Option<ItemId>>) {
        self.messages.push(Message { role, parts });
        self.sources.messages.push(sources);
    }

    fn model_step(&mut self, step: &[&Item]) {
        let mut said = Vec::new();
        let mut said_by = Vec::new();
        let mut results = Vec::new();
        let mut results_of = Vec::new();
        for item in step.iter().copied() {
            let mark = self.context.mark(item);
            let is_plain = !matches!(mark, Some(Mark::TakenOut | Mark::SetAside { .. }));
            match &item.body {
                // What a failed try wrote was written again by the next one.
                ItemBody::Assistant { text }
                    if is_plain && item.state != ItemState::Failed && !text.trim().is_empty() =>
                {
                    said.push(Part::Text(text.clone()));
                    said_by.push(Some(item.id.clone()));
                }
                ItemBody::Thinking { data: Some(data), .. }
                    if is_plain && item.state != ItemState::Failed =>
                {
                    said.push(Part::Reasoning((**data).clone()));
                    said_by.push(Some(item.id.clone()));
                }
                ItemBody::Tool(tool) => {
                    let id = self.unique(tool.call.as_str());
                    let is_whole = !matches!(
                        mark,
                        Some(Mark::SetAside {
                            part: AsidePart::Whole,
                            ..
                        })
                    );
                    said.push(Part::Call {
                        id: id.clone(),
                        name: tool.name.clone(),
                        arguments: if is_whole {
                            object_or_empty(&tool.arguments)
                        } else {
                            "{}".to_owned()
                        },
                    });
                    said_by.push(Some(item.id.clone()));
                    results_of.push(Some(item.id.clone()));
                    self.sources.calls.insert(id.clone(), item.id.clone());
                    results.push(self.result(id, tool, mark));
                }
                _ => {}
            }
        }
        // Providers refuse a thought that nothing follows.
        while matches!(said.last(), Some(Part::Reasoning(_))) {
            said.pop();
            said_by.pop();
        }
        if said.is_empty() {
            return;
        }
        self.push(Role::Assistant, said, said_by);
        if !results.is_empty() {
            self.push(Role::Tool, results, results_of);
        }
    }

    fn result(&self, id: String, tool: &ToolItem, mark: Option<&Mark>) -> Part {
        let only = |text: String, ok| Part::Result {
            id: id.clone(),
            text,
            pictures: Vec::new(),
            ok,
        };
        let Some(result) = &tool.result else {
            let text = "Interrupted: the program ended before this call did. It may have had an effect; look before \
                        you do it again.";
            return only(text.to_owned(), false);
        };
        let reason = match mark {
            None | Some(Mark::Pinned) => None,
            Some(Mark::TakenOut) => {
                let text = "[The user took this result out of the conversation.]";
                return only(text.to_owned(), result.ok);
            }
            Some(Mark::SetAside {
                part: AsidePart::Whole,
                reason,
            }) => {
                let text = format!("[This call and its result were refused and set aside: {reason}]");
                return only(text, result.ok);
            }
            Some(Mark::SetAside {
                part: AsidePart::Pictures,
                reason,
            }) => Some(reason),
        };
        let mut text = result.content.clone();
        let mut pictures = Vec::new();
        for picture in &result.pictures {
            match (reason, self.bytes.get(picture.sent.as_str())) {
                (Some(reason), _) => text.push_str(&format!("\n{}", refused(picture, reason))),
                (None, Some(bytes)) => pictures.push(bytes.clone()),
                (None, None) => text.push_str(&format!("\n{}", unseen(picture))),
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

fn refused(picture: &Picture, reason: &str) -> String {
    format!(
        "[{}: this picture was refused and set aside: {reason}]",
        picture.name
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
pub fn plan_sentence(plan: &[TodoItem]) -> String {
    plan_text("[The user changed the plan. It is now:", plan)
}

fn plan_text(opening: &str, plan: &[TodoItem]) -> String {
    use std::fmt::Write;
    let mut text = opening.to_owned();
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
