// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sockets before they connect or listen: those of the standard library do so as
//! they are made, and leave no time to ask for options.
#![expect(unsafe_code, reason = "system calls that no safe crate offers")]

use std::io;
use std::mem::{offset_of, size_of, zeroed};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

use libc::{c_int, sockaddr, sockaddr_in, sockaddr_in6, sockaddr_storage, sockaddr_un, socklen_t};

/// An address as the system takes it.
pub(crate) enum Address {
    V4(sockaddr_in),
    V6(sockaddr_in6),
    /// And how many octets of it count.
    Unix(sockaddr_un, usize),
}

impl From<SocketAddr> for Address {
    fn from(address: SocketAddr) -> Self {
        match address {
            SocketAddr::V4(v4) => {
                // SAFETY: integers. Some systems have more of them than others.
                let mut raw: sockaddr_in = unsafe { zeroed() };
                raw.sin_family = libc::AF_INET as libc::sa_family_t;
                raw.sin_port = v4.port().to_be();
                raw.sin_addr.s_addr = u32::from(*v4.ip()).to_be();
                Self::V4(raw)
            }
            SocketAddr::V6(v6) => {
                // SAFETY: integers. Some systems have more of them than others.
                let mut raw: sockaddr_in6 = unsafe { zeroed() };
                raw.sin6_family = libc::AF_INET6 as libc::sa_family_t;
                raw.sin6_port = v6.port().to_be();
                raw.sin6_flowinfo = v6.flowinfo();
                raw.sin6_addr.s6_addr = v6.ip().octets();
                raw.sin6_scope_id = v6.scope_id();
                Self::V6(raw)
            }
        }
    }
}

impl Address {
    /// The name of a Unix socket: a path, or behind an octet of zero an abstract
    /// name.
    ///
    /// # Errors
    /// `InvalidInput`: it is too long.
    pub(crate) fn unix(name: &[u8]) -> io::Result<Self> {
        // SAFETY: integers. Some systems have more of them than others.
        let mut raw: sockaddr_un = unsafe { zeroed() };
        // Behind a path a zero counts, too.
        let len = name.len() + usize::from(name.first() != Some(&0));
        if len > raw.sun_path.len() {
            let what = "the name of the socket is too long";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        raw.sun_family = libc::AF_UNIX as libc::sa_family_t;
        for (place, octet) in raw.sun_path.iter_mut().zip(name) {
            *place = *octet as libc::c_char;
        }
        Ok(Self::Unix(raw, offset_of!(sockaddr_un, sun_path) + len))
    }

    fn raw(&self) -> (*const sockaddr, socklen_t) {
        let (at, len): (*const sockaddr, _) = match self {
            Self::V4(raw) => ((&raw const *raw).cast(), size_of::<sockaddr_in>()),
            Self::V6(raw) => ((&raw const *raw).cast(), size_of::<sockaddr_in6>()),
            Self::Unix(raw, len) => ((&raw const *raw).cast(), *len),
        };
        // Addresses have a few octets.
        (at, len as socklen_t)
    }

    const fn family(&self) -> c_int {
        match self {
            Self::V4(_) => libc::AF_INET,
            Self::V6(_) => libc::AF_INET6,
            Self::Unix(..) => libc::AF_UNIX,
        }
    }
}

fn done(result: c_int) -> io::Result<()> {
    match result {
        0.. => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// A new socket for streams, of the sort that the address is of. Programs that
/// this one starts do not have it.
///
/// # Errors
/// The system's error: no descriptors left.
pub(crate) fn stream_for(address: &Address) -> io::Result<OwnedFd> {
    socket_for(address, libc::SOCK_STREAM)
}

#[inline(never)]
fn socket_for(address: &Address, sort: c_int) -> io::Result<OwnedFd> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let sort = sort | libc::SOCK_CLOEXEC;
    // SAFETY: nothing is pointed to.
    let fd = unsafe { libc::socket(address.family(), sort, 0) };
    done(fd)?;
    // SAFETY: the descriptor is new, and owned by nothing else.
    let socket = unsafe { OwnedFd::from_raw_fd(fd) };
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    // SAFETY: the descriptor is open, and nothing is pointed to.
    done(unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) })?;
    #[cfg(target_vendor = "apple")]
    crate::sockopt::set_number(&socket, (libc::SOL_SOCKET, libc::SO_NOSIGPIPE), 1)?;
    Ok(socket)
}

/// Gives a socket an address of its own.
///
/// # Errors
/// The system's error: address in use, not ours, no permission.
#[inline(never)]
pub(crate) fn bind(socket: &dyn AsFd, address: &Address) -> io::Result<()> {
    let (at, len) = address.raw();
    // SAFETY: the descriptor is open as long as it is borrowed; the kernel reads
    // `len` octets of the address, which has as many.
    done(unsafe { libc::bind(socket.as_fd().as_raw_fd(), at, len) })
}

/// Connects a socket to an address.
///
/// # Errors
/// The number of the system's error; where the socket does not wait, that it is
/// under way.
#[inline(never)]
pub(crate) fn connect(socket: &dyn AsFd, address: &Address) -> Result<(), c_int> {
    let (at, len) = address.raw();
    // SAFETY: the descriptor is open as long as it is borrowed; the kernel reads
    // `len` octets of the address, which has as many.
    match unsafe { libc::connect(socket.as_fd().as_raw_fd(), at, len) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()
            .raw_os_error()
            .unwrap_or_default()),
    }
}

/// The address of this host that packets to another would leave from; nothing is
/// sent.
///
/// # Errors
/// The system's error: no route.
pub fn own_address_towards(there: SocketAddr) -> io::Result<IpAddr> {
    let there = Address::from(there);
    let socket = socket_for(&there, libc::SOCK_DGRAM)?;
    // For datagrams this only chooses a route.
    if let Err(error) = connect(&socket, &there) {
        return Err(io::Error::from_raw_os_error(error));
    }
    Ok(UdpSocket::from(socket).local_addr()?.ip())
}

/// Has a socket listen; so many connections may wait to be accepted.
///
/// # Errors
/// The system's error: address in use.
pub(crate) fn listen(socket: &dyn AsFd, backlog: c_int) -> io::Result<()> {
    // SAFETY: the descriptor is open as long as it is borrowed; nothing is pointed
    // to.
    done(unsafe { libc::listen(socket.as_fd().as_raw_fd(), backlog) })
}

/// Stops a socket from listening, even if a child process has its descriptor: what
/// waits to be accepted ends, what would connect is refused.
///
/// Closing alone leaves a socket to those that have a copy, as a process has that
/// was just forked and does not yet run the program it is meant for: for that long
/// it would go on listening while no thread accepts.
pub fn stop_listening(socket: &dyn AsFd) {
    // SAFETY: the descriptor is open as long as it is borrowed; nothing is pointed
    // to. What fails is left to closing.
    unsafe { libc::shutdown(socket.as_fd().as_raw_fd(), libc::SHUT_RDWR) };
}

/// The family of a socket: `AF_INET` and its like. It need not have an address.
///
/// # Errors
/// The system's error.
pub(crate) fn family(socket: &dyn AsFd) -> io::Result<c_int> {
    // SAFETY: integers. Some systems have more of them than others.
    let mut own: sockaddr_storage = unsafe { zeroed() };
    let mut len = size_of::<sockaddr_storage>() as socklen_t;
    let at = (&raw mut own).cast::<sockaddr>();
    // SAFETY: the descriptor is open as long as it is borrowed; the kernel writes
    // at most `len` octets to `own`, which has as many and for which every pattern
    // is a value.
    done(unsafe { libc::getsockname(socket.as_fd().as_raw_fd(), at, &raw mut len) })?;
    Ok(own.ss_family.into())
}
