// SPDX-License-Identifier: MIT OR Apache-2.0
//! Work of a servant: an amount of processor time.

use std::time::Duration;

/// The work of the servants in the second part of the experiment.
pub(crate) const BUSY: Duration = Duration::from_millis(1);

/// The work of a servant while many requests arrive.
pub(crate) const LONG: Duration = Duration::from_millis(150);

/// Keeps a CPU busy until this thread has used that processor time. Time in which others run does
/// not count.
#[cfg(target_os = "linux")]
pub(crate) fn burn(time: Duration) {
    use rustix::time::{ClockId, clock_gettime};

    let used = || {
        let now = clock_gettime(ClockId::ThreadCPUTime);
        Duration::new(
            u64::try_from(now.tv_sec).unwrap_or(0),
            u32::try_from(now.tv_nsec).unwrap_or(0),
        )
    };
    let end = used() + time;
    while used() < end {
        std::hint::spin_loop();
    }
}

/// By the clock, as there is no clock of processor time here.
#[cfg(not(target_os = "linux"))]
pub(crate) fn burn(time: Duration) {
    let begin = std::time::Instant::now();
    while begin.elapsed() < time {
        std::hint::spin_loop();
    }
}
