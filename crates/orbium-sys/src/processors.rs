// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which processors a thread runs on.

use std::io;

#[cfg(target_os = "linux")]
use rustix::{
    io::Errno,
    thread::{CpuSet, sched_getaffinity, sched_setaffinity},
};

use crate::RealTimeError;

/// Lets the calling thread run on these processors alone, counted from 0.
/// Threads that it makes later are bound likewise.
///
/// # Errors
/// [`RealTimeError::NoSuchProcessor`] if none of them may be used;
/// [`RealTimeError::Unsupported`] on systems other than Linux.
#[cfg(target_os = "linux")]
pub fn bind_this_thread(processors: &[usize]) -> Result<(), RealTimeError> {
    let nowhere = || RealTimeError::NoSuchProcessor(processors.to_vec());
    let mut set = CpuSet::new();
    for &processor in processors {
        if processor >= CpuSet::MAX_CPU {
            return Err(nowhere());
        }
        set.set(processor);
    }
    sched_setaffinity(None, &set).map_err(|error| match error {
        Errno::INVAL => nowhere(),
        error => io::Error::from(error).into(),
    })
}

/// The processors that the calling thread may run on.
///
/// # Errors
/// What the system says.
#[cfg(target_os = "linux")]
#[inline]
pub fn processors_of_this_thread() -> io::Result<Vec<usize>> {
    let set = sched_getaffinity(None)?;
    Ok((0..CpuSet::MAX_CPU).filter(|at| set.is_set(*at)).collect())
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
