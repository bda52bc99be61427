// SPDX-License-Identifier: MIT OR Apache-2.0
//! The kernel's part of a mutex with priority inheritance: a word that holds 0
//! or the id of the owner, and flags that the kernel adds.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::thread::futex::{Flags, OWNER_DIED, WAITERS, lock_pi, lock_pi2, unlock_pi};
use rustix::thread::gettid;
use rustix::time::{ClockId, Timespec, clock_gettime};

use crate::mutex::mutex_error::MutexError;

/// The word is not shared with another process.
const PRIVATE: Flags = Flags::PRIVATE;

thread_local! {
    static THREAD_ID: Cell<u32> = const { Cell::new(0) };
}

/// The kernel's id of the calling thread; never 0.
#[inline]
pub(crate) fn thread_id() -> u32 {
    match THREAD_ID.get() {
        0 => ask_thread_id(),
        id => id,
    }
}

#[cold]
fn ask_thread_id() -> u32 {
    // Positive, and at most 30 bits long.
    let id = gettid().as_raw_pid().cast_unsigned();
    THREAD_ID.set(id);
    id
}

/// The owner in a futex word; 0 if there is none.
#[inline]
pub(crate) fn owner(word: u32) -> u32 {
    word & !(WAITERS | OWNER_DIED)
}

/// Waits until the calling thread owns the word; `false` at the time limit.
#[cold]
pub(crate) fn lock(word: &AtomicU32, until: Option<Instant>) -> Result<bool, MutexError> {
    loop {
        let locked = match until {
            None => lock_pi(word, PRIVATE, None),
            Some(until) => lock_until(word, until),
        };
        match locked {
            Ok(()) => return Ok(true),
            Err(Errno::TIMEDOUT) => return Ok(false),
            // A signal, or the owner was about to end.
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(Errno::DEADLK) => return Err(MutexError::HeldHere),
            Err(Errno::SRCH) => return Err(MutexError::Abandoned),
            Err(error) => return Err(MutexError::System(error.raw_os_error())),
        }
    }
}

/// Releases the word to the waiter of highest priority.
#[cold]
pub(crate) fn unlock(word: &AtomicU32) -> Result<(), MutexError> {
    loop {
        match unlock_pi(word, PRIVATE) {
            Ok(()) => return Ok(()),
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(Errno::PERM) => return Err(MutexError::NotHeld),
            Err(error) => return Err(MutexError::System(error.raw_os_error())),
        }
    }
}

/// Locks by the monotonic clock, or by the other on kernels before 5.14.
fn lock_until(word: &AtomicU32, until: Instant) -> Result<(), Errno> {
    static OLD_KERNEL: AtomicBool = AtomicBool::new(false);
    if !OLD_KERNEL.load(Ordering::Relaxed) {
        let at = from_now(ClockId::Monotonic, until);
        match lock_pi2(word, PRIVATE, Some(&at)) {
            Err(Errno::NOSYS) => OLD_KERNEL.store(true, Ordering::Relaxed),
            done => return done,
        }
    }
    let at = from_now(ClockId::Realtime, until);
    lock_pi(word, PRIVATE, Some(&at))
}

/// An instant by the kernel's clock.
fn from_now(clock: ClockId, until: Instant) -> Timespec {
    let left = until.saturating_duration_since(Instant::now());
    let mut now = clock_gettime(clock);
    // Never negative.
    let nanoseconds = Duration::from_nanos(now.tv_nsec as u64) + left;
    let seconds = i64::try_from(nanoseconds.as_secs()).unwrap_or(i64::MAX);
    now.tv_sec = now.tv_sec.saturating_add(seconds);
    now.tv_nsec = nanoseconds.subsec_nanos() as _;
    now
}
