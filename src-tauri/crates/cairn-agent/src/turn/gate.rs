//! A call before the gate: what it is judged by, and the line that runs in place of the one that came in.
//!
//! Owns: when a request counts as tainted. Must never know: how the gate decides.

use cairn_policy::{Decision, Effect as Would, Taint};
use cairn_protocol::{CallId, ContentBlock, ItemId, ItemState, ToolItem, UnixMillis};

use super::TurnMachine;
use super::calls::{How, tool_of};
use crate::effect::{Effect, PreparedFacts};
use crate::tool::brings_outside_text;

/// Characters of a line that stand for it on one line.
const TARGET: usize = 200;

impl TurnMachine {
    pub(super) fn judge(&mut self, id: &CallId, item: &ItemId, facts: PreparedFacts) {
        match self.decide(&facts.effects) {
            Decision::Allow { by, runs } => {
                let how = How {
                    by,
                    runs,
                    hunks: None,
                };
                self.allowed(id, item, facts, how);
            }
            Decision::Ask(ask) => self.ask_person(id, item, &facts, ask),
            Decision::Deny { why, by } => {
                self.effects.push(Effect::Forget { call: id.clone() });
                self.refuse(id, ItemState::Denied, &why, Some(by));
                self.schedule();
            }
        }
    }

    pub(super) fn decide(&mut self, effects: &[Would]) -> Decision {
        self.policy.taint = self.outside_text_since().map_or(Taint::None, Taint::Since);
        cairn_policy::decide(&self.policy, effects)
    }

    /// When this request first read text from outside the user's machine; none while it has not. SPEC P9.
    pub(crate) fn outside_text_since(&self) -> Option<UnixMillis> {
        let turn = self.log.last_turn()?;
        self.log
            .items()
            .iter()
            .filter(|item| item.turn == turn.id)
            .filter_map(tool_of)
            .filter(|tool| brings_outside_text(&tool.name) && tool.result.is_some())
            .map(|tool| tool.ended_at.unwrap_or(turn.started_at))
            .min()
    }
}

/// Shows the line that runs where it is not the one that came in.
pub(super) fn show_line(tool: &mut ToolItem, line: &str) {
    for block in &mut tool.blocks {
        if let ContentBlock::Terminal(terminal) = block
            && terminal.command != line
        {
            line.clone_into(&mut terminal.command);
            tool.target = line
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ")
                .chars()
                .take(TARGET)
                .collect();
        }
    }
}
