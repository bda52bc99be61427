// SPDX-License-Identifier: MIT OR Apache-2.0
//! The factory of channels.

use std::collections::BTreeMap;
use std::sync::Arc;

use orbium::lock::{Mutex, MutexGuard};
use orbium::{Call, ExceptionKind, Poa, PoaError, SystemException};

use super::channel::{ChannelObject, FactoryReference, serve_channel};
use super::filters::FilterFactoryObject;
use crate::channel::Channel;
use crate::config::NotificationConfig;
use crate::core_channel::CoreChannel;
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

/// Channels by their ids.
pub(crate) struct Factory {
    pub(super) config: Arc<NotificationConfig>,
    filter_table: FilterTable,
    updates: Updates,
    filter_factory: FilterFactory,
    channels: Mutex<Channels>,
    reference: FactoryReference,
}

#[derive(Default)]
struct Channels {
    next: i32,
    by_id: BTreeMap<i32, (EventChannel, Arc<Channel>)>,
}

/// What is behind a channel.
pub(crate) enum Behind {
    Nothing,
    /// It stores events before they are delivered.
    Journal(Arc<dyn Journal>),
    /// It delivers events, to consumers of its own too.
    RealTime(Box<CoreChannel>),
}

/// What serves a factory.
pub(super) struct FactoryObject(pub(super) Arc<Factory>);

impl Factory {
    /// A factory with its objects in that adapter.
    pub(crate) fn serve(
        config: NotificationConfig,
        poa: &Poa,
    ) -> Result<(Arc<Self>, EventChannelFactory), PoaError> {
        let config = Arc::new(config);
        let (filter_table, updates) = (FilterTable::default(), Updates::default());
        let filter_factory = poa.activate(FilterFactoryObject {
            config: Arc::clone(&config),
            table: filter_table.clone(),
            updates: updates.clone(),
        })?;
        let factory = Arc::new(Self {
            config,
            filter_table,
            updates,
            filter_factory,
            channels: Mutex::default(),
            reference: FactoryReference::default(),
        });
        let reference: EventChannelFactory = poa.activate(FactoryObject(Arc::clone(&factory)))?;
        // It is set here alone.
        let _ = factory.reference.set(reference.clone());
        Ok((factory, reference))
    }

    fn channels(&self) -> MutexGuard<'_, Channels> {
        self.channels.lock()
    }

    fn new_channel(&self, poa: &Poa, core: CoreChannel) -> Channel {
        let (table, updates) = (self.filter_table.clone(), self.updates.clone());
        Channel::new(&self.config, poa.clone(), table, updates, core)
    }

    /// A channel without properties of its own, with what is behind it.
    pub(crate) fn first(
        self: &Arc<Self>,
        poa: &Poa,
        behind: Behind,
    ) -> Result<EventChannel, PoaError> {
        let (journal, core) = match behind {
            Behind::Nothing => (None, CoreChannel::own(&self.config)?),
            Behind::Journal(journal) => (Some(journal), CoreChannel::own(&self.config)?),
            Behind::RealTime(core) => (None, *core),
        };
        let channel = self.new_channel(poa, core).with_journal(journal);
        Ok(self.add(channel)?.0)
    }

    fn add(self: &Arc<Self>, channel: Channel) -> Result<(EventChannel, i32), PoaError> {
        let (channel, weak) = (Arc::new(channel), Arc::downgrade(self));
        let mut channels = self.channels();
        channels.next += 1;
        let id = channels.next;
        let reference = serve_channel(ChannelObject {
            factory: Arc::clone(&self.reference),
            on_destroy: Box::new(move || {
                if let Some(factory) = weak.upgrade() {
                    factory.remove(id);
                }
            }),
            channel: Arc::clone(&channel),
            filter_factory: self.filter_factory.clone(),
        })?;
        channels.by_id.insert(id, (reference.clone(), channel));
        Ok((reference, id))
    }

    /// Forgets a channel that has been destroyed.
    fn remove(&self, id: i32) {
        self.channels().by_id.remove(&id);
    }

    /// The numbers of all channels, and what they have counted.
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
        call: &Call<'_>,
        initial_qos: &[Property],
        initial_admin: &[Property],
    ) -> Result<EventChannelFactoryCreateChannelResults, UnsupportedQoSOrUnsupportedAdminError>
    {
        let factory = &self.0;
        let core = CoreChannel::own(&factory.config)?;
        let channel = factory.new_channel(&call.poa(), core);
        let set = channel.level.set(initial_qos);
        set.map_err(|qos_err| UnsupportedQoS { qos_err })?;
        let set = channel.administration.set(initial_admin);
        set.map_err(|admin_err| UnsupportedAdmin { admin_err })?;
        if factory.channels().by_id.len() >= factory.config.channels {
            return Err(SystemException::from(ExceptionKind::ImpLimit).into());
        }
        let (channel, id) = factory.add(channel).map_err(SystemException::from)?;
        Ok(EventChannelFactoryCreateChannelResults {
            result: Some(channel),
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
