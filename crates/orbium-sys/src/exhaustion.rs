// SPDX-License-Identifier: MIT OR Apache-2.0
//! Exhaustion of descriptors and memory: the limit of descriptors, and the errors of a process or
//! host that has reached it.
#![expect(unsafe_code, reason = "the system writes a limit")]

use std::io;

/// The errors of exhaustion.
const EXHAUSTED: [i32; 4] = [libc::EMFILE, libc::ENFILE, libc::ENOMEM, libc::ENOBUFS];

/// Whether an operation failed for lack of descriptors or memory, of this process or of the whole
/// system, and not because of its arguments.
#[must_use]
pub fn is_exhausted(error: &io::Error) -> bool {
    match error.raw_os_error() {
        Some(number) => EXHAUSTED.contains(&number),
        None => error.kind() == io::ErrorKind::OutOfMemory,
    }
}

/// The maximum number of open descriptors of this process: its soft limit (RLIMIT_NOFILE). `None`
/// if it is unlimited, or the system does not provide it.
#[must_use]
pub fn descriptor_limit() -> Option<usize> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the system writes into `limit`, which outlives the call.
    let result = unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) };
    if result != 0 || limit.rlim_cur == libc::RLIM_INFINITY {
        return None;
    }
    usize::try_from(limit.rlim_cur).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exhaustion_is_distinguished_from_other_failures() {
        for number in [libc::EMFILE, libc::ENFILE, libc::ENOMEM, libc::ENOBUFS] {
            let error = io::Error::from_raw_os_error(number);
            assert!(is_exhausted(&error), "{error}");
        }
        assert!(is_exhausted(&io::ErrorKind::OutOfMemory.into()));
        for number in [libc::ECONNREFUSED, libc::EAGAIN, libc::EPERM] {
            let error = io::Error::from_raw_os_error(number);
            assert!(!is_exhausted(&error), "{error}");
        }
        assert!(!is_exhausted(&io::ErrorKind::TimedOut.into()));
    }

    #[test]
    fn a_process_may_have_its_standard_streams_at_least() {
        assert!(descriptor_limit().is_none_or(|limit| limit >= 3));
    }
}
