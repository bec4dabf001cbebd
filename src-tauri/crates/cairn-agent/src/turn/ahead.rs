//! Edits and commands of one reply are asked about together: while one waits for the person, those after it are looked
//! at before their turn, and what asks gets its card at once. SPEC P4.
//!
//! Nothing runs before its turn: an answer given early is kept, and the call is prepared again when its turn has come.

use cairn_policy::{Decision, Effect as Would};
use cairn_protocol::{ApprovalResolution, CallId, ItemId, ItemState};

use super::TurnMachine;
use super::calls::{Call, Stage};
use crate::effect::{Effect, PreparedFacts};
use crate::tool::ToolClass;

/// The next call to look at before its turn; none while nobody is asked, and none beyond what may change how the rest
/// is judged.
pub(super) fn next(calls: &[Call]) -> Option<usize> {
    let asked = |call: &Call| matches!(call.stage, Stage::Waiting { .. });
    if !calls.iter().any(asked) {
        return None;
    }
    for (place, call) in calls.iter().enumerate() {
        match call.stage {
            Stage::Pending if matches!(call.class, ToolClass::Edit | ToolClass::Run) => return Some(place),
            Stage::Pending if call.outside => return None,
            Stage::Pending | Stage::Over | Stage::Waiting { .. } | Stage::Allowed(_) | Stage::Deferred => {}
            Stage::Preparing
            | Stage::Ahead
            | Stage::Rechecking(_)
            | Stage::Asking { .. }
            | Stage::Running => return None,
        }
    }
    None
}

impl TurnMachine {
    /// Puts the card of a call whose turn has not come, when there is one to put.
    pub(super) fn looked_ahead(&mut self, id: &CallId, item: &ItemId, facts: &PreparedFacts) {
        let asked = if facts.asks.is_some() || self.waits_for_others(id) {
            None
        } else {
            match self.decide(&facts.effects) {
                Decision::Ask(asked) => Some(asked),
                Decision::Allow { .. } | Decision::Deny { .. } => None,
            }
        };
        if let Some(asked) = asked {
            return self.ask_person(id, item, facts, asked);
        }
        self.effects.push(Effect::Forget { call: id.clone() });
        self.set_stage(id, Stage::Deferred);
    }

    /// Whether an earlier call will change what this one is about, so that its difference would not be the one made.
    fn waits_for_others(&self, id: &CallId) -> bool {
        let super::Phase::Calling { calls, .. } = &self.phase else {
            return false;
        };
        let earlier = calls.iter().take_while(|call| call.id != *id);
        let Some(own) = calls.iter().find(|call| call.id == *id) else {
            return false;
        };
        earlier
            .filter(|call| call.stage != Stage::Over)
            .flat_map(|call| &call.would)
            .any(|would| own.would.iter().any(|own| touch(would, own)))
    }

    /// After new rules: cards that nothing asks about any more are answered by what allows them.
    pub(super) fn rejudge(&mut self) {
        let super::Phase::Calling { calls, .. } = &self.phase else {
            return;
        };
        let waiting: Vec<Call> = calls
            .iter()
            .filter(|call| matches!(call.stage, Stage::Waiting { .. }))
            .cloned()
            .collect();
        for call in waiting {
            let Stage::Waiting { approval, .. } = call.stage else {
                continue;
            };
            if let Decision::Allow { by, .. } = self.decide(&call.would) {
                self.resolve_card(approval, ApprovalResolution::Allowed { by });
                self.change_tool(&call.item, |state, _| *state = ItemState::Queued);
                self.effects.push(Effect::Forget {
                    call: call.id.clone(),
                });
                self.set_stage(&call.id, Stage::Deferred);
            }
        }
    }
}

/// Whether both change the same file, or one a folder that holds the other.
fn touch(one: &Would, other: &Would) -> bool {
    match (one, other) {
        (Would::WritePath { path: one, .. }, Would::WritePath { path: other, .. }) => {
            one.starts_with(other) || other.starts_with(one)
        }
        _ => false,
    }
}
