//! Time and chance of the real world.

use std::time::{SystemTime, UNIX_EPOCH};

use cairn_agent::world::World;
use cairn_protocol::UnixMillis;

/// The machine's clock and the system's random numbers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RealWorld;

/// A day in the person's own time zone, like `2026-11-30`.
pub fn day(at: UnixMillis) -> String {
    match jiff::Timestamp::from_millisecond(at) {
        Ok(at) => at
            .to_zoned(jiff::tz::TimeZone::system())
            .strftime("%Y-%m-%d")
            .to_string(),
        Err(_) => "an unknown day".to_owned(),
    }
}

/// Letters of fresh ids: lower case and digits without those that look alike.
const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

impl World for RealWorld {
    fn now(&self) -> UnixMillis {
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| since.as_millis() as UnixMillis)
    }

    fn fresh_id(&self) -> String {
        let now = u128::from(u64::try_from(self.now()).unwrap_or(0)) << 80;
        let bits = now | (u128::from(random()) << 16) | u128::from(random() as u16);
        (0..26)
            .rev()
            .map(|place| {
                LETTERS
                    .get((bits >> (place * 5)) as usize & 31)
                    .map_or('0', |b| *b as char)
            })
            .collect()
    }

    fn chance(&self) -> f64 {
        (random() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

fn random() -> u64 {
    // A system without random numbers still has a clock; ids stay unique by their time.
    getrandom::u64().unwrap_or_else(|_| {
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| u64::from(since.subsec_nanos()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_by_time_and_never_repeat() {
        let first = RealWorld.fresh_id();
        let ids: std::collections::HashSet<_> = (0..1_000).map(|_| RealWorld.fresh_id()).collect();
        assert_eq!(ids.len(), 1_000);
        assert!(first.len() == 26 && ids.iter().all(|id| id.get(..8) >= first.get(..8)));
        assert!((0..1_000).all(|_| (0.0..1.0).contains(&RealWorld.chance())));
    }
}
