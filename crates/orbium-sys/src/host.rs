// SPDX-License-Identifier: MIT OR Apache-2.0
//! The host.

/// The name of this host, as `gethostname` gives it; empty if it has none that
/// is text.
#[cfg(unix)]
#[must_use]
pub fn host_name() -> String {
    crate::syscall::host_name()
}

/// An unpredictable number; 0 from a system that has none to give.
#[cfg(target_os = "linux")]
#[must_use]
pub fn random_number() -> u64 {
    crate::syscall::random_number()
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
