// SPDX-License-Identifier: MIT OR Apache-2.0
//! The kernel's part of a mutex with priority inheritance: a word that holds 0
//! or the id of the owner, and flags that the kernel adds.
#![expect(unsafe_code, reason = "system calls that no safe crate offers")]

use std::cell::Cell;
use std::mem::zeroed;
use std::ptr::null;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use libc::{c_int, c_long, timespec};

use crate::mutex_error::MutexError;

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
    // SAFETY: takes nothing, returns a number.
    let id = unsafe { libc::syscall(libc::SYS_gettid) };
    // Ids have at most 30 bits.
    let id = id as u32;
    THREAD_ID.set(id);
    id
}

/// The owner in a word; 0 if there is none.
#[inline]
pub(crate) fn owner(word: u32) -> u32 {
    word & libc::FUTEX_TID_MASK
}

/// Waits for the word to be ours; `false` if the time comes first.
#[cold]
pub(crate) fn lock(word: &AtomicU32, until: Option<Instant>) -> Result<bool, MutexError> {
    loop {
        let failed = match until {
            None => operate(word, libc::FUTEX_LOCK_PI, None),
            Some(until) => lock_until(word, until),
        };
        match failed {
            Ok(()) => return Ok(true),
            Err(libc::ETIMEDOUT) => return Ok(false),
            // A signal, or the owner was about to end.
            Err(libc::EINTR | libc::EAGAIN) => {}
            Err(libc::EDEADLK) => return Err(MutexError::HeldHere),
            Err(libc::ESRCH) => return Err(MutexError::Abandoned),
            Err(number) => return Err(MutexError::System(number)),
        }
    }
}

/// Releases the word to the waiter of highest priority.
#[cold]
pub(crate) fn unlock(word: &AtomicU32) -> Result<(), MutexError> {
    loop {
        match operate(word, libc::FUTEX_UNLOCK_PI, None) {
            Ok(()) => return Ok(()),
            Err(libc::EINTR | libc::EAGAIN) => {}
            Err(libc::EPERM) => return Err(MutexError::NotHeld),
            Err(number) => return Err(MutexError::System(number)),
        }
    }
}

/// Locks by the monotonic clock, or by the other on kernels before 5.14.
fn lock_until(word: &AtomicU32, until: Instant) -> Result<(), c_int> {
    static OLD_KERNEL: AtomicBool = AtomicBool::new(false);
    if !OLD_KERNEL.load(Ordering::Relaxed) {
        let at = from_now(libc::CLOCK_MONOTONIC, until);
        match operate(word, libc::FUTEX_LOCK_PI2, Some(&at)) {
            Err(libc::ENOSYS) => OLD_KERNEL.store(true, Ordering::Relaxed),
            done => return done,
        }
    }
    let at = from_now(libc::CLOCK_REALTIME, until);
    operate(word, libc::FUTEX_LOCK_PI, Some(&at))
}

/// An instant by the kernel's clock.
fn from_now(clock: libc::clockid_t, until: Instant) -> timespec {
    let left = until.saturating_duration_since(Instant::now());
    // SAFETY: a `timespec` is integers, for which zero is a value.
    let mut now: timespec = unsafe { zeroed() };
    // SAFETY: one `timespec` is written, which lives until the call has
    // returned. The clocks are always there.
    unsafe { libc::clock_gettime(clock, &raw mut now) };
    let nanoseconds = Duration::from_nanos(now.tv_nsec as u64) + left;
    now.tv_sec = now.tv_sec.saturating_add(
        nanoseconds
            .as_secs()
            .try_into()
            .unwrap_or(libc::time_t::MAX),
    );
    // Less than 10⁹: it fits.
    now.tv_nsec = nanoseconds.subsec_nanos() as _;
    now
}

fn operate(word: &AtomicU32, operation: c_int, until: Option<&timespec>) -> Result<(), c_int> {
    let until = until.map_or(null(), |until| until as *const timespec);
    // SAFETY: the kernel reads and writes the word atomically, as others do
    // here, and reads the time if there is one; both live until the call has
    // returned. The word is not shared with another process.
    let result: c_long = unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            operation | libc::FUTEX_PRIVATE_FLAG,
            0,
            until,
        )
    };
    match result {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()
            .raw_os_error()
            .unwrap_or(libc::EINVAL)),
    }
}
