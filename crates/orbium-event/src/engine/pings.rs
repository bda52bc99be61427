// SPDX-License-Identifier: MIT OR Apache-2.0
//! The peers of a channel that wait for their pings.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use orbium::lock::{Mutex, MutexGuard};

use crate::delivery::consumer::Consumer;
use crate::delivery::health::DeliveryError;
use crate::peer::ping;
use crate::supply::supplier::Supplier;

/// Maximum number of peers that are pinged at once.
const MAX_PINGERS: usize = 16;

/// A peer to be pinged.
pub(super) enum PingedPeer {
    Consumer(Arc<Consumer>),
    Supplier(Arc<Supplier>),
}

impl PingedPeer {
    /// Its number, which no other peer of the channel has.
    fn id(&self) -> u64 {
        match self {
            Self::Consumer(it) => it.id,
            Self::Supplier(it) => it.id,
        }
    }

    fn is_closed(&self) -> bool {
        match self {
            Self::Consumer(it) => it.is_closed(),
            Self::Supplier(it) => it.is_closed(),
        }
    }

    pub(super) fn ping(&self) -> Result<(), DeliveryError> {
        match self {
            Self::Consumer(it) => ping(&*it.sink()),
            Self::Supplier(it) => ping(&*it.peer()),
        }
    }
}

/// The peers that wait for their pings.
#[derive(Default)]
pub(super) struct Pings(Mutex<State>);

#[derive(Default)]
struct State {
    waiting: VecDeque<PingedPeer>,
    /// The numbers of the peers that wait or are being pinged.
    pending: BTreeSet<u64>,
    threads: usize,
}

impl Pings {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock()
    }

    /// Adds a peer, unless its last ping is not over.
    pub(super) fn add(&self, peer: PingedPeer) {
        let mut state = self.lock();
        if state.pending.insert(peer.id()) {
            state.waiting.push_back(peer);
        }
    }

    /// Counts a further thread, if peers wait for one.
    pub(super) fn begin_thread(&self) -> bool {
        let mut state = self.lock();
        let begins = !state.waiting.is_empty() && state.threads < MAX_PINGERS;
        state.threads += usize::from(begins);
        begins
    }

    /// Takes the next connected peer; without one the thread ends.
    pub(super) fn next(&self) -> Option<PingedPeer> {
        // The destructor of a peer may call the channel.
        let mut closed = Vec::new();
        let mut state = self.lock();
        while let Some(peer) = state.waiting.pop_front() {
            if !peer.is_closed() {
                return Some(peer);
            }
            state.pending.remove(&peer.id());
            closed.push(peer);
        }
        state.threads -= 1;
        None
    }

    pub(super) fn end(&self, peer: &PingedPeer) {
        self.lock().pending.remove(&peer.id());
    }

    /// Whether no peer waits or is being pinged.
    #[cfg(test)]
    pub(super) fn are_over(&self) -> bool {
        self.lock().pending.is_empty()
    }
}
