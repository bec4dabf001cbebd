//! After a restart: what had begun is closed, what waited is shown again and needs a new click. SPEC S2.

use cairn_protocol::{EventBody, ItemBody, ItemId, ItemState, TurnOutcome};

use super::{Phase, TurnMachine};
use crate::budget::SharedBudget;

impl TurnMachine {
    pub(super) fn restore(&mut self) {
        self.resume_counter();
        self.restore_outside();
        let Some(turn) = self
            .log
            .last_turn()
            .filter(|turn| turn.outcome.is_none())
            .map(|turn| turn.id.clone())
        else {
            return;
        };
        let open: Vec<(ItemId, ItemState, bool)> = self
            .log
            .open_items(&turn)
            .map(|item| {
                (
                    item.id.clone(),
                    item.state,
                    matches!(item.body, ItemBody::Tool(_)),
                )
            })
            .collect();
        self.withdraw_cards();
        let waits = open
            .iter()
            .any(|(_, state, is_tool)| *is_tool && *state == ItemState::Waiting);
        let mut again = Vec::new();
        for (id, state, is_tool) in open {
            match (is_tool, state) {
                (true, ItemState::Waiting | ItemState::Queued) if waits => again.push(id),
                (true, ItemState::Running) => {
                    let text = "Interrupted: the program ended while this ran. It may have had an effect; look before \
                                you do it again.";
                    self.end_item(&id, ItemState::Interrupted, text);
                }
                (true, _) => {
                    let text = "Interrupted: the program ended before this ran.";
                    self.end_item(&id, ItemState::Interrupted, text);
                }
                (false, _) => self.close_as_interrupted(&id),
            }
        }
        if again.is_empty() {
            return self.finish(TurnOutcome::Interrupted);
        }
        self.steps = self.log.last_turn().map_or(0, |turn| turn.summary.steps);
        let all = self.reply_of(&again);
        let window = self.model.as_ref().and_then(|info| info.window);
        self.phase = Phase::Calling {
            calls: Vec::new(),
            budget: SharedBudget::new(window),
        };
        self.start_calls(&all);
    }

    /// All calls of the reply that the waiting ones belong to, in order, so that order still holds.
    fn reply_of(&self, waiting: &[ItemId]) -> Vec<ItemId> {
        let step = waiting
            .first()
            .and_then(|id| self.log.item(id))
            .map(|item| (item.turn.clone(), item.step));
        let same = |item: &&cairn_protocol::Item| {
            matches!(item.body, ItemBody::Tool(_)) && Some((item.turn.clone(), item.step)) == step
        };
        self.log
            .items()
            .iter()
            .filter(same)
            .map(|item| item.id.clone())
            .collect()
    }

    fn close_as_interrupted(&mut self, id: &ItemId) {
        let Some(mut item) = self.log.item(id).cloned() else {
            return;
        };
        item.state = ItemState::Interrupted;
        self.record(EventBody::ItemCompleted { item });
    }

    /// Ids go on after those of the request that goes on.
    pub(super) fn resume_counter(&mut self) {
        self.counter = (self.log.items().len() as u32)
            .saturating_mul(4)
            .saturating_add(1_000 + self.counter);
    }
}
