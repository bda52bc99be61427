// SPDX-License-Identifier: MIT OR Apache-2.0
//! System calls other than those on the path of a request ([`crate::direct_syscall`]), by
//! the C library: readiness, file locks, the host's name and randomness.
#![expect(unsafe_code, reason = "system calls that no safe crate offers")]

#[cfg(unix)]
use std::ffi::CStr;
#[cfg(target_os = "linux")]
use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
#[cfg(target_os = "linux")]
use std::os::fd::{AsFd, FromRawFd, OwnedFd};
#[cfg(target_os = "linux")]
use std::ptr;
use std::time::Duration;

use libc::c_int;

/// The effective user id of the process.
#[must_use]
pub fn effective_user() -> u32 {
    // SAFETY: it takes nothing, touches no memory and always succeeds.
    unsafe { libc::geteuid() }
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

/// An unpredictable number; 0 if the system has none.
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
    let error = io::Error::last_os_error();
    if error.kind() != io::ErrorKind::Interrupted {
        return Err(error);
    }
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
/// `EMFILE`, `ENFILE`: the process or the host is out of descriptors.
#[cfg(target_os = "linux")]
#[inline(never)]
pub(crate) fn epoll() -> io::Result<OwnedFd> {
    // SAFETY: nothing is pointed to.
    let fd = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new, and owned by nothing else.
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

/// Locks a file for this opening of it (`flock`), unless it is locked already.
///
/// # Errors
/// `WouldBlock`: it is locked; the system's error.
pub(crate) fn try_lock(file: &File) -> io::Result<()> {
    // SAFETY: the descriptor is open as long as it is borrowed; nothing else is
    // looked at.
    match unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
