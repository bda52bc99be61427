// SPDX-License-Identifier: MIT OR Apache-2.0
//! A channel and its proxies.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use arc_swap::ArcSwap;
use orbium::lock::{Mutex, MutexGuard};
use orbium::{ExceptionKind, ObjectRef, SystemException};

use crate::admin::Admin;
use crate::config::NotificationConfig;
use crate::connections::key::{Key, Kind};
use crate::connections::objects::Objects;
use crate::consumer::Consumer;
use crate::consumer::rules::Rules;
use crate::consumer::sink::Sink;
use crate::core_channel::CoreChannel;
use crate::event::event_types::Types;
use crate::event::updates::{Change, Updates};
use crate::event::{Body, Event, Population};
use crate::filter::filter_table::{FilterTable, Made};
use crate::filter::filters::FilterState;
use crate::filter::mapping::MappingState;
use crate::idl::cos_notification::EventType;
use crate::idl::cos_notify_channel_admin::InterFilterGroupOperator;
use crate::idl::cos_notify_filter::{Filter, MappingFilter};
use crate::journal::{Following, Journal};
use crate::producer::{Notify, Producer};
use crate::qos::{self, ADMIN, ADMINISTRATION, CHANNEL, Level};

/// An admin and its object.
pub(crate) type AdminEntry = (Arc<Admin>, ObjectRef);

/// A notification channel.
pub(crate) struct Channel {
    pub(crate) config: Arc<NotificationConfig>,
    pub(crate) id: i32,
    pub(crate) objects: Objects,
    pub(crate) level: Arc<Level>,
    pub(crate) administration: Level,
    pub(crate) filter_table: FilterTable,
    updates: Updates,
    pub(crate) consumer_admins: Mutex<BTreeMap<i32, AdminEntry>>,
    pub(crate) supplier_admins: Mutex<BTreeMap<i32, AdminEntry>>,
    consumers: ArcSwap<Vec<Arc<Consumer>>>,
    suppliers: ArcSwap<Vec<Arc<Producer>>>,
    pub(crate) population: Population,
    /// The journal in which events are stored before delivery, if there is one.
    pub(crate) journal: Option<Arc<dyn Journal>>,
    pub(crate) following: OnceLock<Following>,
    /// The event channel with the queues of consumers.
    pub(crate) core: CoreChannel,
    next: AtomicI32,
    is_destroyed: AtomicBool,
    received: AtomicU64,
    /// Proxies of consumers and of suppliers, connected or not.
    proxies: [AtomicUsize; 2],
}

/// The side of a channel to which a proxy belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Consumers = 0,
    Suppliers = 1,
}

impl Channel {
    pub(crate) fn new(
        config: &Arc<NotificationConfig>,
        (id, objects): (i32, Objects),
        filter_table: FilterTable,
        updates: Updates,
        (core, journal): (CoreChannel, Option<Arc<dyn Journal>>),
    ) -> Self {
        let qualities = qos::qualities(journal.is_some(), objects.are_recorded());
        Self {
            config: Arc::clone(config),
            id,
            objects,
            level: Arc::new(Level::new(qualities, CHANNEL, None)),
            administration: Level::new(&ADMINISTRATION, CHANNEL, None),
            filter_table,
            updates,
            consumer_admins: Mutex::default(),
            supplier_admins: Mutex::default(),
            consumers: ArcSwap::default(),
            suppliers: ArcSwap::default(),
            population: Population::default(),
            journal,
            following: OnceLock::new(),
            core,
            next: AtomicI32::new(1),
            is_destroyed: AtomicBool::new(false),
            received: AtomicU64::new(0),
            proxies: Default::default(),
        }
    }

    pub(crate) fn next_id(&self) -> i32 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// The number of the next admin or proxy.
    pub(crate) fn last_id(&self) -> i32 {
        self.next.load(Ordering::Relaxed)
    }

    pub(crate) fn set_last_id(&self, next: i32) {
        self.next.store(next, Ordering::Relaxed);
    }

    pub(crate) fn admin_key(&self, id: i32, side: Side) -> Key {
        let kind = match side {
            Side::Consumers => Kind::ConsumerAdmin,
            Side::Suppliers => Kind::SupplierAdmin,
        };
        Key::new(kind, self.id, id)
    }

    pub(crate) fn proxy_key(&self, id: i32, side: Side) -> Key {
        let kind = match side {
            Side::Consumers => Kind::Consumer,
            Side::Suppliers => Kind::Supplier,
        };
        Key::new(kind, self.id, id)
    }

    pub(crate) fn new_admin(&self, id: i32, operator: InterFilterGroupOperator) -> Arc<Admin> {
        let level = Arc::new(self.level.below(ADMIN));
        Arc::new(Admin::new(id, level, operator))
    }

    pub(crate) fn admins(&self, side: Side) -> MutexGuard<'_, BTreeMap<i32, AdminEntry>> {
        let admins = match side {
            Side::Consumers => &self.consumer_admins,
            Side::Suppliers => &self.supplier_admins,
        };
        admins.lock()
    }

    pub(crate) fn is_destroyed(&self) -> bool {
        self.is_destroyed.load(Ordering::Acquire)
    }

    /// Whether an admin has not ended, nor its channel.
    pub(crate) fn has_admin(&self, id: i32, side: Side) -> bool {
        !self.is_destroyed() && self.admins(side).contains_key(&id)
    }

    /// Checks that an admin has not ended, nor its channel.
    ///
    /// # Errors
    /// `OBJECT_NOT_EXIST`: it has.
    pub(crate) fn check_admin(&self, id: i32, side: Side) -> Result<(), SystemException> {
        if self.has_admin(id, side) {
            Ok(())
        } else {
            Err(ExceptionKind::ObjectNotExist.into())
        }
    }

    /// Ends an admin that was made as the channel was destroyed.
    ///
    /// # Errors
    /// `OBJECT_NOT_EXIST`: the channel has been destroyed.
    pub(crate) fn check_new_admin(&self, id: i32, side: Side) -> Result<(), SystemException> {
        if self.is_destroyed() {
            self.end_admin(id, side);
            return Err(ExceptionKind::ObjectNotExist.into());
        }
        Ok(())
    }

    /// Counts one more proxy; returns the limit as an error if it is reached.
    pub(crate) fn count_proxy(&self, side: Side) -> Result<(), i32> {
        let index = match side {
            Side::Consumers => qos::MAX_CONSUMERS,
            Side::Suppliers => qos::MAX_SUPPLIERS,
        };
        let hard = self.config.proxies;
        let most = match usize::try_from(self.administration.get(index)) {
            Ok(set @ 1..) => set.min(hard),
            _ => hard,
        };
        let count = &self.proxies[side as usize];
        let counted = count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |it| {
            (it < most).then_some(it + 1)
        });
        counted
            .map(drop)
            .map_err(|_| i32::try_from(most).unwrap_or(i32::MAX))
    }

    /// Counts a restored proxy, which may have been created under other limits.
    pub(crate) fn count_restored(&self, side: Side) {
        self.proxies[side as usize].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn uncount_proxy(&self, side: Side) {
        self.proxies[side as usize].fetch_sub(1, Ordering::Relaxed);
    }

    /// The effective rules of a level.
    pub(crate) fn rules(&self, level: &Level) -> Rules {
        Rules::at(level, self.config.queue_events, self.config.queue_bytes)
    }

    /// Applies changed properties to all consumers.
    pub(crate) fn refresh(&self) {
        for consumer in self.consumers.load().iter() {
            let rules = self.rules(&consumer.level);
            consumer.set_rules(rules, self.core.limits(&rules));
        }
    }

    pub(crate) fn add_consumer(&self, consumer: &Arc<Consumer>) {
        self.consumers.rcu(|list| with(list, consumer));
    }

    pub(crate) fn add_supplier(&self, supplier: &Arc<Producer>) {
        self.suppliers.rcu(|list| with(list, supplier));
    }

    pub(crate) fn remove_consumer(&self, id: i32) {
        self.consumers.rcu(|list| without(list, |it| it.id == id));
    }

    pub(crate) fn remove_supplier(&self, id: i32) {
        self.suppliers.rcu(|list| without(list, |it| it.id == id));
    }

    pub(crate) fn consumers(&self) -> Arc<Vec<Arc<Consumer>>> {
        self.consumers.load_full()
    }

    pub(crate) fn suppliers(&self) -> Arc<Vec<Arc<Producer>>> {
        self.suppliers.load_full()
    }

    pub(crate) fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    /// Counts events that have arrived.
    pub(crate) fn count_received(&self, events: usize) {
        self.received.fetch_add(events as u64, Ordering::Relaxed);
    }

    /// The types that suppliers offer.
    pub(crate) fn offered(&self) -> Vec<EventType> {
        let suppliers = self.suppliers.load();
        let lists = suppliers.iter().map(|it| [&it.types, &it.admin.types]);
        Types::union(lists.flatten())
    }

    /// The types that consumers subscribe to.
    pub(crate) fn subscribed(&self) -> Vec<EventType> {
        let consumers = self.consumers.load();
        let lists = consumers.iter().map(|it| [&it.types, &it.admin.types]);
        Types::union(lists.flatten())
    }

    /// Changes the types that a supplier or an admin offers, and notifies consumers that have
    /// requested changes.
    ///
    /// # Errors
    /// As [`Types::change`].
    pub(crate) fn change_offer(
        &self,
        types: &Types,
        added: &[EventType],
        removed: &[EventType],
    ) -> Result<(), SystemException> {
        let before = self.offered();
        types.change(added, removed)?;
        let Some(change) = Change::between(&before, &self.offered()) else {
            return Ok(());
        };
        for consumer in self.consumers.load().iter() {
            if let Some(peer) = consumer.subscriber.interested() {
                let change = change.clone();
                // It may not exist any more, or refuse the types.
                self.updates
                    .post(move || drop(peer.offer_change(&change.added, &change.removed)));
            }
        }
        Ok(())
    }

    /// Changes the types that a consumer or an admin subscribes to, and notifies suppliers that
    /// have requested changes.
    ///
    /// # Errors
    /// As [`Types::change`].
    pub(crate) fn change_subscription(
        &self,
        types: &Types,
        added: &[EventType],
        removed: &[EventType],
    ) -> Result<(), SystemException> {
        let before = self.subscribed();
        types.change(added, removed)?;
        let Some(change) = Change::between(&before, &self.subscribed()) else {
            return Ok(());
        };
        for supplier in self.suppliers.load().iter() {
            if let Some(peer) = supplier.subscriber.interested() {
                let change = change.clone();
                // It may not exist any more, or refuse the types.
                self.updates
                    .post(move || drop(peer.subscription_change(&change.added, &change.removed)));
            }
        }
        Ok(())
    }

    /// The state of a filter of this process.
    pub(crate) fn filter_state(&self, filter: &Filter) -> Option<Arc<FilterState>> {
        let id = self.objects.id_of(filter)?;
        match self.filter_table.lock().get(&id) {
            Some(Made::Filter(state)) => Some(Arc::clone(state)),
            Some(Made::Mapping(_)) => None,
            None => Some(Arc::new(FilterState::destroyed())),
        }
    }

    /// The state of a mapping filter of this process.
    pub(crate) fn mapping_state(&self, filter: &MappingFilter) -> Option<Arc<MappingState>> {
        let id = self.objects.id_of(filter)?;
        match self.filter_table.lock().get(&id)? {
            Made::Mapping(state) => Some(Arc::clone(state)),
            Made::Filter(_) => None,
        }
    }

    /// Offers an event of a supplier to every consumer.
    ///
    /// # Errors
    /// `IMP_LIMIT`: the maximum number of undelivered events is reached, and the channel rejects
    /// new ones.
    pub(crate) fn publish(&self, supplier: &Producer, body: Body) -> Result<(), SystemException> {
        self.count_received(1);
        self.publish_arrived(supplier, body, Instant::now())
    }

    /// As [`publish`](Self::publish), for an event that has arrived at that time, and is counted.
    ///
    /// # Errors
    /// As that.
    pub(crate) fn publish_arrived(
        &self,
        supplier: &Producer,
        body: Body,
        arrived: Instant,
    ) -> Result<(), SystemException> {
        let event = Event::new(body, &supplier.level, &self.population, arrived);
        if !supplier.admin.combine(&supplier.filters, &event) {
            return Ok(());
        }
        match &self.journal {
            Some(journal) => journal.store(&event.to_store(Instant::now())),
            None => self.distribute(event),
        }
    }

    /// Queues an event for every consumer with filters that pass it.
    ///
    /// # Errors
    /// As [`publish`](Self::publish).
    pub(crate) fn distribute(&self, event: Event) -> Result<(), SystemException> {
        if self.make_room()? {
            self.core.publish(event)?;
        }
        Ok(())
    }

    /// Discards events until one more is permitted; false if that is impossible.
    fn make_room(&self) -> Result<bool, SystemException> {
        let most = match usize::try_from(self.administration.get(qos::MAX_QUEUE)) {
            Ok(most @ 1..) => most,
            _ => return Ok(true),
        };
        // The new event is already counted.
        while self.population.count() > most {
            if self.administration.get(qos::REJECT) != 0 {
                return Err(ExceptionKind::ImpLimit.into());
            }
            let consumers = self.consumers.load();
            let discarded = consumers.iter().filter(|it| it.discard_one()).count();
            if discarded == 0 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Ends a consumer's connection, deactivates its object, and returns its sink.
    pub(crate) fn end_consumer(&self, consumer: &Consumer) -> Option<Arc<dyn Sink>> {
        let sink = consumer.end();
        self.remove_consumer(consumer.id);
        self.forget_position(consumer);
        self.end_proxy(&consumer.admin, consumer.id, Side::Consumers);
        sink
    }

    /// Ends a supplier's connection, deactivates its object, and returns the notification of the
    /// supplier.
    pub(crate) fn end_supplier(&self, supplier: &Producer) -> Option<Notify> {
        let notify = supplier.end();
        self.remove_supplier(supplier.id);
        self.end_proxy(&supplier.admin, supplier.id, Side::Suppliers);
        notify
    }

    fn end_proxy(&self, admin: &Admin, id: i32, side: Side) {
        let ended = admin.proxies().remove(&id);
        if let Some((object, _)) = ended {
            self.uncount_proxy(side);
            self.objects.forget(self.proxy_key(id, side));
            self.objects.deactivate(&object);
        }
    }

    /// Ends an admin and its proxies.
    pub(crate) fn end_admin(&self, id: i32, side: Side) {
        let ended = self.admins(side).remove(&id);
        let Some((admin, object)) = ended else { return };
        match side {
            Side::Consumers => {
                for consumer in self.consumers().iter().filter(|it| it.admin.id == admin.id) {
                    if let Some(sink) = self.end_consumer(consumer) {
                        sink.disconnect();
                    }
                }
            }
            Side::Suppliers => {
                for supplier in self.suppliers().iter().filter(|it| it.admin.id == admin.id) {
                    if let Some(notify) = self.end_supplier(supplier) {
                        notify();
                    }
                }
            }
        }
        self.objects.forget(self.admin_key(id, side));
        self.objects.deactivate(&object);
    }

    /// Ends all admins, proxies and connections of the channel.
    pub(crate) fn destroy(&self) {
        if self.is_destroyed.swap(true, Ordering::AcqRel) {
            return;
        }
        for side in [Side::Consumers, Side::Suppliers] {
            let ids: Vec<_> = self.admins(side).keys().copied().collect();
            for id in ids {
                self.end_admin(id, side);
            }
        }
        self.objects.forget(Key::new(Kind::Channel, 0, self.id));
        self.core.end();
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        for consumer in self.consumers.load().iter() {
            consumer.end();
        }
    }
}

fn with<T>(list: &[Arc<T>], added: &Arc<T>) -> Vec<Arc<T>> {
    list.iter().chain([added]).cloned().collect()
}

fn without<T>(list: &[Arc<T>], is_removed: impl Fn(&T) -> bool) -> Vec<Arc<T>> {
    list.iter().filter(|it| !is_removed(it)).cloned().collect()
}
