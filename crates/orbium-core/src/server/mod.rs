// SPDX-License-Identifier: MIT OR Apache-2.0
//! The serving side: from connections to requests.

mod bell;
mod connection;
mod idle;
mod intake;
mod late;
mod leader_followers;
mod reactive;
mod reactor;
mod threads;
mod waiting;
mod worker_pool;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use orbium_sync::ThreadCache;
use orbium_sync::lock::{Mutex, MutexGuard};
use orbium_sys::Waker;
use orbium_transport::Endpoint;

use crate::accepting::Accepting;
use crate::orb::OrbError;
use crate::{Channel, Orb, ServerStrategy};
pub(crate) use connection::ServerConnection;
pub(crate) use late::LateReply;

/// Time a thread waits for further work before it ends.
const LINGER: Duration = Duration::from_secs(5);

/// What all threads of the serving side share.
struct Shared {
    threads: ThreadCache,
    stopping: AtomicBool,
    waker: Arc<Waker>,
    connections: Mutex<HashMap<u64, Arc<ServerConnection>>>,
    next_id: AtomicU64,
    /// Requests for which there was no room.
    refused: AtomicU64,
}

/// The serving half of an ORB.
pub(crate) struct Server {
    shared: Arc<Shared>,
    published: Vec<Channel>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server")
            .field("published", &self.published)
            .finish_non_exhaustive()
    }
}

impl Server {
    /// Listens, and starts the threads that serve.
    pub(crate) fn start(orb: &Orb, endpoints: &[Endpoint]) -> Result<Self, OrbError> {
        let (accepting, published) = Accepting::listen(endpoints, orb.config())?;
        let failed = |error| match endpoints.first() {
            Some(endpoint) => OrbError::Listen(endpoint.to_string(), error),
            None => OrbError::Listen(String::new(), error),
        };
        let shared = Arc::new(Shared {
            threads: ThreadCache::new("orbium-serve", LINGER),
            stopping: AtomicBool::new(false),
            waker: Arc::new(Waker::new().map_err(failed)?),
            connections: Mutex::default(),
            next_id: AtomicU64::new(accepting.next_token()),
            refused: AtomicU64::new(0),
        });
        let started = match orb.config().strategy {
            ServerStrategy::ThreadPerConnection => threads::start(orb, &shared, accepting),
            ServerStrategy::Reactive => reactive::start(orb, &shared, accepting),
            ServerStrategy::LeaderFollowers { threads } => {
                leader_followers::start(orb, &shared, accepting, threads)
            }
            ServerStrategy::WorkerPool { workers, queue } => {
                worker_pool::start(orb, &shared, accepting, workers, queue)
            }
        };
        started.map_err(failed)?;
        Ok(Self { shared, published })
    }

    /// The channels for references, in the order of the endpoints.
    pub(crate) fn published(&self) -> &[Channel] {
        &self.published
    }

    /// Requests for which there was no room so far.
    pub(crate) fn refused(&self) -> u64 {
        self.shared.refused.load(Ordering::Relaxed)
    }

    /// Takes nothing more, lets what is being served end, and waits for it.
    pub(crate) fn stop(&self, orb: &Orb) {
        self.shared.stopping.store(true, Ordering::Release);
        self.shared.waker.wake();
        for connection in self.shared.lock().values() {
            connection.stop_receiving();
        }
        // Held requests would wait for ever.
        if let Some(root) = orb.core().registry.root.get() {
            root.deactivate_managers();
        }
        let left = self
            .shared
            .threads
            .close(Some(Instant::now() + Duration::from_secs(3600)));
        if left > 0 {
            tracing::warn!(left, "threads still serve");
        }
    }
}

impl Drop for Server {
    /// An ORB that nobody holds any more takes no connections.
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::Release);
        self.shared.waker.wake();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Arc<ServerConnection>>> {
        self.connections
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }

    /// Takes a connection into the books; `None` beyond the limit, or when no
    /// more are taken.
    fn register(
        &self,
        limit: usize,
        make: impl FnOnce(u64) -> ServerConnection,
    ) -> Option<Arc<ServerConnection>> {
        let mut connections = self.lock();
        if connections.len() >= limit || self.is_stopping() {
            return None;
        }
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let connection = Arc::new(make(id));
        connections.insert(id, Arc::clone(&connection));
        Some(connection)
    }

    fn forget(&self, id: u64) {
        self.lock().remove(&id);
    }
}
