// SPDX-License-Identifier: MIT OR Apache-2.0
//! COS consumers and suppliers behind references.

use orbium::{Any, Interface, cdr::TCKind};

use crate::config::ChannelConfig;
use crate::cos_event::cos_event_comm::{
    DisconnectedError, PullConsumer, PushConsumer, PushSupplier,
};
use crate::delivery::dropped::after;
use crate::delivery::health::DeliveryError;
use crate::event::SharedEvent;
use crate::peer::{Peer, Sink};
use crate::proxies::{failure, ping};

/// The any of an event for a COS consumer.
pub(super) fn any_of(event: &SharedEvent) -> Result<Any, DeliveryError> {
    match event.data.any_value.type_code().kind() {
        TCKind::Null => Any::new(&**event).map_err(|_| DeliveryError::Failed),
        _ => Ok(event.data.any_value.clone()),
    }
}

pub(super) struct Consumer {
    consumer: PushConsumer,
    pushed_to: PushConsumer,
}

impl Consumer {
    pub(super) fn new(consumer: &PushConsumer, config: &ChannelConfig) -> Self {
        Self {
            consumer: consumer.with_timeout(config.ping_timeout),
            pushed_to: consumer.with_timeout(config.push_timeout),
        }
    }
}

fn push(consumer: &PushConsumer, event: &SharedEvent) -> Result<(), DeliveryError> {
    let pushed = consumer.push(&any_of(event)?);
    pushed.map_err(|error| match error {
        DisconnectedError::Disconnected(_) => DeliveryError::Gone,
        DisconnectedError::System(exception) => failure(&exception),
    })
}

impl Peer for Consumer {
    fn ping(&self) -> Result<(), DeliveryError> {
        ping(self.consumer.as_object())
    }

    fn disconnect(&self) {
        // It may not exist any more.
        let _ = self.consumer.disconnect_push_consumer();
    }
}

impl Sink for Consumer {
    fn push(&self, events: &[SharedEvent]) -> Result<(), DeliveryError> {
        let pushed = |event| push(&self.pushed_to, event);
        events.iter().try_for_each(pushed)
    }

    fn push_after(&self, dropped: u64, events: &[SharedEvent]) -> Result<(), DeliveryError> {
        let Some((first, others)) = events.split_first() else {
            return Ok(());
        };
        push(&after(dropped, &self.pushed_to), first)?;
        self.push(others)
    }
}

pub(super) struct Supplier(PushSupplier);

impl Supplier {
    pub(super) fn new(supplier: &PushSupplier, config: &ChannelConfig) -> Self {
        Self(supplier.with_timeout(config.ping_timeout))
    }
}

impl Peer for Supplier {
    fn ping(&self) -> Result<(), DeliveryError> {
        ping(self.0.as_object())
    }

    fn disconnect(&self) {
        // It may not exist any more.
        let _ = self.0.disconnect_push_supplier();
    }
}

/// A consumer that pulls.
pub(super) struct Puller(PullConsumer);

impl Puller {
    pub(super) fn new(consumer: &PullConsumer, config: &ChannelConfig) -> Self {
        Self(consumer.with_timeout(config.ping_timeout))
    }
}

impl Peer for Puller {
    fn ping(&self) -> Result<(), DeliveryError> {
        ping(self.0.as_object())
    }

    fn disconnect(&self) {
        // It may not exist any more.
        let _ = self.0.disconnect_pull_consumer();
    }
}
