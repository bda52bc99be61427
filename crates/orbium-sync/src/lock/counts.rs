// SPDX-License-Identifier: MIT OR Apache-2.0
//! Counters of lock operations in this process.

use std::ops::Sub;
use std::sync::atomic::{AtomicU64, Ordering};

/// Whether operations are counted (feature `counted`).
pub const ENABLED: bool = cfg!(feature = "counted");

static TAKEN: AtomicU64 = AtomicU64::new(0);
static RELEASED: AtomicU64 = AtomicU64::new(0);
static CONTENDED: AtomicU64 = AtomicU64::new(0);
static WAITS: AtomicU64 = AtomicU64::new(0);
static SIGNALS: AtomicU64 = AtomicU64::new(0);

/// Operations on locks since the process began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Locks taken.
    pub taken: u64,
    /// Locks released.
    pub released: u64,
    /// Contended lock operations: another thread held the lock.
    pub contended: u64,
    /// Waits for a condition; each also releases a lock and takes it again.
    pub waits: u64,
    /// Notifications of condition variables.
    pub signals: u64,
}

impl Counts {
    /// Locks taken and locks released: the count of the paper.
    #[must_use]
    pub const fn operations(self) -> u64 {
        self.taken + self.released
    }
}

impl Sub for Counts {
    type Output = Self;

    /// The difference of two counts.
    fn sub(self, earlier: Self) -> Self {
        Self {
            taken: self.taken - earlier.taken,
            released: self.released - earlier.released,
            contended: self.contended - earlier.contended,
            waits: self.waits - earlier.waits,
            signals: self.signals - earlier.signals,
        }
    }
}

/// The counts so far, in all threads; zeros if operations are not counted.
#[must_use]
pub fn counts() -> Counts {
    let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    Counts {
        taken: read(&TAKEN),
        released: read(&RELEASED),
        contended: read(&CONTENDED),
        waits: read(&WAITS),
        signals: read(&SIGNALS),
    }
}

#[inline]
fn one_more(counter: &AtomicU64) {
    if ENABLED {
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

#[inline]
pub(super) fn contended() {
    one_more(&CONTENDED);
}

#[inline]
pub(super) fn waits() {
    one_more(&WAITS);
}

#[inline]
pub(super) fn signals() {
    one_more(&SIGNALS);
}

/// A held lock: counted when it is taken, and when this is dropped.
#[derive(Debug)]
pub(super) struct Held(());

impl Held {
    #[inline]
    pub(super) fn new() -> Self {
        one_more(&TAKEN);
        Self(())
    }
}

impl Drop for Held {
    #[inline]
    fn drop(&mut self) {
        one_more(&RELEASED);
    }
}
