// SPDX-License-Identifier: MIT OR Apache-2.0
//! A channel as COS Event: consumers get every event, as an any.

mod consumers;
mod header;
mod peers;
mod pull_suppliers;
mod suppliers;

use orbium::{
    Call, Interface, Orb, SystemException,
    poa::{PoaError, Policies},
};

use crate::channel::Channel;
use crate::cos_event::cos_event_channel_admin::{
    ConsumerAdmin, EventChannel, EventChannelServant, SupplierAdmin,
};
use crate::proxies::{ProxyCount, adapter, end_objects, publish};

pub use header::CosHeader;

impl Channel {
    /// Serves the channel as COS Event, under a separate key: events of suppliers of either kind
    /// reach consumers of both. For COS consumers an event without any is an any of the whole
    /// `RtecEventComm::Event`.
    ///
    /// Its objects are in an adapter `CosEventChannel/key`, with the manager of the root POA, which
    /// is activated. There are no typed channels. Each pull supplier has a thread that polls it by
    /// `try_pull` ([`ChannelConfig::pull_period`](crate::ChannelConfig)); one that fails is
    /// disconnected by [`ChannelConfig::failure`](crate::ChannelConfig).
    ///
    /// # Errors
    /// [`PoaError`]: the ORB already serves a channel under that key, cannot listen, or is shut
    /// down.
    pub fn serve_cos(
        &self,
        orb: &Orb,
        key: &str,
        header: CosHeader,
    ) -> Result<EventChannel, PoaError> {
        let poa = adapter(orb, &format!("CosEventChannel/{key}"), Policies::default())?;
        let consumers: ConsumerAdmin = poa.activate(consumers::Consumers {
            channel: self.clone(),
            count: ProxyCount::default(),
        })?;
        let suppliers: SupplierAdmin = poa.activate(suppliers::Suppliers {
            channel: self.clone(),
            header,
            count: ProxyCount::default(),
        })?;
        let reference: EventChannel = poa.activate(ChannelObject {
            channel: self.clone(),
            consumers,
            suppliers,
        })?;
        publish(orb, key, &reference)?;
        Ok(reference)
    }
}

struct ChannelObject {
    channel: Channel,
    consumers: ConsumerAdmin,
    suppliers: SupplierAdmin,
}

impl EventChannelServant for ChannelObject {
    fn for_consumers(&self, _: &Call<'_>) -> Result<Option<ConsumerAdmin>, SystemException> {
        Ok(Some(self.consumers.clone()))
    }

    fn for_suppliers(&self, _: &Call<'_>) -> Result<Option<SupplierAdmin>, SystemException> {
        Ok(Some(self.suppliers.clone()))
    }

    fn destroy(&self, call: &Call<'_>) -> Result<(), SystemException> {
        let admins = [self.consumers.as_object(), self.suppliers.as_object()];
        self.channel.destroy();
        end_objects(call, admins);
        Ok(())
    }
}
