//! Stopping blocking work from asynchronous code.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

/// How long a stopped search may take to hand over what it has. SPEC T2 gives it 100 ms in all.
const GRACE: Duration = Duration::from_millis(50);

/// Whether to stop. Cheap enough to be asked for every file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Whether to stop.
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Asks to stop.
    pub(crate) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Sets the flag when the future that waits for the work is dropped.
struct OnDrop(Stop);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.set();
    }
}

/// Does blocking work on a thread for it. When cancelled, the work is told and has a moment to hand over what it
/// has; nothing when it did not, or when it failed.
pub(crate) async fn interruptible<T: Send + 'static>(
    cancel: &CancellationToken,
    work: impl FnOnce(&Stop) -> T + Send + 'static,
) -> Option<T> {
    let stop = Stop::default();
    let _guard = OnDrop(stop.clone());
    let mut running = tokio::task::spawn_blocking({
        let stop = stop.clone();
        move || work(&stop)
    });
    tokio::select! {
        biased;
        done = &mut running => done.ok(),
        () = cancel.cancelled() => {
            stop.set();
            tokio::time::timeout(GRACE, running).await.ok().and_then(Result::ok)
        }
    }
}
