//! How long to wait before the next attempt. Pure: time of day and chance are arguments.

use std::time::{Duration, SystemTime};

use reqwest::header::{HeaderMap, RETRY_AFTER};

/// The longest pause of our own.
const LONGEST: Duration = Duration::from_mins(1);

/// The wait before attempt number `attempt + 1`, spread by a quarter to both sides so that many do not come back at
/// once; `chance` goes from 0 to 1.
pub(super) fn pause(first: Duration, attempt: u32, chance: f64) -> Duration {
    let plain = first
        .saturating_mul(1 << attempt.saturating_sub(1).min(8))
        .min(LONGEST);
    plain.mul_f64(0.75 + chance.clamp(0.0, 1.0) / 2.0)
}

/// The wait that a server asks for, as seconds or as a date (RFC 9110, 10.2.3); none when it asks for none that makes
/// sense.
pub(super) fn asked(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = value.parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    let at = jiff::fmt::rfc2822::parse(value).ok()?.timestamp();
    let at = SystemTime::from(at);
    Some(at.duration_since(now).unwrap_or(Duration::ZERO))
}

/// Some chance from 0 to 1.
pub(super) fn chance() -> f64 {
    let mut bytes = [0; 4];
    match getrandom::fill(&mut bytes) {
        Ok(()) => f64::from(u32::from_le_bytes(bytes)) / f64::from(u32::MAX),
        Err(_) => 0.5,
    }
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use super::*;

    #[test]
    fn pauses_double_and_are_spread() {
        let first = Duration::from_millis(400);
        assert_eq!(pause(first, 1, 0.5), Duration::from_millis(400));
        assert_eq!(pause(first, 2, 0.5), Duration::from_millis(800));
        assert_eq!(pause(first, 1, 0.0), Duration::from_millis(300));
        assert_eq!(pause(first, 1, 1.0), Duration::from_millis(500));
        assert!(pause(Duration::MAX, 99, 0.5) > first);
    }

    #[test]
    fn retry_after_is_read_as_seconds_and_as_a_date() {
        let now = UNIX_EPOCH + Duration::from_secs(784_111_777 - 20);
        let read = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, value.parse().unwrap());
            asked(&headers, now)
        };
        assert_eq!(read("7"), Some(Duration::from_secs(7)));
        assert_eq!(
            read("Sun, 06 Nov 1994 08:49:37 GMT"),
            Some(Duration::from_secs(20))
        );
        assert_eq!(read("Tue, 06 Nov 1984 08:49:37 GMT"), Some(Duration::ZERO));
        for value in ["soon", "-1", "1e9", ""] {
            assert_eq!(read(value), None, "{value}");
        }
        assert_eq!(asked(&HeaderMap::new(), now), None);
    }
}
