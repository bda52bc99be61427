// SPDX-License-Identifier: MIT OR Apache-2.0
//! Events of a journal that wait for a consumer which pulls, and those that it has got and not acknowledged.
//!
//! That a reply was sent does not say that the consumer has it. So a pull acknowledges what earlier pulls over the same connection
//! returned: the consumer has come back for more. Where that connection has ended, the journal delivers the events once more.

use std::collections::VecDeque;
use std::mem;
use std::time::{Duration, Instant};

use orbium::lock::{Condvar, Mutex};
use orbium::{ExceptionKind, SystemException, protocol::ConnectionWatch};
use orbium_event::PullError;

use super::consumer_counts::Counts;
use crate::event::Event;
use crate::journal::{Delivered, Report};

/// Between two looks of a pull that waits whether its connection, or another one that has events, has ended.
const WATCH_PERIOD: Duration = Duration::from_millis(250);

/// The connection of a pull; none within the process.
pub(crate) type Connection = Option<ConnectionWatch>;

/// The events of a consumer that pulls.
#[derive(Default)]
pub(crate) struct OfferedEvents {
    state: Mutex<State>,
    arrived: Condvar,
}

/// What a pull has taken.
pub(crate) struct Pulled {
    pub(crate) events: Vec<Event>,
    /// Events that expired before.
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

/// An event of a journal that waits.
pub(crate) struct Waiting {
    pub(crate) event: Event,
    pub(crate) place: u64,
    pub(crate) is_repeated: bool,
    pub(crate) report: Report,
}

/// What a pull has returned.
struct Taken {
    by: Connection,
    reports: Vec<Report>,
}

impl Taken {
    /// The consumer has failed with them: with which of several is not known.
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
    /// An event waits for the next pull.
    pub(crate) fn offer(&self, event: Waiting) {
        let mut state = self.state.lock();
        let index = state.waiting.partition_point(|it| it.place < event.place);
        state.waiting.insert(index, event);
        drop(state);
        // Some pulls may be those of connections that have ended.
        self.arrived.notify_all();
    }

    /// Acknowledges what this connection has got, and takes up to so many events; waits for the first until then. A caller that is not
    /// there any more gets none.
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
            // A connection ends without notice: this one, or another that has events.
            let pause = left.min(WATCH_PERIOD);
            (state, _) = self.arrived.wait_timeout(state, pause);
        }
    }

    /// What the last pull of this connection has taken cannot be returned.
    pub(crate) fn refuse_last(&self, by: &Connection, exception: SystemException) {
        let mut state = self.state.lock();
        let last = state.taken.iter().rposition(|it| it.by == *by);
        if let Some(taken) = last.map(|it| state.taken.remove(it)) {
            taken.fail(Delivered::Refused(exception));
        }
    }

    /// The connection of the consumer has ended.
    pub(crate) fn end(&self) {
        self.state.lock().has_ended = true;
        self.arrived.notify_all();
    }

    /// What has become of its events, and how many wait.
    pub(crate) fn counts(&self) -> (Counts, usize) {
        let state = self.state.lock();
        (state.counts, state.waiting.len())
    }
}

impl State {
    /// The consumer has what earlier pulls over this connection have returned.
    fn acknowledge(&mut self, by: &Connection) {
        for taken in self.taken.extract_if(.., |it| it.by == *by) {
            self.counts.delivered += taken.reports.len() as u64;
            for report in taken.reports {
                report(Delivered::Accepted);
            }
        }
    }

    /// What went over connections that have ended is delivered once more.
    fn give_up_ended(&mut self) {
        let has_ended = |it: &mut Taken| it.by.as_ref().is_some_and(|by| !by.is_open());
        for taken in self.taken.extract_if(.., has_ended) {
            taken.fail(Delivered::Failed(ExceptionKind::CommFailure.into()));
        }
    }

    fn take(&mut self, by: &Connection, most: usize, now: Instant) -> Option<Pulled> {
        let (mut events, mut reports) = (Vec::new(), Vec::new());
        while events.len() < most {
            // One that a delivery has failed with is pulled by itself.
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

    /// It waited for an event as long as a pull may, and a shutdown of the ORB with it.
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
