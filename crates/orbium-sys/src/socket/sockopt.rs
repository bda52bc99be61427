// SPDX-License-Identifier: MIT OR Apache-2.0
//! Socket options that `socket2` does not have, by `getsockopt` and `setsockopt`.
#![expect(unsafe_code, reason = "options that no safe crate has")]

use std::io;
use std::mem::size_of;
use std::os::fd::{AsRawFd, BorrowedFd};

use libc::{c_int, socklen_t};

/// Types of these options.
///
/// # Safety
/// Any bit pattern is a value, and there is no padding.
unsafe trait Plain: Copy + Default {}
// SAFETY: an integer.
unsafe impl Plain for c_int {}
#[cfg(target_os = "linux")]
// SAFETY: an integer.
unsafe impl Plain for libc::c_ulong {}
// SAFETY: integers.
unsafe impl Plain for [u32; 3] {}

const DONT_ROUTE: (c_int, c_int) = (libc::SOL_SOCKET, libc::SO_DONTROUTE);
#[cfg(target_os = "linux")]
const PACING_RATE: (c_int, c_int) = (libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE);

fn length<T>() -> socklen_t {
    // Types of options have a few bytes.
    size_of::<T>() as socklen_t
}

fn set<T: Plain>(
    socket: BorrowedFd<'_>,
    (level, name): (c_int, c_int),
    value: T,
) -> io::Result<()> {
    let (fd, value) = (socket.as_raw_fd(), (&raw const value).cast());
    // SAFETY: the descriptor is open as long as it is borrowed; the kernel reads
    // `length` bytes from `value`, which has as many, and keeps no pointer.
    match unsafe { libc::setsockopt(fd, level, name, value, length::<T>()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

fn get<T: Plain>(socket: BorrowedFd<'_>, (level, name): (c_int, c_int)) -> io::Result<T> {
    let (mut value, mut written) = (T::default(), length::<T>());
    let (fd, at) = (socket.as_raw_fd(), (&raw mut value).cast());
    // SAFETY: the descriptor is open as long as it is borrowed; the kernel writes
    // at most `written` bytes to `value`, which has as many and for which every
    // pattern is a value (`Plain`).
    match unsafe { libc::getsockopt(fd, level, name, at, &raw mut written) } {
        0 if written == length::<T>() => Ok(value),
        0 => Err(io::ErrorKind::Unsupported.into()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Sets `SO_DONTROUTE`.
pub(crate) fn set_dont_route(socket: BorrowedFd<'_>, on: bool) -> io::Result<()> {
    set(socket, DONT_ROUTE, c_int::from(on))
}

/// `SO_DONTROUTE`.
pub(crate) fn dont_route(socket: BorrowedFd<'_>) -> io::Result<bool> {
    Ok(get::<c_int>(socket, DONT_ROUTE)? != 0)
}

/// Sets `SO_MAX_PACING_RATE`, in bytes per second.
#[cfg(target_os = "linux")]
pub(crate) fn set_pacing_rate(socket: BorrowedFd<'_>, rate: u64) -> io::Result<()> {
    let rate = libc::c_ulong::try_from(rate).map_err(|_| io::ErrorKind::InvalidInput)?;
    set(socket, PACING_RATE, rate)
}

/// `SO_MAX_PACING_RATE`; `None` if it is unlimited.
#[cfg(target_os = "linux")]
pub(crate) fn pacing_rate(socket: BorrowedFd<'_>) -> io::Result<Option<u64>> {
    let rate: libc::c_ulong = get(socket, PACING_RATE)?;
    // Lossless: no system has a longer type.
    Ok((rate != libc::c_ulong::MAX).then_some(rate as u64))
}

/// Sets `IP_MULTICAST_IF` to the interface of that index.
#[cfg(target_os = "linux")]
pub(crate) fn set_multicast_index_v4(socket: BorrowedFd<'_>, index: u32) -> io::Result<()> {
    const { assert!(size_of::<libc::ip_mreqn>() == size_of::<[u32; 3]>()) };
    // Of no group, at no address.
    set(
        socket,
        (libc::IPPROTO_IP, libc::IP_MULTICAST_IF),
        [0, 0, index],
    )
}

/// `IP_MTU` or `IPV6_MTU` of a connected socket: the octets of the largest packet.
#[cfg(target_os = "linux")]
pub(crate) fn path_mtu(socket: BorrowedFd<'_>, is_v6: bool) -> io::Result<c_int> {
    let option = if is_v6 {
        (libc::IPPROTO_IPV6, libc::IPV6_MTU)
    } else {
        (libc::IPPROTO_IP, libc::IP_MTU)
    };
    get(socket, option)
}

/// A process of this host, identified by the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessCredentials {
    /// Process id; `None` if the process is not visible here.
    pub pid: Option<u32>,
    /// Effective user id.
    pub uid: u32,
    /// Effective group id.
    pub gid: u32,
}

/// `SO_PEERCRED`.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) fn peer_process(socket: BorrowedFd<'_>) -> io::Result<ProcessCredentials> {
    const { assert!(size_of::<libc::ucred>() == size_of::<[u32; 3]>()) };
    let [pid, uid, gid] = get::<[u32; 3]>(socket, (libc::SOL_SOCKET, libc::SO_PEERCRED))?;
    let pid = (pid != 0).then_some(pid);
    Ok(ProcessCredentials { pid, uid, gid })
}

/// Not supported on this system.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) fn peer_process(_socket: BorrowedFd<'_>) -> io::Result<ProcessCredentials> {
    Err(io::ErrorKind::Unsupported.into())
}
