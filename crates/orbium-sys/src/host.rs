// SPDX-License-Identifier: MIT OR Apache-2.0
//! The host, and the user of this process.
#![expect(unsafe_code, reason = "the user id")]

/// The name of this host; empty if it has none that is text.
#[cfg(unix)]
#[must_use]
pub fn host_name() -> String {
    let host = rustix::system::uname();
    host.nodename().to_str().unwrap_or_default().to_owned()
}

/// The effective user id of the process.
#[must_use]
pub fn effective_user() -> u32 {
    // SAFETY: it takes nothing and cannot fail.
    unsafe { libc::geteuid() }
}

/// An unpredictable number; 0 from a system that has none to give.
#[cfg(target_os = "linux")]
#[must_use]
pub fn random_number() -> u64 {
    use rustix::rand::{GetRandomFlags, getrandom};

    let mut number = [0; 8];
    // So few bytes come at once or not at all.
    let _ = getrandom(&mut number[..], GetRandomFlags::empty());
    u64::from_ne_bytes(number)
}

/// An unpredictable number.
#[cfg(not(target_os = "linux"))]
#[must_use]
pub fn random_number() -> u64 {
    use std::hash::{BuildHasher, Hasher, RandomState};
    RandomState::new().build_hasher().finish()
}

/// The name of this host; not known here.
#[cfg(not(unix))]
#[must_use]
pub fn host_name() -> String {
    String::new()
}
