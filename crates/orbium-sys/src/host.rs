// SPDX-License-Identifier: MIT OR Apache-2.0
//! The host, and the user of this process.
#![expect(unsafe_code, reason = "questions to the C library and the kernel")]

use std::ffi::CStr;
#[cfg(target_os = "linux")]
use std::ffi::CString;
#[cfg(target_os = "linux")]
use std::io;

/// The name of this host; empty if it has none, or it is not UTF-8.
#[cfg(unix)]
#[must_use]
pub fn host_name() -> String {
    // Longer than any name, so that it contains the end.
    let mut name = [0_u8; 256];
    // SAFETY: the library writes at most as many bytes as there are.
    if unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len()) } != 0 {
        return String::new();
    }
    let name = CStr::from_bytes_until_nul(&name).unwrap_or_default();
    name.to_str().unwrap_or_default().to_owned()
}

/// The effective user id of the process.
#[must_use]
pub fn effective_user() -> u32 {
    // SAFETY: it takes nothing and cannot fail.
    unsafe { libc::geteuid() }
}

/// An unpredictable number; 0 if the system has no source of random numbers.
#[cfg(target_os = "linux")]
#[must_use]
pub fn random_number() -> u64 {
    let mut number = [0_u8; 8];
    // So few bytes come at once or not at all.
    // SAFETY: the kernel writes at most as many bytes as there are.
    unsafe { libc::getrandom(number.as_mut_ptr().cast(), number.len(), 0) };
    u64::from_ne_bytes(number)
}

/// The index of a network interface.
#[cfg(target_os = "linux")]
pub(crate) fn interface_index(name: &str) -> io::Result<u32> {
    let name = CString::new(name)?;
    // SAFETY: it reads a text that ends with a zero byte.
    match unsafe { libc::if_nametoindex(name.as_ptr()) } {
        0 => Err(io::Error::last_os_error()),
        index => Ok(index),
    }
}

/// An unpredictable number.
#[cfg(not(target_os = "linux"))]
#[must_use]
pub fn random_number() -> u64 {
    use std::hash::{BuildHasher, Hasher, RandomState};
    RandomState::new().build_hasher().finish()
}

/// The name of this host; unknown on this system.
#[cfg(not(unix))]
#[must_use]
pub fn host_name() -> String {
    String::new()
}
