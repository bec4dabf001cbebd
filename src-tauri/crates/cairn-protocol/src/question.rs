//! Questions of the model to the person. SPEC T30.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{CallId, ItemId, QuestionId, TurnId, UnixMillis};

/// One to four questions put together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Question {
    /// Its id.
    pub id: QuestionId,
    /// The request it belongs to.
    pub turn: TurnId,
    /// The tool item that asks.
    pub item: ItemId,
    /// The call that asks.
    pub call: CallId,
    /// When it was put.
    pub at: UnixMillis,
    /// The questions, 1 to 4.
    pub asks: Vec<Ask>,
    /// The answers, once given; as many as `asks`.
    pub answers: Option<Vec<QuestionAnswer>>,
}

/// One question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Ask {
    /// The question.
    pub text: String,
    /// Its options, 2 to 9.
    pub options: Vec<AskOption>,
    /// Whether several options may be picked.
    pub multiple: bool,
}

/// One option.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct AskOption {
    /// The answer.
    pub label: String,
    /// What it would mean; may be empty.
    pub description: String,
}

/// The answer to one question. The three are told apart in what the model gets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[ts(export)]
pub enum QuestionAnswer {
    /// Options by index, from 0.
    Picked {
        /// At least one; exactly one unless `multiple`.
        options: Vec<u32>,
    },
    /// None of the options: the person's own words.
    Own {
        /// The words.
        text: String,
    },
    /// The model shall decide.
    YouDecide,
}
