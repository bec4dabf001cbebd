//! Something that collects what happens and lets a test wait for it without sleeping. Knows nothing of what it holds.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

/// A wait that is longer than this is a failed test, not a slow machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// Collects values in order.
#[derive(Debug)]
pub struct Recorder<T> {
    values: Mutex<Vec<T>>,
    changed: Notify,
}

impl<T> Default for Recorder<T> {
    fn default() -> Self {
        Self {
            values: Mutex::new(Vec::new()),
            changed: Notify::new(),
        }
    }
}

impl<T: Clone> Recorder<T> {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a value and wakes whoever waits.
    pub fn push(&self, value: T) {
        self.values
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(value);
        self.changed.notify_waiters();
    }

    /// Changes what is held and wakes whoever waits.
    pub fn update(&self, change: impl FnOnce(&mut Vec<T>)) {
        change(&mut self.values.lock().unwrap_or_else(PoisonError::into_inner));
        self.changed.notify_waiters();
    }

    /// All values so far.
    pub fn all(&self) -> Vec<T> {
        self.values.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits until the values are as wanted and gives them. None when that does not come within 30 s.
    pub async fn wait_for(&self, wanted: impl Fn(&[T]) -> bool) -> Option<Vec<T>> {
        let waiting = async {
            loop {
                let changed = self.changed.notified();
                tokio::pin!(changed);
                changed.as_mut().enable();
                let values = self.all();
                if wanted(&values) {
                    return values;
                }
                changed.await;
            }
        };
        tokio::time::timeout(PATIENCE, waiting).await.ok()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::Recorder;

    #[tokio::test]
    async fn waits_for_what_comes_later() {
        let recorder = Arc::new(Recorder::new());
        let writer = recorder.clone();
        let task = tokio::spawn(async move { (0..3).for_each(|number| writer.push(number)) });
        let values = recorder.wait_for(|values| values.len() == 3).await;
        task.await.unwrap();
        assert_eq!(values, Some(vec![0, 1, 2]));
    }
}
