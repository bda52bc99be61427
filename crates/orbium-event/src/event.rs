// SPDX-License-Identifier: MIT OR Apache-2.0
//! Events, and the reserved numbers of their headers.

mod shared;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::rtec::rtec_event_comm::{Event, EventHeader};

pub use shared::{SharedEvent, memory_size};

/// A type or source that matches every other one.
pub const ANY: i32 = 0;
/// The type of events of a one-shot timeout.
pub const TIMEOUT: i32 = 4;
/// The type of events of an interval timeout.
pub const INTERVAL_TIMEOUT: i32 = 5;
/// The type of events of a deadline timeout.
pub const DEADLINE_TIMEOUT: i32 = 6;
/// The first type that applications may use.
pub const FIRST_APPLICATION_TYPE: i32 = 16;

pub(crate) const GLOBAL: i32 = 7;
pub(crate) const CONJUNCTION: i32 = 8;
pub(crate) const DISJUNCTION: i32 = 9;
pub(crate) const NEGATION: i32 = 10;
pub(crate) const LOGICAL_AND: i32 = 11;
pub(crate) const BITMASK: i32 = 12;
pub(crate) const MASKED_TYPE: i32 = 13;
pub(crate) const NULL: i32 = 14;

/// From the beginning of `TimeT`, 15 October 1582, to that of Unix time, in units of 100 ns.
const UNIX_EPOCH_IN_TIME_T: u64 = 0x01B2_1DD2_1381_4000;

/// An event of an application, without payload.
///
/// `ttl` is 1: one gateway may forward it. The creation time is now; no two events of a process
/// have the same one, as persistent channels detect duplicates by it: events that are created
/// within 100 ns, or after the clock has been set back by up to two minutes, get times in sequence.
///
/// ```
/// let mut event = orbium_event::new_event(16, 1);
/// event.data.payload = b"21.5".to_vec();
/// assert_eq!((event.header.r#type, event.header.source), (16, 1));
/// ```
#[must_use]
pub fn new_event(r#type: i32, source: i32) -> Event {
    Event {
        header: EventHeader {
            r#type,
            source,
            ttl: 1,
            creation_time: creation_time(),
            ..EventHeader::default()
        },
        ..Event::default()
    }
}

/// The default duplicate window of a stream: times that repeat later are not duplicates.
const MAX_STEP: u64 = 120 * 10_000_000;

/// The creation time of an event that is created now.
fn creation_time() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let now = time_t(SystemTime::now());
    let mut last = LAST.load(Ordering::Relaxed);
    loop {
        let next = later(last, now);
        match LAST.compare_exchange_weak(last, next, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => return next,
            Err(other) => last = other,
        }
    }
}

/// The creation time of an event after that of the previous one.
fn later(last: u64, now: u64) -> u64 {
    if now > last || last - now > MAX_STEP {
        now
    } else {
        last + 1
    }
}

/// A point of time in units of 100 ns since 15 October 1582 (`TimeBase::TimeT`).
///
/// ```
/// use std::time::UNIX_EPOCH;
/// assert_eq!(orbium_event::time_t(UNIX_EPOCH), 0x01B2_1DD2_1381_4000);
/// ```
#[must_use]
pub fn time_t(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    UNIX_EPOCH_IN_TIME_T.saturating_add(to_time_t(since))
}

/// The point of time that [`time_t`] expresses; the beginning of Unix time for earlier ones.
pub(crate) fn system_time(time: u64) -> SystemTime {
    let units = time.saturating_sub(UNIX_EPOCH_IN_TIME_T);
    let since = Duration::from_secs(units / 10_000_000);
    let rest = Duration::from_nanos(units % 10_000_000 * 100);
    // A time beyond the range of the system's clock is never reached.
    let time = UNIX_EPOCH.checked_add(since + rest);
    time.unwrap_or(UNIX_EPOCH)
}

/// A duration in units of 100 ns.
pub(crate) fn to_time_t(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos() / 100).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_of_the_clock_makes_no_event_the_twin_of_another_one() {
        let second = 10_000_000;
        let last = time_t(UNIX_EPOCH) + 3_600 * second;
        assert_eq!(later(last, last + 1), last + 1);
        // Within one unit, and back by less than streams remember.
        assert_eq!(later(last, last), last + 1);
        assert_eq!(later(last, last - second), last + 1);
        assert_eq!(later(last, last - 120 * second), last + 1);
        // Back by more: streams have forgotten the events with these times.
        assert_eq!(later(last, last - 121 * second), last - 121 * second);
        assert_eq!(later(0, last), last);
    }

    #[test]
    fn times_survive_the_wire() {
        let time = UNIX_EPOCH + Duration::from_millis(1_800_000_000_123);
        assert_eq!(system_time(time_t(time)), time);
        assert_eq!(system_time(0), UNIX_EPOCH);
        assert!(system_time(u64::MAX) > time);
    }

    #[test]
    fn events_that_are_made_at_once_have_times_of_their_own() {
        let mut times: Vec<_> = (0..10_000)
            .map(|_| new_event(16, 1).header.creation_time)
            .collect();
        times.sort_unstable();
        times.dedup();
        assert_eq!(times.len(), 10_000);
    }
}
