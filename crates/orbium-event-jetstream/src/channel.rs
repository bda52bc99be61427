// SPDX-License-Identifier: MIT OR Apache-2.0
//! A persistent channel, and its channel object.

use std::sync::Arc;

use orbium::{
    Interface, Orb,
    poa::{PoaError, Policies},
};
use orbium_event::rtec::orbium_event::{ChannelState, DurableConsumerAdmin, MonitoredChannel};
use orbium_event::rtec::rtec_event_channel_admin::{ConsumerAdmin, Observer, ObserverHandle};
use orbium_event::{RemoteObserver, ServedChannel, serve_channel};

use crate::config::JetStreamConfig;
use crate::counts::StreamStatistics;
use crate::error::JetStreamError;
use crate::servants::channel_state::Shared;
use crate::servants::consumers::Consumers;
use crate::servants::named_consumers::Names;
use crate::servants::observation::Observation;
use crate::servants::proxies::Proxies;
use crate::servants::suppliers::Suppliers;
use crate::stream::Stream;

/// An event channel that stores events in a stream of NATS JetStream before it delivers them.
///
/// The push of a supplier that waits for its reply ([`connect_supplier`](crate::connect_supplier))
/// returns when the stream has acknowledged the events. A consumer with a name gets every event
/// that it subscribes to at least once, even if the channel, the NATS server or the consumer is
/// killed. Several channels on one stream, on one host or many, are one channel to their peers.
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
    /// Connects to the stream, and creates it if it does not exist.
    ///
    /// # Errors
    /// [`JetStreamError`]: the server cannot be reached within
    /// [`connect_timeout`](JetStreamConfig::connect_timeout), or refuses the stream.
    pub fn open(config: JetStreamConfig) -> Result<Self, JetStreamError> {
        let (consumers, suppliers) = (config.consumers, config.suppliers);
        let observers = config.observers;
        let shared = Shared {
            stream: Arc::new(Stream::open(config)?),
            consumers: Proxies::new(consumers),
            suppliers: Proxies::new(suppliers),
            names: Names::default(),
            observation: Observation::new(observers),
        };
        Ok(Self {
            shared: Arc::new(shared),
        })
    }

    /// Serves the channel as `RtecEventChannelAdmin::EventChannel`:
    /// `corbaloc::host:port/EventService` refers to it if `key` is `EventService`. Its objects are
    /// in an adapter `EventChannel/key` with the manager of the root POA, which is activated.
    ///
    /// # Errors
    /// [`PoaError`]: the ORB already serves a channel under that key, cannot listen, or is shut
    /// down.
    pub fn serve(&self, orb: &Orb, key: &str) -> Result<MonitoredChannel, PoaError> {
        let policies = Policies::default();
        serve_channel(self.clone(), (orb, key, policies), |poa| {
            let consumers: DurableConsumerAdmin = poa.activate(Consumers {
                shared: Arc::clone(&self.shared),
            })?;
            let consumers = ConsumerAdmin::from_object(consumers.as_object().clone());
            let suppliers = poa.activate(Suppliers {
                shared: Arc::clone(&self.shared),
            })?;
            Ok((consumers, suppliers))
        })
    }

    /// The counts of the channel.
    #[must_use]
    pub fn statistics(&self) -> StreamStatistics {
        self.shared.stream.statistics()
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

impl ServedChannel for PersistentChannel {
    fn state(&self) -> ChannelState {
        let counts = self.statistics();
        ChannelState {
            received: counts.stored + counts.spooled,
            refused: counts.refused,
            dropped_consumers: 0,
            refused_priorities: 0,
            suppliers: self.shared.suppliers.connected().len() as u64,
            consumers: self.shared.consumers.connected(),
        }
    }

    /// Retains the stream and the positions in it.
    fn destroy(&self) {
        self.shared.consumers.end_all();
        self.shared.suppliers.end_all();
    }

    /// The observer gets the sums of this channel's peers, not of others on the same stream.
    fn append_observer(&self, observer: &Observer) -> Option<ObserverHandle> {
        let timeout = self.shared.stream.config.push_timeout;
        let observer: Arc<dyn orbium_event::Observer> =
            Arc::new(RemoteObserver::new(observer, timeout));
        let runtime = self.shared.stream.runtime.handle().ok()?;
        let observation = &self.shared.observation;
        observation.append(&self.shared, &observer, runtime)
    }

    fn remove_observer(&self, handle: ObserverHandle) -> bool {
        self.shared.observation.remove(handle)
    }
}
