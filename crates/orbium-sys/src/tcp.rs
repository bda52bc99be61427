// SPDX-License-Identifier: MIT OR Apache-2.0
//! TCP sockets.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;

use socket2::{Domain, Protocol, SockRef, Socket, Type};

use crate::Deadline;

/// What can be asked of a TCP socket; `None` leaves the system's default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SocketOptions {
    /// Send small segments at once (`TCP_NODELAY`). Default: true, since a
    /// request that waits for the acknowledgement of the one before is late.
    pub no_delay: bool,
    /// Octets of the kernel's send buffer.
    pub send_buffer: Option<usize>,
    /// Octets of the kernel's receive buffer.
    pub receive_buffer: Option<usize>,
    /// Probe silent peers (`SO_KEEPALIVE`). Default: true.
    pub keep_alive: bool,
}

impl Default for SocketOptions {
    fn default() -> Self {
        Self {
            no_delay: true,
            send_buffer: None,
            receive_buffer: None,
            keep_alive: true,
        }
    }
}

impl SocketOptions {
    /// Applies the options to a connected socket.
    ///
    /// # Errors
    /// What the kernel refuses.
    pub fn apply_tcp(&self, stream: &TcpStream) -> io::Result<()> {
        stream.set_nodelay(self.no_delay)?;
        let socket = SockRef::from(stream);
        if let Some(octets) = self.send_buffer {
            socket.set_send_buffer_size(octets)?;
        }
        if let Some(octets) = self.receive_buffer {
            socket.set_recv_buffer_size(octets)?;
        }
        socket.set_keepalive(self.keep_alive)
    }

    /// Applies to a Unix socket what it has: the sizes of its buffers.
    ///
    /// # Errors
    /// What the kernel refuses.
    pub fn apply_unix(&self, stream: &UnixStream) -> io::Result<()> {
        let socket = SockRef::from(stream);
        if let Some(octets) = self.send_buffer {
            socket.set_send_buffer_size(octets)?;
        }
        if let Some(octets) = self.receive_buffer {
            socket.set_recv_buffer_size(octets)?;
        }
        Ok(())
    }
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
    let stream = match deadline.remaining()? {
        Some(left) => TcpStream::connect_timeout(&address, left)?,
        None => TcpStream::connect(address)?,
    };
    if stream.local_addr().ok() == stream.peer_addr().ok() {
        // A port in the ephemeral range with nobody listening can be
        // connected to itself by chance.
        return Err(io::ErrorKind::ConnectionRefused.into());
    }
    options.apply_tcp(&stream)?;
    Ok(stream)
}

/// Listens at an address; port 0 takes any free port. An IPv6 wildcard takes
/// IPv4 clients too.
///
/// # Errors
/// The system's error: address in use, not ours, no permission.
pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(
        Domain::for_address(address),
        Type::STREAM,
        Some(Protocol::TCP),
    )?;
    if address.is_ipv6() && address.ip().is_unspecified() {
        socket.set_only_v6(false)?;
    }
    #[cfg(unix)]
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    socket.listen(1024)?;
    Ok(socket.into())
}
