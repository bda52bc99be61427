// SPDX-License-Identifier: MIT OR Apache-2.0
//! The supplier side of COS Event.

use std::sync::Arc;

use arc_swap::ArcSwapOption;
use orbium::lock::Mutex;
use orbium::{Any, Call, SystemException};

use super::header::CosHeader;
use super::peers::Supplier;
use super::pull_suppliers::PullProxy;
use crate::channel::Channel;
use crate::cos_event::cos_event_channel_admin::{
    AlreadyConnected, AlreadyConnectedError, ProxyPullConsumer, ProxyPushConsumer,
    ProxyPushConsumerServant, SupplierAdminServant,
};
use crate::cos_event::cos_event_comm::{
    Disconnected, DisconnectedError, PushConsumerServant, PushSupplier,
};
use crate::peer::{Anonymous, Peer};
use crate::proxies::{Counted, ProxyCount, end_object};
use crate::supply::publisher::Publisher;

pub(super) struct Suppliers {
    pub(super) channel: Channel,
    pub(super) header: CosHeader,
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
            header: self.header,
            connected: ArcSwapOption::empty(),
            changing: Mutex::default(),
            _counted: counted,
        };
        Ok(Some(call.poa().activate(proxy)?))
    }

    fn obtain_pull_consumer(
        &self,
        call: &Call<'_>,
    ) -> Result<Option<ProxyPullConsumer>, SystemException> {
        let counted = self.count.one_more(self.channel.config().suppliers)?;
        let proxy = PullProxy::new(&self.channel, self.header, counted);
        Ok(Some(call.poa().activate(proxy)?))
    }
}

type Connected = (Publisher, Arc<dyn Peer>);

/// The proxy of one supplier.
struct ConsumerProxy {
    channel: Channel,
    header: CosHeader,
    connected: ArcSwapOption<Connected>,
    /// Held while `connected` is replaced.
    changing: Mutex<()>,
    _counted: Counted,
}

impl ProxyPushConsumerServant for ConsumerProxy {
    fn connect_push_supplier(
        &self,
        call: &Call<'_>,
        push_supplier: Option<&PushSupplier>,
    ) -> Result<(), AlreadyConnectedError> {
        let peer: Arc<dyn Peer> = match push_supplier {
            Some(supplier) => Arc::new(Supplier::new(supplier, self.channel.config())),
            None => Arc::new(Anonymous),
        };
        let _changing = self.changing.lock();
        if self.connected.load().is_some() {
            return Err(AlreadyConnected {}.into());
        }
        let publisher = self
            .header
            .connect(&self.channel, call, Arc::clone(&peer))?;
        self.connected.store(Some(Arc::new((publisher, peer))));
        Ok(())
    }
}

impl PushConsumerServant for ConsumerProxy {
    fn push(&self, _: &Call<'_>, data: &Any) -> Result<(), DisconnectedError> {
        let connected = self.connected.load();
        let (publisher, _) = connected.as_deref().ok_or(Disconnected {})?;
        publisher.push(&[self.header.event(data.clone())]);
        Ok(())
    }

    fn disconnect_push_consumer(&self, call: &Call<'_>) -> Result<(), SystemException> {
        let changing = self.changing.lock();
        let connected = self.connected.swap(None);
        drop(changing);
        end_object(&call.poa(), call.object_id());
        if let Some((publisher, supplier)) = connected.as_deref()
            && publisher.disconnect()
        {
            supplier.disconnect();
        }
        Ok(())
    }
}
