// SPDX-License-Identifier: MIT OR Apache-2.0
//! Callers waiting for a connection of a pool.

use std::sync::atomic::{AtomicUsize, Ordering};

/// A caller waiting for a free connection.
pub(super) struct Waits<'p>(&'p AtomicUsize);

impl<'p> Waits<'p> {
    pub(super) fn begin(callers: &'p AtomicUsize) -> Self {
        // SeqCst, before the caller's last scan: it finds a connection released before, or
        // the releasing thread's load (`Pool::release`) sees the count.
        callers.fetch_add(1, Ordering::SeqCst);
        Self(callers)
    }
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}
