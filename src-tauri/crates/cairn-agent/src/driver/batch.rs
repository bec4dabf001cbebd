//! Events on their way to the store: those of one step are stored together, with the strongest promise of them.

use cairn_protocol::Event;

use crate::store::Durability;

/// Events that are stored at once.
pub(super) struct Batch {
    pub(super) events: Vec<Event>,
    pub(super) durability: Durability,
}

impl Default for Batch {
    fn default() -> Self {
        Self {
            events: Vec::new(),
            durability: Durability::Committed,
        }
    }
}

impl Batch {
    pub(super) fn record(&mut self, event: Event, durability: Durability) {
        if durability == Durability::Synced {
            self.durability = Durability::Synced;
        }
        self.events.push(event);
    }
}
