// SPDX-License-Identifier: MIT OR Apache-2.0
//! A consumer's connection.

mod consumer_counts;
mod core;
pub(crate) mod offered_events;
pub(crate) mod rules;
pub(crate) mod sink;
mod stored;
pub(crate) mod structured_consumer;
use std::sync::{Arc, OnceLock};

use orbium::lock::{Mutex, MutexGuard};
use orbium::{ObjectRef, SystemException};
use orbium_event::{QueueLimits, Subscription};

use crate::admin::Admin;
use crate::consumer::consumer_counts::Counts;
use crate::consumer::offered_events::OfferedEvents;
use crate::consumer::rules::Rules;
use crate::consumer::sink::Sink;
use crate::event::Event;
use crate::event::event_types::Types;
use crate::event::updates::Subscriber;
use crate::filter::filter_group::FilterGroup;
use crate::filter::mapping::Mappings;
use crate::idl::cos_notify_comm::NotifyPublish;
use crate::journal::Following;
use crate::proxy_kind::ProxyKind;
use crate::qos::{self, Level};

/// A consumer for its channel: a proxy supplier.
pub(crate) struct Consumer {
    pub(crate) id: i32,
    pub(crate) kind: ProxyKind,
    pub(crate) admin: Arc<Admin>,
    pub(crate) level: Arc<Level>,
    pub(crate) filters: FilterGroup,
    pub(crate) types: Types,
    pub(crate) mappings: Mappings,
    pub(crate) subscriber: Subscriber<NotifyPublish>,
    /// The name of its position in a journal, if its client has set one.
    name: Option<String>,
    /// The name of the position that the channel has assigned to its connection.
    pub(crate) position: OnceLock<String>,
    following: Mutex<Option<Following>>,
    /// Its connection to the event channel, where its events wait, unless it gets them from a journal.
    core: OnceLock<Subscription>,
    /// Its events of a journal, if it is a pull consumer.
    offered: OnceLock<OfferedEvents>,
    state: Mutex<State>,
}

struct State {
    rules: Rules,
    phase: Phase,
    /// The reference of the consumer, if it has passed one.
    peer: Option<ObjectRef>,
    /// The counts of events of a journal.
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

/// Error of suspending or resuming a connection.
pub(crate) enum SuspendError {
    Already,
    NotConnected,
    /// It was applied, but not recorded.
    System(SystemException),
}

impl Consumer {
    pub(crate) fn new(
        (id, kind): (i32, ProxyKind),
        admin: Arc<Admin>,
        level: Arc<Level>,
        rules: Rules,
    ) -> Self {
        Self {
            id,
            kind,
            admin,
            level,
            filters: FilterGroup::default(),
            types: Types::default(),
            mappings: Mappings::default(),
            subscriber: Subscriber::default(),
            name: None,
            position: OnceLock::new(),
            following: Mutex::default(),
            core: OnceLock::new(),
            offered: OnceLock::new(),
            state: Mutex::new(State {
                rules,
                phase: Phase::Unconnected,
                peer: None,
                counts: Counts::default(),
            }),
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

    /// Whether its connection is persistent.
    pub(crate) fn is_persistent(&self) -> bool {
        self.level.get(qos::CONNECTION) != 0
    }

    pub(crate) fn peer(&self) -> Option<ObjectRef> {
        self.lock().peer.clone()
    }

    pub(crate) fn is_suspended(&self) -> bool {
        matches!(self.lock().phase, Phase::Suspended(_))
    }

    pub(crate) fn is_connected(&self) -> bool {
        matches!(self.lock().phase, Phase::Active(_) | Phase::Suspended(_))
    }

    /// Whether its connection has ended for good.
    pub(crate) fn has_ended(&self) -> bool {
        matches!(self.lock().phase, Phase::Ended)
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

    /// Whether it has a filter of another process.
    pub(crate) fn calls_filters(&self) -> bool {
        self.filters.has_remote()
            || self.admin.filters.has_remote()
            || self.mappings.have_remote()
            || self.admin.mappings.have_remote()
    }

    /// Applies changed properties, with the limits of its queue.
    pub(crate) fn set_rules(&self, rules: Rules, limits: QueueLimits) {
        self.lock().rules = rules;
        if let Some(core) = self.core.get() {
            // Without a thread for timers the queue is unchanged, which is logged.
            let _ = core.set_queue(limits, self.batches(&rules));
        }
    }

    /// Connects a consumer; `None` is a pull consumer. False if one is connected.
    pub(crate) fn connect(&self, peer: Option<&ObjectRef>, sink: Option<Arc<dyn Sink>>) -> bool {
        let mut state = self.lock();
        let is_free = matches!(state.phase, Phase::Unconnected);
        if is_free {
            state.phase = Phase::Active(sink);
            state.peer = peer.cloned();
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
        if let Some(core) = self.core.get() {
            core.unpause();
        }
        Ok(())
    }

    /// Ends the connection permanently; returns the sink, if one was connected.
    pub(crate) fn end(&self) -> Option<Arc<dyn Sink>> {
        let mut state = self.lock();
        let phase = std::mem::replace(&mut state.phase, Phase::Ended);
        drop(state);
        let following = self.following().take();
        drop(following);
        if let Some(core) = self.core.get() {
            core.disconnect();
        }
        if let Some(offered) = self.offered.get() {
            offered.end();
        }
        match phase {
            Phase::Active(sink) | Phase::Suspended(sink) => sink,
            Phase::Unconnected | Phase::Ended => None,
        }
    }

    pub(crate) fn counts(&self) -> (Counts, usize) {
        let offered = self.offered.get().map(OfferedEvents::counts);
        let counted = self.core_counts().or(offered);
        counted.unwrap_or_else(|| (self.lock().counts, 0))
    }
}
