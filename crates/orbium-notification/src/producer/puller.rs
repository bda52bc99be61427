// SPDX-License-Identifier: MIT OR Apache-2.0
//! The thread that pulls from a supplier.

use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};

use orbium::{ExceptionKind, SystemException};
use orbium_event::Health;

use crate::channel::Channel;
use crate::producer::Producer;
use crate::producer::source::Source;

/// Between two pulls from a supplier that has failed.
const RETRY_PERIOD: Duration = Duration::from_millis(500);

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

/// Publishes what the supplier has until the connection ends.
fn pull(channel: &Weak<Channel>, producer: &Producer, source: &dyn Source) {
    let mut health = Health::Well;
    while producer.pulling.goes_on() {
        let outcome = source.pull();
        let Some(channel) = channel.upgrade() else {
            return;
        };
        if !producer.is_connected() {
            return;
        }
        let outcome = outcome.map(|events| {
            for body in events {
                // Rejected: the channel is full, and rejects new events.
                let _ = channel.publish(producer, body);
            }
        });
        health = health.after(outcome, &channel.config.failure, Instant::now());
        match health {
            Health::Well => {}
            Health::Suspect { .. } => {
                drop(channel);
                producer.pulling.pause(RETRY_PERIOD);
            }
            Health::Gone => {
                tracing::warn!(target: "orbium::notification", supplier = producer.id, "supplier disconnected: it cannot be reached");
                channel.end_supplier(producer);
                return;
            }
        }
    }
}
