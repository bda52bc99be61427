// SPDX-License-Identifier: MIT OR Apache-2.0
//! A lane as used by its threads.

use std::any::Any;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

use orbium_channel::accepting::Accepting;
use orbium_channel::endpoints::Endpoints;
use orbium_sync::ThreadCache;
use orbium_sync::lock::{Mutex, MutexGuard};
use orbium_sys::Waker;
use orbium_sys::fork::Origin;
use orbium_transport::ByteStream;

use crate::connections::connection::ServerConnection;
use crate::connections::connection_table::ConnectionTable;
use crate::connections::flusher::Flusher;
use crate::lane::draining::Draining;
use crate::lane::nested_calls::NestedCalls;
use crate::lane::pool::Pool;
use crate::lane::sizes::Resize;
use crate::log::Recurring;
use crate::strategy::notifier::Notifier;
use orbium_channel::Channel;
use orbium_config::{Limits, ServerStrategy};
use orbium_giop::SystemException;
use orbium_invocation::{CallQueue, QueuedCall};
use orbium_lane::thread::Setup;
use orbium_lane::{Lane, LaneConfig, LaneFacts, LaneSizes, OWN, ServingLane, StartError};
use orbium_metrics::{Closing, LaneSnapshot, Refusal};
use orbium_request::Host;

/// Maximum time that `shutdown` waits for requests in progress: it must return even if a servant
/// never does.
const LAST_REQUESTS: Duration = Duration::from_secs(3600);

/// The shared state of the threads of a lane.
pub(crate) struct LaneCore {
    pub(crate) host: Host,
    /// The process with its threads.
    origin: Origin,
    pub(crate) facts: LaneFacts,
    pub(crate) endpoints: Endpoints,
    /// Whether a thread accepts and reads.
    reads: bool,
    pub(crate) setup: Arc<Setup>,
    /// The request queue, and the threads for requests handed off to the lane.
    pub(crate) pool: Arc<Pool>,
    /// Threads that wait in nested calls, of strategies that do not count theirs and of connections
    /// with threads of their own.
    pub(crate) nested: NestedCalls,
    strategy: Mutex<ServerStrategy>,
    /// The threads that share its connections.
    team: OnceLock<Weak<dyn Resize>>,
    pub(crate) threads: ThreadCache,
    pub(crate) flusher: Arc<Flusher>,
    stopping: AtomicBool,
    /// The state of its end while the ORB continues.
    pub(crate) draining: Draining,
    /// The waker of the thread that waits for connections, which owns it.
    waker: Weak<Waker>,
    connections: Mutex<ConnectionTable>,
    next_id: AtomicU64,
}

impl LaneCore {
    /// The lane behind a handle.
    pub(crate) fn of(lane: &Lane) -> &Self {
        match lane.serving().as_any().downcast_ref() {
            Some(core) => core,
            None => unreachable!("every lane is started by this crate"),
        }
    }

    /// A lane before its threads are started.
    pub(crate) fn new(
        host: &Host,
        config: &LaneConfig,
        number: u32,
        (accepting, waker): (&Accepting, &Arc<Waker>),
        published: Vec<Channel>,
    ) -> Result<Arc<Self>, StartError> {
        let refused = |error| StartError::RealTime(config.name.clone(), error);
        let setup = Setup::new(config).map_err(refused)?;
        let options = setup.options(config.stack_size);
        let start = orbium_sys::spawn_detached;
        let threads = ThreadCache::with_starter(&config.name, config.idle_time, options, start);
        let lenders = config.borrows_from.iter();
        let lenders = lenders.map(|it| Arc::clone(&Self::of(it).pool)).collect();
        Ok(Arc::new(Self {
            host: host.clone(),
            origin: Origin::here(),
            reads: !(config.is_pool() && accepting.is_nowhere()),
            endpoints: Endpoints::new(&config.endpoints, accepting, published, waker),
            facts: LaneFacts {
                number,
                name: config.name.clone(),
                priority: setup.priority,
                scheduling: setup.scheduling,
                reservation: setup.reservation,
            },
            pool: Pool::new(host, number, config, lenders, (&setup, &threads)),
            strategy: Mutex::new(config.strategy),
            team: OnceLock::new(),
            nested: NestedCalls::new(host.context.limits().serving_threads),
            flusher: Flusher::new(&threads),
            threads,
            stopping: AtomicBool::new(false),
            draining: Draining::default(),
            waker: Arc::downgrade(waker),
            connections: Mutex::new(ConnectionTable::new(orbium_sys::descriptor_limit())),
            // No two connections of an ORB have the same id.
            next_id: AtomicU64::new((u64::from(number) << 40) + Accepting::next_token()),
            setup,
        }))
    }

    /// Sets the threads that share its connections.
    pub(crate) fn set_team(&self, team: Weak<dyn Resize>) {
        let _ = self.team.set(team);
    }

    /// Stops accepting and reading; requests in progress are completed.
    pub(crate) fn stop(&self) {
        if !self.origin.is_here() {
            // A forked child has none of its threads, and its locks may be held.
            return;
        }
        self.stop_reading();
        self.pool.close();
    }

    /// Stops accepting and reading.
    fn stop_reading(&self) {
        // Before the lock of the table is taken below: a connection that enters it later
        // synchronizes with that and sees the flag; one that entered before is handled by the loop.
        self.stopping.store(true, Ordering::Release);
        self.flusher.end();
        if let Some(waker) = self.waker.upgrade() {
            waker.wake();
        }
        for connection in self.lock().all() {
            connection.stop_receiving();
        }
        // Idle threads of the cache: `wait_for_threads` follows only a shutdown.
        self.threads.set_linger(Duration::ZERO);
    }

    /// Waits for the requests in progress after the lane was halted.
    pub(crate) fn wait_for_threads(&self) {
        if !self.origin.is_here() {
            return;
        }
        let left = self.threads.close(Some(Instant::now() + LAST_REQUESTS));
        if left > 0 {
            crate::log::warn!(target: "orbium::conn", left, lane = self.facts.name, "threads still serve");
        }
    }

    fn lock(&self) -> MutexGuard<'_, ConnectionTable> {
        self.connections.lock()
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }

    /// Its name for users: its threads have another one if it is the ORB's own lane.
    pub(crate) fn label(&self) -> &str {
        match self.facts.number {
            OWN => "orb",
            _ => &self.facts.name,
        }
    }

    /// Adds a connection accepted at that endpoint to the table; `None` if the lane is stopping, or
    /// when the limit is reached and `end` closes none of those that may be evicted. With a
    /// `notifier` sends must not block.
    pub(crate) fn register(
        &self,
        stream: Box<dyn ByteStream>,
        at: usize,
        notifier: Option<Arc<Notifier>>,
        mut end: impl FnMut(&ServerConnection) -> bool,
    ) -> Option<Arc<ServerConnection>> {
        let context = &*self.host.context;
        let limits = context.limits();
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let (transport, headers) = self.endpoints.at(at);
        let tracked = context.instruments.book().accepted(id, &transport);
        let stream = tracked.metered(stream);
        let of_lane = (self.facts.number, self.facts.priority);
        let sending = (Arc::clone(&self.flusher), notifier);
        let made = ServerConnection::new(of_lane, id, stream, tracked, context, sending);
        let made = made.with_headers(headers);
        let connection = Arc::new(made);
        let served: Weak<ServerConnection> = Arc::downgrade(&connection);
        connection.tracked.is_served_by(served);
        if self.enter(&connection, limits) {
            self.log_accepted(&connection);
            return Some(connection);
        }
        let mut suffices = |other: &ServerConnection| end(other) && self.enter(&connection, limits);
        if self.make_room(Some(&connection), &mut suffices) {
            self.log_accepted(&connection);
            return Some(connection);
        }
        connection.tracked.note_closing(Closing::Limit);
        if let Some(all) = context.measurements() {
            all.count_refused(Refusal::Limit);
        }
        if !self.is_stopping()
            && let Some(suppressed) = connection.tracked.admit(Recurring::ConnectionLimit)
        {
            crate::log::warn!(
                target: "orbium::conn",
                cause = Recurring::ConnectionLimit.cause(),
                peer = %connection.peer_so_far(),
                lane = self.label(),
                limit = limits.connections,
                suppressed,
                "connection refused: the limit of connections is reached",
            );
        }
        None
    }

    /// Closes the best candidate for eviction that `end` can close, as there is no descriptor for a
    /// connection in the backlog; returns whether there was one. For that connection it is unknown
    /// how many connections its peer has.
    #[cold]
    pub(crate) fn end_emptiest(&self, mut end: impl FnMut(&ServerConnection) -> bool) -> bool {
        self.make_room(None, &mut end)
    }

    /// Tries the candidates for eviction in order, until one suffices.
    #[cold]
    fn make_room(
        &self,
        newcomer: Option<&ServerConnection>,
        suffices: &mut dyn FnMut(&ServerConnection) -> bool,
    ) -> bool {
        if self.is_stopping() {
            return false;
        }
        let limits = self.host.context.limits();
        let emptiest = self.lock().emptiest(newcomer, limits);
        let ended = emptiest.iter().find(|other| suffices(other));
        if let Some(other) = ended {
            other.tracked.note_closing(Closing::Limit);
            crate::log::debug!(target: "orbium::conn", peer = %other.peer(), "an empty connection made room");
        }
        ended.is_some()
    }

    fn log_accepted(&self, connection: &ServerConnection) {
        crate::log::debug!(
            target: "orbium::conn",
            conn = connection.id,
            peer = %connection.peer_so_far(),
            transport = connection.tracked.transport(),
            lane = self.label(),
            "accepted",
        );
    }

    /// Adds a connection to the table, unless it is full or closed.
    fn enter(&self, connection: &Arc<ServerConnection>, limits: &Limits) -> bool {
        let mut table = self.lock();
        !self.is_stopping() && table.enter(connection, limits)
    }

    pub(crate) fn forget(&self, connection: &ServerConnection) {
        if self.is_stopping() {
            connection.tracked.note_closing(Closing::Shutdown);
        } else if connection.is_shared() {
            connection.cancelled.end_open();
        }
        // Dropped after the lock is released.
        let _forgotten = self.lock().remove(connection);
    }
}

impl ServingLane for LaneCore {
    fn facts(&self) -> &LaneFacts {
        &self.facts
    }

    fn strategy(&self) -> ServerStrategy {
        *self.strategy.lock()
    }

    fn resize(&self, sizes: &LaneSizes) -> io::Result<()> {
        if !self.origin.is_here() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        // Held: concurrent resizes are serialized.
        let mut strategy = self.strategy.lock();
        if let Some(team) = self.team.get().and_then(Weak::upgrade) {
            team.resize(sizes)?;
        }
        self.pool.resize(sizes)?;
        self.threads.set_linger(sizes.idle_time);
        *strategy = sizes.strategy;
        Ok(())
    }

    fn endpoints(&self) -> &Endpoints {
        &self.endpoints
    }

    fn reads(&self) -> bool {
        self.reads
    }

    fn snapshot(&self) -> LaneSnapshot {
        let facts = &self.facts;
        let mut snapshot = LaneSnapshot::default();
        snapshot.number = facts.number;
        self.label().clone_into(&mut snapshot.name);
        snapshot.priority = facts.priority;
        (snapshot.scheduling, snapshot.reservation) = (facts.scheduling, facts.reservation);
        snapshot.strategy = self.strategy();
        let published = self.endpoints.published();
        snapshot.endpoints = published.iter().map(ToString::to_string).collect();
        snapshot.connections = self.lock().all().count();
        snapshot.threads = self.threads.len();
        snapshot.waiting = self.pool.waiting();
        snapshot.queue = self.pool.capacity();
        snapshot.refused = self.pool.refused();
        snapshot.budget = self.setup.budget.as_ref().map(|it| it.usage());
        snapshot
    }

    fn refused(&self) -> u64 {
        self.pool.refused()
    }

    fn waiting(&self) -> usize {
        self.pool.waiting()
    }

    fn is_of_this_thread(&self) -> bool {
        self.setup.is_of_this_thread()
    }

    fn halt(&self) {
        self.stop();
    }

    fn await_end(&self) {
        self.wait_for_threads();
    }

    fn leave(&self) {
        if let Some(dispatcher) = self.host.dispatcher() {
            dispatcher.forget_lane(self.facts.number);
        }
    }

    fn begin_leaving(&self) {
        self.draining.begin();
    }

    fn keep_clients(&self) {
        self.draining.keep_clients();
    }

    fn drain(&self, deadline: Instant) -> usize {
        if !self.origin.is_here() {
            return 0;
        }
        self.draining.begin();
        if !self.endpoints.close_all(deadline) {
            crate::log::warn!(target: "orbium::conn", lane = self.label(), "what waits at its endpoints is not taken on");
        }
        self.stop_reading();
        self.pool.retire();
        let mut left = self.threads.await_empty(deadline);
        if left > 0 {
            self.draining.expire();
            self.pool.refuse_waiting();
            left = self.threads.len();
            crate::log::warn!(target: "orbium::conn", left, lane = self.label(), "threads of a lane that ends still serve");
        }
        if let Some(budget) = &self.setup.budget {
            budget.end();
        }
        left
    }

    fn is_leaving(&self) -> bool {
        self.draining.has_begun() || self.is_stopping()
    }

    fn serve_one(&self, waits: bool) -> bool {
        self.pool.serve_one(waits)
    }

    fn has_work(&self) -> bool {
        self.pool.has_work()
    }

    fn is_idle(&self) -> bool {
        self.pool.is_idle()
    }

    fn call_queue(&self) -> &dyn CallQueue {
        self
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl CallQueue for LaneCore {
    fn put(&self, call: QueuedCall) -> Result<(), SystemException> {
        self.pool.put_call(call)
    }

    fn withdraw(&self, number: u64) {
        self.pool.withdraw_call(number);
    }

    fn bounds_octets(&self) -> bool {
        self.pool.bounds_octets()
    }
}
