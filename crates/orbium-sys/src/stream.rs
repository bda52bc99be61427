// SPDX-License-Identifier: MIT OR Apache-2.0
//! Octets through connected sockets of any family. A broken connection is an
//! error, never a SIGPIPE.

use std::io::{self, IoSlice};
use std::os::fd::AsFd;
use std::time::Duration;

use crate::{direct_syscall, sockopt};

/// Sends from one buffer; returns the octets taken.
///
/// # Errors
/// The system's error.
#[inline]
pub fn send<S: AsFd>(stream: &S, octets: &[u8]) -> io::Result<usize> {
    direct_syscall::send(stream, octets)
}

/// Receives what is there, up to the size of `room`; 0 is the end.
///
/// # Errors
/// The system's error.
#[inline]
pub fn receive<S: AsFd>(stream: &S, room: &mut [u8]) -> io::Result<usize> {
    direct_syscall::receive(stream, room)
}

/// Sends from several buffers in one call; returns the octets taken.
///
/// # Errors
/// The system's error.
pub fn send_vectored<S: AsFd>(stream: &S, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
    direct_syscall::send_vectored(stream, pieces)
}

/// Bounds how long a blocking receive and a blocking send may take; `None`
/// leaves that one as it is, `Some(None)` means for ever.
///
/// # Errors
/// `InvalidInput` for no time at all; the system's error.
pub fn set_timeouts<S: AsFd>(
    stream: &S,
    receive: Option<Option<Duration>>,
    send: Option<Option<Duration>>,
) -> io::Result<()> {
    set_timeouts_of(stream, receive, send)
}

fn set_timeouts_of(
    stream: &dyn AsFd,
    receive: Option<Option<Duration>>,
    send: Option<Option<Duration>>,
) -> io::Result<()> {
    if let Some(timeout) = receive {
        sockopt::set_timeout(stream, libc::SO_RCVTIMEO, timeout)?;
    }
    if let Some(timeout) = send {
        sockopt::set_timeout(stream, libc::SO_SNDTIMEO, timeout)?;
    }
    Ok(())
}
