// SPDX-License-Identifier: MIT OR Apache-2.0
//! TCP sockets.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use socket2::{Domain, Protocol, Socket, Type};

use crate::{Deadline, SocketOptions};

/// Longer than any kernel tries to connect.
const EVER: Duration = Duration::from_secs(365 * 24 * 3600);

fn socket(address: SocketAddr) -> io::Result<Socket> {
    let domain = Domain::for_address(address);
    Socket::new(domain, Type::STREAM, Some(Protocol::TCP))
}

/// Connects before the deadline.
///
/// # Errors
/// The system's error; [`TimedOut`](io::ErrorKind::TimedOut) at the deadline.
pub fn connect(
    address: SocketAddr,
    options: &SocketOptions,
    deadline: Deadline,
) -> io::Result<TcpStream> {
    let left = deadline.remaining()?.unwrap_or(EVER);
    let socket = socket(address)?;
    // Before the handshake: it says how large the window can grow, and is to be
    // treated like what follows.
    options.apply_tcp(&socket)?;
    // It counts whole milliseconds and cuts the rest off: who gives up must find
    // that the deadline has passed.
    let left = left.saturating_add(Duration::from_millis(1));
    socket.connect_timeout(&address.into(), left)?;
    let stream = TcpStream::from(socket);
    if stream.local_addr().ok() == stream.peer_addr().ok() {
        // A port in the ephemeral range with nobody listening can be
        // connected to itself by chance.
        return Err(io::ErrorKind::ConnectionRefused.into());
    }
    options.apply_quick_ack(&stream)?;
    Ok(stream)
}

/// Listens at an address; port 0 takes any free port. An IPv6 wildcard takes
/// IPv4 clients too.
///
/// # Errors
/// The system's error: address in use, not ours, no permission.
pub fn listen(address: SocketAddr, options: &SocketOptions) -> io::Result<TcpListener> {
    let socket = socket(address)?;
    if address.is_ipv6() && address.ip().is_unspecified() {
        socket.set_only_v6(false)?;
    }
    socket.set_reuse_address(true)?;
    options.apply_listener(&socket)?;
    socket.bind(&address.into())?;
    socket.listen(1024)?;
    Ok(socket.into())
}
