// SPDX-License-Identifier: MIT OR Apache-2.0
//! Heap allocations, counted.
//!
//! A test binary that counts them contains
//! `#[global_allocator] static HEAP: CountingAllocator = CountingAllocator;`.
#![expect(unsafe_code, reason = "an allocator is unsafe to implement")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::probe::{LineRef, Pair, Target};

static COUNTING: AtomicBool = AtomicBool::new(false);
static TAKEN: AtomicUsize = AtomicUsize::new(0);
static OCTETS: AtomicUsize = AtomicUsize::new(0);
static HELD: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator, with a counter.
#[derive(Debug)]
pub struct CountingAllocator;

fn count(octets: usize) {
    HELD.fetch_add(octets, Ordering::Relaxed);
    if COUNTING.load(Ordering::Relaxed) {
        TAKEN.fetch_add(1, Ordering::Relaxed);
        OCTETS.fetch_add(octets, Ordering::Relaxed);
    }
}

// SAFETY: every call is forwarded to the system's allocator unchanged; the counters
// neither allocate nor unwind.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller keeps the contract of `GlobalAlloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller keeps the contract of `GlobalAlloc`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `GlobalAlloc`.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `GlobalAlloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// Counts of allocations of all threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// The number of allocations.
    pub allocations: usize,
    /// Allocated bytes.
    pub octets: usize,
}

/// The minimum of several runs of `body`, up to the first one with at most `at_most` allocations:
/// other threads of the process may occasionally allocate, but the allocations of `body` occur in
/// each run.
pub fn fewest_allocations(at_most: usize, mut body: impl FnMut()) -> Counted {
    let mut fewest = count_allocations(&mut body);
    for _ in 0..9 {
        if fewest.allocations <= at_most {
            break;
        }
        let counted = count_allocations(&mut body);
        if counted.allocations < fewest.allocations {
            fewest = counted;
        }
    }
    fewest
}

/// Counts the allocations of all threads of the process while `body` runs.
pub fn count_allocations(body: impl FnOnce()) -> Counted {
    TAKEN.store(0, Ordering::SeqCst);
    OCTETS.store(0, Ordering::SeqCst);
    COUNTING.store(true, Ordering::SeqCst);
    body();
    COUNTING.store(false, Ordering::SeqCst);
    Counted {
        allocations: TAKEN.load(Ordering::SeqCst),
        octets: OCTETS.load(Ordering::SeqCst),
    }
}

/// Bytes presently allocated on the heap.
#[must_use]
pub fn held_octets() -> usize {
    HELD.load(Ordering::SeqCst)
}

/// A call with its name.
pub type NamedCall<'c> = (&'static str, Box<dyn FnMut() + 'c>);

/// Strings and sequences that are sent and read in place.
const LINE: LineRef<'_> = LineRef {
    name: "line",
    data: &[1, 2, 3],
    curve: &[0.5, 0.25],
    tags: &["red", "", "fast", "ab\u{b5}"],
};

/// Calls of several kinds that do not allocate in steady state, once buffers have their size and
/// connections their threads.
///
/// # Panics
/// A call fails or returns a wrong result.
#[must_use]
pub fn frugal_calls(target: &Target) -> Vec<NamedCall<'_>> {
    let octets = vec![7; 1024];
    let mut back = Vec::new();
    vec![
        ("noop", Box::new(|| target.noop().unwrap())),
        (
            "octet",
            Box::new(|| assert_eq!(target.echo_octet(3).unwrap(), 3)),
        ),
        (
            "long",
            Box::new(|| assert_eq!(target.echo_long(-3).unwrap(), -3)),
        ),
        (
            "struct",
            Box::new(|| {
                let pair = Pair { o: 1, l: 1 << 40 };
                assert_eq!(target.echo_pair(&pair).unwrap(), pair);
            }),
        ),
        (
            "1 KiB of octets",
            Box::new(move || {
                target.echo_octets_into(&octets, &mut back).unwrap();
                assert_eq!(back, octets);
            }),
        ),
        (
            "a view of a struct",
            Box::new(|| assert_eq!(target.measure(&LINE).unwrap(), 34)),
        ),
        (
            "views of structs in a sequence",
            Box::new(|| assert_eq!(target.measure_all(&[LINE; 20]).unwrap(), 680)),
        ),
    ]
}
