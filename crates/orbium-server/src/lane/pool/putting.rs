// SPDX-License-Identifier: MIT OR Apache-2.0
//! Enqueueing requests: the capacity of the queue, and the threads that serve them.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::item::{Item, LocalCall};
use super::{Pool, State};
use crate::intake::{Queued, Sink, no_room};
use orbium_giop::SystemException;
use orbium_invocation::QueuedCall;
use orbium_lane::{Order, QueueBounds};

impl Pool {
    /// Enqueues a request; returns it if the queue is full.
    fn put_in(self: &Arc<Self>, state: &mut State, mut request: Item) -> Result<(), Box<Item>> {
        // An idle thread, or one being started, takes one at once.
        let free = self.soon_idle(state) + self.may_grow_by(state);
        let open = !state.closed && !state.stalled;
        let waits = state.waiting.len() >= free;
        let lent = waits && open && self.borrow();
        let permitted = |bounds: &QueueBounds| !waits || lent || request.acquire(bounds);
        let most = match state.sizes.capacity.saturating_add(free) {
            _ if !open || !self.queue_bounds.as_ref().is_none_or(permitted) => 0,
            most => most.max(usize::from(lent) * (state.waiting.len() + 1)),
        };
        let shared_out = self.shared_out(state, open);
        let mut put = state.waiting.put(request, most, shared_out);
        if put.as_ref().is_ok_and(|has_place| *has_place) && !self.attend(state, lent) {
            // No thread is available at all: the last item is removed.
            put = match state.waiting.take_last() {
                Some(request) => Err(Box::new(request)),
                None => Ok(true),
            };
        }
        if put.is_err() {
            self.count_refused(1);
        }
        put.map(|_| ())
    }

    /// The places and bytes that connections share. Of bounds shared by several lanes, at most
    /// their total.
    fn shared_out(&self, state: &State, open: bool) -> (usize, usize) {
        let (places, octets) = match &self.queue_bounds {
            _ if !open => (0, 0),
            None => (usize::MAX, usize::MAX),
            Some(bounds) => bounds.most(),
        };
        (places.min(state.sizes.capacity), octets)
    }

    /// As `put`, and a buffer for the next request, if there is one.
    pub(crate) fn put_for_room(
        self: &Arc<Self>,
        request: Queued,
    ) -> (Result<(), Box<Queued>>, Option<Vec<u8>>) {
        let mut state = self.lock();
        let put = self.put_in(&mut state, Item::Request(request));
        (put.map_err(|item| returned(*item)), state.room.pop())
    }

    /// Enqueues a collocated call.
    ///
    /// # Errors
    /// TRANSIENT 1: the queue is full.
    pub(crate) fn put_call(self: &Arc<Self>, call: QueuedCall) -> Result<(), SystemException> {
        let call = LocalCall::new(call, &self.host.context, self.order);
        let put = self.put_in(&mut self.lock(), Item::Call(call));
        put.map_err(|_| no_room())
    }

    /// Removes the call with that number, if it was not begun.
    pub(crate) fn withdraw_call(&self, number: u64) {
        let which = |item: &Item| item.is_call(number);
        // Dropped after the lock is released: the ORB may end with it.
        let _withdrawn = self.removed(&mut self.lock(), &which);
    }

    /// The number of threads that are idle or will be soon, less those with a request assigned.
    pub(super) fn soon_idle(&self, state: &State) -> usize {
        let soon = state.idle + self.answering.load(Ordering::Acquire);
        soon.saturating_sub(state.loans.len())
    }

    /// Promises an idle thread to a lane, if there is one.
    fn lend(&self, borrower: &Arc<Self>) -> bool {
        let mut state = self.lock();
        let free = self.soon_idle(&state) > state.waiting.len();
        if free && !state.closed {
            state.loans.push_back(Arc::clone(borrower));
            self.changed.notify_one();
        }
        free && !state.closed
    }

    /// Borrows a thread from a lane of lower priority; returns whether one was promised.
    fn borrow(self: &Arc<Self>) -> bool {
        self.borrows_from.iter().any(|it| it.lend(self))
    }

    /// The number of threads that may be started.
    fn may_grow_by(&self, state: &State) -> usize {
        if self.served_by_callers {
            return 0;
        }
        let most = state.sizes.grows_to.min(self.most);
        match state.active {
            // All threads wait in nested calls.
            0 => self.most.min(most.max(state.alive + 1)),
            _ => most,
        }
        .saturating_sub(state.alive)
    }

    /// Ensures that a thread serves the request just enqueued, unless one was `lent`
    /// for it; `false` if none will.
    fn attend(self: &Arc<Self>, state: &mut State, lent: bool) -> bool {
        if state.idle > 0 {
            self.changed.notify_one();
        }
        if lent || self.served_by_callers || self.soon_idle(state) >= state.waiting.len() {
            return true;
        }
        if self.may_grow_by(state) > 0 && self.add_thread(state, None).is_ok() {
            return true;
        }
        // Busy threads will check the queue; a borrowed thread may be sooner.
        self.borrow() || state.active > 0
    }
}

/// The request for which the queue was full.
fn returned(item: Item) -> Box<Queued> {
    match item {
        Item::Request(request) => Box::new(request),
        Item::Call(_) => unreachable!("a request was put"),
    }
}

impl Sink for Arc<Pool> {
    fn put(&self, request: Queued) -> Result<(), Box<Queued>> {
        let put = self.put_in(&mut self.lock(), Item::Request(request));
        put.map_err(|item| returned(*item))
    }

    fn order(&self) -> Order {
        self.order
    }

    fn room(&self) -> Vec<u8> {
        self.lock().room.pop().unwrap_or_default()
    }

    fn cancel(&self, connection: u64, request_id: u32) -> bool {
        let which = |item: &Item| item.is_request(|it| it.is(connection, request_id));
        let removed = self.removed(&mut self.lock(), &which);
        !removed.is_empty()
    }
}
