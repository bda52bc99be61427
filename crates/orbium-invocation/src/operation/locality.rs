// SPDX-License-Identifier: MIT OR Apache-2.0
//! Locality of a reference: whether its object belongs to the caller's ORB.

use std::sync::atomic::{AtomicU8, Ordering};

const UNKNOWN: u8 = 0;
const REMOTE: u8 = 1;
const OWN: u8 = 2;

/// The known locality of an object. Calls read it first, so it is one byte.
#[derive(Debug, Default)]
pub struct Locality(AtomicU8);

impl Locality {
    /// Whether the object may belong to the same ORB.
    #[must_use]
    #[inline(always)]
    pub fn may_be_own(&self) -> bool {
        self.0.load(Ordering::Relaxed) != REMOTE
    }

    /// Whether it is still unknown.
    #[must_use]
    #[inline]
    pub fn is_unknown(&self) -> bool {
        self.0.load(Ordering::Relaxed) == UNKNOWN
    }

    /// Records whether it belongs to the same ORB.
    pub fn settle(&self, is_own: bool) {
        let locality = if is_own { OWN } else { REMOTE };
        self.0.store(locality, Ordering::Relaxed);
    }
}
