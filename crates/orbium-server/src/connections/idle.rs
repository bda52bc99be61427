// SPDX-License-Identifier: MIT OR Apache-2.0
//! Idle time of connections, measured by periodic checks.

use std::time::{Duration, Instant};

/// The looks at a connection within the time after which it is closed.
const CHECKS_PER_IDLE_TIME: u32 = 4;

/// How long until connections are looked at again.
pub(crate) fn pause(time: Duration) -> Duration {
    (time / CHECKS_PER_IDLE_TIME).max(Duration::from_millis(1))
}

/// Since when nothing came over one connection, as far as it was looked at.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Quiet(Option<Instant>);

impl Quiet {
    /// Something came.
    #[inline]
    pub(crate) fn disturb(&mut self) {
        self.0 = None;
    }

    /// Since when, as far as it was looked at.
    pub(crate) fn since(&self) -> Option<Instant> {
        self.0
    }

    /// Nothing came since the last look; whether that is so for `time` now.
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
