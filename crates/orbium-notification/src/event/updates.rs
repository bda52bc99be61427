// SPDX-License-Identifier: MIT OR Apache-2.0
//! Changes of event types, sent to peers that have requested them: by one thread, from a bounded
//! queue, so that no peer delays another one's call.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread;

use orbium::lock::Mutex;

use crate::event::event_types::{key, set_of};
use crate::idl::cos_notification::EventType;
use crate::idl::cos_notify_channel_admin::ObtainInfoMode;

/// Maximum number of waiting changes. Further ones are dropped.
const MAX_WAITING: usize = 1024;

type Job = Box<dyn FnOnce() + Send>;

/// The queue of a service. Clones are the same queue.
#[derive(Clone, Default)]
pub(crate) struct Updates(Arc<Mutex<Option<SyncSender<Job>>>>);

impl Updates {
    /// Queues a call to a peer.
    pub(crate) fn post(&self, job: impl FnOnce() + Send + 'static) {
        let mut sender = self.0.lock();
        if sender.is_none() {
            let (send, jobs) = mpsc::sync_channel(MAX_WAITING);
            let named = thread::Builder::new().name("orbium-notify".to_owned());
            if named.spawn(move || run(&jobs)).is_ok() {
                *sender = Some(send);
            }
        }
        let posted = sender.as_ref().map(|it| it.try_send(Box::new(job)));
        if !matches!(posted, Some(Ok(()))) {
            tracing::warn!(target: "orbium::notification", "a change of event types is dropped: too many wait");
        }
    }
}

/// Calls one peer after the other until the queue is dropped.
fn run(jobs: &Receiver<Job>) {
    for job in jobs {
        job();
    }
}

/// A change of a set of types.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Change {
    pub(crate) added: Vec<EventType>,
    pub(crate) removed: Vec<EventType>,
}

impl Change {
    /// The difference between two sets; `None` if they are equal.
    pub(crate) fn between(before: &[EventType], after: &[EventType]) -> Option<Self> {
        let without = |these: &[EventType], others: &[EventType]| -> Vec<_> {
            let others = set_of(others);
            let missing = these.iter().filter(|it| !others.contains(&key(it)));
            missing.cloned().collect()
        };
        let change = Self {
            added: without(after, before),
            removed: without(before, after),
        };
        (change != Self::default()).then_some(change)
    }
}

/// A connected peer as the receiver of changes; `P` is its interface for them.
pub(crate) struct Subscriber<P> {
    peer: Mutex<Option<P>>,
    /// Whether it has requested changes.
    wants: AtomicBool,
}

impl<P> Default for Subscriber<P> {
    fn default() -> Self {
        Self {
            peer: Mutex::new(None),
            wants: AtomicBool::new(false),
        }
    }
}

impl<P: Clone> Subscriber<P> {
    pub(crate) fn connect(&self, peer: P) {
        *self.peer.lock() = Some(peer);
    }

    /// Applies the mode of an obtain operation; returns whether the current types are requested.
    pub(crate) fn obtain(&self, mode: ObtainInfoMode) -> bool {
        use ObtainInfoMode::{AllNowUpdatesOff, AllNowUpdatesOn, NoneNowUpdatesOn};
        let wants = matches!(mode, AllNowUpdatesOn | NoneNowUpdatesOn);
        self.set_wants(wants);
        matches!(mode, AllNowUpdatesOn | AllNowUpdatesOff)
    }

    /// Whether the peer has requested changes.
    pub(crate) fn wants(&self) -> bool {
        self.wants.load(Ordering::Acquire)
    }

    pub(crate) fn set_wants(&self, wants: bool) {
        self.wants.store(wants, Ordering::Release);
    }

    /// The peer, if it has requested changes.
    pub(crate) fn interested(&self) -> Option<P> {
        if !self.wants() {
            return None;
        }
        let peer = self.peer.lock();
        peer.clone()
    }
}
