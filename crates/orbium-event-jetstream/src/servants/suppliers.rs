// SPDX-License-Identifier: MIT OR Apache-2.0
//! The supplier side: the admin, and a proxy for each supplier.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use orbium::lock::{Mutex, MutexGuard};
use orbium::{Call, Completion, ExceptionKind, Interface, SystemException};
use orbium_event::rtec::orbium_event::ConsumerState;
use orbium_event::rtec::rtec_event_channel_admin::{
    AlreadyConnected, AlreadyConnectedError, ProxyPushConsumer, ProxyPushConsumerServant,
    SupplierAdminServant, SupplierQos,
};
use orbium_event::rtec::rtec_event_comm::{Event, PushConsumerServant, PushSupplier};

use crate::servants::channel_state::Shared;
use crate::servants::proxies::Proxy;
use crate::servants::proxy_object::Place;
use crate::stream::message::Message;

pub(crate) struct Suppliers {
    pub(crate) shared: Arc<Shared>,
}

impl SupplierAdminServant for Suppliers {
    fn obtain_push_consumer(
        &self,
        call: &Call<'_>,
    ) -> Result<Option<ProxyPushConsumer>, SystemException> {
        let proxy = self.shared.suppliers.add(|number| {
            Arc::new(ConsumerProxy {
                number,
                shared: Arc::clone(&self.shared),
                place: Place::default(),
                is_connected: AtomicBool::new(false),
                published: Mutex::default(),
            })
        })?;
        let object: ProxyPushConsumer = call.poa().activate(ProxyObject(Arc::clone(&proxy)))?;
        proxy.place.set(&call.poa(), object.as_object());
        Ok(Some(object))
    }
}

/// The proxy of one supplier.
struct ConsumerProxy {
    number: u64,
    shared: Arc<Shared>,
    place: Place,
    is_connected: AtomicBool,
    /// Its publications for observers.
    published: Mutex<Vec<(i32, i32)>>,
}

/// Its object.
struct ProxyObject(Arc<ConsumerProxy>);

impl ConsumerProxy {
    fn publications(&self) -> MutexGuard<'_, Vec<(i32, i32)>> {
        self.published.lock()
    }

    fn store(&self, events: &[Event]) -> Result<(), SystemException> {
        let stream = &self.shared.stream;
        let name = &stream.config.stream;
        let messages = events
            .iter()
            .map(|event| Message::of_event(name, event, &stream.entry()))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| SystemException::from_cdr(error, Completion::No))?;
        Ok(stream.publish(messages)?)
    }
}

impl Proxy for ConsumerProxy {
    fn state(&self) -> Option<ConsumerState> {
        let is_connected = self.is_connected.load(Ordering::Relaxed);
        is_connected.then(|| ConsumerState {
            id: self.number,
            ..ConsumerState::default()
        })
    }

    fn published(&self) -> Vec<(i32, i32)> {
        self.publications().clone()
    }

    fn end(&self) {
        self.is_connected.store(false, Ordering::Release);
        self.shared.suppliers.remove(self.number);
        self.place.end();
        self.shared.observation.changed();
    }

    fn number(&self) -> u64 {
        self.number
    }
}

impl ProxyPushConsumerServant for ProxyObject {
    fn connect_push_supplier(
        &self,
        _: &Call<'_>,
        _: Option<&PushSupplier>,
        qos: &SupplierQos,
    ) -> Result<(), AlreadyConnectedError> {
        if self.0.is_connected.swap(true, Ordering::AcqRel) {
            return Err(AlreadyConnected {}.into());
        }
        if !qos.is_gateway {
            let headers = qos.publications.iter().map(|it| &it.event.header);
            *self.0.publications() = headers.map(|it| (it.r#type, it.source)).collect();
        }
        self.0.shared.observation.changed();
        Ok(())
    }
}

impl PushConsumerServant for ProxyObject {
    /// Returns when the stream has acknowledged the events: before the reply to a supplier that
    /// waits for one (`SYNC_WITH_TARGET`). A supplier that is not connected gets BAD_INV_ORDER.
    fn push(&self, _: &Call<'_>, data: &[Event]) -> Result<(), SystemException> {
        if !self.0.is_connected.load(Ordering::Acquire) {
            return Err(ExceptionKind::BadInvOrder.into());
        }
        let stored = self.0.store(data);
        if let Err(exception) = &stored {
            self.0.shared.stream.counts.refused(data.len());
            tracing::warn!(target: "orbium::event", supplier = self.0.number, %exception, "events were not stored");
        }
        stored
    }

    fn disconnect_push_consumer(&self, _: &Call<'_>) -> Result<(), SystemException> {
        self.0.end();
        Ok(())
    }
}
