// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which host this is, for protocols that end where it does.

use std::sync::OnceLock;

/// The name of this host, as omniORB compares it; empty if there is none.
pub(crate) fn name() -> &'static str {
    static NAME: OnceLock<String> = OnceLock::new();
    NAME.get_or_init(orbium_sys::host_name)
}
