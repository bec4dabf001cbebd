//! Shares a short list of entries between threads, and only when it turns out to be long work.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use ignore::DirEntry;

use super::{Stop, Visit};

/// How long the first thread works alone.
const PATIENCE: Duration = Duration::from_millis(1);

/// Visits every entry once.
pub(super) fn share<V: Visit>(
    entries: &[DirEntry],
    threads: usize,
    stop: &Stop,
    make: &(impl Fn() -> V + Sync),
) {
    let next = AtomicUsize::new(0);
    let take = || {
        entries
            .get(next.fetch_add(1, Ordering::Relaxed))
            .filter(|_| !stop.is_set())
    };
    let mut visitor = make();
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        let Some(entry) = take() else {
            visitor.done();
            return;
        };
        visitor.visit(entry, stop);
    }
    std::thread::scope(|scope| {
        let left = entries.len().saturating_sub(next.load(Ordering::Relaxed));
        for _ in 1..threads.min(left) {
            scope.spawn(|| {
                let mut visitor = make();
                while let Some(entry) = take() {
                    visitor.visit(entry, stop);
                }
                visitor.done();
            });
        }
        while let Some(entry) = take() {
            visitor.visit(entry, stop);
        }
        visitor.done();
    });
}
