// SPDX-License-Identifier: MIT OR Apache-2.0
//! Consumers with stateful subscriptions: they wait for several events, or for a time.

use std::slice;
use std::time::{Duration, Instant};

use orbium_event::rtec::rtec_event_comm::Event;
use tokio::task::spawn_blocking;
use tokio::time::{interval, sleep_until};

use super::{End, Follower, RETRY_PAUSES, extend_ack_waits};
use crate::delivery::collected::Sequenced;
use crate::delivery::delivery_outcome::Outcome;
use crate::delivery::recipient::marked;
use crate::stream::correlator::Correlator;
use crate::stream::set::{Incoming, Received};

/// The next step of the loop.
enum Turn {
    Dropped,
    Arrived(Box<Received>),
    Due,
    Sign,
}

/// Waits until then, or forever.
async fn until(due: Option<Instant>) {
    match due {
        Some(due) => sleep_until(due.into()).await,
        None => std::future::pending().await,
    }
}

impl Follower {
    /// Offers arriving events to a stateful subscription, until the end or an error of the server.
    pub(super) async fn correlate(
        &self,
        incoming: &mut Incoming,
        (correlator, pause): (&mut Correlator, &mut Duration),
    ) -> Result<End, String> {
        let mut signs = interval(self.sign_period());
        loop {
            let turn = tokio::select! {
                // No event is delivered after a suspension.
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
                    extend_ack_waits(correlator.messages()).await;
                    None
                }
                Turn::Due => self.turn(correlator).await,
                Turn::Arrived(received) => {
                    self.arrive(*received, correlator).await;
                    self.turn(correlator).await
                }
            };
            if let Some(end) = end {
                return Ok(end);
            }
        }
    }

    async fn arrive(&self, received: Received, correlator: &mut Correlator) {
        self.count(slice::from_ref(&received));
        self.replayed.deliver(received.sequence);
        match marked(&received) {
            Ok(event) => {
                let done = correlator.offer(event, received);
                self.settle_offered(done, correlator).await;
            }
            Err(why) => {
                self.stream.counts.unreadable();
                tracing::warn!(target: "orbium::event", sequence = received.sequence, %why, "a message of the stream is no event");
                self.settle_all(vec![received], &Outcome::Refused(why.to_string()))
                    .await;
            }
        }
    }

    /// Fires due timers and pushes completed sets. Returns the reason why the consumer is not
    /// served any more.
    pub(super) async fn turn(&self, correlator: &mut Correlator) -> Option<End> {
        loop {
            let done = correlator.fire(Instant::now());
            self.settle_offered(done, correlator).await;
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

    async fn push_set(&self, correlator: &Correlator, events: Vec<Event>) -> Outcome {
        let push = correlator.consumer();
        let pushing = spawn_blocking(move || push(&events));
        let pushed = self.called(pushing, || correlator.messages()).await;
        pushed.unwrap_or_else(|error| Outcome::Failed(error.to_string()))
    }

    /// Acts on the outcome of a push; returns whether the consumer does not exist any more.
    async fn pushed(&self, correlator: &mut Correlator, outcome: Outcome) -> bool {
        let outcome = match outcome {
            Outcome::Failed(cause) => {
                let failures = correlator.fail();
                let ready = correlator.ready();
                let messages = ready.map(|it| it.messages.iter()).into_iter().flatten();
                if self
                    .settling
                    .is_dead(messages.map(Sequenced::sequence), failures)
                {
                    Outcome::Refused(cause)
                } else {
                    Outcome::Failed(cause)
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

    /// Settles messages that are not part of a future set, and those that were discarded.
    async fn settle_offered(&self, done: Vec<Received>, correlator: &mut Correlator) {
        self.settle_all(done, &Outcome::Delivered).await;
        let discarded = correlator.take_discarded();
        if !discarded.is_empty() {
            let bytes = self.stream.config.conjunction_bytes;
            let why = format!("the events of a conjunction have more than {bytes} bytes");
            tracing::warn!(target: "orbium::event", events = discarded.len(), "discarded: {why}");
            self.settle_all(discarded, &Outcome::Refused(why)).await;
        }
    }

    async fn settle_all(&self, messages: Vec<Received>, outcome: &Outcome) {
        for received in &messages {
            self.settling.settle(received, outcome.clone()).await;
        }
    }
}
