// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hazard pointers: the slots that one thread uses without pinning their values.

use crate::atomic::{AtomicUsize, Ordering};

/// Maximum nested uses of a thread; further ones pin their values.
const NESTED: usize = 7;

/// The slots that a thread uses, by address: the outermost first, then zeros. Only the thread
/// writes them. One cache line.
#[derive(Debug, Default)]
#[repr(align(64))]
pub(super) struct Hazards {
    depth: AtomicUsize,
    slots: [AtomicUsize; NESTED],
}

/// An entered slot of the thread. Later ones are cleared first.
pub(super) struct Hazard {
    of: &'static Hazards,
    depth: usize,
}

impl Hazards {
    /// Enters a slot; `None` if too many are entered.
    #[inline(always)]
    pub(super) fn enter(&'static self, slot: usize) -> Option<Hazard> {
        let depth = self.depth.load(Ordering::Relaxed);
        // Release: a thread that reads this, and not the previous value, sees that the previous use
        // has ended.
        self.slots.get(depth)?.store(slot, Ordering::Release);
        self.depth.store(depth + 1, Ordering::Relaxed);
        Some(Hazard { of: self, depth })
    }

    /// Whether a slot is among them.
    pub(super) fn contain(&self, slot: usize) -> bool {
        // Acquire: partner of the Release of `clear` and `enter`.
        let mut slots = self.slots.iter();
        slots.any(|it| it.load(Ordering::Acquire) == slot)
    }
}

impl Hazard {
    /// Takes the slot out.
    #[inline(always)]
    pub(super) fn clear(&self) {
        self.of.depth.store(self.depth, Ordering::Relaxed);
        if let Some(slot) = self.of.slots.get(self.depth) {
            // Release: every use of the value happens-before a thread that reads this reclaims the
            // value.
            slot.store(0, Ordering::Release);
        }
    }
}
