// SPDX-License-Identifier: MIT OR Apache-2.0
//! Turns: one thread at a time, which may take its turn again.

use std::thread::{self, ThreadId};

use crate::lock::{Condvar, Mutex, MutexGuard};
use crate::role;

/// A recursive lock. A servant runs under it, so it survives panics.
#[derive(Debug, Default)]
pub struct Turn {
    held: Mutex<Option<(ThreadId, usize)>>,
    free: Condvar,
}

/// A held turn, which ends when this is dropped.
#[derive(Debug)]
pub struct Taken<'t>(&'t Turn);

impl Turn {
    fn lock(&self) -> MutexGuard<'_, Option<(ThreadId, usize)>> {
        self.held.lock()
    }

    /// Whether the calling thread has it.
    #[must_use]
    pub fn is_mine(&self) -> bool {
        let mine = thread::current().id();
        self.lock().is_some_and(|(thread, _)| thread == mine)
    }

    /// Blocks until no other thread has it.
    #[must_use]
    pub fn take(&self) -> Taken<'_> {
        let mine = thread::current().id();
        let mut held = self.lock();
        loop {
            match &mut *held {
                Some((thread, depth)) if *thread == mine => {
                    *depth += 1;
                    return Taken(self);
                }
                None => {
                    *held = Some((mine, 1));
                    return Taken(self);
                }
                Some(_) => {
                    drop(held);
                    // The thread that has the turn may need data that this one reads.
                    role::about_to_block();
                    held = self.lock();
                    while held.is_some() {
                        held = self.free.wait(held);
                    }
                }
            }
        }
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        let mut held = self.0.lock();
        if let Some((_, depth)) = &mut *held {
            *depth -= 1;
            if *depth == 0 {
                *held = None;
                self.0.free.notify_one();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn one_thread_at_a_time_has_it_and_may_take_it_again() {
        let (turn, inside) = (Turn::default(), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for _ in 0..100 {
                        let _outer = turn.take();
                        let _inner = turn.take();
                        assert!(turn.is_mine());
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                        thread::yield_now();
                        inside.fetch_sub(1, Ordering::SeqCst);
                    }
                });
            }
        });
        assert!(!turn.is_mine());
    }

    #[test]
    fn a_panic_gives_it_back() {
        let turn = Turn::default();
        let body = std::panic::AssertUnwindSafe(|| {
            let _taken = turn.take();
            panic!("a servant");
        });
        assert!(std::panic::catch_unwind(body).is_err());
        assert!(!turn.is_mine());
    }
}
