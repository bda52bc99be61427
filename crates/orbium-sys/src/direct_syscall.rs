// SPDX-License-Identifier: MIT OR Apache-2.0
//! The two system calls of every request: send and receive.
//!
//! On Linux they bypass the C library, in which they are cancellation points: that costs a
//! multi-threaded program some sixty instructions per call. `rustix`, which makes all other calls,
//! bypasses it too, but its check of a result takes five instructions more than necessary, of a
//! receive seven: an empty call would have eleven more on either side. So these two are made by
//! the crate `syscalls`, which checks a result by one comparison.

use rustix::net::SendFlags;

/// Sending to a peer that closed the connection raises no `SIGPIPE`; on systems of Apple that is
/// an option of the socket.
#[cfg(not(target_vendor = "apple"))]
pub(crate) const NO_SIGNAL: SendFlags = SendFlags::NOSIGNAL;
#[cfg(target_vendor = "apple")]
pub(crate) const NO_SIGNAL: SendFlags = SendFlags::empty();

#[cfg(all(
    target_os = "linux",
    any(
        all(target_arch = "x86_64", target_pointer_width = "64"),
        target_arch = "aarch64"
    ),
    not(miri)
))]
mod made_by {
    #![expect(unsafe_code, reason = "system calls by their numbers")]

    use std::io;
    use std::os::fd::{AsRawFd, BorrowedFd};

    use syscalls::{Errno, Sysno, syscall6};

    use super::NO_SIGNAL;

    fn failed(error: Errno) -> io::Error {
        io::Error::from_raw_os_error(error.into_raw())
    }

    #[inline]
    pub(crate) fn send(socket: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<usize> {
        let fd = socket.as_raw_fd() as usize;
        let at = bytes.as_ptr().expose_provenance();
        let flags = NO_SIGNAL.bits() as usize;
        // SAFETY: the descriptor is open as long as it is borrowed; the kernel reads
        // as many bytes as there are, and no address.
        let sent = unsafe { syscall6(Sysno::sendto, fd, at, bytes.len(), flags, 0, 0) };
        sent.map_err(failed)
    }

    #[inline]
    pub(crate) fn receive(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<usize> {
        let (fd, len) = (socket.as_raw_fd() as usize, buffer.len());
        let at = buffer.as_mut_ptr().expose_provenance();
        // SAFETY: the descriptor is open as long as it is borrowed; the kernel writes
        // at most as many bytes as the buffer holds, and no address.
        let received = unsafe { syscall6(Sysno::recvfrom, fd, at, len, 0, 0, 0) };
        received.map_err(failed)
    }
}

#[cfg(not(all(
    target_os = "linux",
    any(
        all(target_arch = "x86_64", target_pointer_width = "64"),
        target_arch = "aarch64"
    ),
    not(miri)
)))]
mod made_by {
    use std::io;
    use std::os::fd::BorrowedFd;

    use rustix::net::RecvFlags;

    use super::NO_SIGNAL;

    pub(crate) fn send(socket: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<usize> {
        Ok(rustix::net::send(socket, bytes, NO_SIGNAL)?)
    }

    pub(crate) fn receive(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<usize> {
        let (received, _) = rustix::net::recv(socket, buffer, RecvFlags::empty())?;
        Ok(received)
    }
}

pub(crate) use made_by::{receive, send};
