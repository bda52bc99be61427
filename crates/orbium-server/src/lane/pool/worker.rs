// SPDX-License-Identifier: MIT OR Apache-2.0
//! Worker thread of a pool.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use orbium_invocation::priority;
use orbium_sync::role::{Role, while_serving};

use super::item::{Item, LocalCall};
use super::{MAX_RETAINED_BUFFER, Pool, SMALL, Work};
use crate::intake::{Answering, Queued};

impl Pool {
    pub(super) fn work(self: Arc<Self>, mut storage: Vec<u8>) {
        if self.is_pool {
            self.setup.begin_serving();
        }
        // It is counted as idle soon.
        let (mut octets, mut answered) = (Vec::new(), true);
        while let Some(work) = self.next(std::mem::take(&mut octets), answered) {
            (octets, answered) = match work {
                Work::Own(item) => self.serve(item, &self, &mut storage),
                Work::For(borrower) => self.help(&borrower, &mut storage),
            };
            if storage.len() > MAX_RETAINED_BUFFER {
                storage = Vec::with_capacity(SMALL);
            }
        }
    }

    /// Serves a request of another lane, as one of its threads; returns the result of `serve`.
    fn help(self: &Arc<Self>, borrower: &Arc<Self>, storage: &mut Vec<u8>) -> (Vec<u8>, bool) {
        let mut queued = {
            let mut state = borrower.lock();
            borrower.take(&mut state)
        };
        // Another thread may have served it in the meantime.
        let served = borrower.setup.borrow_thread(&self.setup, || {
            let queued = queued.take()?;
            Some(self.serve(queued, borrower, storage))
        });
        if let Some(queued) = queued {
            // The host refuses the priority.
            borrower.count_refused(1);
            queued.refuse();
            if let Some(id) = queued.oneway() {
                // Later requests of the connection may begin nonetheless.
                borrower.oneway_ends(&mut borrower.lock(), id);
            }
        }
        served.ok().flatten().unwrap_or_default()
    }

    /// Serves an item of a lane's queue; returns its buffer, and whether the thread is counted as
    /// answering.
    pub(super) fn serve(
        self: &Arc<Self>,
        item: Item,
        from: &Arc<Self>,
        storage: &mut Vec<u8>,
    ) -> (Vec<u8>, bool) {
        match item {
            Item::Request(queued) => self.serve_request(queued, from, storage),
            Item::Call(call) => (Vec::new(), self.serve_call(call, from)),
        }
    }

    /// Serves a collocated call; returns whether the thread is counted as answering.
    #[cold]
    fn serve_call(self: &Arc<Self>, call: LocalCall, from: &Arc<Self>) -> bool {
        let worker = Worker::new(self, from, None);
        let orb = self.host.context.number;
        while_serving(orb, &worker, || {
            call.queued.call.serve(&|| worker.answers());
        });
        if worker.waits.get() {
            self.wait_ends();
        }
        if priority::current() != from.setup.priority {
            orbium_lane::thread::restore();
        }
        worker.answers.get()
    }

    #[inline]
    fn serve_request(
        self: &Arc<Self>,
        queued: Queued,
        from: &Arc<Self>,
        storage: &mut Vec<u8>,
    ) -> (Vec<u8>, bool) {
        let connection = queued.connection();
        let oneway = queued.is_oneway().then_some(connection.id);
        let begins = !connection.is_broken() && !queued.was_cancelled();
        let dispatcher = self.host.dispatcher();
        let Some(dispatcher) = dispatcher.filter(|_| begins) else {
            // Later requests of the connection may begin nonetheless.
            if let Some(id) = oneway {
                from.oneway_ends(&mut from.lock(), id);
            }
            return (Vec::new(), false);
        };
        let worker = Worker::new(self, from, oneway);
        let octets = queued.serve(&*dispatcher, from.setup.priority, &worker, storage);
        if worker.waits.get() {
            self.wait_ends();
        } else if let Some(id) = oneway {
            from.oneway_ends(&mut from.lock(), id);
        }
        (octets, worker.answers.get())
    }
}

/// A thread that serves a request.
struct Worker<'a> {
    /// The pool of the thread.
    pool: &'a Arc<Pool>,
    /// The pool of the request.
    from: &'a Arc<Pool>,
    /// The connection, if the request is a oneway of it.
    oneway: Option<u64>,
    /// Whether it has waited in a nested call.
    waits: Cell<bool>,
    /// Whether its reply is being sent, or was.
    answers: Cell<bool>,
}

impl<'a> Worker<'a> {
    fn new(pool: &'a Arc<Pool>, from: &'a Arc<Pool>, oneway: Option<u64>) -> Self {
        Self {
            pool,
            from,
            oneway,
            waits: Cell::new(false),
            answers: Cell::new(false),
        }
    }
}

impl Answering for Worker<'_> {
    fn answers(&self) {
        // A oneway is confirmed before it runs; a thread that has waited in a call may have been
        // replaced.
        let stays = !(self.waits.get() && self.pool.replaces_waiting);
        if self.oneway.is_none() && stays && !self.answers.replace(true) {
            // Before the reply, which may cause the next request on another thread. The count
            // guards no data.
            self.pool.answering.fetch_add(1, Ordering::AcqRel);
        }
    }
}

impl Role for Worker<'_> {
    fn hand_over(&self) {
        if self.waits.replace(true) {
            return;
        }
        if self.answers.replace(false) {
            self.pool.answering.fetch_sub(1, Ordering::AcqRel);
        }
        if let Some(id) = self.oneway {
            self.from.oneway_ends(&mut self.from.lock(), id);
        }
        self.pool.wait_begins();
    }
}
