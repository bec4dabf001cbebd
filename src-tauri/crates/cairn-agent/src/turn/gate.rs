//! A call before the gate: what it is judged by, and the line that runs in place of the one that came in.
//!
//! Owns: what the gate is told. Must never know: how it decides.

use cairn_policy::{Decision, Effect as Would, Taint};
use cairn_protocol::{CallId, ContentBlock, ItemId, ItemState, ToolItem};

use super::TurnMachine;
use super::calls::How;
use crate::effect::{Effect, PreparedFacts};

/// Characters of a line that stand for it on one line.
const TARGET: usize = 200;

impl TurnMachine {
    pub(super) fn judge(&mut self, id: &CallId, item: &ItemId, facts: PreparedFacts) {
        if let Some(plan) = self.plan_for_nobody(&facts) {
            return self.answer_with_plan(id, item, plan);
        }
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
