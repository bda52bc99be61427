// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors of a system that has nothing left to give.

use std::io;

use rustix::io::Errno;

/// Whether an operation failed for want of descriptors or memory, of this process
/// or of the whole system, rather than because of what it was to do.
#[must_use]
pub fn is_exhausted(error: &io::Error) -> bool {
    let wanting = [Errno::MFILE, Errno::NFILE, Errno::NOMEM, Errno::NOBUFS];
    match Errno::from_io_error(error) {
        Some(errno) => wanting.contains(&errno),
        None => error.kind() == io::ErrorKind::OutOfMemory,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn want_is_told_from_other_failures() {
        for errno in [Errno::MFILE, Errno::NFILE, Errno::NOMEM, Errno::NOBUFS] {
            assert!(is_exhausted(&errno.into()), "{errno}");
        }
        assert!(is_exhausted(&io::ErrorKind::OutOfMemory.into()));
        for errno in [Errno::CONNREFUSED, Errno::AGAIN, Errno::PERM] {
            assert!(!is_exhausted(&errno.into()), "{errno}");
        }
        assert!(!is_exhausted(&io::ErrorKind::TimedOut.into()));
    }
}
