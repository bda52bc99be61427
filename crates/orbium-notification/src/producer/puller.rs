// SPDX-License-Identifier: MIT OR Apache-2.0
//! The thread that pulls from a supplier.

use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

use orbium::{ExceptionKind, SystemException};
use orbium_event::FailurePolicy;

use crate::channel::Channel;
use crate::producer::Producer;
use crate::producer::source::Source;

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
    let Some(mut failure) = channel.upgrade().map(|it| it.config.failure) else {
        return;
    };
    if producer.is_persistent() {
        failure = FailurePolicy::NEVER;
    }
    let is_gone = producer.pulling.run(&failure, || {
        let outcome = source.pull();
        let channel = channel.upgrade()?;
        if !producer.is_connected() {
            return None;
        }
        Some(outcome.map(|events| {
            for body in events {
                // Rejected: the channel is full, and rejects new events.
                let _ = channel.publish(producer, body);
            }
            Duration::ZERO
        }))
    });
    if is_gone && let Some(channel) = channel.upgrade() {
        tracing::warn!(target: "orbium::notification", supplier = producer.id, "supplier disconnected: it cannot be reached");
        channel.end_supplier(producer);
    }
}
