// SPDX-License-Identifier: MIT OR Apache-2.0
//! A connected supplier and its publications.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use orbium::lock::{Mutex, MutexGuard};

use crate::delivery::health::{DeliveryError, FailurePolicy, Health};
use crate::peer::Peer;
use crate::supply::publication::Publication;

pub(crate) struct Supplier {
    pub(crate) id: u64,
    is_closed: AtomicBool,
    is_gateway: AtomicBool,
    state: Mutex<State>,
}

struct State {
    peer: Arc<dyn Peer>,
    published: Vec<Publication>,
    health: Health,
}

impl Supplier {
    pub(crate) fn new(
        id: u64,
        peer: Arc<dyn Peer>,
        published: Vec<Publication>,
        is_gateway: bool,
    ) -> Self {
        let state = State {
            peer,
            published,
            health: Health::Well,
        };
        Self {
            id,
            is_closed: AtomicBool::new(false),
            is_gateway: AtomicBool::new(is_gateway),
            state: Mutex::new(state),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    pub(crate) fn reconnect(
        &self,
        peer: Arc<dyn Peer>,
        published: Vec<Publication>,
        is_gateway: bool,
    ) {
        let mut state = self.lock();
        (state.peer, state.published) = (peer, published);
        self.is_gateway.store(is_gateway, Ordering::Release);
        state.health = Health::Well;
    }

    pub(crate) fn peer(&self) -> Arc<dyn Peer> {
        Arc::clone(&self.lock().peer)
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Acquire)
    }

    /// Whether it forwards events of other channels.
    pub(crate) fn is_gateway(&self) -> bool {
        self.is_gateway.load(Ordering::Acquire)
    }

    /// Ends the connection; false if it has ended already.
    pub(crate) fn close(&self) -> bool {
        !self.is_closed.swap(true, Ordering::AcqRel)
    }

    /// Records the outcome of a ping, and returns the health of the supplier.
    pub(crate) fn checked(
        &self,
        outcome: Result<(), DeliveryError>,
        policy: &FailurePolicy,
    ) -> Health {
        let mut state = self.lock();
        state.health = state.health.after(outcome, policy, Instant::now());
        state.health
    }

    /// Whether it publishes events of a type and source.
    pub(crate) fn publishes(&self, r#type: i32, source: i32) -> bool {
        let state = self.lock();
        let mut published = state.published.iter();
        published.any(|it| it.includes(r#type, source))
    }

    /// Its publications, unless it is a gateway.
    pub(crate) fn publications(&self) -> Option<Vec<Publication>> {
        (!self.is_gateway()).then(|| self.lock().published.clone())
    }
}
