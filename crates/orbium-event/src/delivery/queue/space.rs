// SPDX-License-Identifier: MIT OR Apache-2.0
//! Producers that wait for space in the queue of a consumer.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use orbium::lock::{Condvar, Mutex};

/// Threads of suppliers that wait until a set is taken from a queue. A taker pays one load while
/// none waits.
#[derive(Debug, Default)]
pub(super) struct Space {
    /// The number of waiting producers. Each counts itself, then checks for space; a taker makes
    /// space, then loads this (Dekker).
    waiting: AtomicUsize,
    lock: Mutex<()>,
    freed: Condvar,
}

impl Space {
    /// Waits until there is space, or until `until`; returns whether there is.
    pub(super) fn wait(&self, until: Option<Instant>, has_space: impl Fn() -> bool) -> bool {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let mut guard = self.lock.lock();
        let found = loop {
            if has_space() {
                break true;
            }
            let left = until.map(|it| it.saturating_duration_since(Instant::now()));
            if left.is_some_and(|it| it.is_zero()) {
                break false;
            }
            guard = self.freed.wait_at_most(guard, left);
        };
        drop(guard);
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        found
    }

    /// Notifies the producers that a set was taken.
    pub(super) fn notify(&self) {
        if self.waiting.load(Ordering::SeqCst) > 0 {
            // A producer that has found no space waits before this returns.
            drop(self.lock.lock());
            self.freed.notify_all();
        }
    }
}
