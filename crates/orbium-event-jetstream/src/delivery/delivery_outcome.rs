// SPDX-License-Identifier: MIT OR Apache-2.0
//! Outcome of a delivery, and what follows from it: an acknowledgement, another delivery, or a dead letter.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_nats::jetstream::AckKind;

use crate::delivery::dead_letters::DeadLetter;
use crate::delivery::failures::Failures;
use crate::stream::Stream;
use crate::stream::set::Received;

/// The delay of the next delivery of an event, by the number of previous deliveries.
const BACKOFF: [Duration; 3] = [
    Duration::from_millis(100),
    Duration::from_secs(1),
    Duration::from_secs(5),
];

/// Counts of a consumer.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// Pending events for it at the server.
    pub(crate) pending: AtomicU64,
    /// Deliveries beyond the first of an event.
    pub(crate) redelivered: AtomicU64,
    /// Events that are not delivered any more, without the consumer's acceptance.
    pub(crate) discarded: AtomicU64,
}

/// Outcome of a delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The consumer has received it, or does not subscribe to it.
    Delivered,
    /// The consumer has not received it: it is to be delivered later, without a limit.
    Deferred,
    /// The consumer has failed with it, for this reason; it is to be delivered again.
    Failed(String),
    /// The consumer has failed with it or another event of its set: it is to be delivered again,
    /// alone.
    Singly,
    /// No further delivery can succeed, for this reason.
    Refused(String),
    /// As `Deferred`; and this consumer does not exist any more, its events wait for the next of
    /// its name.
    Gone,
}

impl Outcome {
    /// Whether the next push is likely to fail as a whole, too.
    pub(crate) fn is_of_set(&self) -> bool {
        matches!(self, Self::Deferred | Self::Singly | Self::Gone)
    }
}

/// Reports the outcomes of the deliveries to one consumer to the server.
pub(crate) struct Settling {
    stream: Arc<Stream>,
    progress: Arc<Progress>,
    failures: Arc<Failures>,
}

impl Settling {
    pub(crate) fn new(stream: &Arc<Stream>, name: Option<&str>, progress: &Arc<Progress>) -> Self {
        Self {
            stream: Arc::clone(stream),
            progress: Arc::clone(progress),
            failures: match name {
                Some(name) => stream.failures.of(name),
                None => Arc::default(),
            },
        }
    }

    /// Acknowledges an event, or requests its redelivery.
    pub(crate) async fn settle(&self, received: &Received, outcome: Outcome) -> Outcome {
        let outcome = self.store_if_dead(outcome, received).await;
        let later = || AckKind::Nak(Some(backoff(received.delivery)));
        let acknowledgement = match outcome {
            Outcome::Delivered => AckKind::Ack,
            Outcome::Refused(_) => {
                self.progress.discarded.fetch_add(1, Ordering::Relaxed);
                AckKind::Term
            }
            Outcome::Deferred => {
                self.stream.counts.deferred();
                later()
            }
            Outcome::Singly | Outcome::Failed(_) | Outcome::Gone => later(),
        };
        // A lost acknowledgement leads to another delivery.
        if let Err(error) = received.message.ack_with(acknowledgement).await {
            tracing::debug!(target: "orbium::event", %error, "not acknowledged");
        }
        outcome
    }

    /// Counts a failure of a set, which has so many with this one; whether its events are dead letters from now on.
    pub(crate) fn is_dead(&self, sequences: impl Iterator<Item = u64>, of_set: u64) -> bool {
        let config = &self.stream.config;
        let Some(letters) = &config.dead_letters else {
            return false;
        };
        let most = config.window.max(1);
        let failures = sequences.map(|it| self.failures.add(it, most)).max();
        failures.unwrap_or_default().max(of_set) >= letters.max_deliveries
    }

    /// Stores an event as a dead letter, if this outcome makes it one and there is a stream for it.
    /// Returns the outcome to report to the server: without an acknowledgement of that stream the
    /// event is delivered again.
    async fn store_if_dead(&self, outcome: Outcome, received: &Received) -> Outcome {
        let config = &self.stream.config;
        let Some(letters) = &config.dead_letters else {
            return outcome;
        };
        let sequence = received.sequence;
        let cause = match outcome {
            Outcome::Refused(cause) => cause,
            Outcome::Failed(cause) => {
                let failures = self.failures.add(sequence, config.window.max(1));
                if failures < letters.max_deliveries {
                    return Outcome::Failed(cause);
                }
                cause
            }
            Outcome::Delivered => {
                self.failures.end(sequence);
                return outcome;
            }
            Outcome::Singly | Outcome::Deferred | Outcome::Gone => return outcome,
        };
        let info = match received.message.info() {
            Ok(info) => info,
            Err(error) => return Outcome::Failed(error.to_string()),
        };
        let consumer = info.consumer;
        let letter = DeadLetter {
            message: &received.message,
            info: &info,
            cause: &cause,
        };
        match letter.store(&self.stream, &letters.stream).await {
            Ok(()) => {
                self.failures.end(sequence);
                self.stream.counts.dead_letter();
                tracing::warn!(target: "orbium::event", consumer, sequence, %cause, "an event is a dead letter");
                Outcome::Refused(cause)
            }
            Err(why) => {
                tracing::warn!(target: "orbium::event", consumer, sequence, %cause, %why, "a dead letter was not stored");
                Outcome::Failed(why)
            }
        }
    }
}

/// The delay of an event or a set after so many deliveries.
pub(crate) fn backoff(deliveries: u64) -> Duration {
    let index = usize::try_from(deliveries.saturating_sub(1)).unwrap_or(usize::MAX);
    BACKOFF[index.min(BACKOFF.len() - 1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_that_fails_again_waits_longer_up_to_a_bound() {
        let pauses = [0, 1, 2, 3, u64::MAX].map(backoff).map(|it| it.as_millis());
        assert_eq!(pauses, [100, 100, 1000, 5000, 5000]);
    }
}
