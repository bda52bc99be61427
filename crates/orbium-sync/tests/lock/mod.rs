// SPDX-License-Identifier: MIT OR Apache-2.0
//! The checker's locks, without poisoning as `orbium_sync::lock`.

use std::sync::PoisonError;
use std::time::Duration;

pub(crate) use loom::sync::MutexGuard;
use loom::sync::WaitTimeoutResult;

#[derive(Debug, Default)]
pub(crate) struct Mutex<T>(loom::sync::Mutex<T>);

impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(loom::sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug, Default)]
pub(crate) struct Condvar(loom::sync::Condvar);

impl Condvar {
    pub(crate) fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        let waited = self.0.wait(guard);
        waited.unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        time: Duration,
    ) -> (MutexGuard<'a, T>, WaitTimeoutResult) {
        let waited = self.0.wait_timeout(guard, time);
        waited.unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn notify_one(&self) {
        self.0.notify_one();
    }
}
