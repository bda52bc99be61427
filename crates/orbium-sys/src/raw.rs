// SPDX-License-Identifier: MIT OR Apache-2.0
//! Socket options, waiting, and locks of files, as no small safe crate offers them.
#![expect(unsafe_code, reason = "system calls that no safe crate offers")]

#[cfg(unix)]
use std::ffi::CStr;
#[cfg(target_os = "linux")]
use std::ffi::CString;
use std::fs::File;
use std::io;
use std::mem::size_of;
use std::os::fd::{AsFd, AsRawFd};
#[cfg(target_os = "linux")]
use std::os::fd::{FromRawFd, OwnedFd};
#[cfg(target_os = "linux")]
use std::ptr;
use std::time::Duration;

use libc::{c_int, socklen_t};

use crate::unless;

/// The user whose rights the process has.
#[must_use]
pub fn effective_user() -> u32 {
    // SAFETY: it takes nothing, touches no memory and always succeeds.
    unsafe { libc::geteuid() }
}

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

/// An option whose value is a number: its level and its name.
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
#[cfg(all(target_os = "linux", feature = "datagrams"))]
pub(crate) fn set_multicast_index_v4(socket: &dyn AsFd, index: u32) -> io::Result<()> {
    const { assert!(size_of::<libc::ip_mreqn>() == size_of::<[u32; 3]>()) };
    // Of no group, at no address.
    let interface = [0, 0, index];
    set(socket, libc::IPPROTO_IP, libc::IP_MULTICAST_IF, interface)
}

/// `IP_MTU` or `IPV6_MTU`: octets of the largest packet on the way to the peer.
#[cfg(all(target_os = "linux", feature = "datagrams"))]
pub(crate) fn path_mtu(socket: &dyn AsFd, is_v6: bool) -> io::Result<usize> {
    let (level, name) = match is_v6 {
        true => (libc::IPPROTO_IPV6, libc::IPV6_MTU),
        false => (libc::IPPROTO_IP, libc::IP_MTU),
    };
    let mtu: c_int = get(socket, level, name)?;
    usize::try_from(mtu).map_err(|_| io::ErrorKind::InvalidData.into())
}

/// The index of the network interface of a name.
#[cfg(target_os = "linux")]
#[inline(never)]
pub(crate) fn interface_index(name: &str) -> io::Result<u32> {
    let name = CString::new(name)?;
    // SAFETY: `name` ends with a 0, and is only read.
    match unsafe { libc::if_nametoindex(name.as_ptr()) } {
        0 => Err(io::Error::last_os_error()),
        index => Ok(index),
    }
}

/// The name of this host; empty if the system does not say.
#[cfg(unix)]
pub(crate) fn host_name() -> String {
    let mut name = [0_u8; 256];
    // SAFETY: there is room for one octet more than it may write.
    let result = unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len() - 1) };
    let name = CStr::from_bytes_until_nul(&name).ok();
    let name = name.filter(|_| result == 0);
    name.and_then(|name| name.to_str().ok())
        .unwrap_or_default()
        .to_owned()
}

/// A number that nobody else can guess; 0 if the system has none.
#[cfg(target_os = "linux")]
pub(crate) fn random_number() -> u64 {
    let mut number = 0;
    // SAFETY: as many octets are written as a number has, for which any is a value.
    // So few come at once or not at all.
    unsafe { libc::getrandom((&raw mut number).cast(), size_of::<u64>(), 0) };
    number
}

/// Waits until one of some descriptors is ready; `None` is for ever. What is
/// ready stands in the set. An interruption counts as nothing ready.
///
/// # Errors
/// The system's error.
pub(crate) fn poll(set: &mut [libc::pollfd], timeout: Option<Duration>) -> io::Result<()> {
    let len = set.len() as libc::nfds_t;
    #[cfg(target_os = "linux")]
    let result = {
        let timeout = timeout.map(|timeout| libc::timespec {
            tv_sec: timeout.as_secs().try_into().unwrap_or(libc::time_t::MAX),
            // Below a billion.
            tv_nsec: timeout.subsec_nanos() as libc::c_long,
        });
        let timeout = timeout.as_ref().map_or(ptr::null(), ptr::from_ref);
        // SAFETY: there are as many descriptors as it may look at and mark, the
        // time is only read, and no signal is masked.
        unsafe { libc::ppoll(set.as_mut_ptr(), len, timeout, ptr::null()) }
    };
    #[cfg(not(target_os = "linux"))]
    // SAFETY: there are as many descriptors as it may look at and mark.
    let result = unsafe { libc::poll(set.as_mut_ptr(), len, milliseconds(timeout)) };
    if result >= 0 {
        return Ok(());
    }
    unless(io::Error::last_os_error(), &[io::ErrorKind::Interrupted])?;
    for of in set {
        of.revents = 0;
    }
    Ok(())
}

/// A timeout as poll and epoll take it: milliseconds, rounded up, -1 for ever.
pub(crate) fn milliseconds(timeout: Option<Duration>) -> c_int {
    match timeout {
        None => -1,
        Some(timeout) => {
            c_int::try_from(timeout.as_nanos().div_ceil(1_000_000)).unwrap_or(c_int::MAX)
        }
    }
}

/// An epoll set.
///
/// # Errors
/// No descriptors left.
#[cfg(target_os = "linux")]
#[inline(never)]
pub(crate) fn epoll() -> io::Result<OwnedFd> {
    // SAFETY: nothing is pointed to.
    let fd = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new, and nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Adds a source to an epoll set, changes what is waited for, or removes it.
///
/// # Errors
/// The system's error.
#[cfg(target_os = "linux")]
#[inline(never)]
pub(crate) fn epoll_control(
    epoll: &OwnedFd,
    operation: c_int,
    source: &dyn AsFd,
    token: u64,
    events: c_int,
) -> io::Result<()> {
    let mut event = libc::epoll_event {
        events: events.cast_unsigned(),
        u64: token,
    };
    let source = source.as_fd().as_raw_fd();
    // SAFETY: both descriptors are open as long as they are borrowed; the event
    // is only read.
    match unsafe { libc::epoll_ctl(epoll.as_raw_fd(), operation, source, &raw mut event) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Locks a file for this opening of it alone, if nobody else has done so.
///
/// # Errors
/// `WouldBlock`: somebody has; the system's error.
pub(crate) fn try_lock(file: &File) -> io::Result<()> {
    // SAFETY: the descriptor is open as long as it is borrowed; nothing else is
    // looked at.
    match unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
