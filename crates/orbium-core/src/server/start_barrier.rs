// SPDX-License-Identifier: MIT OR Apache-2.0
//! Waiting until threads are there.

use std::sync::{Arc, PoisonError};

use orbium_sync::lock::{Condvar, Mutex};

#[derive(Default)]
struct Shared {
    left: Mutex<usize>,
    there: Condvar,
}

/// Threads that are to be there before anything goes on.
#[derive(Default)]
pub(super) struct StartBarrier(Arc<Shared>);

/// One of them; dropped when it is there, or will never be.
pub(super) struct StartGuard(Arc<Shared>);

impl StartBarrier {
    pub(super) fn call(&self) -> StartGuard {
        *self.0.left.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        StartGuard(Arc::clone(&self.0))
    }

    /// Waits for all that were called.
    pub(super) fn await_all(self) {
        let mut left = self.0.left.lock().unwrap_or_else(PoisonError::into_inner);
        while *left > 0 {
            left = self
                .0
                .there
                .wait(left)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Drop for StartGuard {
    fn drop(&mut self) {
        *self.0.left.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.0.there.notify_all();
    }
}
