// SPDX-License-Identifier: MIT OR Apache-2.0
//! Suppliers from which the channel pulls.

use std::sync::{Arc, Weak};
use std::time::Duration;

use orbium::{Any, Call, ExceptionKind, Interface, SystemException};

use super::header::CosHeader;
use crate::channel::Channel;
use crate::cos_event::cos_event_channel_admin::{
    AlreadyConnected, AlreadyConnectedOrTypeErrorError, ProxyPullConsumerServant,
};
use crate::cos_event::cos_event_comm::{DisconnectedError, PullConsumerServant, PullSupplier};
use crate::delivery::health::DeliveryError;
use crate::peer::Peer;
use crate::proxies::{Counted, Slot, end_object, failure, ping};
use crate::supply::publisher::Publisher;
use crate::supply::pulling::Pulling;
use crate::thread::start;

/// A supplier behind a reference.
struct Supplier(PullSupplier);

impl Supplier {
    /// An event, if the supplier has one.
    fn try_pull(&self) -> Result<Option<Any>, DeliveryError> {
        match self.0.try_pull() {
            Ok(tried) => Ok(tried.has_event.then_some(tried.result)),
            Err(DisconnectedError::Disconnected(_)) => Err(DeliveryError::Gone),
            Err(DisconnectedError::System(exception)) => Err(failure(&exception)),
        }
    }
}

impl Peer for Supplier {
    fn ping(&self) -> Result<(), DeliveryError> {
        ping(self.0.as_object())
    }

    fn disconnect(&self) {
        // It may not exist any more.
        let _ = self.0.disconnect_pull_supplier();
    }
}

struct Connected {
    publisher: Arc<Publisher>,
    supplier: Arc<Supplier>,
    pulling: Arc<Pulling>,
}

impl Drop for Connected {
    fn drop(&mut self) {
        self.pulling.end();
    }
}

/// The proxy of one supplier. The thread of the supplier ends with its connection.
pub(super) struct PullProxy {
    channel: Channel,
    header: CosHeader,
    slot: Slot<Connected>,
}

impl PullProxy {
    pub(super) fn new(channel: &Channel, header: CosHeader, counted: Counted) -> Self {
        Self {
            channel: channel.clone(),
            header,
            slot: Slot::new(counted),
        }
    }

    fn connect(
        &self,
        call: &Call<'_>,
        supplier: &PullSupplier,
    ) -> Result<Connected, SystemException> {
        let config = self.channel.config();
        let supplier = Arc::new(Supplier(supplier.with_timeout(config.ping_timeout)));
        let peer = Arc::clone(&supplier) as Arc<dyn Peer>;
        let publisher = self.header.connect(&self.channel, call, peer)?;
        let connected = Connected {
            publisher: Arc::new(publisher),
            supplier,
            pulling: Arc::default(),
        };
        let pulled = Pulled {
            publisher: Arc::downgrade(&connected.publisher),
            supplier: Arc::clone(&connected.supplier),
            header: self.header,
            period: config.pull_period,
        };
        let (pulling, failure) = (Arc::clone(&connected.pulling), config.failure);
        let run = move || {
            if pulling.run(&failure, || pulled.pull()) {
                pulled.disconnect();
            }
        };
        start("orbium-puller", run)?;
        Ok(connected)
    }
}

/// The state of a supplier's thread.
struct Pulled {
    publisher: Weak<Publisher>,
    supplier: Arc<Supplier>,
    header: CosHeader,
    period: Duration,
}

impl Pulled {
    /// Pulls once, and returns the time until the next pull. `None` without connection.
    fn pull(&self) -> Option<Result<Duration, DeliveryError>> {
        let pulled = self.supplier.try_pull();
        let publisher = self.publisher.upgrade()?;
        Some(pulled.map(|any| match any {
            Some(any) => {
                publisher.push(&[self.header.event(any)]);
                Duration::ZERO
            }
            None => self.period,
        }))
    }

    fn disconnect(&self) {
        if let Some(publisher) = self.publisher.upgrade()
            && publisher.disconnect()
        {
            tracing::warn!(target: "orbium::event", supplier = ?publisher, "supplier disconnected: it cannot be pulled from");
        }
    }
}

impl ProxyPullConsumerServant for PullProxy {
    fn connect_pull_supplier(
        &self,
        call: &Call<'_>,
        pull_supplier: Option<&PullSupplier>,
    ) -> Result<(), AlreadyConnectedOrTypeErrorError> {
        let nil = SystemException::from(ExceptionKind::BadParam);
        let supplier = pull_supplier.ok_or(nil)?;
        let mut slot = self.slot.lock();
        if slot.is_some() {
            return Err(AlreadyConnected {}.into());
        }
        *slot = Some(self.connect(call, supplier)?);
        Ok(())
    }
}

impl PullConsumerServant for PullProxy {
    fn disconnect_pull_consumer(&self, call: &Call<'_>) -> Result<(), SystemException> {
        let connected = self.slot.lock().take();
        end_object(&call.poa(), call.object_id());
        if let Some(connected) = connected {
            connected.pulling.end();
            if connected.publisher.disconnect() {
                connected.supplier.disconnect();
            }
        }
        Ok(())
    }
}
