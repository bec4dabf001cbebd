//! Memory and time as they are used, counted by this program itself: neither depends on what else the machine does.
//!
//! Owns: the counting allocator. Must never know: who is measured.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

#[global_allocator]
static HEAP: Counting = Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator, counted.
struct Counting;

// SAFETY: every call is handed on as it came; the counters are no memory of anybody's.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        more(layout.size());
        // SAFETY: the caller's promise is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        more(layout.size());
        // SAFETY: the caller's promise is the same.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        less(layout.size());
        // SAFETY: the caller's promise is the same.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        more(size);
        less(layout.size());
        // SAFETY: the caller's promise is the same.
        unsafe { System.realloc(place, layout, size) }
    }
}

fn more(bytes: usize) {
    let now = NOW.fetch_add(bytes, Ordering::Relaxed).wrapping_add(bytes);
    PEAK.fetch_max(now, Ordering::Relaxed);
}

fn less(bytes: usize) {
    NOW.fetch_sub(bytes, Ordering::Relaxed);
}

/// What some work used.
#[derive(Clone, Copy, Debug)]
pub struct Used {
    /// The most bytes that were held at once beyond those before, what it gives back included.
    pub bytes: usize,
    /// Processor time of this thread.
    pub time: Duration,
}

/// Does some work and says what it used.
pub fn measured<T>(work: impl FnOnce() -> T) -> (T, Used) {
    let before = NOW.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let since = processor();
    let result = work();
    let used = Used {
        bytes: PEAK.load(Ordering::Relaxed).saturating_sub(before),
        time: processor().saturating_sub(since),
    };
    (result, used)
}

fn processor() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(
        u64::try_from(time.tv_sec).unwrap_or_default(),
        u32::try_from(time.tv_nsec).unwrap_or_default(),
    )
}
