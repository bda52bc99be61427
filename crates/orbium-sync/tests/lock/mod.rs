// SPDX-License-Identifier: MIT OR Apache-2.0
//! The checker's locks, without poisoning as `orbium_sync::lock`.

use std::sync::PoisonError;
use std::time::Duration;

pub(crate) use loom::sync::MutexGuard;

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
    pub(crate) fn wait_at_most<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        time: Option<Duration>,
    ) -> MutexGuard<'a, T> {
        match time {
            None => self.0.wait(guard).unwrap_or_else(PoisonError::into_inner),
            Some(time) => {
                let waited = self.0.wait_timeout(guard, time);
                waited.unwrap_or_else(PoisonError::into_inner).0
            }
        }
    }

    pub(crate) fn notify_one(&self) {
        self.0.notify_one();
    }
}
