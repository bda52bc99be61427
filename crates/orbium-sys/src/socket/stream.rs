// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bytes through connected sockets of any family. A broken connection is an
//! error, never a SIGPIPE.

use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use socket2::SockRef;

use crate::socket::direct_syscall;

/// Sends from one buffer; returns the number of bytes accepted.
///
/// # Errors
/// The system's error.
#[inline]
pub fn send<S: AsFd>(stream: &S, bytes: &[u8]) -> io::Result<usize> {
    direct_syscall::send(stream.as_fd(), bytes)
}

/// As [`send`], without blocking in any mode of the socket.
///
/// # Errors
/// `WouldBlock`: there is no room; the system's error.
pub fn send_at_once<S: AsFd>(stream: &S, bytes: &[u8]) -> io::Result<usize> {
    let flags = direct_syscall::NO_SIGNAL | libc::MSG_DONTWAIT;
    SockRef::from(stream).send_with_flags(bytes, flags)
}

/// Receives the bytes that are available, up to the length of the buffer; 0 is the end.
///
/// # Errors
/// The system's error.
#[inline]
pub fn receive<S: AsFd>(stream: &S, buffer: &mut [u8]) -> io::Result<usize> {
    direct_syscall::receive(stream.as_fd(), buffer)
}

/// Sends from several buffers in one call; returns the number of bytes accepted.
///
/// # Errors
/// The system's error.
pub fn send_vectored<S: AsFd>(stream: &S, slices: &[IoSlice<'_>]) -> io::Result<usize> {
    direct_syscall::send_vectored(stream.as_fd(), slices)
}

/// Bounds the duration of a blocking receive and a blocking send; `None` leaves that bound
/// unchanged, `Some(None)` means no limit.
///
/// # Errors
/// `InvalidInput` for a zero duration; the system's error.
pub fn set_timeouts<S: AsFd>(
    stream: &S,
    receive: Option<Option<Duration>>,
    send: Option<Option<Duration>>,
) -> io::Result<()> {
    set_timeouts_of(stream.as_fd(), receive, send)
}

fn set_timeouts_of(
    stream: BorrowedFd<'_>,
    receive: Option<Option<Duration>>,
    send: Option<Option<Duration>>,
) -> io::Result<()> {
    let socket = SockRef::from(&stream);
    if let Some(timeout) = receive {
        socket.set_read_timeout(in_microseconds(timeout)?)?;
    }
    if let Some(timeout) = send {
        socket.set_write_timeout(in_microseconds(timeout)?)?;
    }
    Ok(())
}

/// The system counts whole microseconds, and 0 means no limit: rounded up.
fn in_microseconds(timeout: Option<Duration>) -> io::Result<Option<Duration>> {
    match timeout {
        Some(Duration::ZERO) => Err(io::ErrorKind::InvalidInput.into()),
        timeout => Ok(timeout.map(|it| it.saturating_add(Duration::from_nanos(999)))),
    }
}
