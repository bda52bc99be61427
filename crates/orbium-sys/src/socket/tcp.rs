// SPDX-License-Identifier: MIT OR Apache-2.0
//! TCP sockets.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
#[cfg(any(target_os = "linux", target_os = "android"))]
use std::sync::atomic::{AtomicU8, Ordering};

#[cfg(any(target_os = "linux", target_os = "android"))]
use socket2::SockAddr;
use socket2::{Domain, SockRef, Socket, Type};

use crate::{Deadline, Interest, SocketOptions, wait_for};

/// Bytes of the send buffer of a connection within this host for large sends, if its congestion
/// control paces sending.
///
/// By default Linux lets it grow to megabytes, as long paths require. Within a host, with BBR, data
/// in transit then no longer fit the cache, and each copy comes from farther away: a flood of
/// messages of 16 KiB takes up to twice as long, one of 64 KiB up to three times. Small sends
/// perform better with the kernel's buffer: in a bounded one the sender blocks after a few, since
/// the kernel counts its own overhead, and each context switch takes as long as ten of them.
/// Without pacing, a bounded buffer wakes the receiver every few messages.
const PACED_SEND_BUFFER: usize = 512 * 1024;

/// Connects before the deadline.
///
/// # Errors
/// The system's error; [`TimedOut`](io::ErrorKind::TimedOut) at the deadline.
pub fn connect(
    address: SocketAddr,
    options: &SocketOptions,
    deadline: Deadline,
) -> io::Result<TcpStream> {
    deadline.remaining()?;
    let stream = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    let stream = TcpStream::from(stream);
    // Before the handshake, which contains the maximum window, and must be treated like the rest.
    options.apply_tcp(&stream)?;
    stream.set_nonblocking(true)?;
    match SockRef::from(&stream).connect(&address.into()) {
        Ok(()) => {}
        Err(error) => match error.raw_os_error() {
            // An interruption also leaves the attempt in progress.
            Some(libc::EINPROGRESS | libc::EINTR) => wait_until_connected(&stream, deadline)?,
            _ => return Err(error),
        },
    }
    stream.set_nonblocking(false)?;
    if stream.local_addr().ok() == stream.peer_addr().ok() {
        // A socket can connect to itself by chance, at a port in the ephemeral range at
        // which no process listens.
        return Err(io::ErrorKind::ConnectionRefused.into());
    }
    options.apply_quick_ack(stream.as_fd())?;
    Ok(stream)
}

/// Whether a connection is within this host and its congestion control paces it:
/// [`bound_send_buffer`] then makes large sends faster.
pub fn paces_within_host<S: AsFd>(stream: &S) -> bool {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        let socket = SockRef::from(stream);
        grants_paced_send_buffer() && is_within_host(&socket) && is_paced(&socket)
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    {
        let _ = stream;
        false
    }
}

/// Limits the send buffer of a connection for large sends. An optimisation: the connection works
/// without it.
pub fn bound_send_buffer<S: AsFd>(stream: &S) {
    let _ = SockRef::from(stream).set_send_buffer_size(PACED_SEND_BUFFER);
}

/// Whether data sent over a connected socket do not leave this host.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn is_within_host(socket: &SockRef<'_>) -> bool {
    let address = |of: io::Result<SockAddr>| Some(of.ok()?.as_socket()?.ip().to_canonical());
    let peer = address(socket.peer_addr());
    peer.is_some_and(|peer| peer.is_loopback() || address(socket.local_addr()) == Some(peer))
}

/// Whether the congestion control paces sending, including the loopback interface.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn is_paced(socket: &SockRef<'_>) -> bool {
    let name = socket.tcp_congestion();
    name.is_ok_and(|name| name.starts_with(b"bbr"))
}

/// Whether the system permits that size. If it permits less, as most systems do by default, the
/// buffer would be too small, while the kernel's own may grow beyond the configurable size.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn grants_paced_send_buffer() -> bool {
    const UNKNOWN: u8 = 0;
    const REFUSES: u8 = 1;
    const GRANTS: u8 = 2;
    // No `OnceLock`: a child forked while another thread initialises it would wait for that thread,
    // which does not exist there. Two threads may read the file, with the same result.
    static KNOWN: AtomicU8 = AtomicU8::new(UNKNOWN);
    match KNOWN.load(Ordering::Relaxed) {
        UNKNOWN => {}
        known => return known == GRANTS,
    }
    let most = std::fs::read_to_string("/proc/sys/net/core/wmem_max").ok();
    let most = most.and_then(|octets| octets.trim().parse::<usize>().ok());
    let grants = most.is_some_and(|most| most >= PACED_SEND_BUFFER);
    KNOWN.store(if grants { GRANTS } else { REFUSES }, Ordering::Relaxed);
    grants
}

fn wait_until_connected(stream: &TcpStream, deadline: Deadline) -> io::Result<()> {
    loop {
        let left = deadline.remaining()?;
        if wait_for([(stream, Interest::Write)], left)? == [true] {
            break;
        }
    }
    match stream.take_error()? {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

/// Listens at an address; port 0 selects any free port. An IPv6 wildcard also accepts IPv4 clients.
///
/// # Errors
/// The system's error: address in use, not of this host, no permission.
pub fn listen(address: SocketAddr, options: &SocketOptions) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    if address.is_ipv6() && address.ip().is_unspecified() {
        socket.set_only_v6(false)?;
    }
    socket.set_reuse_address(true)?;
    options.apply_listener(&socket)?;
    socket.bind(&address.into())?;
    socket.listen(1024)?;
    Ok(socket.into())
}

#[cfg(all(test, any(target_os = "linux", target_os = "android")))]
mod tests {
    use super::*;

    /// A connection with that congestion control; `None` if the system does not have it.
    fn connection(congestion: &[u8]) -> Option<(TcpStream, TcpStream)> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let stream = connect(address, &SocketOptions::default(), Deadline::NEVER).unwrap();
        let peer = listener.accept().unwrap().0;
        let set = SockRef::from(&stream).set_tcp_congestion(congestion);
        set.ok().map(|()| (stream, peer))
    }

    /// The size that the kernel reports is twice the requested one.
    #[test]
    fn only_paced_sends_within_the_host_are_bounded() {
        for (congestion, paces) in [(&b"bbr"[..], true), (b"reno", false)] {
            let Some((stream, _peer)) = connection(congestion) else {
                continue;
            };
            let expected = paces && grants_paced_send_buffer();
            assert_eq!(paces_within_host(&stream), expected);
            if expected {
                bound_send_buffer(&stream);
                let size = SockRef::from(&stream).send_buffer_size().unwrap();
                assert_eq!(size, 2 * PACED_SEND_BUFFER);
            }
        }
    }
}
