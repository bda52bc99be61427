// SPDX-License-Identifier: MIT OR Apache-2.0
//! Processor affinity of threads.

#![cfg_attr(
    target_os = "linux",
    expect(unsafe_code, reason = "sets of processors")
)]

use std::io;
#[cfg(target_os = "linux")]
use std::mem;

use crate::RealTimeError;

/// The number of processors in a set.
#[cfg(target_os = "linux")]
const MAX_PROCESSORS: usize = libc::CPU_SETSIZE as usize;

#[cfg(target_os = "linux")]
fn empty_set() -> libc::cpu_set_t {
    // SAFETY: a set is made of integers, for which zero is a value.
    unsafe { mem::zeroed() }
}

/// Restricts the calling thread to these processors, counted from 0. Threads that it creates later
/// inherit the restriction.
///
/// # Errors
/// [`RealTimeError::NoSuchProcessor`] if none of them may be used;
/// [`RealTimeError::Unsupported`] on systems other than Linux.
#[cfg(target_os = "linux")]
pub fn bind_this_thread(processors: &[usize]) -> Result<(), RealTimeError> {
    let nowhere = || RealTimeError::NoSuchProcessor(processors.to_vec());
    let mut set = empty_set();
    for &processor in processors {
        if processor >= MAX_PROCESSORS {
            return Err(nowhere());
        }
        // SAFETY: the set has room for that processor.
        unsafe { libc::CPU_SET(processor, &mut set) };
    }
    // SAFETY: the kernel reads a set of that size, which is borrowed until it returns; 0 is
    // the calling thread.
    let refused = unsafe { libc::sched_setaffinity(0, size_of_val(&set), &raw const set) };
    if refused == 0 {
        return Ok(());
    }
    let error = io::Error::last_os_error();
    match error.raw_os_error() {
        Some(libc::EINVAL) => Err(nowhere()),
        _ => Err(error.into()),
    }
}

/// The processors on which the calling thread may run.
///
/// # Errors
/// The system's error.
#[cfg(target_os = "linux")]
pub fn processors_of_this_thread() -> io::Result<Vec<usize>> {
    let mut set = empty_set();
    // SAFETY: the kernel writes a set of that size, which is borrowed until it returns; 0 is
    // the calling thread.
    let refused = unsafe { libc::sched_getaffinity(0, size_of_val(&set), &raw mut set) };
    if refused != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the set has room for each of them.
    let is_in = |at: &usize| unsafe { libc::CPU_ISSET(*at, &set) };
    Ok((0..MAX_PROCESSORS).filter(is_in).collect())
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
