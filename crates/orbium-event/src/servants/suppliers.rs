// SPDX-License-Identifier: MIT OR Apache-2.0
//! The supplier side: the admin, and a proxy for each supplier.

use std::sync::Arc;

use arc_swap::ArcSwapOption;
use orbium::cdr::CdrReader;
use orbium::lock::Mutex;
use orbium::stub::ServedBy;
use orbium::{Call, Interface, Servant, SystemException};

use super::peers::RemoteSupplier;
use crate::channel::Channel;
use crate::config::ConnectError;
use crate::peer::{Anonymous, Connection, Peer};
use crate::proxies::{Counted, ProxyCount, deactivation, end_object};
use crate::rtec::rtec_event_channel_admin::{
    AlreadyConnected, AlreadyConnectedError, ProxyPushConsumer, ProxyPushConsumerServant,
    SupplierAdminServant, SupplierQos,
};
use crate::rtec::rtec_event_comm::{Event, PushConsumerServant, PushSupplier};
use crate::supply::publication::Publication;
use crate::supply::publisher::Publisher;
use crate::supply::receive::{Receive, Receiving};

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
            connected: ArcSwapOption::empty(),
            changing: Mutex::default(),
            _counted: counted,
        };
        let proxy = Arc::new(proxy);
        let servant: Arc<dyn Servant> = Arc::new(Receiving {
            skeleton: ProxyPushConsumer::skeleton(Arc::clone(&proxy)),
            receiver: proxy,
        });
        let object = call.poa().activate_servant(&servant)?;
        Ok(Some(ProxyPushConsumer::from_object(object)))
    }
}

/// The proxy of one supplier.
struct ConsumerProxy {
    channel: Channel,
    connected: ArcSwapOption<Connected>,
    /// Held while `connected` is replaced.
    changing: Mutex<()>,
    _counted: Counted,
}

struct Connected {
    publisher: Arc<Publisher>,
    supplier: Arc<dyn Peer>,
}

impl ConsumerProxy {
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
        let published = qos.publications.iter().map(Publication::from_rtec);
        let published = published.collect();
        let supplier: Arc<dyn Peer> = match supplier {
            Some(supplier) => Arc::new(RemoteSupplier::new(supplier, config)),
            None => Arc::new(Anonymous),
        };
        let _changing = self.changing.lock();
        match self.connected.load_full() {
            Some(it) if config.supplier_reconnect => {
                let publisher = Arc::clone(&it.publisher);
                publisher.reconnect(Arc::clone(&supplier), published, qos.is_gateway);
                self.connected.store(Some(Arc::new(Connected {
                    publisher,
                    supplier,
                })));
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
                self.connected.store(Some(Arc::new(Connected {
                    publisher,
                    supplier,
                })));
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
            error => SystemException::from(error).into(),
        })
    }
}

impl PushConsumerServant for ConsumerProxy {
    /// Called by suppliers in this process; [`Receive`] serves all others. Events of a supplier
    /// that has not connected are dropped.
    fn push(&self, _: &Call<'_>, data: &[Event]) -> Result<(), SystemException> {
        if let Some(connected) = &*self.connected.load() {
            connected.publisher.push(data);
        }
        Ok(())
    }

    fn disconnect_push_consumer(&self, call: &Call<'_>) -> Result<(), SystemException> {
        let changing = self.changing.lock();
        let connected = self.connected.swap(None);
        drop(changing);
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

impl Receive for Arc<ConsumerProxy> {
    fn receive(&self, events: &mut CdrReader<'_>) -> Result<(), SystemException> {
        match &*self.connected.load() {
            Some(connected) => connected.publisher.receive(events),
            None => Ok(()),
        }
    }
}
