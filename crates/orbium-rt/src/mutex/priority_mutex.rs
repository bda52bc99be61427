// SPDX-License-Identifier: MIT OR Apache-2.0
//! A mutex with priority inheritance: its owner runs at least at the priority of its waiters.

use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::mutex::mutex_error::MutexError;
use crate::mutex::pi_futex;

/// A mutex with priority inheritance: while a thread waits for it, the thread that holds it runs at
/// no lower priority (implemented by the kernel). Locked and unlocked by calls on one thread, like
/// a CORBA mutex. Not recursive.
///
/// Without contention, locking and unlocking cost one atomic operation each, and no system call.
/// Deadlines are measured by the monotonic clock. A process that forks must not use its mutexes in
/// the child.
///
/// ```
/// use orbium_rt::{MutexError, PriorityMutex};
///
/// let mutex = PriorityMutex::new();
/// mutex.lock()?;
/// assert_eq!(mutex.lock(), Err(MutexError::HeldHere));
/// mutex.unlock()?;
/// assert_eq!(mutex.unlock(), Err(MutexError::NotHeld));
/// # Ok::<(), MutexError>(())
/// ```
#[derive(Default)]
pub struct PriorityMutex {
    /// 0, or the id of the thread that holds it; the kernel adds flags.
    word: AtomicU32,
}

impl fmt::Debug for PriorityMutex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PriorityMutex")
            .field("locked", &self.is_locked())
            .finish()
    }
}

impl PriorityMutex {
    /// An unlocked mutex.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            word: AtomicU32::new(0),
        }
    }

    /// Locks the mutex; waits without limit.
    ///
    /// # Errors
    /// [`MutexError`].
    pub fn lock(&self) -> Result<(), MutexError> {
        if self.take_free() {
            return Ok(());
        }
        pi_futex::lock(&self.word, None).map(drop)
    }

    /// Locks the mutex within `wait`; returns whether it was locked.
    ///
    /// # Errors
    /// [`MutexError`].
    pub fn try_lock(&self, wait: Duration) -> Result<bool, MutexError> {
        if self.take_free() {
            return Ok(true);
        }
        if self.is_held_here() {
            return Err(MutexError::HeldHere);
        }
        if wait.is_zero() {
            return Ok(false);
        }
        // A time beyond the range of the clock means no deadline.
        pi_futex::lock(&self.word, Instant::now().checked_add(wait))
    }

    /// Unlocks it. The waiter of highest priority locks it next.
    ///
    /// # Errors
    /// [`MutexError::NotHeld`].
    pub fn unlock(&self) -> Result<(), MutexError> {
        if !self.is_held_here() {
            return Err(MutexError::NotHeld);
        }
        let own = pi_futex::thread_id();
        let free = self
            .word
            .compare_exchange(own, 0, Ordering::Release, Ordering::Relaxed);
        match free {
            Ok(_) => Ok(()),
            // A thread is waiting.
            Err(_) => pi_futex::unlock(&self.word),
        }
    }

    /// Whether a thread holds it at this time.
    #[must_use]
    pub fn is_locked(&self) -> bool {
        self.word.load(Ordering::Relaxed) != 0
    }

    /// Whether the calling thread holds it.
    #[must_use]
    pub fn is_held_here(&self) -> bool {
        pi_futex::owner(self.word.load(Ordering::Relaxed)) == pi_futex::thread_id()
    }

    #[inline]
    fn take_free(&self) -> bool {
        let own = pi_futex::thread_id();
        let taken = self
            .word
            .compare_exchange(0, own, Ordering::Acquire, Ordering::Relaxed);
        taken.is_ok()
    }
}
