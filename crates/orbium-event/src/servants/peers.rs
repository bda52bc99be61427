// SPDX-License-Identifier: MIT OR Apache-2.0
//! Consumers and suppliers behind references.

use std::slice;

use orbium::Interface;

use crate::config::ChannelConfig;
use crate::delivery::health::DeliveryError;
use crate::delivery::ordered::OrderedPush;
use crate::event::SharedEvent;
use crate::peer::{Peer, Sink};
use crate::pool::with_copies;
use crate::proxies::{failure, ping};
use crate::rtec::rtec_event_comm::{PushConsumer, PushSupplier};

/// A consumer in any process.
pub(super) struct RemoteConsumer {
    /// For calls that are not pushes.
    consumer: PushConsumer,
    push: OrderedPush,
}

impl RemoteConsumer {
    pub(super) fn new(consumer: &PushConsumer, config: &ChannelConfig) -> Self {
        Self {
            consumer: consumer.with_timeout(config.ping_timeout),
            push: OrderedPush::new(consumer, Some(config.push_timeout)),
        }
    }
}

impl Peer for RemoteConsumer {
    fn ping(&self) -> Result<(), DeliveryError> {
        ping(self.consumer.as_object())
    }

    fn disconnect(&self) {
        // It may not exist any more.
        let _ = self.consumer.disconnect_push_consumer();
    }
}

impl Sink for RemoteConsumer {
    fn push(&self, events: &[SharedEvent]) -> Result<(), DeliveryError> {
        self.push_after(0, events)
    }

    fn push_after(&self, dropped: u64, events: &[SharedEvent]) -> Result<(), DeliveryError> {
        let outcome = match events {
            [event] => self.push.push_after(dropped, slice::from_ref(&**event)),
            events => with_copies(events, |set| self.push.push_after(dropped, set)),
        };
        outcome.map_err(|exception| failure(&exception))
    }
}

/// A supplier that can be pinged.
pub(super) struct RemoteSupplier(PushSupplier);

impl RemoteSupplier {
    pub(super) fn new(supplier: &PushSupplier, config: &ChannelConfig) -> Self {
        Self(supplier.with_timeout(config.ping_timeout))
    }
}

impl Peer for RemoteSupplier {
    fn ping(&self) -> Result<(), DeliveryError> {
        ping(self.0.as_object())
    }

    fn disconnect(&self) {
        // It may not exist any more.
        let _ = self.0.disconnect_push_supplier();
    }
}
