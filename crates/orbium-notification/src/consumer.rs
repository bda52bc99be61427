// SPDX-License-Identifier: MIT OR Apache-2.0
//! A consumer's connection: its queue, and the thread that pushes to it.

mod core;
pub(crate) mod queue;
pub(crate) mod sink;
mod stored;
pub(crate) mod structured_consumer;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use orbium::lock::{Condvar, Mutex, MutexGuard};
use orbium_event::{DeliveryError, FailurePolicy, Health, QueueLimits, Subscription};

use crate::admin::Admin;
use crate::consumer::queue::{Queue, Rules};
use crate::consumer::sink::Sink;
use crate::event::Event;
use crate::event::event_types::Types;
use crate::event::updates::Subscriber;
use crate::filter::filters::FilterGroup;
use crate::filter::mapping::Mappings;
use crate::idl::cos_notify_comm::NotifyPublish;
use crate::journal::Following;
use crate::qos::Level;

/// A consumer, and the events that it gets together.
type Delivery = (Arc<dyn Sink>, Vec<Arc<Event>>);

/// Between two pings of a consumer that has failed.
const PING_PERIOD: Duration = Duration::from_millis(500);

/// A consumer as its channel has it: a proxy supplier.
pub(crate) struct Consumer {
    pub(crate) id: i32,
    pub(crate) admin: Arc<Admin>,
    pub(crate) level: Arc<Level>,
    pub(crate) filters: FilterGroup,
    pub(crate) types: Types,
    pub(crate) mappings: Mappings,
    pub(crate) subscriber: Subscriber<NotifyPublish>,
    /// Whether events are delivered in batches.
    pub(crate) is_sequence: bool,
    /// The name of its position in a journal, from which it gets its events then.
    name: Option<String>,
    following: Mutex<Option<Following>>,
    /// Whether it waits for events in the queue here.
    has_own_queue: AtomicBool,
    /// Its connection to a real-time event channel, where its events wait then.
    core: OnceLock<Subscription>,
    state: Mutex<State>,
    arrived: Condvar,
}

struct State {
    queue: Queue,
    rules: Rules,
    phase: Phase,
    health: Health,
    /// When a consumer that is not well is pinged.
    ping: Instant,
    /// Threads that wait for events.
    waiting: usize,
    counts: Counts,
}

#[derive(Clone)]
enum Phase {
    /// No consumer is connected.
    Unconnected,
    Active(Option<Arc<dyn Sink>>),
    Suspended(Option<Arc<dyn Sink>>),
    Ended,
}

/// What has become of the events of a consumer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) delivered: u64,
    pub(crate) discarded: u64,
    pub(crate) expired: u64,
    pub(crate) lost: u64,
}

/// Why a connection cannot be suspended or resumed.
pub(crate) enum SuspendError {
    Already,
    NotConnected,
}

/// Why nothing is taken out of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TakeError {
    NotConnected,
    TimedOut,
}

impl Consumer {
    pub(crate) fn new(
        id: i32,
        admin: Arc<Admin>,
        level: Arc<Level>,
        rules: Rules,
        is_sequence: bool,
    ) -> Self {
        Self {
            id,
            admin,
            level,
            filters: FilterGroup::default(),
            types: Types::default(),
            mappings: Mappings::default(),
            subscriber: Subscriber::default(),
            is_sequence,
            name: None,
            following: Mutex::default(),
            has_own_queue: AtomicBool::new(true),
            core: OnceLock::new(),
            state: Mutex::new(State {
                queue: Queue::default(),
                rules,
                phase: Phase::Unconnected,
                health: Health::Well,
                ping: Instant::now(),
                waiting: 0,
                counts: Counts::default(),
            }),
            arrived: Condvar::new(),
        }
    }

    /// The same with a position in the journal of its channel.
    pub(crate) fn with_name(self, name: Option<&str>) -> Self {
        Self {
            name: name.map(str::to_owned),
            ..self
        }
    }

    pub(crate) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    pub(crate) fn is_connected(&self) -> bool {
        matches!(self.lock().phase, Phase::Active(_) | Phase::Suspended(_))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Whether an event passes the filters of the consumer and of its admin.
    pub(crate) fn wants(&self, event: &Event) -> bool {
        let (domain, name) = event.event_type();
        self.types.cover(domain, name)
            && self.admin.types.cover(domain, name)
            && self.admin.combine(&self.filters, event)
    }

    /// Queues an event.
    pub(crate) fn offer(&self, event: &Arc<Event>, now: Instant) {
        let overrides = self.mappings.overrides(&self.admin.mappings, event);
        let mut state = self.lock();
        let is_connected = !matches!(state.phase, Phase::Unconnected | Phase::Ended);
        if !is_connected || !self.has_own_queue() {
            return;
        }
        let rules = state.rules;
        let queue = &mut state.queue;
        let removed = queue.put(Arc::clone(event), &overrides, &rules, now);
        state.counts.discarded += removed.discarded;
        state.counts.expired += removed.expired;
        let is_awaited = state.waiting > 0;
        drop(state);
        if is_awaited {
            self.arrived.notify_one();
        }
    }

    /// Discards one event of the queue; false if there is none.
    pub(crate) fn discard_one(&self) -> bool {
        let mut state = self.lock();
        let discard = state.rules.discard;
        let has_discarded = state.queue.discard(discard);
        state.counts.discarded += u64::from(has_discarded);
        has_discarded
    }

    /// Applies properties that have changed; these are the limits of its queue in a real-time event channel.
    pub(crate) fn set_rules(&self, rules: Rules, limits: Option<QueueLimits>) {
        if let Some((core, limits)) = self.core.get().zip(limits) {
            core.set_queue(limits, self.batch(&rules));
        }
        let mut state = self.lock();
        if state.rules.order != rules.order {
            state.queue.reorder(rules.order);
        }
        state.rules = rules;
        drop(state);
        self.arrived.notify_all();
    }

    /// Connects a consumer; `None` is one that pulls. False if one is connected.
    pub(crate) fn connect(&self, sink: Option<Arc<dyn Sink>>, has_own_queue: bool) -> bool {
        let mut state = self.lock();
        let is_free = matches!(state.phase, Phase::Unconnected);
        if is_free {
            self.has_own_queue.store(has_own_queue, Ordering::Release);
            state.phase = Phase::Active(sink);
        }
        is_free
    }

    pub(crate) fn suspend(&self) -> Result<(), SuspendError> {
        let mut state = self.lock();
        state.phase = match &state.phase {
            Phase::Active(sink) => Phase::Suspended(sink.clone()),
            Phase::Suspended(_) => return Err(SuspendError::Already),
            Phase::Unconnected | Phase::Ended => return Err(SuspendError::NotConnected),
        };
        drop(state);
        if let Some(core) = self.core.get() {
            core.pause();
        }
        Ok(())
    }

    pub(crate) fn resume(&self) -> Result<(), SuspendError> {
        let mut state = self.lock();
        state.phase = match &state.phase {
            Phase::Suspended(sink) => Phase::Active(sink.clone()),
            Phase::Active(_) => return Err(SuspendError::Already),
            Phase::Unconnected | Phase::Ended => return Err(SuspendError::NotConnected),
        };
        drop(state);
        self.arrived.notify_all();
        if let Some(core) = self.core.get() {
            core.unpause();
        }
        Ok(())
    }

    /// Ends the connection for good; the sink, if one was connected.
    pub(crate) fn end(&self) -> Option<Arc<dyn Sink>> {
        let mut state = self.lock();
        let phase = std::mem::replace(&mut state.phase, Phase::Ended);
        state.queue.clear();
        drop(state);
        let following = self.following().take();
        drop(following);
        if let Some(core) = self.core.get() {
            core.disconnect();
        }
        self.arrived.notify_all();
        match phase {
            Phase::Active(sink) | Phase::Suspended(sink) => sink,
            Phase::Unconnected | Phase::Ended => None,
        }
    }

    pub(crate) fn counts(&self) -> (Counts, usize) {
        self.core_counts().unwrap_or_else(|| {
            let state = self.lock();
            (state.counts, state.queue.len())
        })
    }

    /// Takes up to so many events for a consumer that pulls, waiting for the first.
    pub(crate) fn take(&self, most: usize, until: Instant) -> Result<Vec<Arc<Event>>, TakeError> {
        let mut state = self.lock();
        loop {
            if !matches!(state.phase, Phase::Active(_) | Phase::Suspended(_)) {
                return Err(TakeError::NotConnected);
            }
            let now = Instant::now();
            let taken = state.pop(most, now);
            if !taken.is_empty() {
                state.counts.delivered += taken.len() as u64;
                return Ok(taken);
            }
            let left = until.saturating_duration_since(now);
            if left.is_zero() {
                return Err(TakeError::TimedOut);
            }
            state = self.wait(state, left);
        }
    }

    fn wait<'s>(&self, mut state: MutexGuard<'s, State>, most: Duration) -> MutexGuard<'s, State> {
        state.waiting += 1;
        let (mut state, _) = self.arrived.wait_timeout(state, most);
        state.waiting -= 1;
        state
    }

    /// The next events to push and their sink; `None` when the connection has ended.
    fn next(&self) -> Option<Delivery> {
        let mut state = self.lock();
        loop {
            let now = Instant::now();
            let mut left = Duration::from_secs(60);
            match &state.phase {
                Phase::Ended => return None,
                Phase::Active(Some(sink)) => match state.due(self.is_sequence, now) {
                    _ if state.health != Health::Well => {
                        left = state.ping.saturating_duration_since(now);
                        if left.is_zero() {
                            return Some((Arc::clone(sink), Vec::new()));
                        }
                    }
                    Due::Now(most) => {
                        let sink = Arc::clone(sink);
                        let events = state.pop(most, now);
                        if !events.is_empty() {
                            return Some((sink, events));
                        }
                    }
                    Due::In(time) => left = time,
                    Due::Never => {}
                },
                _ => {}
            }
            state = self.wait(state, left);
        }
    }

    /// Pushes events until the connection ends. `on_gone` ends it when the consumer is given up.
    pub(crate) fn serve(&self, policy: &FailurePolicy, on_gone: impl FnOnce(&Self)) {
        while let Some((sink, events)) = self.next() {
            let outcome = if events.is_empty() {
                sink.ping()
            } else {
                sink.push(&events).map_err(DeliveryError::from)
            };
            if self.is_gone(events.len() as u64, outcome, policy) {
                return on_gone(self);
            }
        }
    }

    fn is_gone(
        &self,
        events: u64,
        outcome: Result<(), DeliveryError>,
        policy: &FailurePolicy,
    ) -> bool {
        let mut state = self.lock();
        match outcome {
            Ok(()) => state.counts.delivered += events,
            Err(_) => state.counts.lost += events,
        }
        let now = Instant::now();
        state.health = state.health.after(outcome, policy, now);
        state.ping = now + PING_PERIOD;
        state.health == Health::Gone
    }
}

/// When events are to be pushed.
enum Due {
    Now(usize),
    In(Duration),
    Never,
}

impl State {
    fn pop(&mut self, most: usize, now: Instant) -> Vec<Arc<Event>> {
        let mut events = Vec::new();
        while events.len() < most {
            match self.queue.pop(now, &mut self.counts.expired) {
                Some(event) => events.push(event),
                None => break,
            }
        }
        events
    }

    /// A batch is due when it is complete, or when its oldest event has waited for the interval.
    fn due(&self, is_sequence: bool, now: Instant) -> Due {
        if self.queue.len() == 0 {
            return Due::Never;
        }
        if !is_sequence {
            return Due::Now(1);
        }
        let Rules { batch, pacing, .. } = self.rules;
        if pacing.is_zero() || self.queue.len() >= batch {
            return Due::Now(batch);
        }
        let waited = self
            .queue
            .oldest()
            .map(|it| now.saturating_duration_since(it));
        match waited
            .and_then(|it| pacing.checked_sub(it))
            .filter(|it| !it.is_zero())
        {
            Some(left) => Due::In(left),
            None => Due::Now(batch),
        }
    }
}
