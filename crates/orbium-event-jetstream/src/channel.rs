// SPDX-License-Identifier: MIT OR Apache-2.0
//! A persistent channel, and the object that clients reach first.

use std::sync::Arc;

use orbium::{Call, Interface, Orb, PoaError, Policies, SystemException};
use orbium_event::rtec::orbium_event::{
    ChannelState, DurableConsumerAdmin, MonitoredChannel, MonitoredChannelServant,
};
use orbium_event::rtec::rtec_event_channel_admin::event_channel::{
    CantAppendObserver, CantRemoveObserver,
};
use orbium_event::rtec::rtec_event_channel_admin::{
    ConsumerAdmin, EventChannelServant, Observer, ObserverHandle, SupplierAdmin,
    SynchronizationErrorOrCantAppendObserverError, SynchronizationErrorOrCantRemoveObserverError,
};

use crate::config::JetStreamConfig;
use crate::consumers::Consumers;
use crate::counts::StreamStatistics;
use crate::error::JetStreamError;
use crate::names::Names;
use crate::proxies::Proxies;
use crate::shared::Shared;
use crate::stream::Stream;
use crate::suppliers::Suppliers;

/// An event channel that stores events in a stream of NATS JetStream before it delivers them.
///
/// The push of a supplier that waits for its reply ([`connect_supplier`](crate::connect_supplier)) returns
/// when the stream has acknowledged the events. A consumer with a name gets every event that it
/// subscribes to at least once, whichever of channel, NATS server and consumer is killed.
/// Several channels on one stream, on one host or many, are one channel to their peers.
///
/// ```no_run
/// use orbium::Orb;
/// use orbium_event_jetstream::{JetStreamConfig, PersistentChannel};
///
/// let orb = Orb::builder().endpoint("iiop://localhost:5020")?.build()?;
/// let config = JetStreamConfig::new("nats://127.0.0.1:4222", "ALARMS");
/// let channel = PersistentChannel::open(config)?;
/// let reference = channel.serve(&orb, "EventService")?;
/// println!("{}", orb.object_to_string(&reference));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct PersistentChannel {
    pub(crate) shared: Arc<Shared>,
}

impl PersistentChannel {
    /// Connects to the stream, and makes it if there is none.
    ///
    /// # Errors
    /// [`JetStreamError`]: the server cannot be reached within
    /// [`connect_timeout`](JetStreamConfig::connect_timeout), or refuses the stream.
    pub fn open(config: JetStreamConfig) -> Result<Self, JetStreamError> {
        let (consumers, suppliers) = (config.consumers, config.suppliers);
        let shared = Shared {
            stream: Arc::new(Stream::open(config)?),
            consumers: Proxies::new(consumers),
            suppliers: Proxies::new(suppliers),
            names: Names::default(),
        };
        Ok(Self {
            shared: Arc::new(shared),
        })
    }

    /// Serves the channel as `RtecEventChannelAdmin::EventChannel`: `corbaloc::host:port/EventService`
    /// leads to it if `key` is `EventService`. Its objects are in an adapter `EventChannel/key` with
    /// the manager of the root POA, which is activated.
    ///
    /// # Errors
    /// [`PoaError`]: the ORB serves a channel under that key, cannot listen, or is shut down.
    pub fn serve(&self, orb: &Orb, key: &str) -> Result<MonitoredChannel, PoaError> {
        let root = orb.root_poa();
        let name = format!("EventChannel/{key}");
        let poa = root.create_poa(&name, Some(root.manager()), Policies::default())?;
        let consumers: DurableConsumerAdmin = poa.activate(Consumers {
            shared: Arc::clone(&self.shared),
        })?;
        let suppliers: SupplierAdmin = poa.activate(Suppliers {
            shared: Arc::clone(&self.shared),
        })?;
        let reference: MonitoredChannel = poa.activate(ChannelObject {
            shared: Arc::clone(&self.shared),
            consumers: ConsumerAdmin::from_object(consumers.as_object().clone()),
            suppliers,
        })?;
        orb.bind_key(key, &reference)?;
        root.manager().activate()?;
        Ok(reference)
    }

    /// What the channel has counted.
    #[must_use]
    pub fn statistics(&self) -> StreamStatistics {
        self.shared.stream.counts.snapshot()
    }
}

impl std::fmt::Debug for PersistentChannel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PersistentChannel")
            .field("stream", &self.shared.stream.config.stream)
            .field("statistics", &self.statistics())
            .finish_non_exhaustive()
    }
}

struct ChannelObject {
    shared: Arc<Shared>,
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

    /// Ends the objects of the channel. The stream and the positions in it remain.
    fn destroy(&self, call: &Call<'_>) -> Result<(), SystemException> {
        self.shared.consumers.end_all();
        self.shared.suppliers.end_all();
        let poa = call.poa();
        for admin in [self.consumers.as_object(), self.suppliers.as_object()] {
            if let Ok(id) = poa.reference_to_id(admin) {
                // It may have ended already.
                let _ = poa.deactivate(&id);
            }
        }
        Ok(poa.deactivate(call.object_id())?)
    }

    fn append_observer(
        &self,
        _: &Call<'_>,
        _: Option<&Observer>,
    ) -> Result<ObserverHandle, SynchronizationErrorOrCantAppendObserverError> {
        Err(CantAppendObserver {}.into())
    }

    fn remove_observer(
        &self,
        _: &Call<'_>,
        _: ObserverHandle,
    ) -> Result<(), SynchronizationErrorOrCantRemoveObserverError> {
        Err(CantRemoveObserver {}.into())
    }
}

impl MonitoredChannelServant for ChannelObject {
    fn state(&self, _: &Call<'_>) -> Result<ChannelState, SystemException> {
        let counts = self.shared.stream.counts.snapshot();
        Ok(ChannelState {
            received: counts.stored,
            refused: counts.refused,
            dropped_consumers: 0,
            suppliers: self.shared.suppliers.connected().len() as u64,
            consumers: self.shared.consumers.connected(),
        })
    }
}
