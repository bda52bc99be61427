// SPDX-License-Identifier: MIT OR Apache-2.0
//! The host.

/// The name of this host, as `gethostname` gives it; empty if it has none that
/// is text.
#[cfg(unix)]
#[must_use]
pub fn host_name() -> String {
    crate::raw::host_name()
}

/// The name of this host; not known here.
#[cfg(not(unix))]
#[must_use]
pub fn host_name() -> String {
    String::new()
}
