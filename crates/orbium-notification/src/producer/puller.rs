// SPDX-License-Identifier: MIT OR Apache-2.0
//! The thread that pulls from a supplier.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};

use orbium::{ExceptionKind, SystemException};
use orbium_event::FailurePolicy;

use crate::channel::Channel;
use crate::event::Body;
use crate::producer::Producer;
use crate::producer::source::Source;

/// Delay between two attempts to store a pulled event.
const STORE_RETRY_PAUSE: Duration = Duration::from_millis(500);

/// Before the next pull from a supplier that has no event. It doubles while it has none.
const FIRST_PERIOD: Duration = Duration::from_millis(10);
const LONGEST_PERIOD: Duration = Duration::from_millis(250);

/// Starts the thread that pulls from a supplier.
pub(crate) fn start(
    channel: &Arc<Channel>,
    producer: &Arc<Producer>,
    source: Arc<dyn Source>,
) -> Result<(), SystemException> {
    let (channel, producer) = (Arc::downgrade(channel), Arc::clone(producer));
    let run = move || pull(&channel, &producer, &*source);
    let named = thread::Builder::new().name("orbium-notify".to_owned());
    named
        .spawn(run)
        .map(drop)
        .map_err(|_| ExceptionKind::NoResources.into())
}

/// Publishes the events of the supplier until the connection ends.
fn pull(channel: &Weak<Channel>, producer: &Producer, source: &dyn Source) {
    let Some(mut failure) = channel.upgrade().map(|it| it.config.failure) else {
        return;
    };
    if producer.is_persistent() {
        failure = FailurePolicy::NEVER;
    }
    let (mut unstored, mut period) = (VecDeque::new(), FIRST_PERIOD);
    let is_gone = producer.pulling.run(&failure, || {
        let outcome = if unstored.is_empty() {
            source.pull()
        } else {
            Ok(Vec::new())
        };
        let channel = channel.upgrade()?;
        if !producer.is_connected() {
            return None;
        }
        Some(outcome.map(|events| {
            if events.is_empty() && unstored.is_empty() {
                let idle = period;
                period = (2 * idle).min(LONGEST_PERIOD);
                return idle;
            }
            period = FIRST_PERIOD;
            publish(&channel, producer, events, &mut unstored)
        }))
    });
    if is_gone && let Some(channel) = channel.upgrade() {
        tracing::warn!(target: "orbium::notification", supplier = producer.id, "supplier disconnected: it cannot be reached");
        channel.end_supplier(producer);
    }
}

/// An event and when it was pulled.
type Pulled = (Body, Instant);

/// Publishes events behind those that the journal could not store, and returns the time until the
/// next pull. If the journal cannot store an event now, it and those behind it remain: the supplier
/// does not have them any more.
fn publish(
    channel: &Channel,
    producer: &Producer,
    events: Vec<Body>,
    unstored: &mut VecDeque<Pulled>,
) -> Duration {
    channel.count_received(events.len());
    let now = Instant::now();
    unstored.extend(events.into_iter().map(|body| (body, now)));
    while let Some((body, arrived)) = unstored.pop_front() {
        let retained = channel.journal.is_some().then(|| body.clone());
        let published = channel.publish_arrived(producer, body, arrived);
        // Rejected: the channel is full, and rejects new events.
        let Err(exception) = published else { continue };
        if let Some(body) = retained.filter(|_| may_pass(&exception)) {
            unstored.push_front((body, arrived));
            return STORE_RETRY_PAUSE;
        }
    }
    Duration::ZERO
}

/// Whether a journal may store the event later.
fn may_pass(exception: &SystemException) -> bool {
    use ExceptionKind::{CommFailure, NoResources, Timeout, Transient};
    matches!(
        exception.kind,
        CommFailure | NoResources | Timeout | Transient
    )
}
