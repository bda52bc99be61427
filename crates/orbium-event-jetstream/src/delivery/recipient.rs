// SPDX-License-Identifier: MIT OR Apache-2.0
//! A consumer of the channel: it gets the events that its subscription passes, in sets, and replies
//! to each push.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use orbium::lock::Mutex;
use orbium::{Completion, Interface, SystemException, policy::SyncScope};
use orbium_event::persistent::{Delivery, EventId};
use orbium_event::rtec::orbium_event::set_consumer::EventFailed;
use orbium_event::rtec::orbium_event::{EventFailedError, SetConsumer};
use orbium_event::rtec::rtec_event_comm::{Event, PushConsumer};
use orbium_event::{DeliveryError, Filter, Pattern, SharedEvent, delivery_failure};

use crate::delivery::delivery_outcome::Outcome;
use crate::servants::channel_state::Shared;
use crate::stream::message::{MessageError, event_of};
use crate::stream::set::Received;

/// Consecutive failures after which a consumer without a name is disconnected.
const MAX_FAILURES: u64 = 3;

/// Pushes the events of the stream to a consumer.
pub(crate) struct Recipient {
    shared: Arc<Shared>,
    is_named: bool,
    consumer: PushConsumer,
    /// The same, if it reports the event with which it has failed.
    set_consumer: Option<SetConsumer>,
    filter: Mutex<Filter>,
    pub(crate) delivered: AtomicU64,
    pub(crate) failed: AtomicU64,
    failures_in_a_row: AtomicU64,
}

/// The events of a set that a subscription passes.
#[derive(Default)]
struct Passed {
    events: Vec<Event>,
    /// Their indices in the set.
    places: Vec<usize>,
    /// The number of events of the set, up to an unreadable one.
    of: usize,
}

/// Error of a push.
struct PushError {
    /// The index of the failed event, if it is known; those before it have been processed.
    event: Option<usize>,
    exception: SystemException,
}

impl PushError {
    /// From the report of a consumer about a set of so many events.
    fn of(failed: &EventFailed, events: usize) -> Self {
        let completed = Completion::from_number(failed.completed).unwrap_or(Completion::Maybe);
        let processed = usize::try_from(failed.processed).ok();
        Self {
            event: processed.filter(|it| *it < events),
            exception: SystemException::from_body(&failed.id, failed.minor_code, completed),
        }
    }
}

impl Recipient {
    pub(crate) fn new(
        shared: &Arc<Shared>,
        is_named: bool,
        consumer: &PushConsumer,
        pattern: &Pattern,
    ) -> Self {
        let timeout = shared.stream.config.push_timeout;
        let object = consumer.as_object();
        let reports = object.ior().type_id == SetConsumer::REPOSITORY_ID;
        Self {
            set_consumer: reports
                .then(|| SetConsumer::from_object(object.clone()).with_timeout(timeout)),
            shared: Arc::clone(shared),
            is_named,
            // A push returns when the consumer has returned from it, and raises the same
            // exceptions.
            consumer: consumer
                .with_timeout(timeout)
                .with_sync_scope(SyncScope::WithTarget),
            filter: Mutex::new(Filter::new(pattern)),
            delivered: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            failures_in_a_row: AtomicU64::new(0),
        }
    }

    /// Pushes the events that the subscription passes, up to an unreadable one. Returns their
    /// outcomes, up to the one that the consumer has failed with.
    pub(crate) fn receive(&self, set: &[Received]) -> Vec<Outcome> {
        let mut passed = Passed::default();
        for received in set {
            match marked(received) {
                Ok(event) => self.pass(event, &mut passed),
                Err(why) if passed.of == 0 => {
                    self.shared.stream.counts.unreadable();
                    tracing::warn!(target: "orbium::event", sequence = received.sequence, %why, "a message of the stream is no event");
                    return vec![Outcome::Refused(why.to_string())];
                }
                Err(_) => break,
            }
        }
        let outcomes = self.push_all(&passed);
        if let Some(Outcome::Refused(exception)) = outcomes.last() {
            let sequence = set[outcomes.len() - 1].sequence;
            tracing::warn!(target: "orbium::event", sequence, exception, "the consumer refuses an event for good");
        }
        outcomes
    }

    /// Whether the last push has failed.
    pub(crate) fn is_suspect(&self) -> bool {
        self.failures_in_a_row.load(Ordering::Relaxed) > 0
    }

    /// Adds the next event of a set, if the subscription passes it.
    fn pass(&self, event: Event, passed: &mut Passed) {
        let mut delivered: Vec<SharedEvent> = Vec::new();
        let mut filter = self.filter.lock();
        filter.offer(&[event.into()], None, &mut delivered);
        drop(filter);
        for event in delivered {
            passed.events.push(event.into_event());
            passed.places.push(passed.of);
        }
        passed.of += 1;
    }

    fn push_all(&self, passed: &Passed) -> Vec<Outcome> {
        let mut outcomes = vec![Outcome::Delivered; passed.of];
        let Err(error) = self.push(&passed.events, self.set_consumer.as_ref()) else {
            return outcomes;
        };
        match error.event {
            Some(event) => {
                outcomes.truncate(passed.places[event]);
                outcomes.push(self.failure(&error.exception));
            }
            None => {
                let outcome = match self.failure(&error.exception) {
                    Outcome::Failed(_) | Outcome::Refused(_) => Outcome::Singly,
                    outcome => outcome,
                };
                for place in &passed.places {
                    outcomes[*place] = outcome.clone();
                }
            }
        }
        outcomes
    }

    /// Pushes the events that complete the subscription as one set, which has one outcome.
    pub(crate) fn push_as_one(&self, events: &[Event]) -> Outcome {
        match self.push(events, None) {
            Ok(()) => Outcome::Delivered,
            Err(error) => self.failure(&error.exception),
        }
    }

    /// Pushes to the consumer, which reports the failed event if it is `reporting`.
    fn push(&self, events: &[Event], reporting: Option<&SetConsumer>) -> Result<(), PushError> {
        let pushed = match (events, reporting) {
            ([], _) => return Ok(()),
            ([_, _, ..], Some(consumer)) => {
                consumer.push_set(events).map_err(|error| match error {
                    EventFailedError::EventFailed(failed) => PushError::of(&failed, events.len()),
                    EventFailedError::System(exception) => PushError {
                        event: None,
                        exception,
                    },
                })
            }
            _ => {
                let event = (events.len() == 1).then_some(0);
                let pushed = self.consumer.push(events);
                pushed.map_err(|exception| PushError { event, exception })
            }
        };
        self.record(events.len(), pushed)
    }

    /// Counts the outcome of a push of so many events.
    fn record(&self, events: usize, pushed: Result<(), PushError>) -> Result<(), PushError> {
        let processed = match &pushed {
            Ok(()) => events,
            Err(error) => error.event.unwrap_or(0),
        };
        if processed > 0 {
            self.failures_in_a_row.store(0, Ordering::Relaxed);
        }
        self.delivered
            .fetch_add(processed as u64, Ordering::Relaxed);
        let failed = u64::from(pushed.is_err());
        self.failed.fetch_add(failed, Ordering::Relaxed);
        pushed
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

/// The event of a message, with the id by which consumers detect duplicates.
pub(crate) fn marked(received: &Received) -> Result<Event, MessageError> {
    let message = &received.message;
    let mut event: Event = event_of(message.headers.as_ref(), &message.payload)?;
    let delivery = Delivery {
        id: EventId {
            sequence: received.sequence,
        },
        number: received.delivery,
        is_replayed: received.is_replayed,
    };
    delivery.write_to(&mut event);
    Ok(event)
}

/// Whether the pattern passes each event independently: it waits neither for several events nor for
/// a time.
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
