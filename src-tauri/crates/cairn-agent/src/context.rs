//! What of a log goes to the model: which items word for word, and what in the place of the others. SPEC C2, C3, M8.
//!
//! Owns: which items count. Must never know: how they become messages.

use std::collections::HashMap;

use cairn_protocol::{Item, ItemBody, ItemId, Mark, Notice, Summary};

/// Notices with this prefix in their code are told to the model as well.
pub const TOLD_PREFIX: &str = "told_";

/// Marks of single items.
pub type Marks = HashMap<ItemId, Mark>;

/// A log as the model is to get it.
#[derive(Clone, Debug)]
pub struct Context<'a> {
    /// What stands for all that was before.
    pub summary: Option<&'a Summary>,
    /// The plan that the person accepted: it is never summarised away. SPEC C2.
    pub accepted_plan: Option<&'a str>,
    /// Items from before the summary that the person pinned, oldest first.
    pub pinned: Vec<&'a Item>,
    /// Items that go as they are, but for their marks, oldest first.
    pub items: Vec<&'a Item>,
    marks: &'a Marks,
}

impl<'a> Context<'a> {
    /// The context of a whole log.
    pub fn of(items: &'a [Item], marks: &'a Marks) -> Self {
        let last = items.iter().rposition(|item| summary_of(item).is_some());
        let summary = last.and_then(|place| items.get(place)).and_then(summary_of);
        let from = match (last, summary) {
            (Some(last), Some(summary)) => summary
                .from
                .as_ref()
                .and_then(|from| items.iter().position(|item| item.id == *from))
                // What is kept stood before the summary; anything else would send the summarised part again.
                .filter(|from| *from < last)
                .unwrap_or(last),
            _ => 0,
        };
        let (before, rest) = items.split_at_checked(from).unwrap_or((items, &[]));
        let is_pinned = |item: &&Item| marks.get(&item.id) == Some(&Mark::Pinned);
        Self {
            accepted_plan: None,
            summary,
            pinned: before.iter().filter(is_pinned).collect(),
            items: rest.iter().filter(|item| summary_of(item).is_none()).collect(),
            marks,
        }
    }

    /// The mark of an item.
    pub fn mark(&self, item: &Item) -> Option<&'a Mark> {
        self.marks.get(&item.id)
    }

    /// The pieces that are never split: each reply of the model with its calls and their results, and every other item.
    /// Gives where in [`Self::items`] each begins.
    pub fn pieces(&self) -> Vec<usize> {
        let mut starts = Vec::new();
        let mut at = 0;
        while let Some(rest) = self.items.get(at..).filter(|rest| !rest.is_empty()) {
            starts.push(at);
            at += piece(rest);
        }
        starts
    }
}

/// How many items the first piece has; see [`Context::pieces`].
pub fn piece(items: &[&Item]) -> usize {
    let Some(first) = items.first() else { return 0 };
    if first.step.is_none() || !is_of_model(first) {
        return 1;
    }
    items
        .iter()
        .take_while(|item| {
            item.step == first.step && item.turn == first.turn && (is_of_model(item) || is_silent(item))
        })
        .count()
}

/// Whether the model gets a notice.
pub fn is_told(notice: &Notice) -> bool {
    notice.code.starts_with(TOLD_PREFIX)
}

/// Whether an item is part of a model's reply.
pub fn is_of_model(item: &Item) -> bool {
    matches!(
        item.body,
        ItemBody::Assistant { .. } | ItemBody::Tool(_) | ItemBody::Thinking { .. }
    )
}

fn is_silent(item: &Item) -> bool {
    match &item.body {
        ItemBody::Notice(notice) => !is_told(notice),
        ItemBody::Question(_) | ItemBody::Summary(_) | ItemBody::Unknown { .. } => true,
        ItemBody::User { .. }
        | ItemBody::Assistant { .. }
        | ItemBody::Thinking { .. }
        | ItemBody::Tool(_) => false,
    }
}

fn summary_of(item: &Item) -> Option<&Summary> {
    match &item.body {
        ItemBody::Summary(summary) => Some(summary),
        _ => None,
    }
}
