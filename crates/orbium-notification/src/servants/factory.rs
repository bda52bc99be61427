// SPDX-License-Identifier: MIT OR Apache-2.0
//! The factory of channels.

mod restoring;

use std::collections::BTreeMap;
use std::sync::Arc;

use orbium::lock::{Mutex, MutexGuard};
use orbium::{
    Call, ExceptionKind, Orb, SystemException,
    poa::{Poa, PoaError},
};

use super::channel::{ChannelObject, FactoryReference, new_default_admins, serve_channel};
use super::filters::FilterFactoryObject;
use crate::channel::Channel;
use crate::config::NotificationConfig;
use crate::connections::key::Key;
use crate::connections::objects::Objects;
use crate::connections::{Connections, Saved};
use crate::core_channel::CoreChannel;
use crate::error::ServiceError;
use crate::event::updates::Updates;
use crate::filter::filter_table::FilterTable;
use crate::idl::cos_notification::{Property, UnsupportedAdmin, UnsupportedQoS};
use crate::idl::cos_notify_channel_admin::{
    ChannelNotFound, ChannelNotFoundError, EventChannel, EventChannelFactory,
    EventChannelFactoryCreateChannelResults, EventChannelFactoryServant,
    UnsupportedQoSOrUnsupportedAdminError,
};
use crate::idl::cos_notify_filter::FilterFactory;
use crate::journal::Journal;

/// The number of the service's own channel.
pub(super) const FIRST: i32 = 1;

/// Channels by their ids.
pub(crate) struct Factory {
    pub(super) config: Arc<NotificationConfig>,
    pub(super) objects: Objects,
    pub(super) filters: FilterFactoryObject,
    filter_factory: FilterFactory,
    channels: Mutex<Channels>,
    reference: FactoryReference,
}

#[derive(Default)]
struct Channels {
    next: i32,
    by_id: BTreeMap<i32, (EventChannel, Arc<Channel>)>,
}

/// The event channel or journal behind a channel.
pub(crate) enum Behind {
    Nothing,
    /// A journal: events are stored before they are delivered.
    Journal(Arc<dyn Journal>),
    /// A real-time event channel, which has other consumers too.
    RealTime(Box<CoreChannel>),
}

/// The servant of a factory.
pub(super) struct FactoryObject(pub(super) Arc<Factory>);

impl Factory {
    /// A factory with its objects in that adapter, and the channel of its service.
    pub(crate) fn serve(
        config: NotificationConfig,
        (orb, poa): (&Orb, &Poa),
        (connections, saved): (Option<Connections>, Saved),
        behind: Behind,
    ) -> Result<(Arc<Self>, EventChannelFactory), ServiceError> {
        let config = Arc::new(config);
        let objects = Objects::new(poa, connections);
        let filters = FilterFactoryObject {
            config: Arc::clone(&config),
            objects: objects.clone(),
            table: FilterTable::default(),
            updates: Updates::default(),
        };
        let factory = Arc::new(Self {
            config,
            filter_factory: objects.activate(Key::FILTER_FACTORY, filters.clone())?,
            objects,
            filters,
            channels: Mutex::default(),
            reference: FactoryReference::default(),
        });
        let object = FactoryObject(Arc::clone(&factory));
        let reference: EventChannelFactory = factory.objects.activate(Key::FACTORY, object)?;
        // It is set nowhere else.
        let _ = factory.reference.set(reference.clone());
        factory.restore(orb, saved, behind)?;
        Ok((factory, reference))
    }

    fn channels(&self) -> MutexGuard<'_, Channels> {
        self.channels.lock()
    }

    pub(super) fn new_channel(
        &self,
        id: i32,
        behind: (CoreChannel, Option<Arc<dyn Journal>>),
    ) -> Channel {
        let (table, updates) = (self.filters.table.clone(), self.filters.updates.clone());
        let objects = self.objects.clone();
        Channel::new(&self.config, (id, objects), table, updates, behind)
    }

    /// The number of one more channel.
    pub(super) fn next_id(&self) -> Result<i32, SystemException> {
        let Some(connections) = self.objects.connections() else {
            let mut channels = self.channels();
            channels.next += 1;
            return Ok(channels.next);
        };
        connections.next(|numbers| &mut numbers.next_channel)
    }

    /// Activates the objects of a new channel.
    pub(super) fn add(self: &Arc<Self>, channel: Channel) -> Result<EventChannel, PoaError> {
        let channel = Arc::new(channel);
        channel.save()?;
        let reference = self.enter(&channel)?;
        new_default_admins(&channel, &reference)?;
        channel.follow_journal()?;
        Ok(reference)
    }

    /// Activates the object of a channel, by its number.
    pub(super) fn enter(
        self: &Arc<Self>,
        channel: &Arc<Channel>,
    ) -> Result<EventChannel, PoaError> {
        let (id, weak) = (channel.id, Arc::downgrade(self));
        let reference = serve_channel(ChannelObject {
            factory: Arc::clone(&self.reference),
            on_destroy: Box::new(move || {
                if let Some(factory) = weak.upgrade() {
                    factory.remove(id);
                }
            }),
            channel: Arc::clone(channel),
            filter_factory: self.filter_factory.clone(),
        })?;
        let entry = (reference.clone(), Arc::clone(channel));
        self.channels().by_id.insert(id, entry);
        Ok(reference)
    }

    /// The reference of the channel of the service.
    pub(crate) fn first(&self) -> Option<EventChannel> {
        let channels = self.channels();
        channels
            .by_id
            .get(&FIRST)
            .map(|(reference, _)| reference.clone())
    }

    /// Removes a channel that has been destroyed.
    fn remove(&self, id: i32) {
        self.channels().by_id.remove(&id);
    }

    /// The numbers of all channels, with the channels.
    pub(crate) fn each(&self) -> Vec<(i32, Arc<Channel>)> {
        let channels = self.channels();
        let all = channels
            .by_id
            .iter()
            .map(|(id, (_, it))| (*id, Arc::clone(it)));
        all.collect()
    }
}

impl EventChannelFactoryServant for FactoryObject {
    fn create_channel(
        &self,
        _: &Call<'_>,
        initial_qos: &[Property],
        initial_admin: &[Property],
    ) -> Result<EventChannelFactoryCreateChannelResults, UnsupportedQoSOrUnsupportedAdminError>
    {
        let factory = &self.0;
        if factory.channels().by_id.len() >= factory.config.channels {
            return Err(SystemException::from(ExceptionKind::ImpLimit).into());
        }
        let core = CoreChannel::own(&factory.config, 0)?;
        let id = factory.next_id()?;
        let channel = factory.new_channel(id, (core, None));
        let set = channel.level.set(initial_qos);
        set.map_err(|qos_err| UnsupportedQoS { qos_err })?;
        let set = channel.administration.set(initial_admin);
        set.map_err(|admin_err| UnsupportedAdmin { admin_err })?;
        let reference = factory.add(channel).map_err(SystemException::from)?;
        Ok(EventChannelFactoryCreateChannelResults {
            result: Some(reference),
            id,
        })
    }

    fn get_all_channels(&self, _: &Call<'_>) -> Result<Vec<i32>, SystemException> {
        Ok(self.0.channels().by_id.keys().copied().collect())
    }

    fn get_event_channel(
        &self,
        _: &Call<'_>,
        id: i32,
    ) -> Result<Option<EventChannel>, ChannelNotFoundError> {
        match self.0.channels().by_id.get(&id) {
            Some((channel, _)) => Ok(Some(channel.clone())),
            None => Err(ChannelNotFound {}.into()),
        }
    }
}
