//! How calls end: what came of them, what is counted, and the end of all when the request ends before them.

use cairn_protocol::{
    CallId, EventBody, Item, ItemBody, ItemId, ItemState, NoticeLevel, ToolResult, TurnOutcome,
};

use super::calls::{Call, Stage, tool_of};
use super::changes::merge;
use super::{Activity, Phase, TurnMachine};
use crate::budget::SharedBudget;
use crate::effect::Effect;
use crate::nudge::{Deeds, nudges};
use crate::tool::{ToolClass, ToolOutcome};

impl TurnMachine {
    /// Ends a tool item that did not run (or was cut), with what the model is told.
    pub(super) fn end_item(&mut self, id: &ItemId, state: ItemState, text: &str) {
        let Some(mut item) = self.log.item(id).cloned() else {
            return;
        };
        item.state = state;
        if let ItemBody::Tool(tool) = &mut item.body {
            tool.ended_at = Some(self.now);
            tool.result = Some(ToolResult {
                ok: false,
                timed_out: false,
                denied: matches!(state, ItemState::Denied | ItemState::Skipped),
                content: text.to_owned(),
                pictures: Vec::new(),
                output: None,
            });
        }
        self.record(EventBody::ItemCompleted { item });
        self.update_turn(|turn| match state {
            ItemState::Skipped => turn.summary.skipped += 1,
            ItemState::Denied => turn.summary.denied += 1,
            _ => turn.summary.failed += 1,
        });
    }

    /// A call ended.
    pub(super) fn finished(&mut self, id: &CallId, outcome: ToolOutcome) {
        if let Phase::Ending { running, .. } = &mut self.phase {
            running.retain(|call| call != id);
            let item = self
                .log
                .items()
                .iter()
                .rev()
                .find(|item| tool_of(item).is_some_and(|tool| tool.call == *id));
            if let Some(item) = item.map(|item| item.id.clone()) {
                self.complete(&item, outcome, &mut SharedBudget::new(None));
            }
            return self.end_if_quiet();
        }
        let Some((item, Stage::Running)) = self.stage_of(id) else {
            return;
        };
        let Phase::Calling { budget, .. } = &mut self.phase else {
            return;
        };
        let mut budget_now = budget.clone();
        self.complete(&item, outcome, &mut budget_now);
        if let Phase::Calling { budget, .. } = &mut self.phase {
            *budget = budget_now;
        }
        self.set_stage(id, Stage::Over);
        self.schedule();
    }

    fn complete(&mut self, id: &ItemId, outcome: ToolOutcome, budget: &mut SharedBudget) {
        let Some(mut item) = self.log.item(id).cloned() else {
            return;
        };
        let ItemBody::Tool(tool) = &mut item.body else {
            return;
        };
        let (content, _) = budget.take(
            &outcome.content,
            outcome.output.as_ref().map(cairn_protocol::OutputId::as_str),
        );
        let class = self
            .tools
            .iter()
            .find(|known| known.name == tool.name)
            .map_or(ToolClass::Own, |known| known.class);
        if !outcome.unsettled {
            self.repeats
                .answered(class, &tool.name, &tool.arguments, &outcome.content);
        }
        item.state = match (outcome.ok, outcome.timed_out, outcome.stopped) {
            (_, true, _) => ItemState::TimedOut,
            (_, _, true) => ItemState::Stopped,
            (true, ..) => ItemState::Done,
            (false, ..) => ItemState::Failed,
        };
        tool.ended_at = Some(self.now);
        tool.note.clone_from(&outcome.note);
        tool.walled = outcome.walled;
        if !outcome.blocks.is_empty() {
            tool.blocks.clone_from(&outcome.blocks);
        }
        tool.result = Some(ToolResult {
            ok: outcome.ok,
            timed_out: outcome.timed_out,
            denied: false,
            content,
            pictures: outcome.pictures.clone(),
            output: outcome.output.clone(),
        });
        let ended = tool.as_ref().clone();
        self.record(EventBody::ItemCompleted { item });
        self.note_outside(&ended);
        self.count(outcome);
    }

    fn count(&mut self, outcome: ToolOutcome) {
        if !outcome.changes.is_empty() {
            self.repeats.file_changed();
        } else if outcome.commands > 0 {
            self.repeats.command_ran();
        }
        let changes = outcome.changes.clone();
        self.update_turn(|turn| {
            if outcome.ok {
                turn.summary.done += 1;
            } else {
                turn.summary.failed += 1;
            }
            turn.summary.commands += outcome.commands;
            for change in changes {
                merge(&mut turn.summary.files, change);
            }
        });
        if !outcome.changes.is_empty() {
            self.count_session_changes();
        }
        if let Some(plan) = outcome.plan {
            self.record(EventBody::PlanChanged { plan });
        }
        if outcome.enters_plan {
            self.enter_plan_mode();
        }
    }

    fn count_session_changes(&mut self) {
        let mut all = Vec::new();
        for change in self.log.turns.iter().flat_map(|turn| turn.summary.files.iter()) {
            merge(&mut all, change.clone());
        }
        self.change_session(|session| {
            session.changes = cairn_protocol::ChangeCount {
                files: all.len() as u32,
                added: all.iter().map(|change| change.added).sum(),
                removed: all.iter().map(|change| change.removed).sum(),
            };
        });
    }

    /// Says at the end of a request what does not fit together; the model hears of it with the next message.
    pub(super) fn nudge(&mut self) {
        let Some(turn) = self.log.last_turn() else { return };
        let items: Vec<_> = self
            .log
            .items()
            .iter()
            .filter(|item| item.turn == turn.id)
            .collect();
        let class = |name: &str| {
            self.tools
                .iter()
                .find(|tool| tool.name == name)
                .map(|tool| tool.class)
        };
        let of_class = |item: &&Item, wanted| {
            tool_of(item).is_some_and(|tool| class(&tool.name) == Some(wanted))
                && item.state == ItemState::Done
        };
        let last_edit = items.iter().rposition(|item| of_class(item, ToolClass::Edit));
        let lines: Vec<String> = items
            .iter()
            .skip(last_edit.map_or(0, |at| at + 1))
            .filter(|item| of_class(item, ToolClass::Run))
            .filter_map(|item| tool_of(item).map(|tool| command_of(&tool.arguments)))
            .collect();
        let said = items.iter().rev().find_map(|item| match &item.body {
            ItemBody::Assistant { text } => Some(text.as_str()),
            _ => None,
        });
        let deeds = Deeds {
            changed: turn.summary.files.iter().map(|file| file.path.as_str()).collect(),
            ran: lines.iter().map(String::as_str).collect(),
            refused: turn.summary.denied + turn.summary.skipped > 0,
            said: said.unwrap_or_default(),
        };
        for nudge in nudges(&deeds) {
            let code = format!("{}{}", crate::context::TOLD_PREFIX, nudge.code());
            self.notice(NoticeLevel::Info, &code, nudge.text().to_owned());
        }
    }

    /// Ends all calls of the reply: what runs is cancelled and waited for, the rest did not run.
    pub(super) fn end_calls(&mut self, calls: Vec<Call>, outcome: TurnOutcome, text: &str) {
        self.withdraw_cards();
        let mut running = Vec::new();
        for call in calls {
            match call.stage {
                Stage::Over => {}
                Stage::Running => running.push(call.id),
                _ => {
                    let denied = outcome == TurnOutcome::Denied;
                    self.effects.push(Effect::Forget { call: call.id });
                    self.end_item(
                        &call.item,
                        if denied {
                            ItemState::Skipped
                        } else {
                            ItemState::Stopped
                        },
                        text,
                    );
                }
            }
        }
        if !running.is_empty() {
            self.effects.push(Effect::CancelCalls);
            self.set_activity(Activity::Stopping);
        }
        self.phase = Phase::Ending { running, outcome };
        self.end_if_quiet();
    }

    fn end_if_quiet(&mut self) {
        let Phase::Ending { running, outcome } = &self.phase else {
            return;
        };
        if running.is_empty() {
            let outcome = outcome.clone();
            self.finish(outcome);
        }
    }
}

/// The line of a call that runs a command.
fn command_of(arguments: &str) -> String {
    let arguments = serde_json::from_str::<serde_json::Value>(arguments).unwrap_or_default();
    arguments
        .get("command")
        .and_then(serde_json::Value::as_str)
        .unwrap_or_default()
        .to_owned()
}
