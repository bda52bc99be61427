// SPDX-License-Identifier: MIT OR Apache-2.0
//! The object that clients reach first.

use orbium::{Call, ExceptionKind, Interface, Orb, PoaError, Policies, SystemException};

use super::consumers::Consumers;
use super::observer::RemoteObserver;
use super::suppliers::Suppliers;
use crate::channel::Channel;
use crate::proxies::{ProxyCount, adapter, destroy, publish};
use crate::rtec::orbium_event::{
    ChannelState, ConsumerState, MonitoredChannel, MonitoredChannelServant,
};
use crate::rtec::rtec_event_channel_admin::event_channel::{
    CantAppendObserver, CantRemoveObserver,
};
use crate::rtec::rtec_event_channel_admin::{
    ConsumerAdmin, EventChannelServant, Observer, ObserverHandle, SupplierAdmin,
    SynchronizationErrorOrCantAppendObserverError, SynchronizationErrorOrCantRemoveObserverError,
};

impl Channel {
    /// Serves the channel: `corbaloc::host:port/EventService` leads to it if `key` is
    /// `EventService`. Its objects are in an adapter `EventChannel/key` of their own, with the
    /// manager of the root POA, which is activated.
    ///
    /// # Errors
    /// [`PoaError`]: the ORB serves a channel under that key, cannot listen, or is shut down.
    pub fn serve(&self, orb: &Orb, key: &str) -> Result<MonitoredChannel, PoaError> {
        self.serve_under(orb, key, Policies::default())
    }

    /// As [`serve`](Self::serve), with the policies of the adapter `EventChannel/key`: with a lane of
    /// its own, say. A channel that is served under several keys, each with the lane of a rate group,
    /// has its suppliers' events received at the priority of the lane that they connect through.
    ///
    /// ```
    /// use orbium::{Orb, Policies};
    /// use orbium_event::{Channel, ChannelConfig};
    ///
    /// let orb = Orb::builder().build()?;
    /// let channel = Channel::new(ChannelConfig::default());
    /// for (rate, port) in [("20Hz", 0), ("1Hz", 0)] {
    ///     let lane = orb.add_lane(&orbium::LaneConfig {
    ///         name: rate.to_owned(),
    ///         endpoints: vec![format!("iiop://127.0.0.1:{port}").parse()?],
    ///         ..orbium::LaneConfig::default()
    ///     })?;
    ///     let policies = Policies { lanes: vec![lane], ..Policies::default() };
    ///     channel.serve_under(&orb, rate, policies)?;
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`serve`](Self::serve); the policies are none of an adapter with active objects.
    pub fn serve_under(
        &self,
        orb: &Orb,
        key: &str,
        policies: Policies,
    ) -> Result<MonitoredChannel, PoaError> {
        let poa = adapter(orb, &format!("EventChannel/{key}"), policies)?;
        let consumers: ConsumerAdmin = poa.activate(Consumers {
            channel: self.clone(),
            count: ProxyCount::default(),
        })?;
        let suppliers: SupplierAdmin = poa.activate(Suppliers {
            channel: self.clone(),
            count: ProxyCount::default(),
        })?;
        let reference: MonitoredChannel = poa.activate(ChannelObject {
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
        destroy(&self.channel, call, admins);
        Ok(())
    }

    fn append_observer(
        &self,
        _: &Call<'_>,
        gw: Option<&Observer>,
    ) -> Result<ObserverHandle, SynchronizationErrorOrCantAppendObserverError> {
        let nil = SystemException::from(ExceptionKind::BadParam);
        let observer = RemoteObserver::new(gw.ok_or(nil)?, self.channel.config());
        let appended = self.channel.append_observer(observer);
        appended.map_err(|_| CantAppendObserver {}.into())
    }

    fn remove_observer(
        &self,
        _: &Call<'_>,
        handle: ObserverHandle,
    ) -> Result<(), SynchronizationErrorOrCantRemoveObserverError> {
        match self.channel.remove_observer(handle) {
            true => Ok(()),
            false => Err(CantRemoveObserver {}.into()),
        }
    }
}

impl MonitoredChannelServant for ChannelObject {
    fn state(&self, _: &Call<'_>) -> Result<ChannelState, SystemException> {
        let statistics = self.channel.statistics();
        let consumers = statistics.consumers.iter().map(|it| ConsumerState {
            id: it.id,
            delivered: it.delivered,
            discarded: it.discarded,
            suspended: it.suspended,
            lost: it.lost,
            queued: it.queued as u64,
            is_suspended: it.is_suspended,
            is_suspect: it.is_suspect,
        });
        Ok(ChannelState {
            received: statistics.received,
            refused: statistics.refused,
            dropped_consumers: statistics.dropped_consumers,
            suppliers: statistics.suppliers as u64,
            consumers: consumers.collect(),
        })
    }
}
