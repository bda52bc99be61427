// SPDX-License-Identifier: MIT OR Apache-2.0
//! The hazard pointers of all threads of the process.

use std::cell::Cell;
use std::sync::OnceLock;

use super::hazard::Hazards;
use crate::atomic::{AtomicBool, Ordering};

/// The hazard pointers of a thread, or of one that has ended, for reuse by the next thread; and the
/// next node. Nodes exist as long as the process.
#[derive(Debug, Default)]
struct Node {
    hazards: Hazards,
    is_taken: AtomicBool,
    next: OnceLock<Box<Node>>,
}

static FIRST: OnceLock<Box<Node>> = OnceLock::new();

/// The node of a thread until it ends.
struct Taken(&'static Node);

thread_local! {
    static OWN: Cell<Option<&'static Hazards>> = const { Cell::new(None) };
    static TAKEN: Taken = Taken::new();
}

/// The hazard pointers of the calling thread; `None` while it is ending.
#[inline(always)]
pub(super) fn of_this_thread() -> Option<&'static Hazards> {
    // `with` is a call from other crates; `try_with` is inlined.
    match OWN.try_with(Cell::get) {
        Ok(Some(hazards)) => Some(hazards),
        _ => take(),
    }
}

#[cold]
fn take() -> Option<&'static Hazards> {
    let taken = TAKEN.try_with(|taken| &taken.0.hazards);
    let taken = taken.ok();
    OWN.set(taken);
    taken
}

/// Whether any thread has the slot among its hazard pointers.
pub(super) fn contains(slot: usize) -> bool {
    let mut node = FIRST.get();
    while let Some(this) = node {
        if this.hazards.contain(slot) {
            return true;
        }
        node = this.next.get();
    }
    false
}

impl Taken {
    fn new() -> Self {
        let mut place = &FIRST;
        loop {
            let node = place.get_or_init(Box::default);
            if !node.is_taken.swap(true, Ordering::Acquire) {
                return Self(node);
            }
            place = &node.next;
        }
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        OWN.set(None);
        self.0.is_taken.store(false, Ordering::Release);
    }
}
