// SPDX-License-Identifier: MIT OR Apache-2.0
//! A channel of this process as CORBA objects.

use orbium::{
    Interface, Orb,
    poa::{PoaError, Policies},
};

use super::consumers::Consumers;
use super::object::{ServedChannel, serve_channel};
use super::observer::RemoteObserver;
use super::suppliers::Suppliers;
use crate::channel::Channel;
use crate::proxies::ProxyCount;
use crate::rtec::orbium_event::{
    ChannelState, ConsumerState, MonitoredChannel, ReplayingConsumerAdmin,
};
use crate::rtec::rtec_event_channel_admin::{ConsumerAdmin, Observer, ObserverHandle};

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

    /// As [`serve`](Self::serve), with policies for the adapter `EventChannel/key`, such as a
    /// separate lane. If a channel is served under several keys, each with the lane of a rate
    /// group, its suppliers' events are received at the priority of the lane that they connect
    /// through.
    ///
    /// ```
    /// use orbium::{Orb, poa::Policies};
    /// use orbium_event::{Channel, ChannelConfig};
    ///
    /// let orb = Orb::builder().build()?;
    /// let channel = Channel::new(ChannelConfig::default());
    /// for (rate, port) in [("20Hz", 0), ("1Hz", 0)] {
    ///     let lane = orb.add_lane(&orbium::lane::LaneConfig {
    ///         name: rate.to_owned(),
    ///         endpoints: vec![format!("iiop://127.0.0.1:{port}").parse()?],
    ///         ..orbium::lane::LaneConfig::default()
    ///     })?;
    ///     let policies = Policies { lanes: vec![lane], ..Policies::default() };
    ///     channel.serve_under(&orb, rate, policies)?;
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`serve`](Self::serve); the policies are invalid for an adapter with active objects.
    pub fn serve_under(
        &self,
        orb: &Orb,
        key: &str,
        policies: Policies,
    ) -> Result<MonitoredChannel, PoaError> {
        serve_channel(self.clone(), (orb, key, policies), |poa| {
            let consumers = Consumers {
                channel: self.clone(),
                count: ProxyCount::default(),
            };
            let suppliers = Suppliers {
                channel: self.clone(),
                count: ProxyCount::default(),
            };
            let consumers: ReplayingConsumerAdmin = poa.activate(consumers)?;
            let consumers = ConsumerAdmin::from_object(consumers.as_object().clone());
            Ok((consumers, poa.activate(suppliers)?))
        })
    }
}

impl ServedChannel for Channel {
    fn state(&self) -> ChannelState {
        let statistics = self.statistics();
        let consumers = statistics.consumers.iter().map(|it| ConsumerState {
            id: it.id,
            delivered: it.delivered,
            discarded: it.discarded + it.expired,
            suspended: it.suspended,
            lost: it.lost,
            queued: it.queued as u64,
            is_suspended: it.is_suspended,
            is_suspect: it.is_suspect,
        });
        ChannelState {
            received: statistics.received,
            refused: statistics.refused,
            dropped_consumers: statistics.dropped_consumers,
            refused_priorities: statistics.refused_priorities as u64,
            suppliers: statistics.suppliers as u64,
            consumers: consumers.collect(),
        }
    }

    fn destroy(&self) {
        Self::destroy(self);
    }

    fn append_observer(&self, observer: &Observer) -> Option<ObserverHandle> {
        let observer = RemoteObserver::new(observer, self.config().ping_timeout);
        Self::append_observer(self, observer).ok()
    }

    fn remove_observer(&self, handle: ObserverHandle) -> bool {
        Self::remove_observer(self, handle)
    }
}
