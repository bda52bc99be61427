// SPDX-License-Identifier: MIT OR Apache-2.0
//! A subscription that waits for several events or for a time, with its timers and the set that it has completed.

use std::sync::Arc;
use std::time::Instant;

use orbium_event::persistent::{Delivery, EventId};
use orbium_event::rtec::rtec_event_comm::Event;
use orbium_event::{Filter, Pattern, TimerSchedule, timer_event};

use crate::delivery::collected::{Collected, Ready, Sequenced};
use crate::delivery::delivery_outcome::{Outcome, backoff};
use crate::stream::set::Received;

/// Pushes events as one set. It may block for the duration of a push to a consumer.
pub(crate) type PushSet = dyn Fn(&[Event]) -> Outcome + Send + Sync;

impl Sequenced for Received {
    fn sequence(&self) -> u64 {
        self.sequence
    }
}

/// A stateful subscription. A completed set is pushed until its consumer has returned from it; no
/// event is offered and no timer fires before that.
pub(crate) struct Correlator {
    collected: Collected<Received>,
    schedule: TimerSchedule,
    push: Arc<PushSet>,
    /// Pushes of the set that have not succeeded, and when it is pushed once more.
    retries: u64,
    retry: Option<Instant>,
    /// Pushes that the consumer has failed with: not those that did not reach it.
    failures: u64,
}

impl Correlator {
    /// Starts the periods of its timers. Conjunctions collect events of so many bytes at most.
    pub(crate) fn new(pattern: &Pattern, max_bytes: usize, push: Arc<PushSet>) -> Self {
        Self {
            collected: Collected::new(pattern, max_bytes),
            schedule: TimerSchedule::new(Filter::new(pattern).timers(), Instant::now()),
            push,
            retries: 0,
            retry: None,
            failures: 0,
        }
    }

    pub(crate) fn is_blocked(&self) -> bool {
        self.collected.ready().is_some()
    }

    /// The next due time of a timer, or of the retry of a set.
    pub(crate) fn due(&self) -> Option<Instant> {
        if self.is_blocked() {
            self.retry
        } else {
            self.schedule.next_due().map(|(_, due)| due)
        }
    }

    /// Offers the event of a message. Returns the messages that are not part of a future set.
    pub(crate) fn offer(&mut self, event: Event, received: Received) -> Vec<Received> {
        let done = self.collected.offer(event.into(), received);
        self.restart_deadlines(Instant::now());
        done
    }

    /// Offers the event of a due timer, unless a set waits for its consumer.
    pub(crate) fn fire(&mut self, now: Instant) -> Vec<Received> {
        let firing = match self.schedule.next_due() {
            Some((timer, due)) if due <= now && !self.is_blocked() => {
                self.schedule.fire(timer, now).map(|it| (timer, it))
            }
            _ => None,
        };
        let Some((timer, firing)) = firing else {
            return Vec::new();
        };
        let mut event = timer_event(&firing, now);
        // It is not in the stream.
        let of_timer = Delivery {
            id: EventId { sequence: 0 },
            number: 1,
            is_replayed: false,
        };
        of_timer.write_to(&mut event);
        let done = self.collected.offer_timer(timer, event.into());
        self.restart_deadlines(firing.phase);
        done
    }

    /// Takes the messages that were discarded beyond the maximum bytes.
    pub(crate) fn take_discarded(&mut self) -> Vec<Received> {
        self.collected.take_discarded()
    }

    fn restart_deadlines(&mut self, now: Instant) {
        if self.is_blocked() {
            self.schedule.restart_deadlines(now);
        }
    }

    /// The set that is due to be pushed.
    pub(crate) fn next_push(&self, now: Instant) -> Option<Vec<Event>> {
        let ready = self.collected.ready()?;
        if self.retry.is_some_and(|it| it > now) {
            return None;
        }
        let events = ready.events.iter().map(|it| {
            let mut event = Event::clone(it);
            event.header.ec_send_time += self.retries;
            event
        });
        Some(events.collect())
    }

    /// Retains the set, to be pushed again.
    pub(crate) fn retry(&mut self) {
        self.retries += 1;
        self.retry = Some(Instant::now() + backoff(self.retries));
    }

    /// Removes the set.
    pub(crate) fn take(&mut self) -> Vec<Received> {
        (self.retries, self.retry, self.failures) = (0, None, 0);
        let ready = self.collected.take_ready();
        ready.map(|it| it.messages).unwrap_or_default()
    }

    /// The set that is to be pushed.
    pub(crate) fn ready(&self) -> Option<&Ready<Received>> {
        self.collected.ready()
    }

    /// All messages that are not acknowledged.
    pub(crate) fn messages(&self) -> impl Iterator<Item = &Received> {
        self.collected.messages()
    }

    /// The closure that pushes to the consumer.
    pub(crate) fn consumer(&self) -> Arc<PushSet> {
        Arc::clone(&self.push)
    }

    /// Counts a push of the set that is ready with which its consumer has failed, and returns how many there are.
    pub(crate) fn fail(&mut self) -> u64 {
        self.failures += 1;
        self.failures
    }
}

/// The maximum number of events that a subscription retains.
pub(crate) fn most_open(pattern: &Pattern) -> usize {
    pattern.to_qos().dependencies.len()
}
