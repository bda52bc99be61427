// SPDX-License-Identifier: MIT OR Apache-2.0
//! One slot of a slab: its value lives until the last pin is released.
//!
//! One word says all: the generation of the value, whether it can still be
//! found, and how often it is *pinned*. A lookup pins the value by adding
//! one, and then checks the generation. Removing a value only marks it as not to be
//! found; the thread that releases the last pin drops it and frees the slot. So no
//! thread ever waits for another, and there is no lock.

use std::ops::Deref;

use crate::atomic::{AtomicU64, Ordering, UnsafeCell};
use crate::lock::{Mutex, MutexGuard};

/// The generation is above this bit.
const GENERATION: u32 = 32;

/// The value can be found.
const LIVE: u64 = 1 << 31;

/// Pins beyond this bit are refused, so that they never reach the next.
const PIN_BITS: u32 = 30;
const PINS: u64 = LIVE - 1;

pub(super) struct Slot<T> {
    word: AtomicU64,
    index: u32,
    value: UnsafeCell<Option<T>>,
}

#[allow(unsafe_code)]
// SAFETY: a slot gives references to its value to all threads, and drops it on
// any of them; it changes the value only while no other thread can have one.
unsafe impl<T: Send + Sync> Sync for Slot<T> {}

/// Slots that are free.
pub(super) struct Free(Mutex<Freed>);

pub(super) struct Freed {
    /// With the generations that they had last.
    pub(super) indices: Vec<(u32, u32)>,
    pub(super) next_fresh: u32,
    pub(super) taken: usize,
}

impl Free {
    pub(super) fn new() -> Self {
        Self(Mutex::new(Freed {
            indices: Vec::new(),
            next_fresh: 0,
            taken: 0,
        }))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Freed> {
        self.0.lock()
    }
}

/// A value of a slab, pinned: it lives as long as this does, even when removed from the
/// slab.
pub struct Pinned<'s, T> {
    slot: &'s Slot<T>,
    free: &'s Free,
}

impl<T> Slot<T> {
    pub(super) fn free(index: u32) -> Self {
        Self {
            word: AtomicU64::new(0),
            index,
            value: UnsafeCell::new(None),
        }
    }

    /// Puts a value in.
    ///
    /// # Safety
    /// The slot is free, and its index is the caller's alone.
    #[allow(unsafe_code)]
    pub(super) unsafe fn fill(&self, generation: u32, value: T) {
        // SAFETY: the caller alone has the slot. A concurrent pin sees that
        // there is nothing to be found, and does not look.
        self.value.with_mut(|place| unsafe { *place = Some(value) });
        // Added, for there may be such pins.
        let live = u64::from(generation) << GENERATION | LIVE;
        // Release: the write of the value happens-before every use of it. The Acquire of
        // `pin` reads this addition or one of the read-modify-writes after it.
        self.word.fetch_add(live, Ordering::Release);
    }

    /// The value of that generation, pinned.
    #[inline(always)]
    pub(super) fn pin<'s>(&'s self, free: &'s Free, generation: u32) -> Option<Pinned<'s, T>> {
        let wanted = (u64::from(generation) << 1 | 1) << (LIVE.ilog2() - PIN_BITS);
        // What is not there is not disturbed either.
        if self.word.load(Ordering::Relaxed) >> PIN_BITS != wanted {
            return None;
        }
        // Acquire: synchronizes with the Release of `fill`, through pins in between as
        // well.
        let before = self.word.fetch_add(1, Ordering::Acquire);
        let pinned = Pinned { slot: self, free };
        (before >> PIN_BITS == wanted).then_some(pinned)
    }

    /// Whatever value is there, pinned.
    pub(super) fn pin_any<'s>(&'s self, free: &'s Free) -> Option<Pinned<'s, T>> {
        let generation = self.word.load(Ordering::Relaxed) >> GENERATION;
        self.pin(free, generation as u32)
    }

    /// Marks the value as not to be found; the caller has a pin of its own.
    pub(super) fn remove<'s>(&'s self, free: &'s Free, generation: u32) -> Option<Pinned<'s, T>> {
        let pinned = self.pin(free, generation)?;
        // Only one of several concurrent removals finds it live: no thread puts
        // another value in while it is pinned.
        let before = self.word.fetch_and(!LIVE, Ordering::Relaxed);
        (before & LIVE != 0).then_some(pinned)
    }

    /// Takes the value out if it is out of use for good.
    #[cold]
    #[inline(never)]
    #[allow(unsafe_code)]
    fn reclaim(&self, free: &Free, before: u64) {
        let generation = before >> GENERATION;
        let unused = generation << GENERATION;
        // Of several threads that saw the last pin go one does this; the others find
        // another word. A slot that was free all the time has no generation.
        if generation == 0
            || self
                .word
                .compare_exchange(unused, 0, Ordering::Acquire, Ordering::Relaxed)
                .is_err()
        {
            return;
        }
        // SAFETY: no lookup finds the value, no thread has it pinned, and none
        // puts another one in before the index is free. All that was done with
        // it happened before: unpinning releases, and the exchange acquires.
        let value = self.value.with_mut(|place| unsafe { (*place).take() });
        {
            let mut free = free.lock();
            free.indices.push((self.index, generation as u32));
            free.taken -= 1;
        }
        // Not under the lock: it may have much to do.
        drop(value);
    }
}

impl<T> Deref for Pinned<'_, T> {
    type Target = T;

    #[inline(always)]
    #[allow(unsafe_code)]
    fn deref(&self) -> &T {
        // SAFETY: the slot had a live value when it was pinned, which `fill` put
        // there before, and it stays and is not changed until this is dropped.
        self.slot.value.with(|place| unsafe {
            match &*place {
                Some(value) => value,
                None => std::hint::unreachable_unchecked(),
            }
        })
    }
}

impl<T> Drop for Pinned<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        // Release: every use of the value happens-before `reclaim` takes it out (Acquire
        // there).
        let before = self.slot.word.fetch_sub(1, Ordering::Release);
        if before & (LIVE | PINS) == 1 {
            self.slot.reclaim(self.free, before);
        }
    }
}

impl<T: std::fmt::Debug> std::fmt::Debug for Pinned<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        (**self).fmt(f)
    }
}
