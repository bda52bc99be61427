// SPDX-License-Identifier: MIT OR Apache-2.0
//! Streams of octets through connected sockets, whatever their family.

use std::fmt;
use std::io::{self, IoSlice};
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use orbium_sys::fork::Held;
use orbium_sys::{self as sys, ProcessCredentials};

use crate::{ByteStream, Peer};

/// A connected socket of the standard library: what the families have in common
/// there, but in no trait.
pub trait ConnectedSocket: AsFd + fmt::Debug + Send + Sync {
    /// As the inherent function.
    ///
    /// # Errors
    /// The system's error.
    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()>;

    /// As the inherent function.
    ///
    /// # Errors
    /// The system's error.
    fn shutdown(&self, how: Shutdown) -> io::Result<()>;

    /// The peer, by the socket's own address.
    fn peer(&self) -> Peer;
}

impl ConnectedSocket for TcpStream {
    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        self.set_nonblocking(nonblocking)
    }

    fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.shutdown(how)
    }

    fn peer(&self) -> Peer {
        match self.peer_addr() {
            Ok(address) => Peer::Internet(address),
            Err(_) => Peer::Unknown,
        }
    }
}

impl ConnectedSocket for UnixStream {
    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        self.set_nonblocking(nonblocking)
    }

    fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.shutdown(how)
    }

    fn peer(&self) -> Peer {
        peer(sys::peer_process(self))
    }
}

fn peer(process: Option<ProcessCredentials>) -> Peer {
    match process {
        Some(ProcessCredentials { pid, uid, gid }) => Peer::Process { pid, uid, gid },
        None => Peer::Unknown,
    }
}

/// A connection through a socket.
#[derive(Debug)]
pub struct SocketStream<S> {
    _held: Held,
    socket: S,
    /// The peer's credentials; `None`: looked up on request.
    process: Option<ProcessCredentials>,
}

/// A TCP connection.
pub type TcpByteStream = SocketStream<TcpStream>;

/// A connection through a Unix socket.
pub type UnixByteStream = SocketStream<UnixStream>;

impl SocketStream<TcpStream> {
    /// Wraps a connected socket.
    #[must_use]
    pub fn new(socket: TcpStream) -> Self {
        Self {
            _held: Held::new(&socket),
            socket,
            process: None,
        }
    }
}

impl SocketStream<UnixStream> {
    /// Wraps a connected socket; asks the kernel once for the peer's credentials.
    #[must_use]
    pub fn new(socket: UnixStream) -> Self {
        let process = sys::peer_process(&socket);
        Self {
            _held: Held::new(&socket),
            socket,
            process,
        }
    }

    /// The socket, for a transport that uses it for something else.
    #[must_use]
    #[inline]
    pub fn into_socket(self) -> OwnedFd {
        self.socket.into()
    }
}

impl<S: ConnectedSocket> ByteStream for SocketStream<S> {
    #[inline]
    fn receive(&self, room: &mut [u8]) -> io::Result<usize> {
        sys::receive(&self.socket, room)
    }

    #[inline]
    fn send(&self, octets: &[u8]) -> io::Result<usize> {
        sys::send(&self.socket, octets)
    }

    fn send_vectored(&self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        sys::send_vectored(&self.socket, pieces)
    }

    fn set_timeouts(
        &self,
        receive: Option<Option<Duration>>,
        send: Option<Option<Duration>>,
    ) -> io::Result<()> {
        sys::set_timeouts(&self.socket, receive, send)
    }

    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        self.socket.set_nonblocking(nonblocking)
    }

    fn shutdown(&self, how: Shutdown) {
        // An error means that the connection is gone already.
        let _ = self.socket.shutdown(how);
    }

    fn peer(&self) -> Peer {
        match self.process {
            None => self.socket.peer(),
            process => peer(process),
        }
    }

    fn source(&self) -> &dyn AsFd {
        &self.socket
    }

    fn counts_in_ticks(&self) -> bool {
        true
    }
}
