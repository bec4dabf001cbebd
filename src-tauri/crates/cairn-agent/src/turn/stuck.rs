//! A model that goes round in circles is stopped. SPEC L3.
//!
//! Owns: when replies of which nothing could be carried out are enough. Must never know: why a call was refused in words.
//!
//! What a call answers is no matter here: [`crate::repeat`] refuses the same call with the same answer. This counts the
//! replies in a row that brought nothing but refusals, so that neither broken nor repeated calls go on up to the limit
//! of steps.

use cairn_protocol::{Decided, NoticeLevel, TurnOutcome};

use super::TurnMachine;
use super::calls::{Call, tool_of};

/// A reply of nothing but repeated calls weighs this much; one of calls that cannot be carried out half of it, because
/// a small model may need some tries to get one right.
const REPEATED: u32 = 2;
const BROKEN: u32 = 1;
/// What is enough: three replies of repeated calls, six of broken ones.
const ENOUGH: u32 = 6;

/// Replies in a row of which nothing ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stuck {
    weight: u32,
    replies: u32,
}

impl TurnMachine {
    /// Counts a reply whose calls are all over; true when the request was paused because of it.
    pub(super) fn is_stuck(&mut self, calls: &[Call]) -> bool {
        if calls.iter().any(|call| self.has_moved(call)) {
            self.stuck = Stuck::default();
            return false;
        }
        let repeated = calls.iter().any(|call| call.is_repeat);
        self.stuck.weight += if repeated { REPEATED } else { BROKEN };
        self.stuck.replies += 1;
        if self.stuck.weight < ENOUGH {
            return false;
        }
        let replies = self.stuck.replies;
        let what = if repeated {
            "nothing but calls whose answers the model already has"
        } else {
            "nothing but calls that cannot be carried out"
        };
        self.notice(
            NoticeLevel::Warning,
            "stuck",
            format!(
                "The last {replies} replies held {what}, so it was paused. Continue lets it try again; a message that \
                 tells it more helps better."
            ),
        );
        let steps = self.steps;
        self.finish(TurnOutcome::Paused { steps });
        true
    }

    /// Whether a call ran, or the person had a say in it.
    fn has_moved(&self, call: &Call) -> bool {
        let tool = self.log.item(&call.item).and_then(tool_of);
        tool.is_some_and(|tool| tool.started_at.is_some() || tool.decided == Some(Decided::Person))
    }
}
