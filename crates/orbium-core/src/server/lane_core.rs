// SPDX-License-Identifier: MIT OR Apache-2.0
//! A lane, as its threads see it.

#[cfg(not(feature = "strategies"))]
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, Weak};
use std::time::{Duration, Instant};

use orbium_sync::ThreadCache;
use orbium_sync::lock::{Mutex, MutexGuard};
use orbium_sys::Waker;
use orbium_transport::{ByteStream, Endpoint};

use crate::accepting::Accepting;
use crate::lane::thread::Setup;
use crate::orb::{OrbCore, OrbError};
use crate::server::bell::Bell;
use crate::server::connection::ServerConnection;
use crate::server::pool::Pool;
#[cfg(feature = "strategies")]
use crate::server::{leader_followers, worker_pool};
use crate::server::{reactive, threads};
use crate::{Channel, Config, LaneConfig, Orb, ServerStrategy};

/// How long requests that are being served may go on after the end. Nobody can stop
/// a servant, and what ends an ORB must come back even if one never does.
const LAST_REQUESTS: Duration = Duration::from_secs(3600);

/// What all threads of a lane share.
pub(crate) struct LaneCore {
    pub(crate) orb: Weak<OrbCore>,
    /// 0 is the ORB's own; no two lanes of an ORB have the same.
    pub(crate) number: u32,
    pub(crate) name: String,
    pub(crate) strategy: ServerStrategy,
    pub(crate) setup: Arc<Setup>,
    pub(crate) published: Vec<Channel>,
    /// Requests that wait, and the threads that serve those handed over.
    pub(crate) pool: Arc<Pool>,
    /// Threads that there may be if all are busy; those that are kept.
    pub(super) most_threads: usize,
    pub(super) idle_time: Duration,
    pub(super) threads: ThreadCache,
    stopping: AtomicBool,
    pub(super) waker: Arc<Waker>,
    /// Each knows its place.
    connections: Mutex<Vec<Arc<ServerConnection>>>,
    next_id: AtomicU64,
}

impl LaneCore {
    /// The ORB's own lane: listens, and starts the threads that serve.
    pub(super) fn start_own(orb: &Orb, endpoints: &[Endpoint]) -> Result<Arc<Self>, OrbError> {
        let (accepting, published) = Accepting::listen(endpoints, orb.config())?;
        Self::start(orb, 0, &orb.config().lane(), accepting, published)
    }

    /// Starts the threads that serve.
    pub(crate) fn start(
        orb: &Orb,
        number: u32,
        config: &LaneConfig,
        accepting: Accepting,
        published: Vec<Channel>,
    ) -> Result<Arc<Self>, OrbError> {
        let refused = |error| OrbError::RealTime(config.name.clone(), error);
        let failed = |error| OrbError::Threads(config.name.clone(), error);
        let setup = Setup::new(config).map_err(refused)?;
        let options = setup.options(config.stack_size);
        let start = orbium_sys::spawn_detached;
        let threads = ThreadCache::with_starter(&config.name, config.idle_time, options, start);
        let lane = Arc::new(Self {
            orb: orb.downgrade(),
            number,
            name: config.name.clone(),
            strategy: config.strategy,
            published,
            pool: Pool::new(orb, number, config, &setup, &threads),
            most_threads: config.threads().1,
            idle_time: config.idle_time,
            threads,
            stopping: AtomicBool::new(false),
            waker: Arc::new(Waker::new().map_err(failed)?),
            connections: Mutex::default(),
            // No two connections of an ORB have the same.
            next_id: AtomicU64::new((u64::from(number) << 40) + accepting.next_token()),
            setup,
        });
        let started = match config.strategy {
            ServerStrategy::ThreadPerConnection => threads::start(orb, &lane, accepting),
            ServerStrategy::Reactive => reactive::start(orb, &lane, accepting),
            #[cfg(feature = "strategies")]
            ServerStrategy::LeaderFollowers { threads } => {
                leader_followers::start(orb, &lane, accepting, threads)
            }
            #[cfg(feature = "strategies")]
            ServerStrategy::WorkerPool { .. } => worker_pool::start(orb, &lane, accepting),
            // Refused before.
            #[cfg(not(feature = "strategies"))]
            _ => Err(io::ErrorKind::Unsupported.into()),
        };
        if let Err(error) = started {
            // Threads that are there already have nothing to do.
            lane.halt();
            lane.await_end();
            return Err(failed(error));
        }
        Ok(lane)
    }

    /// Requests for which there was no room so far.
    pub(crate) fn refused(&self) -> u64 {
        self.pool.refused()
    }

    /// Takes nothing more; what is being served goes on.
    #[inline(never)]
    pub(crate) fn halt(&self) {
        self.stopping.store(true, Ordering::Release);
        self.waker.wake();
        for connection in &*self.lock() {
            connection.stop_receiving();
        }
        self.pool.close();
    }

    /// Waits for the end of what is being served when the lane was halted.
    pub(crate) fn await_end(&self) {
        let left = self.threads.close(Some(Instant::now() + LAST_REQUESTS));
        if left > 0 {
            crate::log::warn!(left, lane = self.name, "threads still serve");
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<ServerConnection>>> {
        self.connections
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }

    /// Takes a connection into the books; `None` beyond the limit, or when no
    /// more are taken. With a `bell` sends must not block.
    pub(super) fn register(
        &self,
        config: &Config,
        stream: Box<dyn ByteStream>,
        bell: Option<Arc<Bell>>,
    ) -> Option<Arc<ServerConnection>> {
        let mut connections = self.lock();
        if connections.len() >= config.limits.connections || self.is_stopping() {
            drop(connections);
            crate::log::warn!("connection refused: the limit of connections is reached");
            return None;
        }
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let (send_time, fragments) = (config.limits.send_time, config.fragment_size);
        let made = ServerConnection::new(self, id, stream, send_time, fragments, bell);
        let connection = Arc::new(made);
        connection.place.store(connections.len(), Ordering::Relaxed);
        connections.push(Arc::clone(&connection));
        Some(connection)
    }

    pub(super) fn forget(&self, connection: &ServerConnection) {
        let mut connections = self.lock();
        let place = connection.place.load(Ordering::Relaxed);
        let there = connections.get(place);
        if there.is_none_or(|it| it.id != connection.id) {
            return;
        }
        let forgotten = connections.swap_remove(place);
        if let Some(moved) = connections.get(place) {
            moved.place.store(place, Ordering::Relaxed);
        }
        drop(connections);
        drop(forgotten);
    }
}
