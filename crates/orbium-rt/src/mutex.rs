// SPDX-License-Identifier: MIT OR Apache-2.0
//! `RTCORBA::Mutex`: with priority inheritance (RT-CORBA 1.2, clause 5.9).

mod mutex_error;
mod pi_futex;
mod priority_mutex;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

pub use mutex_error::MutexError;
use orbium_core::{Completion, ExceptionKind, SystemException};
use orbium_sync::role;
pub use priority_mutex::PriorityMutex;

/// A mutex with priority inheritance: its owner inherits the priority of the most urgent waiter. Clones are
/// the same mutex. Not recursive.
#[derive(Clone)]
pub struct RtMutex {
    mutex: Arc<PriorityMutex>,
}

/// There is no mutex with that name.
#[derive(Clone, PartialEq, Eq)]
pub struct MutexNotFound(pub String);

impl fmt::Display for MutexNotFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no mutex named `{}`", self.0)
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for MutexNotFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for MutexNotFound {}

impl fmt::Debug for RtMutex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RtMutex")
            .field("locked", &self.mutex.is_locked())
            .finish()
    }
}

impl PartialEq for RtMutex {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.mutex, &other.mutex)
    }
}

/// Units of `TimeBase::TimeT`: 100 nanoseconds.
const UNITS_PER_SECOND: u64 = 10_000_000;

/// A time of `TimeBase::TimeT`.
fn duration(units: u64) -> Duration {
    // The remainder is less than a second, in units of 100 ns.
    let rest = (units % UNITS_PER_SECOND) as u32 * 100;
    Duration::new(units / UNITS_PER_SECOND, rest)
}

fn exception(error: MutexError) -> SystemException {
    let kind = match error {
        MutexError::HeldHere | MutexError::NotHeld => ExceptionKind::BadInvOrder,
        _ => ExceptionKind::Internal,
    };
    tracing::debug!(target: "orbium::lane", %error, "mutex");
    SystemException::new(kind, 0, Completion::No)
}

impl RtMutex {
    pub(crate) fn new() -> Self {
        Self {
            mutex: Arc::default(),
        }
    }

    /// Locks the mutex; waits without limit.
    ///
    /// # Errors
    /// BAD_INV_ORDER if this thread holds it already; INTERNAL if the thread that held it has
    /// ended.
    pub fn lock(&self) -> Result<(), SystemException> {
        if self.take_free()? {
            return Ok(());
        }
        // The owner may depend on a request that this thread is to read.
        role::about_to_block();
        self.mutex.lock().map_err(exception)
    }

    /// Unlocks the mutex.
    ///
    /// # Errors
    /// BAD_INV_ORDER if this thread does not hold it.
    pub fn unlock(&self) -> Result<(), SystemException> {
        self.mutex.unlock().map_err(exception)
    }

    /// Locks the mutex within `max_wait`, in units of 100 ns as `TimeBase::TimeT`; 0 does not wait.
    /// Returns whether it was locked.
    ///
    /// # Errors
    /// As [`lock`](Self::lock).
    pub fn try_lock(&self, max_wait: u64) -> Result<bool, SystemException> {
        let is_locked = self.take_free()?;
        if is_locked || max_wait == 0 {
            return Ok(is_locked);
        }
        role::about_to_block();
        self.mutex.try_lock(duration(max_wait)).map_err(exception)
    }

    /// Locks the mutex if it is free; returns whether it was.
    fn take_free(&self) -> Result<bool, SystemException> {
        self.mutex.try_lock(Duration::ZERO).map_err(exception)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_in_units_of_100_ns() {
        assert_eq!(duration(1), Duration::from_nanos(100));
        assert_eq!(duration(15_000_000), Duration::from_millis(1500));
        assert!(duration(u64::MAX) > Duration::from_secs(1 << 40));
    }
}
