// SPDX-License-Identifier: MIT OR Apache-2.0
//! The side of suppliers: their admin, and a proxy for each.

use std::sync::{Arc, PoisonError, RwLock};

use orbium::{Call, SystemException};

use super::peers::RemoteSupplier;
use crate::channel::{Channel, Connection, Publisher};
use crate::config::ConnectError;
use crate::peer::{Anonymous, Peer};
use crate::proxies::{Counted, ProxyCount, deactivation, end_object, refused};
use crate::rtec::rtec_event_channel_admin::{
    AlreadyConnected, AlreadyConnectedError, ProxyPushConsumer, ProxyPushConsumerServant,
    SupplierAdminServant, SupplierQos,
};
use crate::rtec::rtec_event_comm::{Event, PushConsumerServant, PushSupplier};

pub(super) struct Suppliers {
    pub(super) channel: Channel,
    pub(super) count: ProxyCount,
}

impl SupplierAdminServant for Suppliers {
    fn obtain_push_consumer(
        &self,
        call: &Call<'_>,
    ) -> Result<Option<ProxyPushConsumer>, SystemException> {
        let counted = self.count.one_more(self.channel.config().suppliers)?;
        let proxy = ConsumerProxy {
            channel: self.channel.clone(),
            connected: RwLock::new(None),
            _counted: counted,
        };
        Ok(Some(call.poa().activate(proxy)?))
    }
}

/// Stands for the channel before one supplier.
struct ConsumerProxy {
    channel: Channel,
    connected: RwLock<Option<Connected>>,
    _counted: Counted,
}

#[derive(Clone)]
struct Connected {
    publisher: Arc<Publisher>,
    supplier: Arc<dyn Peer>,
}

impl ConsumerProxy {
    fn connected(&self) -> Option<Connected> {
        let connected = self.connected.read();
        connected.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn connect(
        &self,
        call: &Call<'_>,
        supplier: Option<&PushSupplier>,
        qos: &SupplierQos,
    ) -> Result<(), ConnectError> {
        let config = self.channel.config();
        if qos.publications.len() > config.publications {
            return Err(ConnectError::TooMany);
        }
        let headers = qos.publications.iter().map(|it| &it.event.header);
        let published = headers.map(|it| (it.r#type, it.source)).collect();
        let supplier: Arc<dyn Peer> = match supplier {
            Some(supplier) => Arc::new(RemoteSupplier::new(supplier, config)),
            None => Arc::new(Anonymous),
        };
        let connected = self.connected.write();
        let mut connected = connected.unwrap_or_else(PoisonError::into_inner);
        match &mut *connected {
            Some(it) if config.supplier_reconnect => {
                it.supplier = Arc::clone(&supplier);
                it.publisher.reconnect(supplier, published, qos.is_gateway);
                Ok(())
            }
            Some(_) => Err(ConnectError::AlreadyConnected),
            None => {
                let connection = Connection {
                    peer: Arc::clone(&supplier),
                    is_gateway: qos.is_gateway,
                    on_end: deactivation(call),
                };
                let publisher = self.channel.connect_publisher(published, connection)?;
                let publisher = Arc::new(publisher);
                *connected = Some(Connected {
                    publisher,
                    supplier,
                });
                Ok(())
            }
        }
    }
}

impl ProxyPushConsumerServant for ConsumerProxy {
    fn connect_push_supplier(
        &self,
        call: &Call<'_>,
        push_supplier: Option<&PushSupplier>,
        qos: &SupplierQos,
    ) -> Result<(), AlreadyConnectedError> {
        let connected = self.connect(call, push_supplier, qos);
        connected.map_err(|error| match error {
            ConnectError::AlreadyConnected => AlreadyConnected {}.into(),
            error => refused(error).into(),
        })
    }
}

impl PushConsumerServant for ConsumerProxy {
    /// Events of a supplier that has not connected are dropped.
    fn push(&self, _: &Call<'_>, data: &[Event]) -> Result<(), SystemException> {
        // No lock is held while consumers are called: they may disconnect the supplier.
        if let Some(connected) = self.connected() {
            connected.publisher.push(data);
        }
        Ok(())
    }

    fn disconnect_push_consumer(&self, call: &Call<'_>) -> Result<(), SystemException> {
        let connected = self.connected.write();
        let connected = connected.unwrap_or_else(PoisonError::into_inner).take();
        end_object(&call.poa(), call.object_id());
        if let Some(connected) = connected {
            let was_connected = connected.publisher.disconnect();
            if was_connected && self.channel.config().disconnect_callbacks {
                connected.supplier.disconnect();
            }
        }
        Ok(())
    }
}
