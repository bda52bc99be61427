// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connections to one server that wait to be used again.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, Weak};
use std::time::{Duration, Instant};

use orbium_giop::{Completion, ExceptionKind, SystemException, minor};
use orbium_sync::lock::{Condvar, Mutex, MutexGuard};
use orbium_sync::{Shelf, role};
use orbium_transport::{Connector, Deadline};

use crate::client::binding::no_usable_protocol;
use crate::client::connection::Connection;
use crate::client::counts::{Counted, Counts};
use crate::client::link::not_trusted;
use crate::client::own;
use crate::client::per_thread::OwnConnections;
use crate::client::pools::{All, PoolKey};
use crate::client::shared::{Hub, SEATS};
use crate::client::{reacting, unreachable, waiting};
use crate::server::keeps_reactor;
use crate::{Channel, ClientStrategy, Config};

/// How long a call made within a request waits for a connection to become free.
/// Then it gets one beyond the limit: those that are busy may be waiting for
/// this very call.
const NESTED_PATIENCE: Duration = Duration::from_millis(50);

#[derive(Debug, Default)]
struct State {
    /// Idle ones that somebody has taken off the shelf to look at them, or for
    /// which there was no room there.
    #[expect(clippy::vec_box)]
    idle: Vec<Box<Connection>>,
    /// Idle and busy ones.
    open: usize,
    /// Counts what became free where threads have their own.
    freed: usize,
    /// The one connection was made.
    is_made: bool,
}

/// The connections to one server, or seats at one that is shared. Each is used
/// by one call at a time.
#[derive(Debug)]
pub(crate) struct Pool {
    pub(super) key: PoolKey,
    config: Arc<Config>,
    counts: Arc<Counts>,
    /// Whether a connection is not simply kept when it becomes idle.
    is_unusual: Arc<AtomicBool>,
    /// Idle ones: a call takes one from here and puts it back without a lock.
    shelf: Shelf<Connection>,
    state: Mutex<State>,
    one_free: Condvar,
    source: Source,
    /// Where each thread has its own, they are there and not in `state`.
    pub(super) own: Option<OwnConnections>,
    /// Callers that wait for a free one. Once the pool is closed it is never 0
    /// again: who puts one back then learns of that too.
    pub(super) callers_wait: AtomicUsize,
    limit: usize,
    /// Whether who waits here serves others meanwhile.
    reacts: bool,
    all: Weak<All>,
}

/// Where connections come from.
#[derive(Debug)]
enum Source {
    Exclusive(Arc<dyn Connector>),
    Shared(Hub),
}

impl Pool {
    pub(super) fn new(
        key: PoolKey,
        config: &Arc<Config>,
        all: &Arc<All>,
    ) -> Result<Arc<Self>, SystemException> {
        let connector = connector(config, &key)?;
        let is_private = key.apart.private.is_some();
        let over_datagrams = config.protocols.is_datagram(&key.channel);
        let strategy = if is_private || over_datagrams {
            ClientStrategy::ExclusivePool
        } else {
            config.client_strategy
        };
        let limits = &config.limits;
        let source = if strategy.is_multiplexed() {
            let has_thread = strategy == ClientStrategy::IoThread;
            let counts = &all.counts;
            Source::Shared(Hub::new(connector, has_thread, limits.message_size, counts))
        } else {
            Source::Exclusive(connector.into())
        };
        let limit = match source {
            Source::Shared(_) => limits.calls_per_connection.min(SEATS as usize),
            Source::Exclusive(_) if key.apart.is_once => 1,
            Source::Exclusive(_) => limits.connections_per_server,
        };
        let reacts = config.client_strategy == ClientStrategy::Reactor && !over_datagrams;
        let has_own = strategy == ClientStrategy::ExclusivePerThread;
        let is_unusual = if has_own {
            Arc::new(AtomicBool::new(true))
        } else {
            Arc::clone(&all.counts.is_unusual)
        };
        Ok(Arc::new_cyclic(|pool| Self {
            is_unusual,
            key,
            config: Arc::clone(config),
            counts: Arc::clone(&all.counts),
            shelf: Shelf::default(),
            state: Mutex::default(),
            one_free: Condvar::new(),
            source,
            own: has_own.then(|| OwnConnections::new(pool.clone())),
            callers_wait: AtomicUsize::new(0),
            limit,
            reacts,
            all: Arc::downgrade(all),
        }))
    }

    pub(crate) fn key(&self) -> &PoolKey {
        &self.key
    }

    pub(crate) fn channel(&self) -> &Channel {
        &self.key.channel
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The same, with all that is idle in one place.
    fn lock_all_idle(&self) -> MutexGuard<'_, State> {
        let mut state = self.lock();
        state.idle.extend(self.shelf.drain());
        state
    }

    /// A connection for one call, if one is idle.
    #[inline(always)]
    pub(crate) fn acquire_idle(&self) -> Option<Box<Connection>> {
        match self.shelf.take_own() {
            Some(connection) => Some(connection),
            None => self.acquire_elsewhere(),
        }
    }

    /// One that another thread has used last.
    #[inline(never)]
    fn acquire_elsewhere(&self) -> Option<Box<Connection>> {
        match &self.own {
            Some(own) => own.acquire(),
            None => self.shelf.take().or_else(|| self.lock().idle.pop()),
        }
    }

    /// A connection for one call: a new one, or, at the limit, the next that
    /// becomes idle.
    #[cold]
    pub(crate) fn acquire_new(
        &self,
        deadline: Deadline,
    ) -> Result<Box<Connection>, SystemException> {
        role::about_to_wait(|| self.reacts);
        if let Some(connection) = self.wait_for_idle(deadline)? {
            return Ok(connection);
        }
        match self.connect(deadline) {
            Ok(connection) => {
                if self.key.apart.is_once {
                    self.lock().is_made = true;
                }
                if let Some(all) = self.all.upgrade() {
                    all.connection_made();
                }
                Ok(connection)
            }
            Err(exception) => {
                self.discard();
                Err(exception)
            }
        }
    }

    /// One that is idle; `None` if there is to be a new one, counted already.
    fn wait_for_idle(
        &self,
        deadline: Deadline,
    ) -> Result<Option<Box<Connection>>, SystemException> {
        // Those that are busy may be so further down on this very stack.
        let patience = match self.reacts && keeps_reactor().is_some() {
            true => Duration::ZERO,
            false => NESTED_PATIENCE,
        };
        let nested = role::is_set().then(|| Deadline::after(Some(patience)));
        let limit = nested.map_or(deadline, |nested| nested.earlier(deadline));
        let mut waits = None;
        let mut state = self.lock();
        loop {
            if self.counts.is_closed() {
                return Err(SystemException::omg(
                    ExceptionKind::BadInvOrder,
                    4,
                    Completion::No,
                ));
            }
            state.idle.extend(self.shelf.drain());
            if let Some(connection) = state.idle.pop() {
                return Ok(Some(connection));
            }
            if state.is_made && state.open == 0 {
                return Err(own::lost());
            }
            let left = limit.remaining();
            if left.is_err() && nested.is_some() && self.key.apart.is_once && state.open > 0 {
                return Err(own::busy());
            }
            if state.open < self.limit || (left.is_err() && nested.is_some()) {
                state.open += 1;
                return Ok(None);
            }
            let Ok(left) = left else {
                return Err(deadline_passed());
            };
            if waits.is_none() {
                // From now on who puts one back says so; what was put back before
                // is seen by another look.
                waits = Some(Waits::begin(&self.callers_wait));
                continue;
            }
            // What another thread has for itself and does not use.
            let mut stolen = false;
            if let Some(own) = &self.own {
                let freed = state.freed;
                drop(state);
                stolen = own.give_one_up();
                state = self.lock();
                state.open -= usize::from(stolen);
                stolen |= state.freed != freed;
            }
            if !stolen {
                state = waiting::wait(&self.one_free, state, left);
            }
        }
    }

    /// Keeps a connection for the next call.
    #[inline(always)]
    pub(crate) fn release(&self, connection: Box<Connection>) {
        if self.is_unusual.load(Ordering::Relaxed) {
            self.release_otherwise(connection);
            return;
        }
        if let Err(connection) = self.shelf.put(connection) {
            self.keep_beside(connection);
        }
        // After it was put back: who comes to wait later sees it.
        if self.callers_wait.load(Ordering::SeqCst) > 0 {
            self.tell_of_release();
        }
    }

    /// Keeps one for which there is no room on the shelf.
    #[cold]
    fn keep_beside(&self, connection: Box<Connection>) {
        self.lock().idle.push(connection);
    }

    /// Tells who waits for one that is idle, or closes it if nobody is to have it.
    #[cold]
    fn tell_of_release(&self) {
        if self.counts.is_closed() {
            return self.close();
        }
        // Not between somebody's look and their sleep.
        drop(self.lock());
        self.one_free.notify_one();
    }

    /// Keeps a connection for the next call, if the ORB has not ended, and
    /// closes those that have been idle for longest, if there are too many.
    #[cold]
    fn release_otherwise(&self, connection: Box<Connection>) {
        if self.own.is_some() {
            self.release_own(connection);
            return;
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
        if let Some(all) = self.all.upgrade() {
            all.shrink();
        }
    }

    /// Says that one may be free, to who waits for it.
    pub(super) fn one_is_free(&self) {
        self.lock().freed += 1;
        self.one_free.notify_all();
    }

    /// Forgets a connection that was acquired and is not to be used again.
    pub(crate) fn discard(&self) {
        self.lock().open -= 1;
        self.one_free.notify_one();
    }

    /// Forgets connections that were closed where their threads had them.
    fn count_closed(&self, closed: usize) {
        self.lock().open -= closed;
        self.one_free.notify_all();
    }

    /// Closes what is idle: a connection to the same server has just failed.
    pub(crate) fn forget_idle(&self) {
        if let Some(own) = &self.own {
            let closed = own.close_all();
            self.count_closed(closed);
        }
        self.drop_idle(|_| true);
    }

    pub(super) fn is_closed(&self) -> bool {
        self.counts.is_closed()
    }

    pub(super) fn shrink_if_crowded(&self) {
        if self.counts.is_crowded()
            && let Some(all) = self.all.upgrade()
        {
            all.shrink();
        }
    }

    /// Drops the idle connections that `unwanted` says; whether there were any.
    fn drop_idle(&self, unwanted: impl Fn(&Connection) -> bool) -> bool {
        let mut state = self.lock_all_idle();
        let (gone, kept): (Vec<_>, Vec<_>) = std::mem::take(&mut state.idle)
            .into_iter()
            .partition(|connection| unwanted(connection));
        state.idle = kept;
        state.open -= gone.len();
        drop(state);
        self.one_free.notify_all();
        !gone.is_empty()
    }

    /// Whether what can be received on a connection that was acquired can only be
    /// its end: on a shared one it may be for others.
    pub(super) fn can_be_looked_at(&self) -> bool {
        match &self.source {
            Source::Exclusive(_) => !self.config.protocols.is_datagram(&self.key.channel),
            Source::Shared(_) => {
                let state = self.lock_all_idle();
                state.idle.len() + 1 == state.open
            }
        }
    }

    /// Whether there are connections, idle or busy.
    pub(super) fn is_in_use(&self) -> bool {
        self.lock().open > 0
    }

    /// Drops what the server has closed or spoiled.
    pub(super) fn drop_spoilt(&self) {
        if let Source::Exclusive(_) = self.source {
            self.drop_idle(Connection::is_spoilt);
            return;
        }
        // What has come for busy seats spoils nothing.
        let state = self.lock_all_idle();
        let all_idle = state.idle.len() == state.open;
        let spoilt = all_idle && state.idle.iter().any(|seat| seat.is_spoilt());
        drop(state);
        if spoilt {
            self.forget_idle();
            self.close_source();
        }
    }

    /// When the connection that has been idle for longest was used last.
    pub(super) fn oldest_idle(&self, now: Instant) -> Option<Instant> {
        if let Some(own) = &self.own {
            return own.oldest_idle(now);
        }
        let mut state = self.lock_all_idle();
        let used = state.idle.iter_mut().map(|it| it.last_used(now));
        match &self.source {
            Source::Exclusive(_) => used.min(),
            // As long as no seat is busy.
            Source::Shared(hub) => {
                let used = used.max();
                used.filter(|_| state.idle.len() == state.open && hub.is_open())
            }
        }
    }

    /// Closes in order the connection that has been idle for longest.
    pub(super) fn close_oldest(&self) {
        if let Some(own) = &self.own {
            let closed = own.close_oldest();
            return self.count_closed(usize::from(closed));
        }
        if let Source::Shared(_) = self.source {
            self.close_idle_since(Instant::now());
            return;
        }
        let mut state = self.lock_all_idle();
        let places = state.idle.iter().enumerate();
        let oldest = places
            .min_by_key(|(_, it)| it.used())
            .map(|(place, _)| place);
        if let Some(place) = oldest {
            let connection = state.idle.remove(place);
            state.open -= 1;
            drop(state);
            connection.close();
            drop(connection);
            self.one_free.notify_one();
        }
    }

    /// Closes in order what has not been used since then.
    pub(super) fn close_idle_since(&self, since: Instant) {
        if let Some(own) = &self.own {
            let closed = own.close_idle_since(since);
            return self.count_closed(closed);
        }
        let closed = self.drop_idle(|connection| {
            let is_idle = connection.used_before(since);
            if is_idle {
                connection.close();
            }
            is_idle
        });
        if closed && !self.is_in_use() {
            self.close_source();
        }
    }

    /// Closes what is idle; those who wait for a free one wait in vain.
    pub(super) fn close(&self) {
        // Before the look at what is idle: what is put back later is closed then.
        self.callers_wait.fetch_add(1, Ordering::SeqCst);
        if let Some(own) = &self.own {
            let closed = own.close_all();
            self.count_closed(closed);
        }
        self.drop_idle(|connection| {
            connection.close();
            true
        });
        self.close_source();
        self.one_free.notify_all();
    }

    pub(super) fn close_source(&self) {
        if let Source::Shared(hub) = &self.source {
            hub.close();
        }
    }

    fn connect(&self, deadline: Deadline) -> Result<Box<Connection>, SystemException> {
        let limit = Deadline::after(Some(self.config.connect_timeout.0));
        let earliest = deadline.earlier(limit);
        let negotiated = self.key.negotiated;
        let made = match &self.source {
            Source::Exclusive(connector) => {
                let made = match self.reacts {
                    false => connector.connect(earliest),
                    true => reacting::connect(connector, earliest),
                };
                made.map(|stream| {
                    let counted = Counted::new(&self.counts);
                    let made = Connection::new(stream, &self.config, negotiated, Some(counted));
                    if self.reacts { made.reacting() } else { made }
                })
            }
            Source::Shared(hub) => hub.seat(earliest).map(|(stream, (last, distance))| {
                let mut seat = Connection::new(stream, &self.config, negotiated, None);
                seat.number_from(last, distance);
                seat
            }),
        };
        made.map(Box::new).map_err(|error| {
            crate::log::debug!(channel = %self.key.channel, %error, "cannot connect");
            unreachable::note(&self.key.channel, &error);
            refusal(&error, deadline, &self.key.channel)
        })
    }
}

/// Somebody waits for a free connection.
struct Waits<'p>(&'p AtomicUsize);

impl<'p> Waits<'p> {
    fn begin(callers: &'p AtomicUsize) -> Self {
        callers.fetch_add(1, Ordering::SeqCst);
        Self(callers)
    }
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Drop for Pool {
    /// Nobody refers to the server any more, or not by this reference.
    fn drop(&mut self) {
        self.close();
    }
}

fn deadline_passed() -> SystemException {
    SystemException::orbium(
        ExceptionKind::Timeout,
        minor::DEADLINE_PASSED,
        Completion::No,
    )
}

fn connector(config: &Config, key: &PoolKey) -> Result<Box<dyn Connector>, SystemException> {
    let channel = &key.channel;
    let made = match (key.apart.mark, key.apart.properties) {
        (None, None) => config.protocols.connector(channel, config),
        (mark, properties) => {
            let properties = properties.unwrap_or(config.properties);
            let mut own = config.clone();
            own.properties = mark.map_or(properties, |mark| mark.on(properties));
            config.protocols.connector(channel, &own)
        }
    };
    made.map_err(|refusal| {
        crate::log::debug!(%channel, %refusal, "not usable");
        no_usable_protocol()
    })
}

/// What a caller is told of a connection that could not be made.
fn refusal(error: &io::Error, deadline: Deadline, channel: &Channel) -> SystemException {
    if deadline.has_passed() {
        return deadline_passed();
    }
    if error.kind() == io::ErrorKind::PermissionDenied {
        crate::log::warn!(%error, "the peer is not trusted");
        return not_trusted();
    }
    if orbium_sys::is_exhausted(error) {
        crate::log::warn!(%error, "nothing left to connect with");
        let code = minor::SYSTEM_EXHAUSTED;
        return SystemException::orbium(ExceptionKind::NoResources, code, Completion::No);
    }
    let code = match error.kind() {
        io::ErrorKind::ConnectionRefused => minor::CONNECT_REFUSED,
        // A socket file that is not there any more: nobody listens.
        io::ErrorKind::NotFound if channel.is_within_host() => minor::CONNECT_REFUSED,
        io::ErrorKind::NotFound => minor::HOST_UNKNOWN,
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => minor::CONNECT_TIMEOUT,
        _ => minor::CONNECT_FAILED,
    };
    SystemException::orbium(ExceptionKind::Transient, code, Completion::No)
}
