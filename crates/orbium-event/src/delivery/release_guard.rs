// SPDX-License-Identifier: MIT OR Apache-2.0
//! Release guard: a consumer of a chain of events over several hosts is released no earlier than
//! one period after the previous release, unless its queue is idle (Sun and Liu). Without a clock.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::config::ChannelConfig;
use crate::subscription::pattern::Pattern;

/// The guard of one consumer. Only the thread of its queue uses it.
#[derive(Debug)]
pub(crate) struct ReleaseGuard {
    period: Duration,
    /// Nanoseconds until the next release, on the clock of the queues.
    next: AtomicU64,
}

impl ReleaseGuard {
    pub(crate) fn new(period: Duration) -> Self {
        Self {
            period,
            next: AtomicU64::new(0),
        }
    }

    /// The guard of a consumer with that subscription and period, if the channel has guards.
    pub(crate) fn of(
        config: &ChannelConfig,
        pattern: &Pattern,
        period: Option<Duration>,
    ) -> Option<Self> {
        let has_rate = matches!(pattern, Pattern::Conjunction(_));
        let period = period.filter(|_| config.release_guard && !has_rate);
        period.map(Self::new)
    }

    /// The time until which a release has to wait; `None` if it need not wait.
    pub(crate) fn early(&self, now: Duration) -> Option<Duration> {
        let next = Duration::from_nanos(self.next.load(Ordering::Relaxed));
        (now < next).then_some(next)
    }

    /// Records a release: at its time, or earlier at an idle instant.
    pub(crate) fn released(&self, now: Duration) {
        let next = now.saturating_add(self.period).as_nanos();
        let next = u64::try_from(next).unwrap_or(u64::MAX);
        self.next.store(next, Ordering::Relaxed);
    }
}
