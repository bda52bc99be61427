// SPDX-License-Identifier: MIT OR Apache-2.0
//! A connected supplier: what it publishes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Instant;

use orbium::lock::{Mutex, MutexGuard};

use crate::health::{DeliveryError, FailurePolicy, Health};
use crate::peer::Peer;
use crate::publication::Publication;

pub(crate) struct Supplier {
    pub(crate) id: u64,
    is_closed: AtomicBool,
    state: Mutex<State>,
}

struct State {
    peer: Arc<dyn Peer>,
    published: Vec<Publication>,
    is_gateway: bool,
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
            is_gateway,
            health: Health::Well,
        };
        Self {
            id,
            is_closed: AtomicBool::new(false),
            state: Mutex::new(state),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn reconnect(
        &self,
        peer: Arc<dyn Peer>,
        published: Vec<Publication>,
        is_gateway: bool,
    ) {
        let mut state = self.lock();
        (state.peer, state.published, state.is_gateway) = (peer, published, is_gateway);
        state.health = Health::Well;
    }

    pub(crate) fn peer(&self) -> Arc<dyn Peer> {
        Arc::clone(&self.lock().peer)
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Acquire)
    }

    /// Ends the connection; false if it has ended already.
    pub(crate) fn close(&self) -> bool {
        !self.is_closed.swap(true, Ordering::AcqRel)
    }

    /// Records the outcome of a ping, and returns what the supplier has become.
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

    /// What it publishes, unless it is a gateway.
    pub(crate) fn publications(&self) -> Option<Vec<Publication>> {
        let state = self.lock();
        (!state.is_gateway).then(|| state.published.clone())
    }
}
