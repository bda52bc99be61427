// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors of a process or host that is out of descriptors or memory.

use std::io;

/// The errors that mean so.
const EXHAUSTED: [i32; 4] = [libc::EMFILE, libc::ENFILE, libc::ENOMEM, libc::ENOBUFS];

/// Whether an operation failed for lack of descriptors or memory, of this process
/// or of the whole system, rather than because of what it was to do.
#[must_use]
pub fn is_exhausted(error: &io::Error) -> bool {
    match error.raw_os_error() {
        Some(number) => EXHAUSTED.contains(&number),
        None => error.kind() == io::ErrorKind::OutOfMemory,
    }
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
}
