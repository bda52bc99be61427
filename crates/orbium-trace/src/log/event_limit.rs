// SPDX-License-Identifier: MIT OR Apache-2.0
//! The rate limit of an event in the log.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Time for which repetitions of an event are suppressed.
const INTERVAL: Duration = Duration::from_secs(10);

/// The rate limit of an event that peers can cause at will: the first is logged, then at most one
/// every ten seconds, with the number of those suppressed since.
///
/// Takes no lock and allocates nothing, so that any thread may use it at any time.
///
/// ```
/// let refusals = orbium_trace::log::EventLimit::default();
/// assert_eq!(refusals.admit(), Some(0));
/// assert_eq!(refusals.admit(), None);
/// ```
#[derive(Debug)]
pub struct EventLimit {
    since: Instant,
    /// Milliseconds from `since` to the last logged event, plus 1; 0 before the first.
    logged: AtomicU64,
    suppressed: AtomicU64,
}

impl Default for EventLimit {
    fn default() -> Self {
        Self {
            since: Instant::now(),
            logged: AtomicU64::new(0),
            suppressed: AtomicU64::new(0),
        }
    }
}

impl EventLimit {
    /// Counts an event. If it is to be logged, returns the number of events suppressed
    /// since the last logged one.
    #[cold]
    pub fn admit(&self) -> Option<u64> {
        self.admit_at(self.since.elapsed())
    }

    fn admit_at(&self, now: Duration) -> Option<u64> {
        let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX - 1);
        let now = milliseconds(now) + 1;
        let logged = self.logged.load(Relaxed);
        let is_due = logged == 0 || now.saturating_sub(logged) >= milliseconds(INTERVAL);
        let logs = || {
            let exchanged = self.logged.compare_exchange(logged, now, Relaxed, Relaxed);
            exchanged.is_ok()
        };
        if !is_due || !logs() {
            self.suppressed.fetch_add(1, Relaxed);
            return None;
        }
        Some(self.suppressed.swap(0, Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_the_first_and_then_one_every_ten_seconds_with_the_number_of_the_others() {
        let limit = EventLimit::default();
        let at = |seconds| limit.admit_at(Duration::from_secs(seconds));
        assert_eq!(at(0), Some(0));
        assert_eq!((at(1), at(9)), (None, None));
        assert_eq!(at(10), Some(2));
        assert_eq!(at(11), None);
        assert_eq!(at(100), Some(1));
        assert_eq!(at(200), Some(0));
    }
}
