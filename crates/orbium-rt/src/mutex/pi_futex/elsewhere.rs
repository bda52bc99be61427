// SPDX-License-Identifier: MIT OR Apache-2.0
//! The same word where the kernel has no priority inheritance: a waiter polls
//! after a while.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::mutex::mutex_error::MutexError;

/// Interval at which a waiter polls.
const POLL_INTERVAL: Duration = Duration::from_micros(50);

thread_local! {
    static THREAD_ID: Cell<u32> = const { Cell::new(0) };
}

/// A unique number of the calling thread; never 0.
pub(crate) fn thread_id() -> u32 {
    static LAST: AtomicU32 = AtomicU32::new(0);
    if THREAD_ID.get() == 0 {
        THREAD_ID.set(LAST.fetch_add(1, Ordering::Relaxed) + 1);
    }
    THREAD_ID.get()
}

/// The owner in a futex word; 0 if there is none.
pub(crate) fn owner(word: u32) -> u32 {
    word
}

/// Waits until the calling thread owns the word; `false` at the time limit.
pub(crate) fn lock(word: &AtomicU32, until: Option<Instant>) -> Result<bool, MutexError> {
    let own = thread_id();
    if word.load(Ordering::Relaxed) == own {
        return Err(MutexError::HeldHere);
    }
    while word
        .compare_exchange(0, own, Ordering::Acquire, Ordering::Relaxed)
        .is_err()
    {
        if until.is_some_and(|until| Instant::now() >= until) {
            return Ok(false);
        }
        thread::sleep(POLL_INTERVAL);
    }
    Ok(true)
}

/// Releases the word to a waiter.
pub(crate) fn unlock(word: &AtomicU32) -> Result<(), MutexError> {
    word.store(0, Ordering::Release);
    Ok(())
}
