//! What the driver takes from outside besides tools, model and store: the time and fresh names.

use cairn_protocol::UnixMillis;

/// Time and chance, so that tests have neither.
pub trait World: Send + Sync {
    /// Now.
    fn now(&self) -> UnixMillis;

    /// A name that was never used: 26 characters, sorted by time.
    fn fresh_id(&self) -> String;

    /// A number from 0 up to and without 1, for jitter.
    fn chance(&self) -> f64;
}
