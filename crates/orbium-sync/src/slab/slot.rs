// SPDX-License-Identifier: MIT OR Apache-2.0
//! One slot of a slab: its value lives until the last pin is released.
//!
//! One word contains the state: the generation of the value, whether it can still be found, and how
//! often it is *pinned*. A lookup pins the value by adding one, and then checks the generation.
//! Removing a value only marks it as not to be found; the thread that releases the last pin drops
//! it and frees the slot. So no thread ever waits for another, and there is no lock.
//!
//! Views use values by *hazard pointers* in place of pins if the system offers the barrier that
//! these need ([`process_barrier`]): a thread stores the slot among its own, checks the word, and
//! clears it afterwards, without a read-modify-write. A thread that is to reclaim a value first
//! searches the hazard pointers of all threads for it, once it can no longer be found, with the
//! barrier in between. If it is there, the value is kept: the thread that uses it checks the word
//! once it has cleared its hazard pointer, again with the barrier's other half in between, and then
//! reclaims it like the last pin. So of two threads that both might reclaim it, at least one sees
//! that the other no longer uses it.

use std::ops::Deref;

use super::hazard::{Hazard, Hazards};
use super::hazard_registry;
use crate::atomic::{AtomicBool, AtomicU64, Ordering, UnsafeCell, fence};
use crate::lock::{Mutex, MutexGuard};
use crate::process_barrier;

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
    /// Whether views may use the value by hazard pointers.
    has_views: AtomicBool,
    value: UnsafeCell<Option<T>>,
}

#[allow(unsafe_code)]
// SAFETY: a slot gives references to its value to all threads, and drops it on
// any of them; it changes the value only while no other thread can have one.
unsafe impl<T: Send + Sync> Sync for Slot<T> {}

/// Slots that are free.
pub(super) struct Free(Mutex<Freed>);

pub(super) struct Freed {
    /// With their last generations.
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

/// A pinned value of a slab: it exists as long as this does, even when removed from the slab.
pub struct Pinned<'s, T> {
    slot: &'s Slot<T>,
    free: &'s Free,
}

/// A value of a slab in use by a view: pinned, or by a hazard pointer. It is dropped before any
/// other such use that the thread began earlier.
pub(super) struct InUse<'s, T> {
    slot: &'s Slot<T>,
    free: &'s Free,
    /// `None` if it is pinned.
    hazard: Option<Hazard>,
}

impl<T> Slot<T> {
    pub(super) fn free(index: u32) -> Self {
        Self {
            word: AtomicU64::new(0),
            index,
            has_views: AtomicBool::new(false),
            value: UnsafeCell::new(None),
        }
    }

    /// Stores a value.
    ///
    /// # Safety
    /// The slot is free, and only the caller has its index.
    #[allow(unsafe_code)]
    pub(super) unsafe fn fill(&self, generation: u32, value: T) {
        // SAFETY: the caller alone has the slot. A concurrent pin sees that
        // there is nothing to be found, and does not look.
        self.value.with_mut(|place| unsafe { *place = Some(value) });
        self.has_views.store(false, Ordering::Relaxed);
        // Added, as there may be such pins.
        let live = u64::from(generation) << GENERATION | LIVE;
        // Release: the write of the value happens-before every use of it. The Acquire of
        // `pin` reads this addition or one of the read-modify-writes after it.
        self.word.fetch_add(live, Ordering::Release);
    }

    /// The word, without pins, while the value of that generation can be found.
    #[inline(always)]
    fn live(generation: u32) -> u64 {
        (u64::from(generation) << 1 | 1) << (LIVE.ilog2() - PIN_BITS)
    }

    /// The value of that generation, pinned.
    #[inline(always)]
    pub(super) fn pin<'s>(&'s self, free: &'s Free, generation: u32) -> Option<Pinned<'s, T>> {
        let wanted = Self::live(generation);
        // A removed value is not modified either.
        if self.word.load(Ordering::Relaxed) >> PIN_BITS != wanted {
            return None;
        }
        // Acquire: synchronizes with the Release of `fill`, through pins in between as
        // well.
        let before = self.word.fetch_add(1, Ordering::Acquire);
        let pinned = Pinned { slot: self, free };
        (before >> PIN_BITS == wanted).then_some(pinned)
    }

    /// Enables hazard pointers for the value of this slot, which the caller has pinned.
    pub(super) fn has_views_from_now_on(&self) {
        // `reclaim` reads it after the Release of the caller's unpinning.
        self.has_views.store(true, Ordering::Relaxed);
    }

    /// The value of that generation in use, by a hazard pointer if `hazards` are given.
    #[inline(always)]
    pub(super) fn enter<'s>(
        &'s self,
        free: &'s Free,
        generation: u32,
        hazards: Option<&'static Hazards>,
    ) -> Option<InUse<'s, T>> {
        let hazard = hazards.and_then(|it| it.enter(self.address()));
        let is_pinned = hazard.is_none();
        if is_pinned && !self.pins(free, generation) {
            return None;
        }
        // In registers: a returned struct would be copied from memory that was just written.
        let in_use = InUse {
            slot: self,
            free,
            hazard,
        };
        process_barrier::light();
        // Acquire: as in `pin`.
        let is_live =
            is_pinned || self.word.load(Ordering::Acquire) >> PIN_BITS == Self::live(generation);
        is_live.then_some(in_use)
    }

    /// Pins the value of that generation, if it exists.
    #[cold]
    fn pins(&self, free: &Free, generation: u32) -> bool {
        let pinned = self.pin(free, generation);
        pinned.map(std::mem::forget).is_some()
    }

    /// The address that hazard pointers store.
    #[inline(always)]
    fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// The value.
    ///
    /// # Safety
    /// It is pinned or protected by a hazard pointer, as long as what is returned, and was
    /// live then.
    #[inline(always)]
    #[allow(unsafe_code)]
    unsafe fn value(&self) -> &T {
        // SAFETY: the slot had a live value, which `fill` put there before, and it stays and
        // is not changed as long as the caller says.
        self.value.with(|place| unsafe {
            match &*place {
                Some(value) => value,
                None => std::hint::unreachable_unchecked(),
            }
        })
    }

    /// Releases a pin.
    #[inline(always)]
    fn unpin(&self, free: &Free) {
        // Release: every use of the value happens-before `reclaim` takes it out (Acquire there).
        let before = self.word.fetch_sub(1, Ordering::Release);
        if before & (LIVE | PINS) == 1 {
            self.reclaim(free, before);
        }
    }

    /// Ends a use of a value that can no longer be found.
    #[cold]
    fn leave_removed(&self, free: &Free, word: u64) {
        // Else the thread that releases the last pin does it.
        if word & PINS == 0 {
            self.reclaim(free, word);
        }
    }

    /// Pins the value, of any generation.
    pub(super) fn pin_any<'s>(&'s self, free: &'s Free) -> Option<Pinned<'s, T>> {
        let generation = self.word.load(Ordering::Relaxed) >> GENERATION;
        self.pin(free, generation as u32)
    }

    /// Marks the value as not to be found; the caller has pinned it.
    pub(super) fn remove<'s>(&'s self, free: &'s Free, generation: u32) -> Option<Pinned<'s, T>> {
        let pinned = self.pin(free, generation)?;
        // Only one of several concurrent removals finds it live: no thread puts
        // another value in while it is pinned.
        let before = self.word.fetch_and(!LIVE, Ordering::Relaxed);
        (before & LIVE != 0).then_some(pinned)
    }

    /// Whether a hazard pointer protects the value; its thread reclaims the value when it has
    /// cleared it. The caller has ensured that no further one will protect it.
    fn may_be_viewed(&self) -> bool {
        // Acquire: synchronizes with the Release of all released pins, including those of
        // `project`.
        fence(Ordering::Acquire);
        // If the system now refuses its barrier, the value is kept as long as the slab.
        self.has_views.load(Ordering::Relaxed)
            && (!process_barrier::heavy() || hazard_registry::contains(self.address()))
    }

    /// Takes the value out if it is out of use for good.
    #[cold]
    #[allow(unsafe_code)]
    fn reclaim(&self, free: &Free, before: u64) {
        let generation = before >> GENERATION;
        let unused = generation << GENERATION;
        // Of several threads that released the last pin one does this; the others find another
        // word. A slot that was free all the time has no generation.
        if generation == 0
            || self.may_be_viewed()
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
        // Without the lock: the drop may take long.
        drop(value);
    }
}

impl<T> Deref for Pinned<'_, T> {
    type Target = T;

    #[inline(always)]
    #[allow(unsafe_code)]
    fn deref(&self) -> &T {
        // SAFETY: it is pinned until this is dropped.
        unsafe { self.slot.value() }
    }
}

impl<T> Drop for Pinned<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        self.slot.unpin(self.free);
    }
}

impl<T> Deref for InUse<'_, T> {
    type Target = T;

    #[inline(always)]
    #[allow(unsafe_code)]
    fn deref(&self) -> &T {
        // SAFETY: it is pinned or protected until this is dropped. `enter` gives it away only if the
        // value was live while it was.
        unsafe { self.slot.value() }
    }
}

impl<T> Drop for InUse<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        let Some(hazard) = &self.hazard else {
            return self.slot.unpin(self.free);
        };
        hazard.clear();
        process_barrier::light();
        // Acquire: like the unpinning of others on which `reclaim` relies.
        let word = self.slot.word.load(Ordering::Acquire);
        if word & LIVE == 0 {
            self.slot.leave_removed(self.free, word);
        }
    }
}

impl<T: std::fmt::Debug> std::fmt::Debug for Pinned<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        (**self).fmt(f)
    }
}
