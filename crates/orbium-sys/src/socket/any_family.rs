// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sockets of any family.

use std::io;
use std::net::{IpAddr, Shutdown, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};

use socket2::{Domain, SockRef, Socket, Type};

/// The source address of packets from this host to another; nothing is sent.
///
/// # Errors
/// The system's error: no route.
pub fn own_address_towards(there: SocketAddr) -> io::Result<IpAddr> {
    let socket = Socket::new(Domain::for_address(there), Type::DGRAM, None)?;
    // For datagrams this only chooses a route.
    socket.connect(&there.into())?;
    Ok(UdpSocket::from(socket).local_addr()?.ip())
}

/// Stops a socket from listening, even if a child process has its descriptor: connections in the
/// backlog end, new ones are refused.
///
/// Closing alone leaves the socket open in processes that have a copy, such as a process that was
/// just forked and has not yet executed its program: until then it would continue to listen while
/// no thread accepts.
pub fn stop_listening(socket: &dyn AsFd) {
    // If this fails, closing remains.
    let _ = SockRef::from(&socket.as_fd()).shutdown(Shutdown::Both);
}

/// The family of a socket. It need not have an address.
///
/// # Errors
/// The system's error.
pub(crate) fn family(socket: BorrowedFd<'_>) -> io::Result<Domain> {
    Ok(SockRef::from(&socket).local_addr()?.domain())
}

/// Whether a socket is of IPv6.
///
/// # Errors
/// The system's error.
pub(crate) fn is_v6(socket: BorrowedFd<'_>) -> io::Result<bool> {
    Ok(family(socket)? == Domain::IPV6)
}
