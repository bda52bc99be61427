// SPDX-License-Identifier: MIT OR Apache-2.0
//! Locality of a reference: whether its object is one of the caller's own ORB.

use std::sync::atomic::{AtomicU8, Ordering};

const UNKNOWN: u8 = 0;
const REMOTE: u8 = 1;
const OWN: u8 = 2;

/// Knowledge of an object's locality. Calls read it before anything else, so it is one
/// byte.
#[derive(Debug, Default)]
pub struct Locality(AtomicU8);

impl Locality {
    /// Whether the object may be one of the ORB's own.
    #[must_use]
    #[inline(always)]
    pub fn may_be_own(&self) -> bool {
        self.0.load(Ordering::Relaxed) != REMOTE
    }

    /// Whether it is not known yet.
    #[must_use]
    #[inline]
    pub fn is_unknown(&self) -> bool {
        self.0.load(Ordering::Relaxed) == UNKNOWN
    }

    /// Notes whether it is.
    pub fn settle(&self, is_own: bool) {
        let locality = if is_own { OWN } else { REMOTE };
        self.0.store(locality, Ordering::Relaxed);
    }
}
