// SPDX-License-Identifier: MIT OR Apache-2.0
//! UDP sockets, to one receiver or to a group.

use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::net::{IpAddr, Shutdown, SocketAddr, UdpSocket};
use std::os::fd::AsFd;
use std::ptr;

use socket2::{Domain, InterfaceIndexOrAddress, Protocol, SockRef, Socket, Type};

use crate::{NetworkInterface, SocketOptions};

fn socket(address: SocketAddr) -> io::Result<Socket> {
    let domain = Domain::for_address(address);
    Socket::new(domain, Type::DGRAM, Some(Protocol::UDP))
}

/// Receives datagrams sent to an address; port 0 selects any free port. An IPv6 wildcard also
/// receives over IPv4.
///
/// # Errors
/// The system's error: address in use, not of this host, no permission.
pub fn receive_at(address: SocketAddr, options: &SocketOptions) -> io::Result<UdpSocket> {
    let socket = socket(address)?;
    if address.is_ipv6() && address.ip().is_unspecified() {
        socket.set_only_v6(false)?;
    }
    options.apply_udp(&socket)?;
    options.apply_shared(socket.as_fd())?;
    socket.bind(&address.into())?;
    Ok(socket.into())
}

/// Sends to an address. The failure of an earlier datagram, such as a port at which no socket
/// receives, is reported as an error of a later send.
///
/// # Errors
/// The system's error: no route, no permission.
pub fn send_to(address: SocketAddr, options: &SocketOptions) -> io::Result<UdpSocket> {
    let socket = socket(address)?;
    options.apply_udp(&socket)?;
    socket.connect(&address.into())?;
    Ok(socket.into())
}

/// Receives datagrams sent to a group through one interface, possibly together with other sockets
/// of this host, until the socket is closed. No others are received: neither those sent to other
/// groups or to this host alone, nor those through other interfaces for sockets that joined there.
///
/// # Errors
/// `InvalidInput` if the address is not one of a group, or if the group is specific to each network
/// and no interface is given; the system's error.
pub fn receive_from_group(group: SocketAddr, options: &SocketOptions) -> io::Result<UdpSocket> {
    let group = scoped(group, options)?;
    let socket = socket(group)?;
    // On Linux every socket at the port receives every datagram of its group, and this option
    // suffices; other systems need the other one.
    socket.set_reuse_address(true)?;
    #[cfg(not(target_os = "linux"))]
    socket.set_reuse_port(true)?;
    options.apply_udp(&socket)?;
    options.apply_shared(socket.as_fd())?;
    options.apply_multicast(&socket)?;
    socket.bind(&group.into())?;
    join(&socket, group, options.multicast_interface)?;
    Ok(socket.into())
}

fn join(socket: &Socket, group: SocketAddr, at: Option<NetworkInterface>) -> io::Result<()> {
    match group.ip() {
        IpAddr::V4(group) => {
            #[cfg(target_os = "linux")]
            socket.set_multicast_all_v4(false)?;
            let interface = match at {
                None => InterfaceIndexOrAddress::Index(0),
                Some(NetworkInterface::Index(index)) => InterfaceIndexOrAddress::Index(index.get()),
                Some(NetworkInterface::Address(at)) => InterfaceIndexOrAddress::Address(at),
            };
            socket.join_multicast_v4_n(&group, &interface)
        }
        IpAddr::V6(group) => {
            #[cfg(target_os = "linux")]
            socket.set_multicast_all_v6(false)?;
            let index = at.map_or(Ok(0), NetworkInterface::index)?;
            socket.join_multicast_v6(&group, index)
        }
    }
}

/// Sends to a group.
///
/// # Errors
/// As [`receive_from_group`].
pub fn send_to_group(group: SocketAddr, options: &SocketOptions) -> io::Result<UdpSocket> {
    let group = scoped(group, options)?;
    let socket = socket(group)?;
    options.apply_udp(&socket)?;
    options.apply_multicast(&socket)?;
    socket.connect(&group.into())?;
    Ok(socket.into())
}

/// The group, with the interface if its address requires one.
fn scoped(mut group: SocketAddr, options: &SocketOptions) -> io::Result<SocketAddr> {
    let invalid = |what: &str| io::Error::new(io::ErrorKind::InvalidInput, what);
    if !group.ip().is_multicast() {
        return Err(invalid("not the address of a group"));
    }
    if let SocketAddr::V6(v6) = &mut group {
        // Groups of an interface and of a link: RFC 4291, 2.7.
        let is_local = matches!(v6.ip().segments()[0] & 0xf, 1 | 2);
        if is_local && v6.scope_id() == 0 {
            let at = options.multicast_interface;
            let at = at.ok_or_else(|| invalid("a group of each link needs an interface"))?;
            v6.set_scope_id(at.index()?);
        }
    }
    Ok(group)
}

/// Receives a datagram into `room`, truncated if necessary; returns its length and sender. A socket
/// that was shut down returns no sender.
///
/// # Errors
/// The system's error.
#[inline]
pub fn receive_datagram(
    socket: &UdpSocket,
    room: &mut [u8],
) -> io::Result<(usize, Option<SocketAddr>)> {
    // Not `UdpSocket::recv_from`: Rust's library asserts that there is a sender.
    let (received, sender) = SockRef::from(socket).recv_from(as_room(room))?;
    Ok((received, sender.as_socket()))
}

/// Octets in the type required by socket2: room that a call may only write to.
#[expect(
    unsafe_code,
    reason = "socket2 receives into what need not be initialized"
)]
fn as_room(room: &mut [u8]) -> &mut [MaybeUninit<u8>] {
    // SAFETY: the two have the same layout, and the octets stay initialized: socket2 promises to
    // write none but received ones.
    unsafe { &mut *(ptr::from_mut(room) as *mut [MaybeUninit<u8>]) }
}

/// Sends the slices as one datagram. An error of the previous one (no socket received it) is
/// ignored.
///
/// # Errors
/// The system's error; also that of a datagram too large for its path.
pub fn send_datagram(socket: &UdpSocket, pieces: &[IoSlice<'_>]) -> io::Result<()> {
    match crate::send_vectored(socket, pieces) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            crate::send_vectored(socket, pieces)?
        }
        sent => sent?,
    };
    Ok(())
}

/// Wakes the threads that receive from a socket, permanently; on systems other than Linux possibly
/// only after their time-outs.
pub fn shut_down_datagrams(socket: &UdpSocket) {
    // Linux does so though it reports that the socket is not connected.
    let _ = SockRef::from(socket).shutdown(Shutdown::Both);
}

/// Octets of the largest packet on the path to the receiver, as far as the system knows; headers
/// included.
#[must_use]
pub fn path_mtu(socket: &UdpSocket) -> Option<usize> {
    #[cfg(target_os = "linux")]
    {
        let is_v6 = crate::socket::any_family::is_v6(socket.as_fd()).ok()?;
        let mtu = crate::socket::sockopt::path_mtu(socket.as_fd(), is_v6);
        usize::try_from(mtu.ok()?).ok()
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = socket;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_datagram_is_cut_to_the_room_and_has_a_sender() {
        let at: SocketAddr = "127.0.0.1:0".parse().unwrap();
        let options = SocketOptions::default();
        let receiving = receive_at(at, &options).unwrap();
        let sending = send_to(receiving.local_addr().unwrap(), &options).unwrap();
        send_datagram(&sending, &[IoSlice::new(b"GIO"), IoSlice::new(b"P")]).unwrap();
        let mut room = [0; 3];
        let received = receive_datagram(&receiving, &mut room).unwrap();
        assert_eq!(received, (3, sending.local_addr().ok()));
        assert_eq!(&room, b"GIO");
    }

    /// Regression: `UdpSocket::recv_from` panicked here, as the system writes no address, and
    /// Rust's library asserts that it did. The demo's server over UDP ended with that panic.
    #[test]
    fn a_socket_shut_down_has_no_sender() {
        let at: SocketAddr = "127.0.0.1:0".parse().unwrap();
        let socket = receive_at(at, &SocketOptions::default()).unwrap();
        shut_down_datagrams(&socket);
        let received = receive_datagram(&socket, &mut [0; 8]).unwrap();
        assert_eq!(received, (0, None));
    }
}
