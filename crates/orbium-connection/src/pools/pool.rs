// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connections to one server that wait to be used again.

mod flushing;
mod idle;
mod making;
mod oneway_state;
mod oneways;
mod waits;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use orbium_channel::Channel;
use orbium_config::ClientStrategy;
use orbium_giop::{ExceptionKind, Headers, SystemException};
use orbium_invocation::reactor::keeps_reactor;
use orbium_invocation::served_queue::is_served_by_this_thread;
use orbium_invocation::story::{Phase, note};
use orbium_sync::lock::{Condvar, Mutex, MutexGuard};
use orbium_sync::{ObjectCache, role};
use orbium_transport::{Connector, Deadline};

use crate::client_config::{CALL_SLOTS, ClientConfig};
use crate::connection::Connection;
use crate::connection::connecting::connector;
use crate::counts::Counts;
use crate::errors::{binding_busy, binding_lost};
use crate::pools::All;
use crate::pools::per_thread::OwnConnections;
use crate::pools::pool_key::PoolKey;
use crate::shared::Multiplexer;
use oneway_state::BufferedOneways;
pub use oneway_state::{Begun, Pushed};
use orbium_invocation::exceptions::{already_shut_down, time_left};
use waits::Waits;

/// Maximum time for which a call made within a request waits for a free connection. After that it
/// opens one beyond the limit, as the busy ones may be waiting for this very call.
const NESTED_PATIENCE: Duration = Duration::from_millis(50);

#[derive(Debug, Default)]
struct State {
    /// Idle ones that a thread has taken out of the cache to check them, or for which the cache had
    /// no slot.
    #[expect(clippy::vec_box)]
    idle: Vec<Box<Connection>>,
    /// Idle and busy ones.
    open: usize,
    /// Counts released capacity, if threads have their own connections.
    freed: usize,
    /// Unusable connections that were acquired and not released.
    discarded: u64,
    /// Whether the only connection was opened.
    is_made: bool,
}

/// The connections to one server, or call slots of a multiplexed one. Each carries one
/// call at a time.
#[derive(Debug)]
pub struct Pool {
    /// The common properties of its connections.
    pub key: PoolKey,
    config: Arc<ClientConfig>,
    counts: Arc<Counts>,
    /// Whether releasing a connection takes the slow path.
    is_unusual: Arc<AtomicBool>,
    /// Idle connections: a call takes one and puts it back without a lock.
    idle_cache: ObjectCache<Connection>,
    state: Mutex<State>,
    one_free: Condvar,
    source: Source,
    /// The connections of each thread, if threads have their own; then not in `state`.
    pub(crate) own: Option<OwnConnections>,
    /// Callers that wait for an idle one. Never 0 again once the pool is closed, so that a release
    /// takes the slow path and notices the end.
    pub(crate) callers_wait: AtomicUsize,
    limit: usize,
    /// Whether callers wait on a reactor and dispatch upcalls; then no call blocks here.
    reacts: bool,
    /// The headers of requests, where possible.
    headers: Headers,
    /// Whether oneways under SYNC_NONE are buffered here.
    buffers_oneways: bool,
    all: Weak<All>,
    /// Reader threads to wake when the pool closes.
    readers: Mutex<Vec<Weak<orbium_sys::Waker>>>,
    /// Oneways under SYNC_NONE, and the connection over which they are sent.
    oneways: BufferedOneways,
}

/// The source of connections.
#[derive(Debug)]
enum Source {
    Exclusive(Arc<dyn Connector>),
    Shared(Multiplexer),
}

impl Pool {
    pub(crate) fn new(
        key: PoolKey,
        config: &Arc<ClientConfig>,
        all: &Arc<All>,
    ) -> Result<Arc<Self>, SystemException> {
        let connector = connector(config, &key)?;
        let is_private = key.partition.is_private();
        let over_datagrams = config.protocols.is_datagram(&key.channel);
        let strategy = if is_private || over_datagrams || key.partition.is_buffered {
            ClientStrategy::ExclusivePool
        } else {
            config.client_strategy
        };
        let limits = &config.limits;
        let source = match Multiplexer::new(strategy, connector, &key.channel, config, &all.counts)
        {
            Ok(multiplexer) => Source::Shared(multiplexer),
            Err(connector) => Source::Exclusive(connector.into()),
        };
        let limit = match source {
            Source::Shared(_) => limits.calls_per_connection.min(CALL_SLOTS as usize),
            Source::Exclusive(_) if key.partition.is_single() => 1,
            Source::Exclusive(_) => limits.connections_per_server,
        };
        let reacts = config.client_strategy == ClientStrategy::Reactor && !over_datagrams;
        let has_own = strategy == ClientStrategy::ExclusivePerThread;
        let is_unusual = if has_own {
            Arc::new(AtomicBool::new(true))
        } else {
            Arc::clone(&all.counts.is_unusual)
        };
        let headers = config.protocols.headers(&key.channel);
        // Not over datagrams, and not if connections are shared by callers, belong to threads, or
        // are limited to one.
        let is_exclusive = matches!(source, Source::Exclusive(_)) && !has_own;
        let buffers_oneways = is_exclusive && !key.partition.is_single() && !over_datagrams;
        Ok(Arc::new_cyclic(|pool| Self {
            is_unusual,
            headers,
            buffers_oneways,
            key,
            config: Arc::clone(config),
            counts: Arc::clone(&all.counts),
            idle_cache: ObjectCache::default(),
            state: Mutex::default(),
            one_free: Condvar::new(),
            source,
            own: OwnConnections::new(strategy, pool),
            callers_wait: AtomicUsize::new(0),
            limit,
            reacts,
            all: Arc::downgrade(all),
            readers: Mutex::default(),
            oneways: BufferedOneways::default(),
        }))
    }

    /// The key that its connections have in common.
    pub fn key(&self) -> &PoolKey {
        &self.key
    }

    /// The headers of requests, where possible.
    pub fn headers(&self) -> Headers {
        self.headers
    }

    /// The channel of its connections.
    pub fn channel(&self) -> &Channel {
        &self.key.channel
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// The same, with all idle connections in one list.
    fn lock_all_idle(&self) -> MutexGuard<'_, State> {
        let mut state = self.lock();
        self.drain_cache(&mut state);
        state
    }

    fn drain_cache(&self, state: &mut State) {
        for connection in self.idle_cache.drain() {
            state.idle.push(connection);
        }
    }

    /// An idle connection for one call, if there is one.
    #[inline(always)]
    pub fn acquire_idle(&self) -> Option<Box<Connection>> {
        match self.idle_cache.take_local() {
            Some(connection) => Some(connection),
            None => self.acquire_elsewhere(),
        }
    }

    /// A connection last used by another thread.
    fn acquire_elsewhere(&self) -> Option<Box<Connection>> {
        match &self.own {
            Some(own) => own.acquire(),
            None => self.idle_cache.take().or_else(|| self.lock().idle.pop()),
        }
    }

    /// A connection for one call: a new one, or, at the limit, the next that
    /// becomes idle.
    #[cold]
    pub fn acquire_new(&self, deadline: Deadline) -> Result<Box<Connection>, SystemException> {
        let _ = role::about_to_wait(|| self.reacts);
        if let Some(connection) = self.take_flushed() {
            return Ok(connection);
        }
        if let Some(connection) = self.wait_for_idle(deadline)? {
            return Ok(connection);
        }
        match self.connect(deadline) {
            Ok(connection) => {
                if self.key.partition.is_single() {
                    self.lock().is_made = true;
                }
                if let Some(all) = self.all.upgrade() {
                    all.connection_made();
                }
                Ok(connection)
            }
            Err(exception) => {
                self.free_capacity();
                Err(exception)
            }
        }
    }

    /// Notes the reason why a call gets no connection.
    #[cold]
    fn note_busy(&self, exception: SystemException) {
        let channel = Some(&self.key.channel);
        match exception.kind {
            ExceptionKind::Timeout => note(Phase::Connect, channel, &self.busy()),
            _ => note(Phase::Connect, channel, &exception),
        }
    }

    /// The text for a call that finds the limit reached.
    fn busy(&self) -> String {
        let limit = self.limit;
        match self.source {
            Source::Shared(_) => format!(
                "the connection was busy with {limit} calls (`limits.calls_per_connection`)"
            ),
            Source::Exclusive(_) if self.key.partition.is_single() => {
                "the single connection of the binding was busy".to_owned()
            }
            Source::Exclusive(_) => {
                format!("all {limit} connections were busy (`limits.connections_per_server`)")
            }
        }
    }

    /// An idle connection; `None` if a new one is to be opened, which is counted already.
    fn wait_for_idle(
        &self,
        deadline: Deadline,
    ) -> Result<Option<Box<Connection>>, SystemException> {
        let nested = role::is_set().then(|| Deadline::after(Some(self.nested_patience())));
        let limit = nested.map_or(deadline, |nested| nested.earlier(deadline));
        let mut waits = None;
        let mut state = self.lock();
        loop {
            let looked = self.look(&mut state, limit, nested.is_some());
            let left = match looked.inspect_err(|error| self.note_busy(*error))? {
                Found::Idle(connection) => return Ok(Some(connection)),
                Found::Room => return Ok(None),
                Found::Nothing(left) => left,
            };
            if waits.is_none() {
                // Registered as a waiter: later releases notify us. Check once more for earlier
                // releases.
                waits = Some(Waits::begin(&self.callers_wait));
                drop(state);
                if let Some(connection) = self.take_flushed() {
                    return Ok(Some(connection));
                }
                state = self.lock();
                continue;
            }
            let any;
            (state, any) = self.take_from_others(state);
            if !any {
                state = self.one_free.wait_at_most(state, left);
            }
        }
    }

    /// The time for which a call within a request waits for a connection. Zero for a caller that
    /// serves others while it waits: the busy connections may be in use further down this very
    /// stack.
    fn nested_patience(&self) -> Duration {
        if self.reacts && keeps_reactor().is_some() || is_served_by_this_thread() {
            Duration::ZERO
        } else {
            NESTED_PATIENCE
        }
    }

    /// Checks once for an idle connection, or reserves capacity for a new one.
    fn look(
        &self,
        state: &mut State,
        limit: Deadline,
        is_nested: bool,
    ) -> Result<Found, SystemException> {
        if self.counts.is_closed() {
            return Err(already_shut_down());
        }
        self.drain_cache(state);
        if let Some(connection) = state.idle.pop() {
            return Ok(Found::Idle(connection));
        }
        if state.is_made && state.open == 0 {
            return Err(binding_lost());
        }
        let left = time_left(limit);
        let goes_beyond = left.is_err() && is_nested;
        if goes_beyond && self.key.partition.is_single() && state.open > 0 {
            return Err(binding_busy());
        }
        if state.open < self.limit || goes_beyond {
            state.open += 1;
            return Ok(Found::Room);
        }
        left.map(Found::Nothing)
    }

    /// Closes an idle connection of another thread to make room; returns whether any state has
    /// changed.
    fn take_from_others<'s>(
        &'s self,
        mut state: MutexGuard<'s, State>,
    ) -> (MutexGuard<'s, State>, bool) {
        let Some(own) = &self.own else {
            return (state, false);
        };
        let freed = state.freed;
        drop(state);
        let closed = own.close_one_idle();
        state = self.lock();
        state.open -= usize::from(closed);
        // Without the lock this caller missed notifications of released capacity and of the end.
        let any = state.freed != freed || state.open < self.limit || self.counts.is_closed();
        (state, any)
    }

    /// Stores a connection for the next call.
    #[inline(always)]
    pub fn release(&self, connection: Box<Connection>) {
        if self.is_unusual.load(Ordering::Relaxed) {
            self.release_otherwise(connection);
            return;
        }
        if let Err(connection) = self.idle_cache.put(connection) {
            self.keep_in_list(connection);
        }
        // SeqCst, after the put: a caller that increments the count later finds the connection in
        // its second check.
        if self.callers_wait.load(Ordering::SeqCst) > 0 {
            self.notify_of_release();
        }
    }

    /// Stores a connection for which the cache has no slot.
    #[cold]
    fn keep_in_list(&self, connection: Box<Connection>) {
        self.lock().idle.push(connection);
    }

    /// Wakes a waiter, or closes the connections of a closed pool.
    #[cold]
    fn notify_of_release(&self) {
        if self.counts.is_closed() {
            return self.close();
        }
        // Taking the lock orders this after the waiter has blocked: no lost wake-up between its
        // last check and its wait.
        drop(self.lock());
        self.one_free.notify_one();
    }

    /// Stores a connection for the next call, unless the ORB has ended, and closes the least
    /// recently used ones if there are too many.
    #[cold]
    fn release_otherwise(&self, connection: Box<Connection>) {
        if let Some(own) = &self.own {
            return own.release(self, connection);
        }
        if self.counts.is_closed() {
            connection.close();
            drop(connection);
            self.discard();
            self.close_source();
            return;
        }
        self.lock().idle.push(connection);
        self.one_free.notify_one();
        self.shrink_all();
    }

    /// Closes idle connections beyond the limit of all pools together, unless the ORB has ended.
    fn shrink_all(&self) {
        if let Some(all) = self.all.upgrade() {
            all.shrink();
        }
    }

    /// Notifies waiters that a connection may be idle.
    pub(crate) fn one_is_free(&self) {
        self.lock().freed += 1;
        self.one_free.notify_all();
    }

    /// Counts off a connection that was acquired and must not be used again.
    pub fn discard(&self) {
        self.lock().discarded += 1;
        self.free_capacity();
    }

    /// Releases the capacity of a connection.
    fn free_capacity(&self) {
        self.lock().open -= 1;
        self.one_free.notify_one();
    }

    /// Connections that were forgotten so far.
    pub fn connections_lost(&self) -> u64 {
        self.lock().discarded
    }

    /// Has the reader woken when the pool closes.
    pub fn wake_on_close(&self, reader: &Arc<orbium_sys::Waker>) {
        let mut readers = self.readers.lock();
        let reader = Arc::downgrade(reader);
        if !readers.iter().any(|known| known.ptr_eq(&reader)) {
            readers.push(reader);
        }
    }

    fn tell_readers(&self) {
        let readers = self.readers.lock();
        let readers = readers.iter().filter_map(Weak::upgrade);
        readers.for_each(|reader| reader.wake());
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.counts.is_closed()
    }

    pub(crate) fn shrink_if_crowded(&self) {
        if self.counts.is_crowded() {
            self.shrink_all();
        }
    }
}

/// The result of a check for a connection.
enum Found {
    Idle(Box<Connection>),
    /// A new one may be opened.
    Room,
    /// All are busy; the remaining time to wait.
    Nothing(Option<Duration>),
}

impl Drop for Pool {
    /// The last reference to the server, or the reference with private connections, was dropped.
    fn drop(&mut self) {
        self.close();
        self.tell_readers();
    }
}
