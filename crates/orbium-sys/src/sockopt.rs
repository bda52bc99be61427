// SPDX-License-Identifier: MIT OR Apache-2.0
//! Socket options (`getsockopt`, `setsockopt`) that the standard library lacks.
#![expect(unsafe_code, reason = "system calls that no safe crate offers")]

use std::io;
use std::mem::size_of;
use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;

use libc::{c_int, socklen_t};

/// Types that an option can have.
///
/// # Safety
/// Any bit pattern is a value.
unsafe trait Plain: Copy {}
// SAFETY: an integer.
unsafe impl Plain for c_int {}
// SAFETY: an integer.
#[cfg(target_os = "linux")]
unsafe impl Plain for libc::c_ulong {}
// SAFETY: integers.
unsafe impl Plain for [u32; 3] {}
// SAFETY: integers. Some systems have padding behind them, and do not look at it.
unsafe impl Plain for libc::timeval {}

fn length<T>() -> socklen_t {
    // Types of options have a few octets.
    size_of::<T>() as socklen_t
}

fn set<T: Plain>(socket: &dyn AsFd, level: c_int, name: c_int, value: T) -> io::Result<()> {
    // SAFETY: the descriptor is open as long as it is borrowed; the kernel reads
    // `length` octets from `value`, which has as many, and keeps no pointer.
    let result = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            level,
            name,
            (&raw const value).cast(),
            length::<T>(),
        )
    };
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

fn get<T: Plain + Default>(socket: &dyn AsFd, level: c_int, name: c_int) -> io::Result<T> {
    let mut value = T::default();
    let mut written = length::<T>();
    // SAFETY: the descriptor is open as long as it is borrowed; the kernel writes
    // at most `written` octets to `value`, which has as many and for which every
    // pattern is a value (`Plain`).
    let result = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            level,
            name,
            (&raw mut value).cast(),
            &raw mut written,
        )
    };
    match result {
        0 if written == length::<T>() => Ok(value),
        0 => Err(io::ErrorKind::Unsupported.into()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// An option with a number as its value: its level and its name.
pub(crate) type NumberOption = (c_int, c_int);

/// Sets an option to a number.
pub(crate) fn set_number(
    socket: &dyn AsFd,
    (level, name): NumberOption,
    value: c_int,
) -> io::Result<()> {
    set(socket, level, name, value)
}

/// The number that is the value of an option.
pub(crate) fn number(socket: &dyn AsFd, (level, name): NumberOption) -> io::Result<c_int> {
    get(socket, level, name)
}

/// A process of this host, as the kernel vouches for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessCredentials {
    /// Process id; `None` if the process is not visible from here.
    pub pid: Option<u32>,
    /// Effective user id.
    pub uid: u32,
    /// Effective group id.
    pub gid: u32,
}

/// `SO_PEERCRED`. The process id is 0 for a process of another name space.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) fn peer_process(socket: &dyn AsFd) -> io::Result<ProcessCredentials> {
    const { assert!(size_of::<libc::ucred>() == size_of::<[u32; 3]>()) };
    let [pid, uid, gid] = get::<[u32; 3]>(socket, libc::SOL_SOCKET, libc::SO_PEERCRED)?;
    let pid = (pid != 0).then_some(pid);
    Ok(ProcessCredentials { pid, uid, gid })
}

/// Not asked for on this system.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) fn peer_process(_socket: &dyn AsFd) -> io::Result<ProcessCredentials> {
    Err(io::ErrorKind::Unsupported.into())
}

/// `TCP_CONGESTION`: the beginning of the name, filled up with zeros.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) fn congestion_control(socket: &dyn AsFd) -> io::Result<[u8; 12]> {
    let name = get::<[u32; 3]>(socket, libc::IPPROTO_TCP, libc::TCP_CONGESTION)?;
    let mut octets = [0; 12];
    for (place, word) in octets.chunks_exact_mut(4).zip(name) {
        place.copy_from_slice(&word.to_ne_bytes());
    }
    Ok(octets)
}

/// `SO_MAX_PACING_RATE`, in octets per second.
#[cfg(target_os = "linux")]
pub(crate) fn set_pacing_rate(socket: &dyn AsFd, rate: u64) -> io::Result<()> {
    let rate = libc::c_ulong::try_from(rate).map_err(|_| io::ErrorKind::InvalidInput)?;
    set(socket, libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE, rate)
}

/// `SO_MAX_PACING_RATE`; `None` if there is no bound.
#[cfg(target_os = "linux")]
#[inline]
pub(crate) fn pacing_rate(socket: &dyn AsFd) -> io::Result<Option<u64>> {
    let rate: libc::c_ulong = get(socket, libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE)?;
    // Lossless: no system has longer ones.
    Ok((rate != libc::c_ulong::MAX).then_some(rate as u64))
}

/// `SO_RCVTIMEO` or `SO_SNDTIMEO`, rounded up to whole microseconds; `None` is for
/// ever.
///
/// # Errors
/// `InvalidInput`: no time at all, which would mean for ever; the system's error.
#[inline(never)]
pub(crate) fn set_timeout(
    socket: &dyn AsFd,
    name: c_int,
    timeout: Option<Duration>,
) -> io::Result<()> {
    let micros = match timeout {
        None => 0,
        Some(Duration::ZERO) => return Err(io::ErrorKind::InvalidInput.into()),
        Some(timeout) => timeout.as_nanos().div_ceil(1000),
    };
    let value = libc::timeval {
        tv_sec: (micros / 1_000_000).try_into().unwrap_or(libc::time_t::MAX),
        // Below a million.
        tv_usec: (micros % 1_000_000) as libc::suseconds_t,
    };
    set(socket, libc::SOL_SOCKET, name, value)
}

/// `IP_MULTICAST_IF`, by the index of an interface.
#[cfg(target_os = "linux")]
pub(crate) fn set_multicast_index_v4(socket: &dyn AsFd, index: u32) -> io::Result<()> {
    const { assert!(size_of::<libc::ip_mreqn>() == size_of::<[u32; 3]>()) };
    // Of no group, at no address.
    let interface = [0, 0, index];
    set(socket, libc::IPPROTO_IP, libc::IP_MULTICAST_IF, interface)
}

/// `IP_MTU` or `IPV6_MTU`: octets of the largest packet on the way to the peer.
#[cfg(target_os = "linux")]
pub(crate) fn path_mtu(socket: &dyn AsFd, is_v6: bool) -> io::Result<usize> {
    let (level, name) = match is_v6 {
        true => (libc::IPPROTO_IPV6, libc::IPV6_MTU),
        false => (libc::IPPROTO_IP, libc::IP_MTU),
    };
    let mtu: c_int = get(socket, level, name)?;
    usize::try_from(mtu).map_err(|_| io::ErrorKind::InvalidData.into())
}
