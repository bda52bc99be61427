// SPDX-License-Identifier: MIT OR Apache-2.0
//! Waiting for what other callers do.

use std::time::Duration;

use orbium_sync::lock::{Condvar, MutexGuard};

/// Waits for a notification, for the time `left` of the call. Without a deadline it
/// waits until the callers ahead finish; they always notify, on failure too.
pub fn wait<'a, T>(
    changed: &Condvar,
    state: MutexGuard<'a, T>,
    left: Option<Duration>,
) -> MutexGuard<'a, T> {
    match left {
        None => changed.wait(state),
        Some(left) => changed.wait_timeout(state, left).0,
    }
}
