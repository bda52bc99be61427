// SPDX-License-Identifier: MIT OR Apache-2.0
//! Byte streams over connected sockets of any family.

use std::fmt;
use std::io::{self, IoSlice};
use std::marker::PhantomData;
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use orbium_sys::fork::Held;
use orbium_sys::{self as sys, ProcessCredentials};
use socket2::SockRef;

use crate::{ByteStream, Peer};

/// Minimum size of a large send, for which the send buffer is bounded to fit the cache.
const MIN_LARGE_SEND: usize = 16 * 1024;

/// A connected socket of the standard library, by its family.
pub trait ConnectedSocket: Into<OwnedFd> + fmt::Debug + Send + Sync {
    /// The peer of a socket of this family, or the socket's own address.
    fn peer(socket: &OwnedFd) -> Peer;
}

impl ConnectedSocket for TcpStream {
    fn peer(socket: &OwnedFd) -> Peer {
        let address = SockRef::from(socket).peer_addr();
        match address.ok().and_then(|address| address.as_socket()) {
            Some(address) => Peer::Internet(address),
            None => Peer::Unknown,
        }
    }
}

impl ConnectedSocket for UnixStream {
    fn peer(socket: &OwnedFd) -> Peer {
        peer(sys::peer_process(socket))
    }
}

fn peer(process: Option<ProcessCredentials>) -> Peer {
    match process {
        Some(ProcessCredentials { pid, uid, gid }) => Peer::Process { pid, uid, gid },
        None => Peer::Unknown,
    }
}

/// A connection through a socket of one family.
#[derive(Debug)]
pub struct SocketStream<S> {
    _held: Held,
    /// Only the descriptor: that of a `TcpStream` is accessed by a call that is not inlined.
    socket: OwnedFd,
    /// The peer's credentials; `None` means that they are queried on demand.
    process: Option<ProcessCredentials>,
    /// Whether the first large send bounds the send buffer.
    is_to_be_bounded: AtomicBool,
    family: PhantomData<fn() -> S>,
}

/// A TCP connection.
pub type TcpByteStream = SocketStream<TcpStream>;

/// A connection through a Unix socket.
pub type UnixByteStream = SocketStream<UnixStream>;

impl<S: ConnectedSocket> SocketStream<S> {
    fn over(socket: S, process: Option<ProcessCredentials>) -> Self {
        let socket = socket.into();
        Self {
            _held: Held::new(&socket),
            socket,
            process,
            is_to_be_bounded: AtomicBool::new(false),
            family: PhantomData,
        }
    }

    /// A separate function, so that a small send saves no registers for it.
    #[cold]
    fn send_large(&self, octets: &[u8]) -> io::Result<usize> {
        self.note_large_send();
        sys::send(&self.socket, octets)
    }

    fn note_large_send(&self) {
        if self.is_to_be_bounded.load(Ordering::Relaxed)
            && self.is_to_be_bounded.swap(false, Ordering::Relaxed)
        {
            sys::bound_send_buffer(&self.socket);
        }
    }
}

impl SocketStream<TcpStream> {
    /// Wraps a connected socket.
    #[must_use]
    pub fn new(socket: TcpStream) -> Self {
        Self::over(socket, None)
    }

    /// As [`new`](Self::new); the first large send limits the send buffer.
    #[must_use]
    pub fn with_bounded_sends(socket: TcpStream) -> Self {
        Self {
            is_to_be_bounded: AtomicBool::new(true),
            ..Self::new(socket)
        }
    }
}

impl SocketStream<UnixStream> {
    /// Wraps a connected socket; queries the peer's credentials once.
    #[must_use]
    pub fn new(socket: UnixStream) -> Self {
        let process = sys::peer_process(&socket);
        Self::over(socket, process)
    }

    /// The socket, for other uses by a transport.
    #[must_use]
    #[inline]
    pub fn into_socket(self) -> OwnedFd {
        self.socket
    }
}

impl<S: ConnectedSocket> ByteStream for SocketStream<S> {
    #[inline]
    fn receive(&self, room: &mut [u8]) -> io::Result<usize> {
        sys::receive(&self.socket, room)
    }

    #[inline]
    fn send(&self, octets: &[u8]) -> io::Result<usize> {
        if octets.len() >= MIN_LARGE_SEND {
            return self.send_large(octets);
        }
        sys::send(&self.socket, octets)
    }

    fn send_at_once(&self, octets: &[u8]) -> io::Result<usize> {
        if octets.len() >= MIN_LARGE_SEND {
            self.note_large_send();
        }
        sys::send_at_once(&self.socket, octets)
    }

    fn send_vectored(&self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        if pieces.iter().map(|piece| piece.len()).sum::<usize>() >= MIN_LARGE_SEND {
            self.note_large_send();
        }
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
        SockRef::from(&self.socket).set_nonblocking(nonblocking)
    }

    fn shutdown(&self, how: Shutdown) {
        // An error means that the connection has ended already.
        let _ = SockRef::from(&self.socket).shutdown(how);
    }

    fn peer(&self) -> Peer {
        match self.process {
            None => S::peer(&self.socket),
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
