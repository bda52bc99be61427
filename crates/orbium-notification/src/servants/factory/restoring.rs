// SPDX-License-Identifier: MIT OR Apache-2.0
//! Restoration of a service's objects after a restart, from its file. The adapter holds requests
//! until all of them are active.

use std::collections::BTreeMap;
use std::mem;
use std::sync::Arc;

use orbium::{Orb, SystemException, poa::PoaError};

use super::{Behind, FIRST, Factory};
use crate::admin::Admin;
use crate::channel::{Channel, Side};
use crate::connections::key::{Key, Kind, number};
use crate::connections::records::{
    AdminRecord, ChannelRecord, FilterRecord, ProxyPhase, ProxyRecord,
};
use crate::connections::saving::{of_admin, of_consumer, of_supplier};
use crate::connections::settings::object;
use crate::connections::{Saved, shown};
use crate::core_channel::CoreChannel;
use crate::error::ServiceError;
use crate::filter::filters::FilterState;
use crate::filter::mapping::MappingState;
use crate::idl::cos_notify_channel_admin::EventChannel;
use crate::idl::cos_notify_filter::ConstraintInfo;
use crate::proxy_kind::ProxyKind;
use crate::servants::channel::{serve_consumer_admin, serve_supplier_admin};
use crate::servants::filters::filter_key;
use crate::servants::{admins, supplier_admins};

/// Reason why an object cannot be restored.
enum Fault {
    /// Its record is inconsistent with the others.
    Record(String),
    System(SystemException),
}

impl From<String> for Fault {
    fn from(why: String) -> Self {
        Self::Record(why)
    }
}

impl From<SystemException> for Fault {
    fn from(exception: SystemException) -> Self {
        Self::System(exception)
    }
}

impl From<PoaError> for Fault {
    fn from(error: PoaError) -> Self {
        Self::System(error.into())
    }
}

/// Restored channels.
type Channels = BTreeMap<i32, (EventChannel, Arc<Channel>)>;

impl Factory {
    /// Restores the objects of a file, and creates the channel of the service if it has none.
    pub(super) fn restore(
        self: &Arc<Self>,
        orb: &Orb,
        saved: Saved,
        behind: Behind,
    ) -> Result<(), ServiceError> {
        let own = || CoreChannel::own(&self.config, consumers_of(&saved, FIRST));
        let (core, journal) = match behind {
            Behind::Nothing => (own()?, None),
            Behind::Journal(journal) => (own()?, Some(journal)),
            Behind::RealTime(core) => (*core, None),
        };
        let first = self.new_channel(FIRST, (core, journal));
        let restored = self.restore_all(orb, saved, first);
        restored.map_err(|fault| match (fault, self.objects.connections()) {
            (Fault::Record(why), Some(connections)) => connections.damaged(why),
            (Fault::Record(_), None) => unreachable!("there are no records without a file"),
            (Fault::System(exception), _) => exception.into(),
        })
    }

    fn restore_all(
        self: &Arc<Self>,
        orb: &Orb,
        mut saved: Saved,
        first: Channel,
    ) -> Result<(), Fault> {
        for (id, record) in mem::take(&mut saved.filters) {
            self.restore_filter(orb, filter_key(id), record)?;
        }
        let is_new = saved.channels.iter().all(|(id, _)| *id != FIRST);
        let mut first = Some(first);
        let mut channels = Channels::new();
        for (id, record) in &saved.channels {
            let channel = match first.take_if(|_| *id == FIRST) {
                Some(first) => first,
                None => {
                    let core = CoreChannel::own(&self.config, consumers_of(&saved, *id))?;
                    self.new_channel(*id, (core, None))
                }
            };
            set_channel(&channel, record)?;
            let channel = Arc::new(channel);
            channels.insert(*id, (self.enter(&channel)?, channel));
        }
        for (key, record) in &saved.admins {
            match channels.get(&key.channel) {
                Some(channel) => restore_admin(orb, channel, *key, record)?,
                None => self.forget_orphan(*key),
            }
        }
        for (key, record) in &saved.proxies {
            let channel = channels.get(&key.channel).map(|(_, channel)| channel);
            let side = side_of(*key);
            let admin = channel.and_then(|it| admin_of(it, record.admin, side));
            match channel.zip(admin) {
                Some(owner) => restore_proxy(orb, owner, (*key, side), record)?,
                None => self.forget_orphan(*key),
            }
        }
        if let Some(first) = first.filter(|_| is_new) {
            // It counts, though it has the same number each time.
            self.next_id()?;
            self.add(first)?;
        }
        // Events are delivered once all filters and consumers are restored.
        for (_, channel) in channels.values() {
            channel.follow_journal()?;
        }
        Ok(())
    }

    /// Removes the record of an object without its channel or admin, which has ended.
    fn forget_orphan(&self, key: Key) {
        tracing::warn!(target: "orbium::notification", object = shown(key), "removed: its channel or admin does not exist");
        self.objects.forget(key);
    }

    fn restore_filter(&self, orb: &Orb, key: Key, record: FilterRecord) -> Result<(), Fault> {
        let limits = &self.config.constraints;
        let invalid = || format!("{}: a constraint is invalid", shown(key));
        let last = number(record.next_constraint)?;
        if record.is_mapping {
            let state = MappingState::with(record.default_value, &record.constraints, last, limits);
            let state = state.map_err(|_| invalid())?;
            self.filters
                .serve_mapping_filter(key, &record.grammar, state)?;
            return Ok(());
        }
        let infos = record.constraints.into_iter().map(|it| ConstraintInfo {
            constraint_expression: it.constraint_expression,
            constraint_id: it.constraint_id,
        });
        let state = FilterState::with(infos.collect(), last, limits).map_err(|_| invalid())?;
        let (filter, _) = self.filters.serve_filter(key, &record.grammar, state)?;
        let mut callbacks = Vec::new();
        for it in record.callbacks {
            callbacks.push((it.id, object(orb, &it.reference)?));
        }
        filter.set_callbacks(callbacks, number(record.next_callback)?);
        Ok(())
    }
}

/// The consumers that a channel has in the file.
fn consumers_of(saved: &Saved, channel: i32) -> usize {
    let proxies = saved.proxies.iter();
    let consumers = proxies.filter(|(key, _)| key.kind == Kind::Consumer);
    consumers.filter(|(key, _)| key.channel == channel).count()
}

fn set_channel(channel: &Channel, record: &ChannelRecord) -> Result<(), Fault> {
    let wrong = || format!("channel {}: properties that cannot be set", channel.id);
    channel.level.set(&record.qos).map_err(|_| wrong())?;
    let set = channel.administration.set(&record.administration);
    set.map_err(|_| wrong())?;
    channel.set_last_id(number(record.next)?);
    Ok(())
}

fn side_of(key: Key) -> Side {
    match key.kind {
        Kind::ConsumerAdmin | Kind::Consumer => Side::Consumers,
        _ => Side::Suppliers,
    }
}

fn restore_admin(
    orb: &Orb,
    (reference, channel): &(EventChannel, Arc<Channel>),
    key: Key,
    record: &AdminRecord,
) -> Result<(), Fault> {
    let (id, operator) = (key.id, record.operation);
    let side = side_of(key);
    let admin = match side {
        Side::Consumers => serve_consumer_admin(channel, reference, id, operator)?.0,
        Side::Suppliers => serve_supplier_admin(channel, reference, id, operator)?.0,
    };
    let restored = of_admin(&admin, side).restore((orb, channel), &record.settings);
    Ok(restored.map_err(|why| format!("{}: {why}", shown(key)))?)
}

fn admin_of(channel: &Channel, id: i32, side: Side) -> Option<Arc<Admin>> {
    let admins = channel.admins(side);
    admins.get(&id).map(|(admin, _)| Arc::clone(admin))
}

fn restore_proxy(
    orb: &Orb,
    (channel, admin): (&Arc<Channel>, Arc<Admin>),
    (key, side): (Key, Side),
    record: &ProxyRecord,
) -> Result<(), Fault> {
    channel.count_restored(side);
    let wrong = |why| format!("{}: {why}", shown(key));
    let peer = match record.peer.as_str() {
        "" => None,
        text => Some(object(orb, text).map_err(wrong)?),
    };
    let kind = ProxyKind {
        form: record.form,
        is_cos_event: record.is_cos_event,
    };
    let connects = record.phase != ProxyPhase::Unconnected;
    let suspends = record.phase == ProxyPhase::Suspended;
    let name = Some(record.name.as_str()).filter(|it| !it.is_empty());
    match side {
        Side::Consumers => {
            let (proxy, _) = admins::serve_proxy(channel, &admin, (key.id, kind, name))?;
            let restored = of_consumer(&proxy.consumer).restore((orb, channel), &record.settings);
            restored.map_err(wrong)?;
            proxy.consumer.subscriber.set_wants(record.wants_types);
            if connects {
                proxy.connect_peer(peer.as_ref())?;
            }
            if suspends {
                // It is connected, and active.
                let _ = proxy.consumer.suspend();
            }
        }
        Side::Suppliers => {
            let (proxy, _) = supplier_admins::serve_proxy(channel, &admin, (key.id, kind))?;
            let restored = of_supplier(&proxy.producer).restore((orb, channel), &record.settings);
            restored.map_err(wrong)?;
            proxy.producer.subscriber.set_wants(record.wants_types);
            if suspends {
                proxy.producer.pulling.suspend(true);
            }
            if connects {
                proxy.connect_peer(peer.as_ref())?;
            }
        }
    }
    Ok(())
}
