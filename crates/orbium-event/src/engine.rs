// SPDX-License-Identifier: MIT OR Apache-2.0
//! The channel itself: events from suppliers through filters to consumers.

mod control;
mod entry;
mod pinging;
mod pings;
mod timing;

#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::slice;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use orbium::lock::{Mutex, MutexGuard};
use orbium_sched::{Repository, SchedError};

use crate::config::{ChannelConfig, ConnectError};
use crate::delivery::connected::ConnectedConsumers;
use crate::delivery::consumer::{Action, Consumer, Service};
use crate::delivery::dispatch::{DispatchQueue, DispatchQueues, Place, Removal};
use crate::delivery::health::Health;
use crate::delivery::tasks::ConsumerTasks;
use crate::event::SharedEvent;
use crate::observers::Observers;
use crate::peer::{Connection, OnEnd, Peer, Sink};
use crate::recent::RecentEvents;
use crate::retained::RetainedEvents;
use crate::selection::ConsumerOptions;
use crate::statistics::{ChannelStatistics, Counter};
use crate::subscription::pattern::Pattern;
use crate::subscription::timers::{Control, TimerKey, Timers};
use crate::supply::operations;
use crate::supply::publication::Publication;
use crate::supply::supplier::Supplier;
use pings::Pings;

/// Interval between two pings of a suspect peer.
const SUSPECT_PING_PERIOD: Duration = Duration::from_secs(1);

thread_local! {
    /// The actions for the consumers of a set, retained for its memory.
    static PENDING: Cell<Vec<(Arc<Consumer>, Action)>> = const { Cell::new(Vec::new()) };
}

/// Removes consumers that have disconnected from the queues of a schedule.
const CLOSED: Removal<'_, Arc<Consumer>> = Removal {
    is_removed: &|consumer| consumer.is_closed(),
    discard: &|consumer| consumer.discard(),
};

pub(crate) struct Engine {
    pub(crate) config: ChannelConfig,
    pub(crate) timers: Arc<Timers>,
    pub(crate) control: Arc<Control>,
    /// The context that runs the tasks of consumers.
    pub(crate) tasks: Option<ConsumerTasks>,
    pub(crate) dispatch: DispatchQueues<Arc<Consumer>>,
    consumers: ConnectedConsumers,
    suppliers: Mutex<BTreeMap<u64, Arc<Supplier>>>,
    observers: Observers,
    pings: Pings,
    ends: Mutex<BTreeMap<u64, OnEnd>>,
    last_id: AtomicU64,
    is_destroyed: AtomicBool,
    received: Counter,
    refused: Counter,
    duplicates: Counter,
    recent: RecentEvents,
    pub(crate) retained: RetainedEvents,
    dropped_consumers: Counter,
}

impl Engine {
    pub(crate) fn new(config: ChannelConfig, tasks: Option<ConsumerTasks>) -> Self {
        Self {
            tasks,
            dispatch: DispatchQueues::new(&config),
            timers: Arc::default(),
            control: Arc::default(),
            consumers: ConnectedConsumers::default(),
            suppliers: Mutex::default(),
            observers: Observers::new(config.observers, config.failure.failures),
            pings: Pings::default(),
            ends: Mutex::default(),
            last_id: AtomicU64::new(0),
            is_destroyed: AtomicBool::new(false),
            received: Counter::default(),
            refused: Counter::default(),
            duplicates: Counter::default(),
            recent: RecentEvents::default(),
            retained: RetainedEvents::new(config.retention),
            dropped_consumers: Counter::default(),
            config,
        }
    }

    fn suppliers(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Supplier>>> {
        self.suppliers.lock()
    }

    fn new_id(&self) -> u64 {
        self.last_id.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub(crate) fn is_destroyed(&self) -> bool {
        self.is_destroyed.load(Ordering::Acquire)
    }

    pub(crate) fn add_consumer(
        &self,
        subscribed: (Pattern, ConsumerOptions),
        service: Service,
        connection: Connection<dyn Sink>,
    ) -> Result<Arc<Consumer>, ConnectError> {
        let Connection {
            peer,
            is_gateway,
            on_end,
        } = connection;
        let (id, config, replays) = (self.new_id(), &self.config, subscribed.1.replays);
        let consumer = Consumer::new(id, config, subscribed, service, (peer, is_gateway));
        let consumer = Arc::new(consumer);
        // Replayed events are pushed once it is connected.
        let last = replays.then(|| {
            consumer.pause();
            self.retained.lock()
        });
        self.consumers.add(&consumer, |others| {
            if self.is_destroyed() {
                return Err(ConnectError::Destroyed);
            }
            if others >= self.config.consumers {
                return Err(ConnectError::TooMany);
            }
            self.at_end(id, on_end);
            Ok(())
        })?;
        let mut actions = Vec::new();
        if let Some(last) = last {
            let now = Instant::now();
            for event in last.iter() {
                consumer.replay(slice::from_ref(event), now, |it| actions.push(it));
            }
        }
        for action in actions {
            self.act(&consumer, action);
        }
        self.connected(&consumer);
        Ok(consumer)
    }

    /// Starts the timers of a new subscription, and notifies observers.
    pub(crate) fn connected(&self, consumer: &Consumer) {
        let (epoch, timers) = consumer.timers();
        if epoch > 0 {
            self.timers.remove_before(consumer.id, epoch);
        }
        for (timer, due) in timers {
            let key = TimerKey {
                consumer: consumer.id,
                epoch,
                timer,
            };
            self.add_timer(consumer, key, due);
        }
        self.changed();
    }

    pub(crate) fn add_supplier(
        &self,
        peer: Arc<dyn Peer>,
        published: Vec<Publication>,
        is_gateway: bool,
        on_end: OnEnd,
    ) -> Result<Arc<Supplier>, ConnectError> {
        let mut suppliers = self.suppliers();
        if self.is_destroyed() {
            return Err(ConnectError::Destroyed);
        }
        if suppliers.len() >= self.config.suppliers || published.len() > self.config.publications {
            return Err(ConnectError::TooMany);
        }
        self.note_gateway(is_gateway);
        let id = self.new_id();
        let supplier = Arc::new(Supplier::new(id, peer, published, is_gateway));
        self.at_end(id, on_end);
        suppliers.insert(id, Arc::clone(&supplier));
        drop(suppliers);
        self.changed();
        Ok(supplier)
    }

    fn at_end(&self, id: u64, on_end: OnEnd) {
        let mut ends = self.ends.lock();
        ends.insert(id, on_end);
    }

    fn ended(&self, id: u64) {
        let mut ends = self.ends.lock();
        let on_end = ends.remove(&id);
        drop(ends);
        if let Some(on_end) = on_end {
            on_end();
        }
        self.changed();
    }

    /// Called when subscriptions, publications or the set of peers have changed.
    pub(crate) fn changed(&self) {
        if !self.observers.is_empty() {
            self.control.notify_observers();
        }
    }

    /// Ends the connection of a consumer; false if it has ended already.
    pub(crate) fn remove_consumer(&self, consumer: &Consumer) -> bool {
        let was_open = consumer.close();
        if was_open {
            self.consumers.remove(consumer);
            self.timers.remove_all(consumer.id);
            if let Some(place) = consumer.place {
                // A disconnected consumer leaves its space to those that connect later.
                self.dispatch.remove(place, &CLOSED);
            }
            self.ended(consumer.id);
        }
        was_open
    }

    /// Ends the connection of a supplier; false if it has ended already.
    pub(crate) fn remove_supplier(&self, supplier: &Supplier) -> bool {
        let was_open = supplier.close();
        if was_open {
            self.suppliers().remove(&supplier.id);
            self.ended(supplier.id);
        }
        was_open
    }

    fn deliver(&self, set: &[SharedEvent], now: Instant) {
        if set.is_empty() {
            return;
        }
        // Offered to all before the first is called: during a call the ORB may serve the supplier's
        // next request, and events would overtake each other.
        let mut pending = PENDING.take();
        self.offer(set, now, |consumer, action| {
            pending.push((Arc::clone(consumer), action));
        });
        for (consumer, action) in pending.drain(..) {
            self.act(&consumer, action);
        }
        PENDING.set(pending);
    }

    /// Offers a set of events to every consumer, and calls `act` with the actions that may take
    /// time.
    fn offer(
        &self,
        set: &[SharedEvent],
        now: Instant,
        mut act: impl FnMut(&Arc<Consumer>, Action),
    ) {
        let mut offer = |consumer: &Arc<Consumer>| {
            consumer.offer(set, now, |action| match action {
                Action::Nothing => {}
                Action::Notify(waiter) => waiter.wake(),
                Action::Submit(place, arrived) => self.submit(consumer, place, arrived),
                action => act(consumer, action),
            });
        };
        let last = self.retained.add(set);
        let consumers = self.consumers.load();
        // Their selections delay no other consumer.
        let mut slow = Vec::new();
        for consumer in consumers.iter() {
            if consumer.selects_slowly() {
                slow.push(consumer);
            } else {
                offer(consumer);
            }
        }
        drop(last);
        slow.into_iter().for_each(offer);
    }

    /// Executes the action that remains for a consumer's events.
    pub(crate) fn act(&self, consumer: &Arc<Consumer>, action: Action) {
        match action {
            Action::Nothing => {}
            Action::Notify(waiter) => waiter.wake(),
            Action::Submit(place, arrived) => self.submit(consumer, place, arrived),
            Action::Push(sink, set) => {
                let mut next = Some((sink, set));
                while let Some((sink, set)) = next {
                    let health = consumer.deliver(&*sink, &set);
                    self.handle_health(consumer, health);
                    next = consumer.next_or_end();
                }
            }
            Action::Pace(due, later) => {
                let key = TimerKey::of_batches(consumer.id);
                if later.is_some() {
                    self.timers.remove(key);
                }
                self.add_timer(consumer, key, due);
            }
            Action::Disconnect => self.drop_consumer(consumer, "its queue is full"),
        }
    }

    /// Pushes the events of a consumer's queue until the connection ends.
    pub(crate) fn serve_queue(this: &Weak<Self>, consumer: &Arc<Consumer>) {
        consumer.served_by_this_thread();
        while let Some((sink, set)) = consumer.wait() {
            let health = consumer.deliver(&*sink, &set);
            match this.upgrade() {
                Some(engine) => engine.handle_health(consumer, health),
                None => return,
            }
        }
    }

    /// Ends a pause of a consumer.
    pub(crate) fn unpause(&self, consumer: &Arc<Consumer>) {
        self.act(consumer, consumer.unpause());
    }

    /// Submits a consumer to the queue of its place.
    fn submit(&self, consumer: &Arc<Consumer>, place: Place, arrived: Instant) {
        let submitted = self.dispatch.submit(place, arrived, Arc::clone(consumer));
        if let Err(consumer) = submitted {
            consumer.discard();
        }
    }

    /// Pushes to the consumers in a queue of the schedule until the channel ends.
    pub(crate) fn serve_dispatch_queue(this: &Weak<Self>, queue: &DispatchQueue<Arc<Consumer>>) {
        let mut ready = queue.ready();
        let mut next = || queue.next(&mut ready, CLOSED.is_removed, &|it| it.guard.as_ref());
        while let Some(consumer) = next() {
            let Some(engine) = this.upgrade() else {
                return;
            };
            let (next, remaining) = consumer.take_submitted();
            // Before the push: this thread alone takes submitted work, so that no event overtakes
            // another.
            engine.act(&consumer, remaining);
            drop(engine);
            let Some((sink, set)) = next else {
                continue;
            };
            let health = consumer.deliver(&*sink, &set);
            match this.upgrade() {
                Some(engine) => engine.handle_health(&consumer, health),
                None => return,
            }
        }
    }

    /// Acts on the health of a consumer.
    pub(crate) fn handle_health(&self, consumer: &Arc<Consumer>, health: Health) {
        self.act(consumer, consumer.served());
        match health {
            Health::Well => {}
            Health::Suspect { .. } => self.control.ping_after(SUSPECT_PING_PERIOD),
            Health::Gone => self.drop_consumer(consumer, "it cannot be reached"),
        }
    }

    pub(crate) fn drop_consumer(&self, consumer: &Consumer, why: &str) {
        if self.remove_consumer(consumer) {
            self.dropped_consumers.add(1);
            let (id, lost) = (consumer.id, consumer.statistics().lost);
            tracing::warn!(target: "orbium::event", consumer = id, lost, "consumer disconnected: {why}");
        }
    }

    /// Registers the operations of the channel between its present suppliers and consumers.
    ///
    /// # Errors
    /// As [`operations::register`].
    pub(crate) fn register_operations(
        &self,
        repository: &mut Repository,
    ) -> Result<(), SchedError> {
        let consumers = self.consumers.load();
        let consumptions = consumers.iter().filter_map(|it| it.consumption());
        let mut consumptions: Vec<_> = consumptions.collect();
        // Independent of the order of the queues: the table is the same in every run.
        consumptions.sort_by_key(|it| it.rt_info);
        let suppliers = self.suppliers();
        let published = suppliers.values().filter_map(|it| it.publications());
        let mut published: Vec<_> = published.flatten().collect();
        drop(suppliers);
        published.sort_by_key(|it| (it.rt_info, it.r#type, it.source));
        let time = self.config.dispatch_time;
        operations::register(repository, (&published, &consumptions), time)
    }

    pub(crate) fn statistics(&self) -> ChannelStatistics {
        let consumers = self.consumers.load();
        ChannelStatistics {
            received: self.received.count(),
            refused: self.refused.count(),
            duplicates: self.duplicates.count(),
            dropped_consumers: self.dropped_consumers.count(),
            refused_priorities: self.dispatch.refused(),
            held: self.dispatch.held(),
            suppliers: self.suppliers().len(),
            observers: self.observers.len(),
            consumers: consumers.iter().map(|it| it.statistics()).collect(),
        }
    }

    /// Disconnects all peers. Those that are not suspect are notified, within the time of the
    /// failure policy.
    pub(crate) fn destroy(&self) {
        if self.is_destroyed.swap(true, Ordering::AcqRel) {
            return;
        }
        let begin = Instant::now();
        let has_time = || begin.elapsed() < self.config.failure.time;
        // Those that were permitted before are among them.
        for consumer in self.consumers.load_settled().iter() {
            let (is_suspect, sink) = (consumer.is_suspect(), consumer.sink());
            if self.remove_consumer(consumer) && !is_suspect && has_time() {
                sink.disconnect();
            }
        }
        let suppliers: Vec<_> = self.suppliers().values().cloned().collect();
        for supplier in suppliers {
            if self.remove_supplier(&supplier) && has_time() {
                supplier.peer().disconnect();
            }
        }
        self.end_threads();
    }

    fn end_threads(&self) {
        self.timers.close();
        self.control.close();
        self.dispatch.close();
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.end_threads();
        for consumer in self.consumers.load().iter() {
            consumer.close();
        }
        let ends = std::mem::take(&mut *self.ends.lock());
        for on_end in ends.into_values() {
            on_end();
        }
    }
}
