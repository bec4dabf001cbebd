//! What is left to do of a walk, shared between its threads.
//!
//! Owns: who takes which piece and when everything is done. Must never know: what a piece is.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Pieces of work. The newest is taken first, so that a wide tree is not held in memory level by level.
#[derive(Debug)]
pub(super) struct Queue<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

#[derive(Debug)]
struct State<T> {
    waiting: Vec<T>,
    /// Pieces taken and not finished: each may still bring new ones.
    taken: usize,
    /// Threads that wait for one.
    idle: usize,
    closed: bool,
}

/// One thread's place at the queue.
#[derive(Debug)]
pub(super) struct Seat<'a, T> {
    queue: &'a Queue<T>,
    has_one: bool,
}

impl<T> Queue<T> {
    /// With its first piece.
    pub(super) fn of(first: T) -> Self {
        Self {
            state: Mutex::new(State {
                waiting: vec![first],
                taken: 0,
                idle: 0,
                closed: false,
            }),
            changed: Condvar::new(),
        }
    }

    /// A place for one thread.
    pub(super) fn seat(&self) -> Seat<'_, T> {
        Seat {
            queue: self,
            has_one: false,
        }
    }

    /// Pieces that nobody has taken yet.
    pub(super) fn waiting(&self) -> usize {
        self.lock().waiting.len()
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Seat<'_, T> {
    /// Hands over what the last piece brought, and takes the next; waits while others may bring some. Nothing when
    /// all is done.
    pub(super) fn next(&mut self, brought: &mut Vec<T>) -> Option<T> {
        let mut state = self.queue.lock();
        state.waiting.append(brought);
        if std::mem::take(&mut self.has_one) {
            state.taken -= 1;
        }
        loop {
            if !state.closed
                && let Some(piece) = state.waiting.pop()
            {
                state.taken += 1;
                self.has_one = true;
                if state.idle > 0 && !state.waiting.is_empty() {
                    self.queue.changed.notify_one();
                }
                return Some(piece);
            }
            if state.closed || state.taken == 0 {
                self.queue.changed.notify_all();
                return None;
            }
            state.idle += 1;
            state = self
                .queue
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
        }
    }
}

impl<T> Drop for Seat<'_, T> {
    /// A thread that leaves in the middle of a piece has failed or was stopped: the others must not wait for it.
    fn drop(&mut self) {
        if self.has_one {
            self.queue.lock().closed = true;
            self.queue.changed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Every piece `n` brings `2n` and `2n + 1` below the limit; gives what each thread met.
    fn run(threads: usize, limit: u32, leaves_at: Option<u32>) -> Vec<u32> {
        let queue = Queue::of(1);
        let met = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    let mut seat = queue.seat();
                    let mut brought = Vec::new();
                    while let Some(piece) = seat.next(&mut brought) {
                        if Some(piece) == leaves_at {
                            return;
                        }
                        met.lock().unwrap().push(piece);
                        brought.extend([2 * piece, 2 * piece + 1].into_iter().filter(|n| *n < limit));
                    }
                });
            }
        });
        met.into_inner().unwrap()
    }

    #[test]
    fn every_piece_is_taken_once_by_however_many_threads() {
        for threads in 1..5 {
            let met = run(threads, 5_000, None);
            assert_eq!(met.len(), 4_999);
            assert_eq!(met.into_iter().collect::<BTreeSet<_>>(), (1..5_000).collect());
        }
    }

    #[test]
    fn a_thread_that_leaves_in_the_middle_keeps_nobody_waiting() {
        for _ in 0..50 {
            let met = run(4, 500, Some(7));
            assert!(!met.contains(&7) && !met.contains(&14));
        }
    }
}
