// SPDX-License-Identifier: MIT OR Apache-2.0
//! One thread that reads all connections, a queue by priority, and workers that
//! run the servants.
//!
//! The reading thread runs nobody's code, so it never waits for a worker. When
//! all workers wait in calls of their own, another one is started, up to a
//! limit; at the limit whatever comes is refused, so that those who wait for it
//! learn of that instead of waiting for ever.

use std::cell::Cell;
use std::collections::HashSet;
use std::io;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, PoisonError, Weak};

use crate::Orb;
use crate::accepting::Accepting;
use crate::orb::OrbCore;
use crate::server::Shared;
use crate::server::connection::ServerConnection;
use crate::server::intake::{HandOver, Intake, Queued, Sink, Source, Taken};
use crate::server::reactor::{Reactor, TURN};
use crate::server::waiting::Waiting;
use orbium_sync::lock::{Condvar, Mutex, MutexGuard};
use orbium_sync::role::Role;

/// A buffer larger than this is given back after the request.
const KEPT: usize = 1 << 20;

/// Octets of a buffer at first: most requests and replies are smaller.
const SMALL: usize = 8 * 1024;

struct State {
    waiting: Waiting<Queued>,
    /// Buffers for requests, for as many as there are workers.
    room: Vec<Vec<u8>>,
    /// Connections of which a oneway runs: what was sent behind it comes after.
    oneways: HashSet<u64>,
    /// Workers that wait for a request.
    idle: usize,
    /// Workers that do not wait in a call of their own.
    active: usize,
    /// All workers.
    alive: usize,
    /// Nobody is left to serve anything, nor can be had.
    stalled: bool,
    closed: bool,
}

/// The queue and its workers.
pub(super) struct Pool {
    orb: Weak<OrbCore>,
    shared: Arc<Shared>,
    workers: usize,
    /// Requests that may wait.
    capacity: usize,
    /// Workers there may be, those that wait in calls included.
    most: usize,
    state: Mutex<State>,
    changed: Condvar,
}

/// Starts the reader and the workers.
pub(super) fn start(
    orb: &Orb,
    shared: &Arc<Shared>,
    accepting: Accepting,
    workers: usize,
    capacity: usize,
) -> io::Result<()> {
    let limits = &orb.config().limits;
    let pool = Arc::new(Pool {
        orb: orb.downgrade(),
        shared: Arc::clone(shared),
        workers,
        capacity,
        most: limits.serving_threads,
        state: Mutex::new(State {
            waiting: Waiting::new(limits.message_size),
            room: (0..=workers).map(|_| Vec::with_capacity(SMALL)).collect(),
            oneways: HashSet::new(),
            idle: 0,
            active: 0,
            alive: 0,
            stalled: false,
            closed: false,
        }),
        changed: Condvar::new(),
    });
    let mut reactor = Reactor::new(orb, shared, accepting, false)?;
    reactor.pool = Some(Arc::clone(&pool));
    let reading = Arc::clone(&pool);
    let (starts, all_started) = channel();
    let started = {
        let mut state = pool.lock();
        (0..workers).try_for_each(|_| pool.add_worker(&mut state, Some(starts.clone())))
    };
    drop(starts);
    // The first request finds all of them.
    let _ = all_started.recv();
    let started = started.and_then(|()| shared.threads.run(move || reading.read(reactor)));
    if started.is_err() {
        pool.close();
    }
    started
}

impl Pool {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the reading thread does.
    fn read(&self, mut reactor: Reactor) {
        let mut ready = Vec::new();
        while let Some(id) = reactor.next(&mut ready) {
            let Some((orb, connection, mut intake)) = reactor.take(id) else {
                continue;
            };
            let source = Source {
                orb: &orb,
                connection: &connection,
                reader: self,
            };
            let (mut last, mut any) = (Taken::None, false);
            for _ in 0..TURN {
                last = intake.take_for(&source, self);
                any |= last == Taken::Done;
                // Nothing more is asked while the answers are not taken.
                if last != Taken::Done || connection.has_pending() {
                    break;
                }
            }
            reactor.put_back(&connection, intake, last, any);
        }
        // Nothing that was not begun will be: the end of each connection says so.
        self.close();
        reactor.close_all();
    }

    /// A connection takes answers again, or has ended.
    pub(super) fn look_again(&self) {
        // Not between a worker's look and its sleep.
        drop(self.lock());
        self.changed.notify_all();
    }

    /// Drops what a connection that is lost has asked for.
    pub(super) fn forget(&self, connection: u64) {
        let which = |queued: &Queued| queued.connection().id == connection;
        // Dropped when the lock is no longer held: that may end the connection.
        let _removed = self.lock().waiting.remove(which);
    }

    fn close(&self) {
        let _dropped = {
            let mut state = self.lock();
            state.closed = true;
            state.waiting.remove(|_| true)
        };
        self.changed.notify_all();
    }

    /// Starts a worker, which drops `starts` when it is there.
    fn add_worker(
        self: &Arc<Self>,
        state: &mut State,
        starts: Option<Sender<()>>,
    ) -> io::Result<()> {
        let pool = Arc::clone(self);
        self.shared.threads.run(move || {
            let storage = Vec::with_capacity(SMALL);
            drop(starts);
            pool.work(storage);
        })?;
        state.active += 1;
        state.alive += 1;
        Ok(())
    }

    fn work(self: Arc<Self>, mut storage: Vec<u8>) {
        let mut octets = Vec::new();
        while let Some(queued) = self.next(std::mem::take(&mut octets)) {
            let Some(orb) = self.orb.upgrade().map(Orb::from) else {
                continue;
            };
            if queued.connection().is_broken() {
                // Nothing else of this connection will begin either.
                self.oneway_ends(&mut self.lock(), queued.connection().id);
                continue;
            }
            let worker = Worker {
                pool: &self,
                orb: orb.number(),
                oneway: queued.is_oneway().then(|| queued.connection().id),
                waits: Cell::new(false),
            };
            octets = queued.serve(&orb, &worker, &mut storage);
            if storage.len() > KEPT {
                storage = Vec::with_capacity(SMALL);
            }
            if worker.waits.get() {
                let mut state = self.lock();
                state.active += 1;
                state.stalled = false;
            } else if let Some(id) = worker.oneway {
                self.oneway_ends(&mut self.lock(), id);
            }
        }
    }

    /// The next request, in exchange for the buffer of the one before; `None`
    /// if this worker is one too many.
    fn next(&self, mut octets: Vec<u8>) -> Option<Queued> {
        let mut state = self.lock();
        if (1..=KEPT).contains(&octets.capacity()) && state.room.len() <= self.workers {
            octets.clear();
            state.room.push(octets);
        }
        while !state.closed && state.active <= self.workers {
            let State {
                waiting, oneways, ..
            } = &mut *state;
            let may_begin = |queued: &Queued| {
                let connection = queued.connection();
                !connection.is_held_up() && !oneways.contains(&connection.id)
            };
            if let Some(queued) = waiting.take(may_begin) {
                if queued.is_oneway() {
                    oneways.insert(queued.connection().id);
                }
                return Some(queued);
            }
            state.idle += 1;
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
        }
        state.active -= 1;
        state.alive -= 1;
        // A wake-up that was for us is for another.
        self.changed.notify_one();
        None
    }

    /// What was sent behind a oneway may begin.
    fn oneway_ends(&self, state: &mut State, connection: u64) {
        state.oneways.remove(&connection);
        if state.idle > 0 {
            self.changed.notify_all();
        }
    }

    /// A worker is about to wait in a call of its own.
    #[cold]
    fn wait_begins(self: &Arc<Self>, oneway: Option<u64>) {
        let refused = {
            let mut state = self.lock();
            if let Some(id) = oneway {
                self.oneway_ends(&mut state, id);
            }
            state.active -= 1;
            let all_wait = state.active == 0 && !state.closed;
            if !all_wait || state.alive < self.most && self.add_worker(&mut state, None).is_ok() {
                return;
            }
            state.stalled = true;
            state.waiting.remove(|_| true)
        };
        tracing::warn!("all threads wait in calls of their own: requests are refused");
        let count = refused.len() as u64;
        self.shared.refused.fetch_add(count, Ordering::Relaxed);
        refused.iter().for_each(Queued::refuse);
    }
}

impl Sink for Pool {
    fn put(&self, request: Queued) -> Result<(), Box<Queued>> {
        let mut state = self.lock();
        // Who is idle will take one at once.
        let most = match state.stalled || state.closed {
            true => 0,
            false => self.capacity.saturating_add(state.idle),
        };
        let (priority, octets) = (request.priority(), request.len());
        let put = state.waiting.put(priority, octets, request, most);
        if put.is_err() {
            self.shared.refused.fetch_add(1, Ordering::Relaxed);
        } else if state.idle > 0 {
            self.changed.notify_one();
        }
        put.map_err(Box::new)
    }

    fn room(&self) -> Vec<u8> {
        self.lock().room.pop().unwrap_or_default()
    }

    fn cancel(&self, connection: u64, request_id: u32) -> bool {
        let which = |queued: &Queued| queued.is(connection, request_id);
        let removed = self.lock().waiting.remove(which);
        !removed.is_empty()
    }
}

impl HandOver for Pool {
    fn hand_over(&self, _: &Arc<ServerConnection>, _: Intake) -> bool {
        // Who reads here serves nothing that could block.
        false
    }

    fn sink(&self) -> Option<&dyn Sink> {
        Some(self)
    }
}

/// A worker that serves a request.
struct Worker<'a> {
    pool: &'a Arc<Pool>,
    orb: usize,
    /// The connection, if what runs is a oneway of it.
    oneway: Option<u64>,
    /// Whether it has waited in a call of its own.
    waits: Cell<bool>,
}

impl Role for Worker<'_> {
    fn hand_over(&self) {
        if !self.waits.replace(true) {
            self.pool.wait_begins(self.oneway);
        }
    }

    fn owner(&self) -> usize {
        self.orb
    }
}
