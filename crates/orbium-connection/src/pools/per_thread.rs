// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connections that belong to one thread each.
//!
//! A thread finds its connections in a thread-local table without a lock; others access it only to
//! close idle ones.

use std::cell::RefCell;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Instant;

use orbium_config::ClientStrategy;
use orbium_sync::ObjectCache;
use orbium_sync::lock::{Mutex, MutexGuard};
use orbium_sys::fork::Origin;

use crate::connection::Connection;
use crate::pools::pool::Pool;

thread_local! {
    /// The connections of this thread, by server.
    static OWN: RefCell<Vec<Arc<Own>>> = const { RefCell::new(Vec::new()) };
}

/// The connections of one thread to one server: more than one if a call is made within another.
#[derive(Debug)]
struct Own {
    pool: Weak<Pool>,
    made_by: Origin,
    idle_cache: ObjectCache<Connection, 4>,
    /// Connections that were checked, or for which the cache had no slot.
    #[expect(clippy::vec_box)]
    more: Mutex<Vec<Box<Connection>>>,
}

impl Own {
    fn acquire(&self) -> Option<Box<Connection>> {
        let own = self
            .idle_cache
            .take_local()
            .or_else(|| self.idle_cache.take());
        own.or_else(|| self.lock().pop())
    }

    fn release(&self, connection: Box<Connection>) {
        if let Err(connection) = self.idle_cache.put(connection) {
            self.lock().push(connection);
        }
    }

    #[expect(clippy::vec_box)]
    fn lock(&self) -> MutexGuard<'_, Vec<Box<Connection>>> {
        self.more.lock()
    }

    /// All idle connections.
    #[expect(clippy::vec_box)]
    fn lock_all_idle(&self) -> MutexGuard<'_, Vec<Box<Connection>>> {
        let mut idle = self.lock();
        idle.extend(self.idle_cache.drain());
        idle
    }
}

/// The thread has ended.
impl Drop for Own {
    fn drop(&mut self) {
        if !self.made_by.is_here() {
            // A forked child holds copies of its parent's connections: their pool must
            // not be touched.
            let idle = self.idle_cache.drain().collect::<Vec<_>>();
            return drop(idle);
        }
        let idle = std::mem::take(&mut *self.lock_all_idle());
        for connection in &idle {
            connection.close();
        }
        let count = idle.len();
        drop(idle);
        if let Some(pool) = self.pool.upgrade() {
            (0..count).for_each(|_| pool.discard());
        }
    }
}

/// All connections to one server, by thread.
#[derive(Debug)]
pub(crate) struct OwnConnections {
    pool: Weak<Pool>,
    threads: Mutex<Vec<Weak<Own>>>,
}

impl OwnConnections {
    /// `None` if threads share connections.
    pub(crate) fn new(strategy: ClientStrategy, pool: &Weak<Pool>) -> Option<Self> {
        (strategy == ClientStrategy::ExclusivePerThread).then(|| Self {
            pool: Weak::clone(pool),
            threads: Mutex::default(),
        })
    }

    /// The connections of the calling thread to this server.
    fn of_this_thread(&self) -> Option<Arc<Own>> {
        // The table of a thread that is ending is gone.
        let found = OWN.try_with(|all| {
            let mut all = all.borrow_mut();
            let mut of_pool = all.iter().filter(|own| Weak::ptr_eq(&own.pool, &self.pool));
            if let Some(own) = of_pool.next() {
                return Arc::clone(own);
            }
            all.retain(|own| own.made_by.is_here() && own.pool.strong_count() > 0);
            let own = Arc::new(Own {
                pool: Weak::clone(&self.pool),
                made_by: Origin::here(),
                idle_cache: ObjectCache::default(),
                more: Mutex::default(),
            });
            all.push(Arc::clone(&own));
            let mut threads = self.threads.lock();
            threads.retain(|own| own.strong_count() > 0);
            threads.push(Arc::downgrade(&own));
            own
        });
        found.ok()
    }

    pub(crate) fn acquire(&self) -> Option<Box<Connection>> {
        self.of_this_thread()?.acquire()
    }

    /// Stores a connection for the next call of this thread; returns it if the thread is ending.
    fn keep(&self, connection: Box<Connection>) -> Result<(), Box<Connection>> {
        match self.of_this_thread() {
            Some(own) => {
                own.release(connection);
                Ok(())
            }
            None => Err(connection),
        }
    }

    fn all(&self) -> Vec<Arc<Own>> {
        let threads = self.threads.lock();
        threads.iter().filter_map(Weak::upgrade).collect()
    }

    /// Whether any thread has an idle connection.
    pub(crate) fn has_idle(&self) -> bool {
        let threads = self.all();
        threads.iter().any(|own| !own.lock_all_idle().is_empty())
    }

    pub(crate) fn oldest_idle(&self, now: Instant) -> Option<Instant> {
        let oldest = |own: &Arc<Own>| {
            let mut idle = own.lock_all_idle();
            idle.iter_mut().map(|it| it.last_used(now)).min()
        };
        self.all().iter().filter_map(oldest).min()
    }

    /// Closes in order the connections that were not used since then; returns their number, which
    /// the caller subtracts from its count.
    pub(crate) fn close_idle_since(&self, since: Instant) -> usize {
        self.close_those(&|connection| connection.used_before(since), usize::MAX)
    }

    /// Closes all idle connections.
    pub(crate) fn close_all(&self) -> usize {
        self.close_those(&|_| true, usize::MAX)
    }

    /// Closes the least recently used idle connection.
    pub(crate) fn close_oldest(&self) -> bool {
        let threads = self.all();
        let oldest = |own: &&Arc<Own>| own.lock_all_idle().iter().map(|it| it.used()).min();
        let with_age = threads.iter().filter_map(|own| Some((oldest(&own)?, own)));
        let Some((used, own)) = with_age.min_by_key(|(used, _)| *used) else {
            return false;
        };
        let mut idle = own.lock_all_idle();
        let place = idle.iter().position(|it| it.used() == used);
        place.is_some_and(|place| {
            idle.remove(place).close();
            true
        })
    }

    /// Closes one idle connection of some thread, if there is one.
    pub(crate) fn close_one_idle(&self) -> bool {
        self.close_those(&|_| true, 1) > 0
    }

    fn close_those(&self, unwanted: &dyn Fn(&Connection) -> bool, most: usize) -> usize {
        let mut closed = 0;
        for own in self.all() {
            let mut idle = own.lock_all_idle();
            let mut place = 0;
            while closed < most && place < idle.len() {
                if unwanted(&idle[place]) {
                    idle.remove(place).close();
                    closed += 1;
                } else {
                    place += 1;
                }
            }
        }
        closed
    }
}

impl OwnConnections {
    /// Stores a connection of this pool for the next call of the calling thread.
    #[cold]
    pub(crate) fn release(&self, pool: &Pool, connection: Box<Connection>) {
        let kept = if pool.is_closed() {
            Err(connection)
        } else {
            self.keep(connection)
        };
        if let Err(connection) = kept {
            connection.close();
            drop(connection);
            pool.discard();
        }
        // SeqCst, after the connection is stored: as in `Pool::release`.
        if pool.callers_wait.load(Ordering::SeqCst) > 0 {
            pool.one_is_free();
        }
        pool.shrink_if_crowded();
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use orbium_channel::Channel;
    use orbium_config::Limits;
    use orbium_giop::codeset::Negotiated;
    use orbium_giop::{ExceptionKind, SystemException};
    use orbium_metrics::ConnectionBook;
    use orbium_testkit::{spawn_blocked, within};
    use orbium_transport::Deadline;

    use super::*;
    use crate::client_config::ClientConfig;
    use crate::pools::Pools;
    use crate::pools::partition::ConnectionPartition;
    use crate::pools::pool_key::PoolKey;

    /// A pool for one connection, which is open, to a server that no longer exists.
    fn exhausted() -> (Pools, Arc<Pool>) {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = server.local_addr().unwrap().to_string();
        let pools = Pools::new(
            Arc::new(ClientConfig {
                client_strategy: ClientStrategy::ExclusivePerThread,
                limits: Limits {
                    connections_per_server: 1,
                    ..Limits::default()
                },
                ..ClientConfig::default()
            }),
            &ConnectionBook::default(),
        );
        let key = PoolKey {
            channel: Channel::giop("iiop", address),
            negotiated: Negotiated::with_server(None, None).unwrap(),
            partition: ConnectionPartition::default(),
        };
        let pool = pools.pool(key).unwrap();
        drop(pool.acquire_new(Deadline::NEVER).unwrap());
        (pools, pool)
    }

    /// The exception of a caller that checks the connections of other threads while `change`
    /// happens.
    fn acquired_during(pool: &Arc<Pool>, change: impl FnOnce()) -> SystemException {
        let threads = pool.own.as_ref().unwrap().threads.lock();
        let caller = {
            let pool = Arc::clone(pool);
            spawn_blocked(move || pool.acquire_new(Deadline::NEVER).unwrap_err())
        };
        change();
        drop(threads);
        within("the caller returns", move || caller.join().unwrap())
    }

    /// Regression: a server was killed while 1,000 threads called it, and one of them waited
    /// forever: a connection that another thread failed to open was subtracted while this one
    /// searched for a connection to take over.
    #[test]
    fn a_caller_sees_what_is_counted_out_while_it_looks_at_other_threads() {
        let (_pools, pool) = exhausted();
        let refused = acquired_during(&pool, || pool.discard());
        assert_eq!(refused.kind, ExceptionKind::Transient);
        assert_eq!(pool.connections_lost(), 1, "the one given up by then");
    }

    #[test]
    fn a_caller_sees_the_end_while_it_looks_at_other_threads() {
        let (pools, pool) = exhausted();
        let refused = acquired_during(&pool, || pools.counts().close());
        assert_eq!(refused.kind, ExceptionKind::BadInvOrder);
    }
}
