// SPDX-License-Identifier: MIT OR Apache-2.0
//! TCP sockets. A broken connection is an error, never a SIGPIPE.

use std::io::{self, IoSlice};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

#[cfg(unix)]
use rustix::net::{RecvFlags, SendFlags};
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

/// Sends from one buffer; returns the octets taken.
///
/// # Errors
/// The system's error.
#[cfg(unix)]
#[inline]
pub fn send(stream: &TcpStream, octets: &[u8]) -> io::Result<usize> {
    // On Linux this is the bare system call: the C library's is a cancellation
    // point, which costs a multi-threaded program some sixty instructions.
    #[cfg(not(target_vendor = "apple"))]
    const FLAGS: SendFlags = SendFlags::NOSIGNAL;
    #[cfg(target_vendor = "apple")]
    const FLAGS: SendFlags = SendFlags::empty();
    rustix::net::send(stream, octets, FLAGS).map_err(io::Error::from)
}

/// Sends from one buffer; returns the octets taken.
///
/// # Errors
/// The system's error.
#[cfg(not(unix))]
pub fn send(mut stream: &TcpStream, octets: &[u8]) -> io::Result<usize> {
    io::Write::write(&mut stream, octets)
}

/// Receives what is there, up to the size of `room`; 0 is the end.
///
/// # Errors
/// The system's error.
#[cfg(unix)]
#[inline]
pub fn receive(stream: &TcpStream, room: &mut [u8]) -> io::Result<usize> {
    match rustix::net::recv(stream, room, RecvFlags::empty()) {
        Ok((received, _)) => Ok(received),
        Err(error) => Err(error.into()),
    }
}

/// Receives what is there, up to the size of `room`; 0 is the end.
///
/// # Errors
/// The system's error.
#[cfg(not(unix))]
pub fn receive(mut stream: &TcpStream, room: &mut [u8]) -> io::Result<usize> {
    io::Read::read(&mut stream, room)
}

/// Sends from several buffers in one call; returns the octets taken.
///
/// # Errors
/// The system's error.
pub fn send_vectored(stream: &TcpStream, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
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
/// The system's error.
pub fn set_timeouts(
    stream: &TcpStream,
    receive: Option<Option<Duration>>,
    send: Option<Option<Duration>>,
) -> io::Result<()> {
    if let Some(timeout) = receive {
        stream.set_read_timeout(timeout)?;
    }
    if let Some(timeout) = send {
        stream.set_write_timeout(timeout)?;
    }
    Ok(())
}
