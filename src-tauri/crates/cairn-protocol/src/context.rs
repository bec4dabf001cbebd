//! What of a transcript the model gets: summaries of older parts, and marks on single items. SPEC C2, C3, M8.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::ItemId;

/// What the model gets in the place of older items. Those stay in the log and can be read above it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Summary {
    /// What came before, Markdown.
    pub text: String,
    /// The first item that the model still gets word for word; none where all before this one is summarised.
    pub from: Option<ItemId>,
    /// Why it was made.
    pub cause: SummaryCause,
    /// Who wrote it.
    pub by: SummaryAuthor,
    /// Tokens of the next request before it, estimated.
    pub before: u64,
    /// The same after it.
    pub after: u64,
}

/// Why a summary was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum SummaryCause {
    /// The window was filling up.
    Window,
    /// The server refused the request as too long.
    Overflow,
    /// The person asked for it.
    Asked,
}

/// Who wrote a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum SummaryAuthor {
    /// The model.
    Model,
    /// Put together from the log, because the model could not be asked.
    Log,
}

/// What the model gets of an item where that is not the plain item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[ts(export)]
pub enum Mark {
    /// The person took it out: the model gets a sentence in its place.
    TakenOut,
    /// The person wants the model to keep it, whatever is summarised.
    Pinned,
    /// The provider refused it: the model gets a sentence in its place. SPEC M8.
    SetAside {
        /// How much of it.
        part: AsidePart,
        /// Why, in the provider's words where it gave any.
        reason: String,
    },
}

/// How much of an item was set aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum AsidePart {
    /// All of it.
    Whole,
    /// Its pictures; its words stay.
    Pictures,
}

/// An item with its mark.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct MarkedItem {
    /// The item.
    pub item: ItemId,
    /// Its mark.
    pub mark: Mark,
}
