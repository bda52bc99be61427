// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which processors a thread runs on.

#![cfg_attr(
    target_os = "linux",
    expect(unsafe_code, reason = "system calls that no small safe crate offers")
)]

use std::io;
#[cfg(target_os = "linux")]
use std::mem::size_of;

#[cfg(target_os = "linux")]
use libc::c_ulong;

use crate::RealTimeError;
/// A bit for each processor, as the kernel counts them.
#[cfg(target_os = "linux")]
type Set = [c_ulong; WORDS];

#[cfg(target_os = "linux")]
const WORDS: usize = MAX_PROCESSORS / c_ulong::BITS as usize;

/// Processors that a set can name; the C library has as many.
#[cfg(target_os = "linux")]
const MAX_PROCESSORS: usize = 8 * size_of::<libc::cpu_set_t>();

/// The word of a set that has the bit of a processor, and the bit.
#[cfg(target_os = "linux")]
fn bit(processor: usize) -> (usize, c_ulong) {
    let width = c_ulong::BITS as usize;
    (processor / width, 1 << (processor % width))
}

/// Lets the calling thread run on these processors alone, counted from 0.
/// Threads that it makes later are bound likewise.
///
/// # Errors
/// [`RealTimeError::NoSuchProcessor`] if none of them may be used;
/// [`RealTimeError::Unsupported`] on systems other than Linux.
#[cfg(target_os = "linux")]
pub fn bind_this_thread(processors: &[usize]) -> Result<(), RealTimeError> {
    let nowhere = || RealTimeError::NoSuchProcessor(processors.to_vec());
    let mut set: Set = [0; WORDS];
    for &processor in processors {
        let (word, bit) = bit(processor);
        *set.get_mut(word).ok_or_else(nowhere)? |= bit;
    }
    // SAFETY: 0 is the calling thread; as many octets are read as the set has.
    let result = unsafe { libc::sched_setaffinity(0, size_of::<Set>(), (&raw const set).cast()) };
    if result == 0 {
        return Ok(());
    }
    let error = io::Error::last_os_error();
    Err(match error.raw_os_error() {
        Some(libc::EINVAL) => nowhere(),
        _ => error.into(),
    })
}

/// The processors that the calling thread may run on.
///
/// # Errors
/// What the system says.
#[cfg(target_os = "linux")]
#[inline]
pub fn processors_of_this_thread() -> io::Result<Vec<usize>> {
    let mut set: Set = [0; WORDS];
    // SAFETY: 0 is the calling thread; at most as many octets are written as the
    // set has, and every pattern is a set.
    let result = unsafe { libc::sched_getaffinity(0, size_of::<Set>(), (&raw mut set).cast()) };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    let is_set = |processor: &usize| {
        let (word, bit) = bit(*processor);
        set[word] & bit != 0
    };
    Ok((0..MAX_PROCESSORS).filter(is_set).collect())
}

/// Not on this system.
#[cfg(not(target_os = "linux"))]
pub fn bind_this_thread(_: &[usize]) -> Result<(), RealTimeError> {
    Err(RealTimeError::Unsupported("binding threads to processors"))
}

/// Not on this system.
#[cfg(not(target_os = "linux"))]
pub fn processors_of_this_thread() -> io::Result<Vec<usize>> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn a_thread_stays_where_it_is_bound() {
        let allowed = processors_of_this_thread().unwrap();
        let one = vec![*allowed.last().unwrap()];
        let wanted = one.clone();
        let bound = thread::spawn(move || {
            bind_this_thread(&wanted).unwrap();
            processors_of_this_thread().unwrap()
        });
        assert_eq!(bound.join().unwrap(), one);
        assert_eq!(processors_of_this_thread().unwrap(), allowed);
    }

    #[test]
    fn processors_that_are_not_there_are_refused() {
        for none in [vec![], vec![1_000_000]] {
            let refused = bind_this_thread(&none);
            assert!(
                matches!(&refused, Err(RealTimeError::NoSuchProcessor(it)) if *it == none),
                "{refused:?}"
            );
        }
    }
}
