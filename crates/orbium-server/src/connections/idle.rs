// SPDX-License-Identifier: MIT OR Apache-2.0
//! Idle time of connections, measured by periodic checks.

use std::time::{Duration, Instant};

/// Number of checks of a connection within its maximum idle time.
const CHECKS_PER_IDLE_TIME: u32 = 4;

/// The interval of the checks.
pub(crate) fn pause(time: Duration) -> Duration {
    (time / CHECKS_PER_IDLE_TIME).max(Duration::from_millis(1))
}

/// The beginning of the silence of a connection, as seen by the checks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Quiet(Option<Instant>);

impl Quiet {
    /// Records received data.
    #[inline]
    pub(crate) fn disturb(&mut self) {
        self.0 = None;
    }

    /// The beginning of the silence, as seen by the checks.
    pub(crate) fn since(&self) -> Option<Instant> {
        self.0
    }

    /// Records that nothing was received since the last check; returns whether the silence has
    /// lasted for `time`.
    pub(crate) fn lasts(&mut self, now: Instant, time: Duration) -> bool {
        let since = *self.0.get_or_insert(now);
        now.saturating_duration_since(since) >= time
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_quiet_at_every_look_is_idle() {
        let (time, now) = (Duration::from_secs(8), Instant::now());
        let at = |seconds| now + Duration::from_secs(seconds);
        let mut quiet = Quiet::default();
        assert!(!quiet.lasts(at(0), time));
        assert!(!quiet.lasts(at(7), time));
        quiet.disturb();
        assert!(!quiet.lasts(at(9), time));
        assert!(quiet.lasts(at(17), time));
        assert_eq!(pause(time), Duration::from_secs(2));
    }
}
