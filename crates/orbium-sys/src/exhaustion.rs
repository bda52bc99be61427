// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors of a system that has nothing left to give.

use std::io;

/// What the system says then.
const WANTING: [i32; 4] = [libc::EMFILE, libc::ENFILE, libc::ENOMEM, libc::ENOBUFS];

/// Whether an operation failed for want of descriptors or memory, of this process
/// or of the whole system, rather than because of what it was to do.
#[must_use]
pub fn is_exhausted(error: &io::Error) -> bool {
    match error.raw_os_error() {
        Some(number) => WANTING.contains(&number),
        None => error.kind() == io::ErrorKind::OutOfMemory,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn want_is_told_from_other_failures() {
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
}
