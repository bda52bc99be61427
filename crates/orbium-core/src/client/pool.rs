// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connections that wait to be used again, by server.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use orbium_giop::codeset::Negotiated;
use orbium_giop::real_time::PriorityBand;
use orbium_giop::{Completion, ExceptionKind, SystemException, minor};
use orbium_sync::lock::{Condvar, Mutex, MutexGuard};
use orbium_sync::role;
use orbium_transport::{Connector, Deadline};

use crate::client::binding::no_usable_protocol;
use crate::client::connection::Connection;
use crate::client::exchange::not_trusted;
use crate::client::unreachable;
use crate::{Channel, Config, NetworkMark, ProtocolProperties};

/// What connections must have in common to be used for one another: the
/// channel, and the code sets, which cannot change once they are settled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PoolKey {
    pub(crate) channel: Channel,
    pub(crate) negotiated: Negotiated,
    pub(crate) apart: Apart,
}

/// What keeps connections from being shared, or shared by all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Apart {
    /// They are for requests of these priorities.
    pub(crate) band: Option<PriorityBand>,
    /// They are one reference's own; a number for each.
    pub(crate) private: Option<u64>,
    /// Each request says at which priority it is to be served.
    pub(crate) carries: bool,
    /// What they send is marked for the network.
    pub(crate) mark: Option<NetworkMark>,
    /// What is asked of their sockets, if not what the ORB asks of all.
    pub(crate) properties: Option<ProtocolProperties>,
}

impl Hash for PoolKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.channel.hash(state);
    }
}

/// All pools of an ORB.
#[derive(Debug)]
pub(crate) struct Pools {
    config: Arc<Config>,
    pools: Mutex<HashMap<PoolKey, Arc<Pool>>>,
    counts: Arc<Counts>,
}

/// What is counted over all pools.
#[derive(Debug, Default)]
struct Counts {
    /// Connections, idle and busy ones. Written only when one is made or lost.
    open: AtomicUsize,
    /// Whether a connection is closed after use rather than kept: there are too
    /// many, or the ORB has ended.
    keeps_none: AtomicBool,
    /// Connections made since idle ones were last looked at.
    made: AtomicUsize,
    closed: AtomicBool,
}

impl Counts {
    /// Connections were made, or lost.
    fn change_open(&self, by: isize, limit: usize) {
        let before = self.open.fetch_add(by as usize, Ordering::Relaxed);
        let crowded = before.wrapping_add_signed(by) > limit;
        let closed = self.closed.load(Ordering::Acquire);
        self.keeps_none.store(crowded || closed, Ordering::Release);
    }
}

/// Connections made until idle ones are looked at again.
const SWEEP_AFTER: usize = 32;

#[derive(Debug, Default)]
struct State {
    /// Boxed, since they move in and out with every call.
    #[expect(clippy::vec_box)]
    idle: Vec<Box<Connection>>,
    /// Idle and busy ones.
    open: usize,
    waiting: usize,
}

/// The connections to one server. Each is used by one call at a time.
#[derive(Debug)]
pub(crate) struct Pool {
    key: PoolKey,
    config: Arc<Config>,
    counts: Arc<Counts>,
    state: Mutex<State>,
    one_free: Condvar,
    connector: Box<dyn Connector>,
}

impl Pools {
    pub(crate) fn new(config: Arc<Config>) -> Self {
        Self {
            config,
            pools: Mutex::default(),
            counts: Arc::default(),
        }
    }

    /// The connections to a server.
    ///
    /// # Errors
    /// No transport for the channel, or an address that is none: INV_POLICY.
    pub(crate) fn pool(&self, key: PoolKey) -> Result<Arc<Pool>, SystemException> {
        let mut pools = self.pools.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pool) = pools.get(&key) {
            return Ok(Arc::clone(pool));
        }
        let pool = Arc::new(Pool {
            connector: connector(&self.config, &key)?,
            key: key.clone(),
            config: Arc::clone(&self.config),
            counts: Arc::clone(&self.counts),
            state: Mutex::default(),
            one_free: Condvar::new(),
        });
        pools.insert(key, Arc::clone(&pool));
        Ok(pool)
    }

    /// Closes idle connections that the server has closed or spoiled, and
    /// forgets servers that nobody refers to any more. Costs a look at each,
    /// so it is done once for many new connections.
    pub(crate) fn sweep_if_due(&self) {
        if self.counts.made.load(Ordering::Relaxed) < SWEEP_AFTER {
            return;
        }
        self.counts.made.store(0, Ordering::Relaxed);
        let pools: Vec<Arc<Pool>> = {
            let mut held = self.pools.lock().unwrap_or_else(PoisonError::into_inner);
            held.retain(|_, pool| Arc::strong_count(pool) > 1 || pool.lock().open > 0);
            held.values().cloned().collect()
        };
        for pool in pools {
            pool.retain_idle(|connection| !connection.is_spoilt());
        }
    }

    /// Closes what is idle, and keeps nothing from now on.
    pub(crate) fn close(&self) {
        self.counts.closed.store(true, Ordering::Release);
        self.counts.keeps_none.store(true, Ordering::Release);
        let pools = std::mem::take(&mut *self.pools.lock().unwrap_or_else(PoisonError::into_inner));
        for pool in pools.values() {
            pool.retain_idle(|connection| {
                connection.close();
                false
            });
            // Those who wait for a free one wait in vain.
            pool.one_free.notify_all();
        }
    }
}

impl Pool {
    pub(crate) fn key(&self) -> &PoolKey {
        &self.key
    }

    pub(crate) fn channel(&self) -> &Channel {
        &self.key.channel
    }

    #[inline(always)]
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A connection for one call, if one is idle.
    #[inline(always)]
    pub(crate) fn acquire_idle(&self) -> Option<Box<Connection>> {
        self.lock().idle.pop()
    }

    /// Keeps the idle connections that `keep` says to.
    fn retain_idle(&self, keep: impl Fn(&Connection) -> bool) {
        let mut dropped = Vec::new();
        let mut state = self.lock();
        let (kept, gone) = std::mem::take(&mut state.idle)
            .into_iter()
            .partition(|c| keep(c));
        state.idle = kept;
        dropped.extend::<Vec<Box<Connection>>>(gone);
        state.open -= dropped.len();
        drop(state);
        let dropped = -(dropped.len() as isize);
        self.counts
            .change_open(dropped, self.config.limits.idle_connections);
        self.one_free.notify_all();
    }

    /// A connection for one call: a new one, or, at the limit, the next that
    /// becomes idle.
    #[cold]
    pub(crate) fn acquire_new(
        &self,
        deadline: Deadline,
    ) -> Result<Box<Connection>, SystemException> {
        role::about_to_block();
        let mut state = self.lock();
        loop {
            if self.counts.closed.load(Ordering::Acquire) {
                return Err(SystemException::omg(
                    ExceptionKind::BadInvOrder,
                    4,
                    Completion::No,
                ));
            }
            if let Some(connection) = state.idle.pop() {
                return Ok(connection);
            }
            if state.open < self.config.limits.connections_per_server {
                state.open += 1;
                break;
            }
            let Ok(left) = deadline.remaining() else {
                return Err(SystemException::orbium(
                    ExceptionKind::Timeout,
                    minor::DEADLINE_PASSED,
                    Completion::No,
                ));
            };
            state.waiting += 1;
            let wait = left.unwrap_or(Duration::from_secs(3600));
            state = self
                .one_free
                .wait_timeout(state, wait)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
            state.waiting -= 1;
        }
        drop(state);
        self.counts.made.fetch_add(1, Ordering::Relaxed);
        self.counts
            .change_open(1, self.config.limits.idle_connections);
        let connected = self.connect(deadline);
        if connected.is_err() {
            self.discard();
        }
        connected
    }

    /// Keeps a connection for the next call.
    #[inline(always)]
    pub(crate) fn release(&self, connection: Box<Connection>) {
        if self.counts.keeps_none.load(Ordering::Relaxed) {
            connection.close();
            self.discard();
            return;
        }
        let mut state = self.lock();
        state.idle.push(connection);
        let somebody_waits = state.waiting > 0;
        drop(state);
        if somebody_waits {
            self.one_free.notify_one();
        }
    }

    /// Forgets a connection that was acquired and is not to be used again.
    pub(crate) fn discard(&self) {
        self.counts
            .change_open(-1, self.config.limits.idle_connections);
        self.lock().open -= 1;
        self.one_free.notify_one();
    }

    /// Closes what is idle: a connection to the same server has just failed.
    pub(crate) fn forget_idle(&self) {
        self.retain_idle(|_| false);
    }

    fn connect(&self, deadline: Deadline) -> Result<Box<Connection>, SystemException> {
        let limit = Deadline::after(Some(self.config.connect_timeout.0));
        let earliest = deadline.earlier(limit);
        match self.connector.connect(earliest) {
            Ok(stream) => Ok(Box::new(Connection::new(
                stream,
                &self.config,
                self.key.negotiated,
            ))),
            Err(error) => {
                tracing::debug!(channel = %self.key.channel, %error, "cannot connect");
                unreachable::note(&self.key.channel, &error);
                Err(refusal(&error, deadline, &self.key.channel))
            }
        }
    }
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
        tracing::debug!(%channel, %refusal, "not usable");
        no_usable_protocol()
    })
}

/// What a caller is told of a connection that could not be made.
fn refusal(error: &io::Error, deadline: Deadline, channel: &Channel) -> SystemException {
    if deadline.has_passed() {
        return SystemException::orbium(
            ExceptionKind::Timeout,
            minor::DEADLINE_PASSED,
            Completion::No,
        );
    }
    if error.kind() == io::ErrorKind::PermissionDenied {
        tracing::warn!(%error, "the peer is not trusted");
        return not_trusted();
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
