// SPDX-License-Identifier: MIT OR Apache-2.0
//! Consumers with subscriptions that wait: for several events, or for a time.

use std::slice;
use std::sync::Arc;
use std::time::{Duration, Instant};

use orbium_event::rtec::rtec_event_comm::Event;
use orbium_event::{Filter, Pattern, TimerSchedule, timer_event};
use tokio::task::spawn_blocking;
use tokio::time::{interval, sleep_until};

use super::{End, Follower, RETRY_PAUSES};
use crate::delivery::Delivery;
use crate::delivery::collected::{Collected, Sequenced};
use crate::delivery::delivery_outcome::{Outcome, backoff};
use crate::delivery::recipient::marked;
use crate::stream::set::{Incoming, Received};

/// Pushes events as one set. It may block for as long as a push to a consumer may take.
pub(crate) type PushSet = dyn Fn(&[Event]) -> Outcome + Send + Sync;

impl Sequenced for Received {
    fn sequence(&self) -> u64 {
        self.sequence
    }
}

/// A subscription that waits. A set that it has completed is pushed until its consumer has returned from it; nothing is offered
/// and no timer runs out before.
pub(crate) struct Correlator {
    collected: Collected<Received>,
    schedule: TimerSchedule,
    push: Arc<PushSet>,
    /// Pushes of the set that have failed, and when it is pushed once more.
    failed: u64,
    retry: Option<Instant>,
}

/// What happens next.
enum Turn {
    Dropped,
    Arrived(Box<Received>),
    Due,
    Sign,
}

impl Correlator {
    /// The periods of its timers begin now.
    pub(crate) fn new(pattern: &Pattern, push: Arc<PushSet>) -> Self {
        Self {
            collected: Collected::new(pattern),
            schedule: TimerSchedule::new(Filter::new(pattern).timers(), Instant::now()),
            push,
            failed: 0,
            retry: None,
        }
    }

    fn is_blocked(&self) -> bool {
        self.collected.ready().is_some()
    }

    /// When a timer is due, or the set that has failed.
    fn due(&self) -> Option<Instant> {
        match self.is_blocked() {
            true => self.retry,
            false => self.schedule.next_due().map(|(_, due)| due),
        }
    }

    /// Offers the event of a message. Returns what is part of nothing to come.
    fn offer(&mut self, event: Event, received: Received) -> Vec<Received> {
        let done = self.collected.offer(Arc::new(event), received);
        self.restart_deadlines(Instant::now());
        done
    }

    /// Offers the event of a timer that is due, unless a set waits for its consumer.
    fn fire(&mut self, now: Instant) -> Vec<Received> {
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
        Delivery::mark(&mut event, 0, 1);
        let done = self.collected.offer_timer(timer, Arc::new(event));
        self.restart_deadlines(firing.phase);
        done
    }

    fn restart_deadlines(&mut self, now: Instant) {
        if self.is_blocked() {
            self.schedule.restart_deadlines(now);
        }
    }

    /// The set that is to be pushed now.
    fn next_push(&self, now: Instant) -> Option<Vec<Event>> {
        let ready = self.collected.ready()?;
        if self.retry.is_some_and(|it| it > now) {
            return None;
        }
        let events = ready.events.iter().map(|it| {
            let mut event = Event::clone(it);
            event.header.ec_send_time += self.failed;
            event
        });
        Some(events.collect())
    }

    /// Retains the set, to be pushed once more.
    fn retry(&mut self) {
        self.failed += 1;
        self.retry = Some(Instant::now() + backoff(self.failed));
    }

    /// Ends the set.
    fn take(&mut self) -> Vec<Received> {
        (self.failed, self.retry) = (0, None);
        let ready = self.collected.take_ready();
        ready.map(|it| it.messages).unwrap_or_default()
    }
}

/// Waits until then, or for ever.
async fn until(due: Option<Instant>) {
    match due {
        Some(due) => sleep_until(due.into()).await,
        None => std::future::pending().await,
    }
}

impl Follower {
    /// Offers what arrives to a subscription that waits, until the end or an error of the server's.
    pub(super) async fn correlate(
        &self,
        mut incoming: Incoming,
        (correlator, pause): (&mut Correlator, &mut Duration),
    ) -> Result<End, String> {
        let mut signs = interval(self.sign_period());
        loop {
            let turn = tokio::select! {
                // Nothing is delivered after a suspension.
                biased;
                () = self.dropped() => Turn::Dropped,
                _ = signs.tick() => Turn::Sign,
                () = until(correlator.due()) => Turn::Due,
                set = incoming.next_set(1), if !correlator.is_blocked() => {
                    *pause = RETRY_PAUSES[0];
                    match set?.pop() {
                        Some(received) => Turn::Arrived(Box::new(received)),
                        None => continue,
                    }
                }
            };
            let end = match turn {
                Turn::Dropped => Some(End::Dropped),
                Turn::Sign => {
                    give_signs(correlator.collected.messages()).await;
                    None
                }
                Turn::Due => self.turn(correlator).await,
                Turn::Arrived(received) => {
                    self.arrive(*received, correlator).await;
                    self.turn(correlator).await
                }
            };
            if let Some(end) = end {
                for received in correlator.collected.messages() {
                    received.give_back().await;
                }
                incoming.give_back().await;
                return Ok(end);
            }
        }
    }

    async fn arrive(&self, received: Received, correlator: &mut Correlator) {
        self.count(slice::from_ref(&received));
        match marked(&received) {
            Ok(event) => {
                let done = correlator.offer(event, received);
                self.settle_all(done, &Outcome::Delivered).await;
            }
            Err(why) => {
                self.stream.counts.unreadable();
                tracing::warn!(target: "orbium::event", sequence = received.sequence, %why, "a message of the stream is no event");
                self.settle_all(vec![received], &Outcome::Refused(why.to_string()))
                    .await;
            }
        }
    }

    /// Fires timers that are due and pushes what is complete. Returns why the consumer is not served any more.
    pub(super) async fn turn(&self, correlator: &mut Correlator) -> Option<End> {
        loop {
            let done = correlator.fire(Instant::now());
            self.settle_all(done, &Outcome::Delivered).await;
            let events = correlator.next_push(Instant::now())?;
            let outcome = self.push_set(correlator, events).await;
            if self.pushed(correlator, outcome).await {
                return Some(End::Gone);
            }
            if self.until.has_changed().is_err() {
                return Some(End::Dropped);
            }
        }
    }

    /// Calls the consumer on a thread that may block. The server waits for as long as that takes.
    async fn push_set(&self, correlator: &Correlator, events: Vec<Event>) -> Outcome {
        let push = Arc::clone(&correlator.push);
        let mut pushing = spawn_blocking(move || push(&events));
        let mut signs = interval(self.sign_period());
        signs.tick().await;
        loop {
            tokio::select! {
                outcome = &mut pushing => {
                    return outcome.unwrap_or_else(|error| Outcome::Failed(error.to_string()));
                }
                _ = signs.tick() => give_signs(correlator.collected.messages()).await,
            }
        }
    }

    /// Acts on the outcome of a push; whether the consumer is gone.
    async fn pushed(&self, correlator: &mut Correlator, outcome: Outcome) -> bool {
        let outcome = match outcome {
            Outcome::Failed(cause) => {
                let ready = correlator.collected.ready();
                let messages = ready.map(|it| it.messages.iter()).into_iter().flatten();
                match self
                    .settling
                    .is_dead(messages.map(Sequenced::sequence), correlator.failed + 1)
                {
                    true => Outcome::Refused(cause),
                    false => Outcome::Failed(cause),
                }
            }
            outcome => outcome,
        };
        match outcome {
            Outcome::Delivered | Outcome::Refused(_) => {
                if let Outcome::Refused(exception) = &outcome {
                    tracing::warn!(target: "orbium::event", exception, "the consumer refuses a set of events for good");
                }
                let messages = correlator.take();
                self.settle_all(messages, &outcome).await;
            }
            Outcome::Gone => return true,
            Outcome::Deferred => {
                self.stream.counts.deferred();
                correlator.retry();
            }
            Outcome::Failed(_) | Outcome::Singly => correlator.retry(),
        }
        false
    }

    async fn settle_all(&self, messages: Vec<Received>, outcome: &Outcome) {
        for received in &messages {
            self.settling.settle(received, outcome.clone()).await;
        }
    }

    pub(super) fn sign_period(&self) -> Duration {
        (self.stream.config.ack_wait / 3).max(Duration::from_millis(1))
    }
}

/// Has the server wait longer.
async fn give_signs(messages: impl Iterator<Item = &Received>) {
    for received in messages {
        received.give_sign().await;
    }
}

/// How many events a subscription retains at most.
pub(crate) fn most_open(pattern: &Pattern) -> usize {
    pattern.to_qos().dependencies.len()
}
