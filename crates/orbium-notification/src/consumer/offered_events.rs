// SPDX-License-Identifier: MIT OR Apache-2.0
//! Events of a journal that wait for a pull consumer, and those that it has pulled and not
//! acknowledged.
//!
//! A sent reply does not prove its receipt. So a pull acknowledges the events that earlier pulls
//! over the same connection returned: the consumer has called again. If that connection has ended,
//! the journal delivers the events again.

use std::collections::VecDeque;
use std::mem;
use std::time::{Duration, Instant};

use orbium::lock::{Condvar, Mutex};
use orbium::{ExceptionKind, SystemException, protocol::ConnectionWatch};
use orbium_event::PullError;

use super::consumer_counts::Counts;
use crate::event::Event;
use crate::journal::{Delivered, Report};

/// Interval at which a waiting pull checks whether its connection, or another one with events, has
/// ended.
const WATCH_PERIOD: Duration = Duration::from_millis(250);

/// The connection of a pull; `None` within the process.
pub(crate) type Connection = Option<ConnectionWatch>;

/// The events of a pull consumer.
#[derive(Default)]
pub(crate) struct OfferedEvents {
    state: Mutex<State>,
    arrived: Condvar,
}

/// The events taken by a pull.
pub(crate) struct Pulled {
    pub(crate) events: Vec<Event>,
    /// The number of events that expired before.
    pub(crate) dropped: u64,
}

#[derive(Default)]
struct State {
    /// In the order of the journal.
    waiting: VecDeque<Waiting>,
    taken: Vec<Taken>,
    /// Since the last pull that has returned events.
    dropped: u64,
    counts: Counts,
    has_ended: bool,
}

/// A waiting event of a journal.
pub(crate) struct Waiting {
    pub(crate) event: Event,
    pub(crate) place: u64,
    pub(crate) is_repeated: bool,
    pub(crate) report: Report,
}

/// The events returned by a pull.
struct Taken {
    by: Connection,
    reports: Vec<Report>,
}

impl Taken {
    /// Reports a failure of the consumer: if there are several events, which one failed is unknown.
    fn fail(self, one: Delivered) {
        let outcome = match self.reports.len() {
            1 => one,
            _ => Delivered::Singly,
        };
        for report in self.reports {
            report(outcome);
        }
    }
}

impl OfferedEvents {
    /// Queues an event for the next pull.
    pub(crate) fn offer(&self, event: Waiting) {
        let mut state = self.state.lock();
        let index = state.waiting.partition_point(|it| it.place < event.place);
        state.waiting.insert(index, event);
        drop(state);
        // Some pulls may be those of connections that have ended.
        self.arrived.notify_all();
    }

    /// Acknowledges the events that this connection has received, and takes up to `most` events;
    /// waits for the first one until the deadline. A caller that does not exist any more gets none.
    pub(crate) fn pull(
        &self,
        (by, is_there): (&Connection, impl Fn() -> bool),
        most: usize,
        until: Instant,
    ) -> Result<Pulled, PullError> {
        let mut state = self.state.lock();
        state.acknowledge(by);
        loop {
            state.give_up_ended();
            if state.has_ended {
                return Err(PullError::Disconnected);
            }
            let now = Instant::now();
            if !is_there() {
                return Err(PullError::TimedOut);
            }
            if let Some(pulled) = state.take(by, most, now) {
                return Ok(pulled);
            }
            let left = until.saturating_duration_since(now);
            if left.is_zero() {
                return Err(PullError::TimedOut);
            }
            // A connection ends without notification: this one, or another one with events.
            let pause = left.min(WATCH_PERIOD);
            (state, _) = self.arrived.wait_timeout(state, pause);
        }
    }

    /// Reports that the events of this connection's last pull cannot be returned.
    pub(crate) fn refuse_last(&self, by: &Connection, exception: SystemException) {
        let mut state = self.state.lock();
        let last = state.taken.iter().rposition(|it| it.by == *by);
        if let Some(taken) = last.map(|it| state.taken.remove(it)) {
            taken.fail(Delivered::Refused(exception));
        }
    }

    /// Ends the connection of the consumer.
    pub(crate) fn end(&self) {
        self.state.lock().has_ended = true;
        self.arrived.notify_all();
    }

    /// The counts of its events, and the number of waiting ones.
    pub(crate) fn counts(&self) -> (Counts, usize) {
        let state = self.state.lock();
        (state.counts, state.waiting.len())
    }
}

impl State {
    /// Acknowledges the events that earlier pulls over this connection have returned.
    fn acknowledge(&mut self, by: &Connection) {
        for taken in self.taken.extract_if(.., |it| it.by == *by) {
            self.counts.delivered += taken.reports.len() as u64;
            for report in taken.reports {
                report(Delivered::Accepted);
            }
        }
    }

    /// Reports the events of ended connections as failed, to be delivered again.
    fn give_up_ended(&mut self) {
        let has_ended = |it: &mut Taken| it.by.as_ref().is_some_and(|by| !by.is_open());
        for taken in self.taken.extract_if(.., has_ended) {
            taken.fail(Delivered::Failed(ExceptionKind::CommFailure.into()));
        }
    }

    fn take(&mut self, by: &Connection, most: usize, now: Instant) -> Option<Pulled> {
        let (mut events, mut reports) = (Vec::new(), Vec::new());
        while events.len() < most {
            // A redelivered event is pulled alone.
            if !events.is_empty() && self.waiting.front().is_some_and(|it| it.is_repeated) {
                break;
            }
            let Some(next) = self.waiting.pop_front() else {
                break;
            };
            if next.event.expires.is_some_and(|it| it <= now) {
                self.dropped += 1;
                self.counts.expired += 1;
                (next.report)(Delivered::Accepted);
                continue;
            }
            events.push(next.event);
            reports.push(next.report);
            if next.is_repeated {
                break;
            }
        }
        if events.is_empty() {
            return None;
        }
        let by = by.clone();
        self.taken.push(Taken { by, reports });
        let dropped = mem::take(&mut self.dropped);
        Some(Pulled { events, dropped })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use orbium_testkit::within;

    use super::*;

    /// Regression: it waited for an event as long as a pull may, and a shutdown of the ORB with it.
    #[test]
    fn a_pull_that_waits_ends_with_its_caller() {
        let events = OfferedEvents::default();
        let looks = AtomicU32::new(0);
        let is_there = move || looks.fetch_add(1, Ordering::Relaxed) < 2;
        let until = Instant::now() + Duration::from_secs(3600);
        let ended = within("the pull", move || {
            events.pull((&None, is_there), 1, until).err()
        });
        assert!(matches!(ended, Some(PullError::TimedOut)), "{ended:?}");
    }
}
