// SPDX-License-Identifier: MIT OR Apache-2.0
//! Waits for a change of the data that a mutex protects.

use std::sync::{self, PoisonError, WaitTimeoutResult};
use std::time::{Duration, Instant};

use super::MutexGuard;
use super::counts::signals;

/// [`std::sync::Condvar`] without poisoning.
#[derive(Debug, Default)]
pub struct Condvar(sync::Condvar);

impl Condvar {
    /// A condition without waiting threads.
    #[must_use]
    #[inline]
    pub const fn new() -> Self {
        Self(sync::Condvar::new())
    }

    /// Releases the lock, waits for a notification, and takes the lock again. Spurious wake-ups are
    /// possible.
    #[inline]
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        let waited = self.0.wait(guard.into_waiting());
        MutexGuard::new(waited.unwrap_or_else(PoisonError::into_inner))
    }

    /// As [`wait`](Self::wait), until a condition no longer holds.
    pub fn wait_while<'a, T>(
        &self,
        mut guard: MutexGuard<'a, T>,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> MutexGuard<'a, T> {
        while condition(&mut guard) {
            guard = self.wait(guard);
        }
        guard
    }

    /// As [`wait`](Self::wait), for at most that time.
    #[inline]
    pub fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        time: Duration,
    ) -> (MutexGuard<'a, T>, WaitTimeoutResult) {
        let waited = self.0.wait_timeout(guard.into_waiting(), time);
        let (guard, result) = waited.unwrap_or_else(PoisonError::into_inner);
        (MutexGuard::new(guard), result)
    }

    /// As [`wait`](Self::wait), for at most that time if it is set.
    #[inline]
    pub fn wait_at_most<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        time: Option<Duration>,
    ) -> MutexGuard<'a, T> {
        match time {
            None => self.wait(guard),
            Some(time) => self.wait_timeout(guard, time).0,
        }
    }

    /// As [`wait_while`](Self::wait_while), for at most that time.
    pub fn wait_timeout_while<'a, T>(
        &self,
        mut guard: MutexGuard<'a, T>,
        time: Duration,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> MutexGuard<'a, T> {
        let began = Instant::now();
        while condition(&mut guard) {
            let left = time.saturating_sub(began.elapsed());
            if left.is_zero() {
                break;
            }
            (guard, _) = self.wait_timeout(guard, left);
        }
        guard
    }

    /// Wakes one of the waiting threads.
    #[inline]
    pub fn notify_one(&self) {
        signals();
        self.0.notify_one();
    }

    /// Wakes all waiting threads.
    #[inline]
    pub fn notify_all(&self) {
        signals();
        self.0.notify_all();
    }
}
