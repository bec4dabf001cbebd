//! When a failed request is sent again. SPEC M4.

use std::time::Duration;

use crate::model::ModelError;

/// Tries in all, the first counted.
pub const TRIES: u32 = 5;
const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_mins(1);
/// A server that asks for a longer wait than this gets an answer from the person instead.
const PATIENCE: Duration = Duration::from_mins(10);

/// How long to wait before try number `attempt + 1`; none when it is not to be tried again.
///
/// `chance` from 0 up to 1 spreads the wait by a quarter to both sides, so that many windows do not come back at once.
pub fn delay(error: &ModelError, attempt: u32, chance: f64) -> Option<Duration> {
    if !error.retryable || attempt >= TRIES {
        return None;
    }
    if let Some(asked) = error.retry_after {
        return (asked <= PATIENCE).then_some(asked);
    }
    let plain = FIRST
        .saturating_mul(1 << attempt.saturating_sub(1).min(10))
        .min(LONGEST);
    Some(plain.mul_f64(0.75 + chance.clamp(0.0, 1.0) / 2.0))
}

#[cfg(test)]
mod tests {
    use cairn_protocol::ErrorCode;

    use super::*;

    #[test]
    fn waits_grow_end_after_five_tries_and_follow_the_server() {
        let passing = ModelError::passing(ErrorCode::ModelServer, "503");
        let plain: Vec<_> = (1..=5)
            .map(|attempt| delay(&passing, attempt, 0.5).map(|wait| wait.as_secs()))
            .collect();
        assert_eq!(plain, [Some(1), Some(2), Some(4), Some(8), None]);
        let asked = |seconds| ModelError {
            retry_after: Some(Duration::from_secs(seconds)),
            ..passing.clone()
        };
        assert_eq!(delay(&asked(30), 1, 0.9), Some(Duration::from_secs(30)));
        assert_eq!(
            delay(&asked(3_600), 1, 0.5),
            None,
            "an hour is for the person to decide"
        );
        assert_eq!(delay(&ModelError::fatal(ErrorCode::BadKey, "401"), 1, 0.5), None);
    }
}
