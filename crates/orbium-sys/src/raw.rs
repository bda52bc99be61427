// SPDX-License-Identifier: MIT OR Apache-2.0
//! Socket options, and locks of files, that no small safe crate offers.
#![expect(unsafe_code, reason = "system calls that no safe crate offers")]

use std::fs::File;
use std::io;
use std::mem::size_of;
use std::os::fd::{AsFd, AsRawFd};

use libc::{c_int, socklen_t};

/// Types that an option can have: any bit pattern is a value, none has padding.
trait Plain: Copy + Default {}
impl Plain for c_int {}
#[cfg(target_os = "linux")]
impl Plain for libc::c_ulong {}
impl Plain for [u32; 3] {}

fn length<T>() -> socklen_t {
    // Types of options have a few octets.
    size_of::<T>() as socklen_t
}

fn set<T: Plain>(socket: &dyn AsFd, level: c_int, name: c_int, value: T) -> io::Result<()> {
    // SAFETY: the descriptor is open as long as it is borrowed; the kernel reads
    // `length` octets from `value`, which has as many.
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

fn get<T: Plain>(socket: &dyn AsFd, level: c_int, name: c_int) -> io::Result<T> {
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

/// `SO_PEERCRED`. The process id is 0 for a process of another name space, which
/// is why this is not rustix's function: its type of ids has no 0.
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

/// `SO_DONTROUTE`.
pub(crate) fn set_dont_route(socket: &dyn AsFd, on: bool) -> io::Result<()> {
    set::<c_int>(socket, libc::SOL_SOCKET, libc::SO_DONTROUTE, on.into())
}

/// `SO_DONTROUTE`.
pub(crate) fn dont_route(socket: &dyn AsFd) -> io::Result<bool> {
    Ok(get::<c_int>(socket, libc::SOL_SOCKET, libc::SO_DONTROUTE)? != 0)
}

/// `SO_MAX_PACING_RATE`, in octets per second.
#[cfg(target_os = "linux")]
pub(crate) fn set_pacing_rate(socket: &dyn AsFd, rate: u64) -> io::Result<()> {
    let rate = libc::c_ulong::try_from(rate).map_err(|_| io::ErrorKind::InvalidInput)?;
    set(socket, libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE, rate)
}

/// `SO_MAX_PACING_RATE`; `None` if there is no bound.
#[cfg(target_os = "linux")]
pub(crate) fn pacing_rate(socket: &dyn AsFd) -> io::Result<Option<u64>> {
    let rate: libc::c_ulong = get(socket, libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE)?;
    // Lossless: no system has longer ones.
    Ok((rate != libc::c_ulong::MAX).then_some(rate as u64))
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
