// SPDX-License-Identifier: MIT OR Apache-2.0
//! The public handle of the Notification Service.

use std::sync::Arc;

use orbium::{
    ExceptionKind, Orb, SystemException,
    poa::{IdAssignment, Lifespan, Poa, Policies},
};
use orbium_event::Channel;

use crate::config::NotificationConfig;
use crate::connections::{Connections, Saved};
use crate::core_channel::{CoreChannel, EventHeaders};
use crate::error::ServiceError;
use crate::idl::cos_notify_channel_admin::{EventChannel, EventChannelFactory};
use crate::journal::Journal;
use crate::servants::{Behind, Factory};

/// A factory of channels, served by an ORB. Its channels end with the ORB.
pub struct NotificationService {
    factory: Arc<Factory>,
    reference: EventChannelFactory,
    channel: EventChannel,
}

/// Counts of a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelStatistics {
    /// The number of the channel.
    pub id: i32,
    /// Events that suppliers have pushed, including those that filters have discarded.
    pub received: u64,
    /// Suppliers, including those that are not connected.
    pub suppliers: usize,
    /// The counts of each consumer's events.
    pub consumers: Vec<ConsumerStatistics>,
}

/// Counts of the events that passed a consumer's filters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConsumerStatistics {
    /// The number of its proxy.
    pub id: i32,
    /// Events pushed or pulled.
    pub delivered: u64,
    /// Events for which the queue had no space.
    pub discarded: u64,
    /// Events that had expired.
    pub expired: u64,
    /// Events of pushes that failed.
    pub lost: u64,
    /// Events that wait.
    pub queued: usize,
}

impl NotificationService {
    /// Serves a factory with one channel under two keys: `key` is the channel, `key` followed by
    /// `Factory` the factory. Their objects are in an adapter `NotificationService/key` with the
    /// manager of the root POA, which is activated.
    ///
    /// # Errors
    /// [`ServiceError`]: the key is in use, or the ORB cannot listen or is shut down; the file of
    /// connections cannot be used.
    pub fn serve(orb: &Orb, key: &str, config: NotificationConfig) -> Result<Self, ServiceError> {
        Self::serve_with(orb, key, config, Behind::Nothing)
    }

    /// As [`serve`](Self::serve), with a channel that stores its events in a journal before it
    /// delivers them. Named consumers connect by `OrbiumNotification::DurableConsumerAdmin`.
    /// Channels of the factory store no events.
    ///
    /// # Errors
    /// As [`serve`](Self::serve); there is no connection to the journal.
    pub fn serve_stored(
        orb: &Orb,
        key: &str,
        config: NotificationConfig,
        journal: Arc<dyn Journal>,
    ) -> Result<Self, ServiceError> {
        Self::serve_with(orb, key, config, Behind::Journal(journal))
    }

    /// As [`serve`](Self::serve), with a channel in front of a real-time event channel: events of
    /// suppliers of either kind reach consumers of both. Structured events are the anys of events
    /// with the types and sources of `headers`; events of other suppliers are structured ones with
    /// fields `type` and `source`, for filters, and the any or the payload as the remainder. A push
    /// returns when the real-time channel has queued the event.
    ///
    /// Consumers are those of the real-time channel: its queues contain the events that their
    /// filters pass, by their order and discard policies, its threads push, and its failure policy
    /// disconnects them. Channels of the factory have separate event channels.
    ///
    /// ```
    /// use orbium::Orb;
    /// use orbium_event::{Channel, ChannelConfig};
    /// use orbium_notification::{EventHeaders, NotificationConfig, NotificationService};
    ///
    /// let orb = Orb::builder().endpoint("iiop://localhost:0")?.build()?;
    /// let sensors = Channel::new(ChannelConfig::default());
    /// sensors.serve(&orb, "EventService")?;
    /// let headers = EventHeaders::new(16, 1).with("Telecom", "Alarm", (17, 1));
    /// let config = NotificationConfig::default();
    /// let service = NotificationService::serve_over(&orb, "Alarms", config, (&sensors, headers))?;
    /// # drop(service);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`serve`](Self::serve); the channel is destroyed, or its maximum number of peers is
    /// reached.
    pub fn serve_over(
        orb: &Orb,
        key: &str,
        config: NotificationConfig,
        (channel, headers): (&Channel, EventHeaders),
    ) -> Result<Self, ServiceError> {
        let behind = CoreChannel::in_front_of(channel, headers)?;
        Self::serve_with(orb, key, config, Behind::RealTime(Box::new(behind)))
    }

    fn serve_with(
        orb: &Orb,
        key: &str,
        config: NotificationConfig,
        behind: Behind,
    ) -> Result<Self, ServiceError> {
        let root = orb.root_poa();
        let name = format!("NotificationService/{key}");
        let (poa, saved) = match &config.connections {
            None => {
                let poa = root.create_poa(&name, Some(root.manager()), Policies::default())?;
                (poa, (None, Saved::default()))
            }
            Some(file) => {
                let (connections, saved) = Connections::open(file)?;
                // The adapter's manager holds requests of connected peers until all objects are
                // active.
                let poa = root.create_poa(&name, None, persistent())?;
                (poa, (Some(connections), saved))
            }
        };
        let served = Self::serve_in((orb, &poa), key, config, saved, behind);
        // Objects that were already activated are deactivated when this returns.
        served.inspect_err(|_| {
            let _ = poa.destroy(true);
        })
    }

    fn serve_in(
        (orb, poa): (&Orb, &Poa),
        key: &str,
        config: NotificationConfig,
        saved: (Option<Connections>, Saved),
        behind: Behind,
    ) -> Result<Self, ServiceError> {
        let (factory, reference) = Factory::serve(config, (orb, poa), saved, behind)?;
        let channel = factory.first();
        let channel = channel.ok_or(SystemException::from(ExceptionKind::ObjectNotExist))?;
        orb.bind_key(key, &channel)?;
        orb.bind_key(&format!("{key}Factory"), &reference)?;
        poa.manager().activate()?;
        orb.root_poa().manager().activate()?;
        Ok(Self {
            factory,
            reference,
            channel,
        })
    }

    /// The factory.
    #[must_use]
    pub fn factory(&self) -> &EventChannelFactory {
        &self.reference
    }

    /// The channel that was created with the service.
    #[must_use]
    pub fn channel(&self) -> &EventChannel {
        &self.channel
    }

    /// The counts of each channel.
    #[must_use]
    pub fn statistics(&self) -> Vec<ChannelStatistics> {
        let channels = self.factory.each();
        let statistics = channels.into_iter().map(|(id, channel)| {
            let consumers = channel.consumers();
            let consumers = consumers.iter().map(|it| {
                let (counts, queued) = it.counts();
                ConsumerStatistics {
                    id: it.id,
                    delivered: counts.delivered,
                    discarded: counts.discarded,
                    expired: counts.expired,
                    lost: counts.lost,
                    queued,
                }
            });
            ChannelStatistics {
                id,
                received: channel.received(),
                suppliers: channel.suppliers().len(),
                consumers: consumers.collect(),
            }
        });
        statistics.collect()
    }
}

/// Policies of objects that exist again after a restart, under the same keys.
fn persistent() -> Policies {
    Policies {
        lifespan: Lifespan::Persistent,
        id_assignment: IdAssignment::User,
        ..Policies::default()
    }
}

impl std::fmt::Debug for NotificationService {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NotificationService")
            .field("statistics", &self.statistics())
            .finish_non_exhaustive()
    }
}
