// SPDX-License-Identifier: MIT OR Apache-2.0
//! Events that a peer can cause as often as it likes: logged once for each cause, then
//! at most every ten seconds, with the number of those that were left out.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// How long the repetitions of an event are left out.
const INTERVAL: Duration = Duration::from_secs(10);

/// What recurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Recurring {
    ConnectionLimit,
    UnknownObject,
    NotActive,
    MessageSize,
    QueueFull,
    NoMemory,
    Expired,
    Access,
    Forward,
    Readdress,
    StaleConnection,
    LostConnection,
    CodeSets,
    FallBack,
}

impl Recurring {
    const COUNT: usize = Self::FallBack as usize + 1;

    /// The value of the field `cause`.
    pub(crate) const fn cause(self) -> &'static str {
        match self {
            Self::ConnectionLimit => "limit",
            Self::UnknownObject => "unknown_object",
            Self::NotActive => "not_active",
            Self::MessageSize => "message_size",
            Self::QueueFull => "queue_full",
            Self::NoMemory => "memory",
            Self::Expired => "deadline",
            Self::Access => "access",
            Self::Forward => "forward",
            Self::Readdress => "readdress",
            Self::StaleConnection => "stale_connection",
            Self::LostConnection => "lost_connection",
            Self::CodeSets => "code_sets",
            Self::FallBack => "fall_back",
        }
    }
}

#[derive(Debug, Default)]
struct Recurrence {
    /// Milliseconds after the beginning of the ORB, and 1; 0 for never.
    logged: AtomicU64,
    suppressed: AtomicU64,
}

/// The recurring events of an ORB.
#[derive(Debug)]
pub(crate) struct Recurrences {
    since: Instant,
    all: [Recurrence; Recurring::COUNT],
}

impl Default for Recurrences {
    fn default() -> Self {
        Self {
            since: Instant::now(),
            all: std::array::from_fn(|_| Recurrence::default()),
        }
    }
}

impl Recurrences {
    /// Whether an event that has occurred is to be logged: with the number of those that
    /// were not since the last one.
    #[cold]
    pub(crate) fn admit(&self, event: Recurring) -> Option<u64> {
        self.admit_at(event, self.since.elapsed())
    }

    fn admit_at(&self, event: Recurring, now: Duration) -> Option<u64> {
        let recurrence = &self.all[event as usize];
        let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX - 1);
        let now = milliseconds(now) + 1;
        let logged = recurrence.logged.load(Relaxed);
        let is_due = logged == 0 || now.saturating_sub(logged) >= milliseconds(INTERVAL);
        let logs = || {
            recurrence
                .logged
                .compare_exchange(logged, now, Relaxed, Relaxed)
        };
        if !is_due || logs().is_err() {
            recurrence.suppressed.fetch_add(1, Relaxed);
            return None;
        }
        Some(recurrence.suppressed.swap(0, Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_is_logged_and_then_one_every_ten_seconds_with_the_number_of_the_others() {
        let all = Recurrences::default();
        let at = |seconds| all.admit_at(Recurring::QueueFull, Duration::from_secs(seconds));
        assert_eq!(at(0), Some(0));
        assert_eq!((at(1), at(9)), (None, None));
        assert_eq!(at(10), Some(2));
        assert_eq!(at(11), None);
        assert_eq!(at(100), Some(1));
        assert_eq!(at(200), Some(0));
    }

    #[test]
    fn each_cause_recurs_by_itself() {
        let all = Recurrences::default();
        assert_eq!(all.admit_at(Recurring::Forward, Duration::ZERO), Some(0));
        assert_eq!(all.admit_at(Recurring::Readdress, Duration::ZERO), Some(0));
        assert_eq!(all.admit_at(Recurring::Forward, Duration::ZERO), None);
    }
}
