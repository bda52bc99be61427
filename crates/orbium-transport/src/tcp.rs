// SPDX-License-Identifier: MIT OR Apache-2.0
//! TCP over IPv4 and IPv6.

use std::io::{self, IoSlice};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::os::fd::AsFd;
use std::time::Duration;

use orbium_sys::{self as sys, Deadline, TcpOptions};

use crate::{Acceptor, ByteStream, HostPort, Peer};

/// A TCP connection.
#[derive(Debug)]
pub struct TcpByteStream {
    stream: TcpStream,
}

impl TcpByteStream {
    /// Wraps a connected socket.
    #[must_use]
    pub fn new(stream: TcpStream) -> Self {
        Self { stream }
    }
}

impl ByteStream for TcpByteStream {
    #[inline]
    fn receive(&self, room: &mut [u8]) -> io::Result<usize> {
        sys::receive(&self.stream, room)
    }

    #[inline]
    fn send(&self, octets: &[u8]) -> io::Result<usize> {
        sys::send(&self.stream, octets)
    }

    fn send_vectored(&self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        sys::send_vectored(&self.stream, pieces)
    }

    fn set_timeouts(
        &self,
        receive: Option<Option<Duration>>,
        send: Option<Option<Duration>>,
    ) -> io::Result<()> {
        sys::set_timeouts(&self.stream, receive, send)
    }

    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        self.stream.set_nonblocking(nonblocking)
    }

    fn shutdown(&self, how: Shutdown) {
        // An error means that the connection is gone already.
        let _ = self.stream.shutdown(how);
    }

    fn peer(&self) -> Peer {
        self.stream
            .peer_addr()
            .map_or(Peer::Unknown, Peer::Internet)
    }

    fn source(&self) -> &dyn AsFd {
        &self.stream
    }
}

/// A listening TCP socket.
#[derive(Debug)]
pub struct TcpAcceptor {
    listener: TcpListener,
    options: TcpOptions,
}

impl TcpAcceptor {
    /// Listens at the address of `at`. A name is looked up, once.
    ///
    /// # Errors
    /// The system's error: no such name, address in use or not ours.
    pub fn listen(at: &HostPort, options: TcpOptions) -> io::Result<Self> {
        let listener = if at.host.is_empty() {
            // One socket for both families where the host has both.
            sys::listen(SocketAddr::new(IpAddr::from([0u16; 8]), at.port))
                .or_else(|_| sys::listen(SocketAddr::new(IpAddr::from([0u8; 4]), at.port)))?
        } else {
            let mut refused = io::Error::from(io::ErrorKind::AddrNotAvailable);
            let mut listener = None;
            for address in resolve(at)? {
                match sys::listen(address) {
                    Ok(open) => {
                        listener = Some(open);
                        break;
                    }
                    Err(error) => refused = error,
                }
            }
            listener.ok_or(refused)?
        };
        listener.set_nonblocking(true)?;
        Ok(Self { listener, options })
    }

    /// The address listened at, with the port that was taken.
    ///
    /// # Errors
    /// The system's error.
    pub fn local_address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

impl Acceptor for TcpAcceptor {
    fn accept(&self) -> io::Result<Box<dyn ByteStream>> {
        let (stream, _) = self.listener.accept()?;
        stream.set_nonblocking(false)?;
        self.options.apply(&stream)?;
        Ok(Box::new(TcpByteStream::new(stream)))
    }

    fn source(&self) -> &dyn AsFd {
        &self.listener
    }
}

/// The addresses of a host; a literal address needs no look-up.
///
/// # Errors
/// The name does not resolve.
pub fn resolve(at: &HostPort) -> io::Result<Vec<SocketAddr>> {
    if let Ok(address) = at.host.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(address, at.port)]);
    }
    let addresses: Vec<_> = (at.host.as_str(), at.port)
        .to_socket_addrs()
        .map_err(|error| io::Error::new(error.kind(), format!("host `{}`: {error}", at.host)))?
        .collect();
    if addresses.is_empty() {
        return Err(io::Error::new(
            io::ErrorKind::NotFound,
            format!("host `{}` has no address", at.host),
        ));
    }
    Ok(addresses)
}

/// Connects to the first address that answers before the deadline.
///
/// # Errors
/// The error of the last address tried.
pub fn connect_tcp(
    addresses: &[SocketAddr],
    options: &TcpOptions,
    deadline: Deadline,
) -> io::Result<Box<dyn ByteStream>> {
    let mut refused = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for address in addresses {
        match sys::connect(*address, options, deadline) {
            Ok(stream) => return Ok(Box::new(TcpByteStream::new(stream))),
            Err(error) => refused = error,
        }
    }
    Err(refused)
}
