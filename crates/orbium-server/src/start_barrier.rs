// SPDX-License-Identifier: MIT OR Apache-2.0
//! A barrier for the start of threads.

use std::sync::{Arc, PoisonError};

use orbium_sync::lock::{Condvar, Mutex};

#[derive(Default)]
struct Shared {
    pending: Mutex<usize>,
    arrived: Condvar,
}

/// Blocks the starter until its threads have begun, or have failed to.
#[derive(Default)]
pub(super) struct StartBarrier(Arc<Shared>);

/// Held by a thread until it has begun; dropping it counts the thread as arrived.
pub(super) struct StartGuard(Arc<Shared>);

impl StartBarrier {
    pub(super) fn guard(&self) -> StartGuard {
        *self
            .0
            .pending
            .lock()
            .unwrap_or_else(PoisonError::into_inner) += 1;
        StartGuard(Arc::clone(&self.0))
    }

    /// Waits until all guards are dropped.
    pub(super) fn wait(self) {
        let mut pending = self
            .0
            .pending
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        while *pending > 0 {
            pending = self
                .0
                .arrived
                .wait(pending)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Drop for StartGuard {
    fn drop(&mut self) {
        *self
            .0
            .pending
            .lock()
            .unwrap_or_else(PoisonError::into_inner) -= 1;
        self.0.arrived.notify_all();
    }
}
