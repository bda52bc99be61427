// SPDX-License-Identifier: MIT OR Apache-2.0
//! Octets through connected sockets of any family. A broken connection is an
//! error, never a SIGPIPE.

use std::io::{self, IoSlice};
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::net::{RecvFlags, SendFlags, sockopt};
use socket2::SockRef;

/// Sends from one buffer; returns the octets taken.
///
/// # Errors
/// The system's error.
#[inline]
pub fn send<S: AsFd>(stream: &S, octets: &[u8]) -> io::Result<usize> {
    // On Linux this is the bare system call: the C library's is a cancellation
    // point, which costs a multi-threaded program some sixty instructions.
    #[cfg(not(target_vendor = "apple"))]
    const FLAGS: SendFlags = SendFlags::NOSIGNAL;
    #[cfg(target_vendor = "apple")]
    const FLAGS: SendFlags = SendFlags::empty();
    rustix::net::send(stream, octets, FLAGS).map_err(io::Error::from)
}

/// Receives what is there, up to the size of `room`; 0 is the end.
///
/// # Errors
/// The system's error.
#[inline]
pub fn receive<S: AsFd>(stream: &S, room: &mut [u8]) -> io::Result<usize> {
    match rustix::net::recv(stream, room, RecvFlags::empty()) {
        Ok((received, _)) => Ok(received),
        Err(error) => Err(error.into()),
    }
}

/// Sends from several buffers in one call; returns the octets taken.
///
/// # Errors
/// The system's error.
pub fn send_vectored<S: AsFd>(stream: &S, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    const FLAGS: i32 = 0x4000; // MSG_NOSIGNAL: the C library's own definition.
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    const FLAGS: i32 = 0;
    SockRef::from(stream).send_vectored_with_flags(pieces, FLAGS)
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
    use sockopt::Timeout::{Recv, Send};
    if let Some(timeout) = receive {
        sockopt::set_socket_timeout(stream, Recv, timeout)?;
    }
    if let Some(timeout) = send {
        sockopt::set_socket_timeout(stream, Send, timeout)?;
    }
    Ok(())
}
