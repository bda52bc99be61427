// SPDX-License-Identifier: MIT OR Apache-2.0
//! The system calls of every request: send and receive.
//!
//! On Linux they bypass the C library, in which they are cancellation points: that costs a
//! multi-threaded program some sixty instructions per call. The crate `syscalls` makes them, and
//! checks a result by one comparison.

use libc::c_int;

/// Sending to a peer that closed the connection raises no `SIGPIPE`; on Apple systems this is an
/// option of the socket.
#[cfg(not(target_vendor = "apple"))]
pub(super) const NO_SIGNAL: c_int = libc::MSG_NOSIGNAL;
#[cfg(target_vendor = "apple")]
pub(super) const NO_SIGNAL: c_int = 0;

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

    use std::io::{self, IoSlice};
    use std::mem::MaybeUninit;
    use std::os::fd::{AsRawFd, BorrowedFd};

    use syscalls::{Errno, Sysno, syscall3, syscall6};

    use super::NO_SIGNAL;

    fn failed(error: Errno) -> io::Error {
        io::Error::from_raw_os_error(error.into_raw())
    }

    #[inline]
    pub(crate) fn send(socket: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<usize> {
        let fd = socket.as_raw_fd() as usize;
        let at = bytes.as_ptr().expose_provenance();
        let flags = NO_SIGNAL as usize;
        // SAFETY: the descriptor is open as long as it is borrowed; the kernel reads
        // as many bytes as there are, and no address.
        let sent = unsafe { syscall6(Sysno::sendto, fd, at, bytes.len(), flags, 0, 0) };
        sent.map_err(failed)
    }

    pub(crate) fn send_vectored(
        socket: BorrowedFd<'_>,
        slices: &[IoSlice<'_>],
    ) -> io::Result<usize> {
        // SAFETY: zeros are a message without an address, buffers and control data.
        let mut message: libc::msghdr = unsafe { MaybeUninit::zeroed().assume_init() };
        message.msg_iov = slices.as_ptr().cast_mut().cast();
        message.msg_iovlen = slices.len() as _;
        let (fd, flags) = (socket.as_raw_fd() as usize, NO_SIGNAL as usize);
        let at = (&raw const message).expose_provenance();
        // SAFETY: the descriptor is open as long as it is borrowed; an `IoSlice` is an `iovec`
        // on Unix, and the kernel reads what they name.
        let sent = unsafe { syscall3(Sysno::sendmsg, fd, at, flags) };
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
    use std::io::{self, IoSlice, Read as _};
    use std::os::fd::BorrowedFd;

    use socket2::SockRef;

    use super::NO_SIGNAL;

    pub(crate) fn send(socket: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<usize> {
        SockRef::from(&socket).send_with_flags(bytes, NO_SIGNAL)
    }

    pub(crate) fn send_vectored(
        socket: BorrowedFd<'_>,
        slices: &[IoSlice<'_>],
    ) -> io::Result<usize> {
        SockRef::from(&socket).send_vectored_with_flags(slices, NO_SIGNAL)
    }

    pub(crate) fn receive(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<usize> {
        (&*SockRef::from(&socket)).read(buffer)
    }
}

pub(crate) use made_by::{receive, send, send_vectored};
