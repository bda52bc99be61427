// SPDX-License-Identifier: MIT OR Apache-2.0
//! The timers of one subscription with their due times. Without a clock.

use std::time::{Duration, Instant, SystemTime};

use crate::event::time_t;
use crate::rtec::rtec_event_comm::{Event, EventHeader};
use crate::subscription::timer::{Timer, TimerKind};

/// The due times of a subscription's timers. For channels of this crate and others.
///
/// ```
/// use orbium_event::{Filter, Pattern, TimerSchedule};
/// use std::time::{Duration, Instant};
///
/// let filter = Filter::new(&Pattern::Interval(Duration::from_millis(50)));
/// let begin = Instant::now();
/// let mut schedule = TimerSchedule::new(filter.timers(), begin);
/// let (timer, due) = schedule.next_due().expect("an interval is always due once more");
/// assert_eq!((timer, due), (0, begin + Duration::from_millis(50)));
/// assert_eq!(schedule.fire(timer, due).expect("it is due").missed, 0);
/// ```
#[derive(Debug)]
pub struct TimerSchedule(Vec<(Timer, Option<Instant>)>);

/// An event of a timer that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Firing {
    /// The kind of the timer.
    pub kind: TimerKind,
    /// Its due time.
    pub due: Instant,
    /// The end of the last complete period.
    pub phase: Instant,
    /// The number of missed periods before that, each of which had an event.
    pub missed: u32,
}

impl TimerSchedule {
    /// Starts the periods of all timers.
    #[must_use]
    pub fn new(timers: &[Timer], now: Instant) -> Self {
        let timers = timers.iter();
        Self(timers.map(|it| (*it, now.checked_add(it.period))).collect())
    }

    /// The next due time of a timer, if it has one.
    pub(crate) fn due(&self, timer: usize) -> Option<Instant> {
        self.0.get(timer)?.1
    }

    /// The numbers of the timers with their due times.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, Instant)> {
        let timers = self.0.iter().enumerate();
        timers.filter_map(|(number, (_, due))| Some((number, (*due)?)))
    }

    /// The timer with the earliest due time, and that time.
    #[must_use]
    pub fn next_due(&self) -> Option<(usize, Instant)> {
        self.iter().min_by_key(|(_, due)| *due)
    }

    /// Restarts the periods of deadlines after a delivery.
    pub fn restart_deadlines(&mut self, now: Instant) {
        for (timer, due) in &mut self.0 {
            if timer.kind == TimerKind::Deadline {
                *due = now.checked_add(timer.period);
            }
        }
    }

    /// Takes the event of a due timer; the next one keeps the phase.
    pub fn fire(&mut self, timer: usize, now: Instant) -> Option<Firing> {
        let (timer, next) = self.0.get_mut(timer)?;
        let due = next.filter(|due| *due <= now)?;
        let late = now.duration_since(due).as_nanos() / timer.period.as_nanos().max(1);
        let missed = u32::try_from(late).unwrap_or(u32::MAX);
        *next = match timer.kind {
            TimerKind::OneShot => None,
            TimerKind::Interval | TimerKind::Deadline => after(due, timer.period, missed),
        };
        Some(Firing {
            kind: timer.kind,
            due,
            phase: timer
                .period
                .checked_mul(missed)
                .and_then(|late| due.checked_add(late))
                .unwrap_or(now),
            missed,
        })
    }
}

fn after(due: Instant, period: Duration, missed: u32) -> Option<Instant> {
    due.checked_add(period.checked_mul(missed.checked_add(1)?)?)
}

/// The event of a timer: its due time is the time of creation, the number of missed periods the `pad1` of its data.
#[must_use]
pub fn timer_event(firing: &Firing, now: Instant) -> Event {
    let (time, late) = (SystemTime::now(), now.duration_since(firing.due));
    let header = EventHeader {
        r#type: firing.kind.event_type(),
        creation_time: time_t(time - late),
        ec_recv_time: time_t(time),
        ec_send_time: time_t(time),
        ..EventHeader::default()
    };
    let mut event = Event {
        header,
        ..Event::default()
    };
    event.data.pad1 = i32::try_from(firing.missed).unwrap_or(i32::MAX);
    event
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn schedule(kind: TimerKind) -> (TimerSchedule, Instant) {
        let (period, now) = (50 * MS, Instant::now());
        (TimerSchedule::new(&[Timer { kind, period }], now), now)
    }

    #[test]
    fn an_interval_keeps_its_phase() {
        let (mut schedule, start) = schedule(TimerKind::Interval);
        assert_eq!(schedule.fire(0, start + 49 * MS), None);
        let fired = schedule.fire(0, start + 51 * MS).unwrap();
        assert_eq!((fired.due, fired.missed), (start + 50 * MS, 0));
        let late = schedule.fire(0, start + 230 * MS).unwrap();
        assert_eq!((late.due, late.missed), (start + 100 * MS, 2));
        assert_eq!(schedule.due(0), Some(start + 250 * MS));
    }

    #[test]
    fn a_one_shot_timer_fires_once() {
        let (mut schedule, start) = schedule(TimerKind::OneShot);
        assert!(schedule.fire(0, start + 50 * MS).is_some());
        assert_eq!(schedule.due(0), None);
        assert_eq!(schedule.fire(0, start + 500 * MS), None);
    }

    #[test]
    fn a_deadline_is_put_off_by_deliveries() {
        let (mut schedule, start) = schedule(TimerKind::Deadline);
        schedule.restart_deadlines(start + 30 * MS);
        assert_eq!(schedule.fire(0, start + 60 * MS), None);
        assert!(schedule.fire(0, start + 80 * MS).is_some());
        assert_eq!(schedule.due(0), Some(start + 130 * MS));
    }

    #[test]
    fn timers_that_do_not_exist_never_fire() {
        let (mut schedule, start) = schedule(TimerKind::Deadline);
        assert_eq!(schedule.fire(7, start + 500 * MS), None);
    }
}
