//! How much memory a run takes: an allocator that counts what this thread has allocated.
//!
//! A program that wants to know makes it its own: `#[global_allocator]`. A run stays on its thread,
//! so what it allocates is the same each time.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static LIVE: Cell<i64> = const { Cell::new(0) };
    static MOST: Cell<i64> = const { Cell::new(0) };
}

/// The system's allocator, counting.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counting;

fn grow(bytes: usize) {
    let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
    let live = LIVE.get().saturating_add(bytes);
    LIVE.set(live);
    MOST.set(MOST.get().max(live));
}

fn shrink(bytes: usize) {
    LIVE.set(LIVE.get().saturating_sub(i64::try_from(bytes).unwrap_or(i64::MAX)));
}

#[expect(unsafe_code, reason = "an allocator is unsafe to write; this one only counts")]
// SAFETY: each call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        // SAFETY: the caller's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        shrink(layout.size());
        // SAFETY: the caller's.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        grow(size);
        shrink(layout.size());
        // SAFETY: the caller's.
        unsafe { System.realloc(memory, layout, size) }
    }
}

/// What this thread has allocated and not freed, in bytes. From here on the most counts anew.
pub(super) fn begin() -> i64 {
    MOST.set(LIVE.get());
    LIVE.get()
}

/// What it has now, and the most since [`begin`].
pub(super) fn since_begin() -> (i64, i64) {
    (LIVE.get(), MOST.get())
}
