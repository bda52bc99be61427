// SPDX-License-Identifier: MIT OR Apache-2.0
//! The monotonic clock as one number.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Nanoseconds since the first call in this process.
pub(crate) fn now() -> u64 {
    static ORIGIN: OnceLock<Instant> = OnceLock::new();
    nanoseconds(ORIGIN.get_or_init(Instant::now).elapsed())
}

/// A duration in nanoseconds, at most 584 years.
pub(crate) fn nanoseconds(length: Duration) -> u64 {
    u64::try_from(length.as_nanos()).unwrap_or(u64::MAX)
}
