// SPDX-License-Identifier: MIT OR Apache-2.0
//! A consumer of the channel: it gets what its subscription passes, and answers each push.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use orbium::{Interface, SyncScope, SystemException};
use orbium_event::rtec::rtec_event_comm::{Event, PushConsumer};
use orbium_event::{DeliveryError, Filter, Pattern, SharedEvent, delivery_failure};

use crate::delivery::Delivery;
use crate::follow::{Outcome, Received};
use crate::message::event_of;
use crate::shared::Shared;

/// Failures in a row after which a consumer without a name is disconnected.
const MAX_FAILURES: u64 = 3;

/// Pushes the events of the stream to a consumer.
pub(crate) struct Recipient {
    shared: Arc<Shared>,
    is_named: bool,
    consumer: PushConsumer,
    filter: Mutex<Filter>,
    pub(crate) delivered: AtomicU64,
    pub(crate) failed: AtomicU64,
    failures_in_a_row: AtomicU64,
}

impl Recipient {
    pub(crate) fn new(
        shared: &Arc<Shared>,
        is_named: bool,
        consumer: &PushConsumer,
        pattern: &Pattern,
    ) -> Self {
        let timeout = shared.stream.config.push_timeout;
        Self {
            shared: Arc::clone(shared),
            is_named,
            // A push returns when the consumer has returned from it, and raises what that raises.
            consumer: consumer
                .with_timeout(timeout)
                .with_sync_scope(SyncScope::WithTarget),
            filter: Mutex::new(Filter::new(pattern)),
            delivered: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            failures_in_a_row: AtomicU64::new(0),
        }
    }

    /// Pushes an event, if the subscription passes it.
    pub(crate) fn receive(&self, received: &Received) -> Outcome {
        let mut event: Event = match event_of(received.headers.as_ref(), &received.payload) {
            Ok(event) => event,
            Err(why) => {
                self.shared.stream.counts.unreadable();
                tracing::warn!(target: "orbium::event", sequence = received.sequence, %why, "a message of the stream is no event");
                return Outcome::Refused(why.to_string());
            }
        };
        Delivery::mark(&mut event, received.sequence, received.delivery);
        match self.passes(event) {
            Some(set) => self.push(&set, received.sequence),
            None => Outcome::Delivered,
        }
    }

    /// Whether the last push has failed.
    pub(crate) fn is_suspect(&self) -> bool {
        self.failures_in_a_row.load(Ordering::Relaxed) > 0
    }

    fn passes(&self, event: Event) -> Option<Vec<Event>> {
        let mut passed: Vec<SharedEvent> = Vec::new();
        let mut filter = self.filter.lock().unwrap_or_else(PoisonError::into_inner);
        let is_passed = filter.offer(&[Arc::new(event)], None, &mut passed);
        drop(filter);
        is_passed.then(|| passed.into_iter().map(Arc::unwrap_or_clone).collect())
    }

    fn push(&self, set: &[Event], sequence: u64) -> Outcome {
        match self.consumer.push(set) {
            Ok(()) => {
                self.delivered.fetch_add(1, Ordering::Relaxed);
                self.failures_in_a_row.store(0, Ordering::Relaxed);
                Outcome::Delivered
            }
            Err(exception) => {
                self.failed.fetch_add(1, Ordering::Relaxed);
                let outcome = self.failure(&exception);
                if let Outcome::Refused(_) = outcome {
                    tracing::warn!(target: "orbium::event", sequence, %exception, "the consumer refuses an event for good");
                }
                outcome
            }
        }
    }

    fn failure(&self, exception: &SystemException) -> Outcome {
        let before = self.failures_in_a_row.fetch_add(1, Ordering::Relaxed);
        match delivery_failure(exception) {
            DeliveryError::Gone => Outcome::Gone,
            DeliveryError::Refused => Outcome::Refused(exception.to_string()),
            _ if !self.is_named && before + 1 >= MAX_FAILURES => Outcome::Gone,
            DeliveryError::Unreachable => Outcome::Deferred,
            DeliveryError::Failed => Outcome::Failed(exception.to_string()),
        }
    }
}

/// Whether each event is passed or not by itself. What waits for several events, or for a time, would
/// have to be stored too.
pub(crate) fn is_stateless(pattern: &Pattern) -> bool {
    match pattern {
        Pattern::Leaf { .. } | Pattern::MaskedType { .. } | Pattern::Null => true,
        Pattern::Disjunction(children) | Pattern::LogicalAnd(children) => {
            children.iter().all(is_stateless)
        }
        Pattern::Negation(child) | Pattern::Bitmask { child, .. } => is_stateless(child),
        Pattern::Conjunction(_)
        | Pattern::Timeout(_)
        | Pattern::Interval(_)
        | Pattern::Deadline(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn patterns_that_wait_are_recognised() {
        let leaf = Pattern::of(16, 0);
        let either = Pattern::Disjunction(vec![leaf.clone(), Pattern::Null]);
        assert!(is_stateless(&Pattern::Negation(Box::new(either))));
        let both = Pattern::Conjunction(vec![leaf.clone(), Pattern::of(17, 0)]);
        assert!(!is_stateless(&Pattern::Disjunction(vec![leaf, both])));
        assert!(!is_stateless(&Pattern::Deadline(Duration::from_secs(1))));
    }
}
