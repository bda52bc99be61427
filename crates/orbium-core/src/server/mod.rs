// SPDX-License-Identifier: MIT OR Apache-2.0
//! The serving side: from connections to requests.

mod bell;
mod connection;
mod intake;
mod reactor;
mod threads;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use orbium_sync::ThreadCache;
use orbium_sys::Waker;
use orbium_transport::{Acceptor, Endpoint};

use crate::orb::OrbError;
use crate::{Channel, Orb, ServerStrategy};
pub(crate) use connection::ServerConnection;

/// Time a thread waits for further work before it ends.
const LINGER: Duration = Duration::from_secs(5);

/// What all threads of the serving side share.
struct Shared {
    threads: ThreadCache,
    stopping: AtomicBool,
    waker: Arc<Waker>,
    connections: Mutex<HashMap<u64, Arc<ServerConnection>>>,
    next_id: AtomicU64,
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

/// Token of the waker; acceptors follow, then connections.
const WAKER: u64 = 0;

impl Server {
    /// Listens, and starts the threads that serve.
    pub(crate) fn start(orb: &Orb, endpoints: &[Endpoint]) -> Result<Self, OrbError> {
        let mut acceptors: Vec<Box<dyn Acceptor>> = Vec::new();
        let mut published = Vec::new();
        for endpoint in endpoints {
            let acceptor = orb.config().protocols.listen(endpoint, orb.config())?;
            published.push(Channel::of(endpoint, &*acceptor));
            acceptors.push(acceptor);
        }
        let failed = |error| match endpoints.first() {
            Some(endpoint) => OrbError::Listen(endpoint.to_string(), error),
            None => OrbError::Listen(String::new(), error),
        };
        let shared = Arc::new(Shared {
            threads: ThreadCache::new("orbium-serve", LINGER),
            stopping: AtomicBool::new(false),
            waker: Arc::new(Waker::new().map_err(failed)?),
            connections: Mutex::default(),
            next_id: AtomicU64::new(1 + acceptors.len() as u64),
        });
        let started = match orb.config().strategy {
            ServerStrategy::ThreadPerConnection => threads::start(orb, &shared, acceptors),
            ServerStrategy::Reactive => reactor::start(orb, &shared, acceptors),
        };
        started.map_err(failed)?;
        Ok(Self { shared, published })
    }

    /// The channels for references, in the order of the endpoints.
    pub(crate) fn published(&self) -> &[Channel] {
        &self.published
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
