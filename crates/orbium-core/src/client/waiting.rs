// SPDX-License-Identifier: MIT OR Apache-2.0
//! Waiting for what other callers do.

use std::sync::PoisonError;
use std::time::Duration;

use orbium_sync::lock::{Condvar, MutexGuard};

/// Waits until something is told of, for what is `left` of the call's time. A call
/// without time policies has no deadline: it waits until those before it are done,
/// who tell of that however they end.
pub(super) fn wait<'a, T>(
    told: &Condvar,
    state: MutexGuard<'a, T>,
    left: Option<Duration>,
) -> MutexGuard<'a, T> {
    match left {
        None => told.wait(state).unwrap_or_else(PoisonError::into_inner),
        Some(left) => {
            let waited = told.wait_timeout(state, left);
            waited.unwrap_or_else(PoisonError::into_inner).0
        }
    }
}
