// SPDX-License-Identifier: MIT OR Apache-2.0
//! A mutex with priority inheritance: its owner runs at least at the priority of its waiters.

use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::pi_futex;

/// A mutex with priority inheritance: while a thread waits for it, the thread
/// that holds it runs at no lower priority (the kernel sees to that). Locked and
/// unlocked by calls, as a CORBA mutex is, on one thread. Not recursive.
///
/// Locking and unlocking cost one atomic operation each, and no system call,
/// without contention. What is waited for with a deadline is timed by the
/// monotonic clock. A process that forks must not use its mutexes in the child.
///
/// ```
/// use orbium_sync::{MutexError, PriorityMutex};
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

/// Why a mutex was not locked or unlocked.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MutexError {
    /// The calling thread holds it already: it would wait for itself, or for
    /// one that waits for it.
    HeldHere,
    /// The calling thread does not hold it.
    NotHeld,
    /// The thread that held it has ended without unlocking it: no thread can lock
    /// it any more.
    Abandoned,
    /// The system has no mutexes of this kind, or no memory for one: its error
    /// number.
    System(i32),
}

impl fmt::Display for MutexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HeldHere => f.write_str("the mutex is held by the thread that wants it"),
            Self::NotHeld => f.write_str("the mutex is not held by the thread that unlocks it"),
            Self::Abandoned => f.write_str("the thread that held the mutex has ended"),
            Self::System(number) => {
                let error = std::io::Error::from_raw_os_error(*number);
                write!(f, "the system refuses the mutex: {error}")
            }
        }
    }
}

/// The same words as `Display`: it is what a `main` shows that ends with an error.
impl fmt::Debug for MutexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for MutexError {}

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

    /// Locks it, however long that takes.
    ///
    /// # Errors
    /// [`MutexError`].
    pub fn lock(&self) -> Result<(), MutexError> {
        if self.take_free() {
            return Ok(());
        }
        pi_futex::lock(&self.word, None).map(drop)
    }

    /// Locks it if that takes no longer than `wait`; whether it did.
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
        // A time beyond what the clock can count never comes.
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
            // A thread waits.
            Err(_) => pi_futex::unlock(&self.word),
        }
    }

    /// Whether some thread holds it, at this moment.
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
