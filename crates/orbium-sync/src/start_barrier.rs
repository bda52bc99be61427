// SPDX-License-Identifier: MIT OR Apache-2.0
//! A barrier for the start of threads.

use std::sync::Arc;

use crate::lock::{Condvar, Mutex};

#[derive(Debug, Default)]
struct Shared {
    pending: Mutex<usize>,
    arrived: Condvar,
}

/// Blocks the starter until its threads have begun, or have failed to.
///
/// ```
/// use orbium_sync::StartBarrier;
///
/// let barrier = StartBarrier::default();
/// let threads = [(); 3].map(|()| {
///     let begun = barrier.guard();
///     std::thread::spawn(move || drop(begun))
/// });
/// barrier.wait();
/// # for thread in threads {
/// #     thread.join().unwrap();
/// # }
/// ```
#[derive(Debug, Default)]
pub struct StartBarrier(Arc<Shared>);

/// Held by a thread until it has begun; dropping it counts the thread as arrived.
#[derive(Debug)]
pub struct StartGuard(Arc<Shared>);

impl StartBarrier {
    /// Adds a thread to wait for.
    #[must_use]
    pub fn guard(&self) -> StartGuard {
        *self.0.pending.lock() += 1;
        StartGuard(Arc::clone(&self.0))
    }

    /// Waits until all guards are dropped.
    pub fn wait(self) {
        let mut pending = self.0.pending.lock();
        while *pending > 0 {
            pending = self.0.arrived.wait(pending);
        }
    }
}

impl Drop for StartGuard {
    fn drop(&mut self) {
        *self.0.pending.lock() -= 1;
        self.0.arrived.notify_all();
    }
}
