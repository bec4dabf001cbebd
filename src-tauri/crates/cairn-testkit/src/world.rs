//! Time and chance as a test wants them. Knows nothing of what they are used for.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use cairn_agent::world::World;
use cairn_protocol::UnixMillis;

/// A world that stands still until it is moved, whose ids count up and whose chance is always one half.
#[derive(Debug)]
pub struct FakeWorld {
    now: AtomicI64,
    ids: AtomicU64,
}

impl Default for FakeWorld {
    fn default() -> Self {
        Self {
            now: AtomicI64::new(1_700_000_000_000),
            ids: AtomicU64::new(0),
        }
    }
}

impl FakeWorld {
    /// A world at 2023-11-14T22:13:20Z.
    pub fn new() -> Self {
        Self::default()
    }

    /// Moves the clock, also backwards.
    pub fn advance_ms(&self, milliseconds: i64) {
        self.now.fetch_add(milliseconds, Ordering::SeqCst);
    }
}

impl World for FakeWorld {
    fn now(&self) -> UnixMillis {
        self.now.load(Ordering::SeqCst) as UnixMillis
    }

    fn fresh_id(&self) -> String {
        format!("id{:024}", self.ids.fetch_add(1, Ordering::SeqCst) + 1)
    }

    fn chance(&self) -> f64 {
        0.5
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_fresh_sorted_and_26_long() {
        let world = FakeWorld::new();
        let ids: Vec<String> = (0..12).map(|_| world.fresh_id()).collect();
        assert!(ids.is_sorted() && ids.iter().all(|id| id.len() == 26));
        let before = world.now();
        world.advance_ms(5);
        assert_eq!(world.now(), before + 5);
    }
}
