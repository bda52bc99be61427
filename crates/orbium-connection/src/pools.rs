// SPDX-License-Identifier: MIT OR Apache-2.0
//! The pools of all servers, and operations on all of them.

pub mod partition;
mod per_thread;
pub mod pool;
pub mod pool_key;
pub(crate) mod private_connections;
use std::hash::{BuildHasher, RandomState};
use std::mem;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use orbium_giop::SystemException;
use orbium_metrics::ConnectionBook;
use orbium_sync::Versions;
use orbium_sync::lock::{Condvar, Mutex, MutexGuard};
use orbium_transport::Deadline;

use crate::client_config::ClientConfig;
use crate::counts::Counts;
use crate::flusher::Flusher;
use crate::pools::pool::Pool;
use crate::pools::pool_key::PoolKey;

/// Number of new connections after which idle ones are checked again.
const SWEEP_AFTER: usize = 32;

/// Minimum number of pools at which unused ones are dropped without a new connection.
const MIN_POOLS_AT_SWEEP: usize = 64;

/// Checks of idle connections within the time after which they are closed.
const CHECKS_PER_IDLE_TIME: u32 = 4;

/// All pools of an ORB.
#[derive(Debug)]
pub struct Pools(Arc<All>);

#[derive(Debug)]
pub(crate) struct All {
    config: Versions<Arc<ClientConfig>>,
    pools: Mutex<Known>,
    pub(crate) counts: Arc<Counts>,
    reaper: Mutex<Reaper>,
    reaper_ends: Condvar,
    pub(super) flusher: Flusher,
}

#[derive(Debug, Default)]
struct Known {
    /// Behind the hashes of their keys, in the order of these.
    shared: Vec<(u64, Arc<Pool>)>,
    hashes: RandomState,
    /// Number of shared pools at which unused ones are next dropped without a new connection.
    sweep_at: usize,
    /// Private pools are dropped with their reference, those of an earlier configuration with the
    /// last reference that is bound to them.
    private: Vec<Weak<Pool>>,
}

impl Known {
    /// The pool with that key, or the index at which to insert it.
    fn shared(&self, key: &PoolKey) -> Result<&Arc<Pool>, (usize, u64)> {
        let hash = self.hashes.hash_one(key);
        let place = self.shared.partition_point(|(known, _)| *known < hash);
        for (known, pool) in &self.shared[place..] {
            if *known != hash {
                break;
            }
            if pool.key == *key {
                return Ok(pool);
            }
        }
        Err((place, hash))
    }

    fn private(&self, key: &PoolKey) -> Option<Arc<Pool>> {
        for pool in &self.private {
            if let Some(pool) = pool.upgrade().filter(|pool| pool.key == *key) {
                return Some(pool);
            }
        }
        None
    }

    /// Removes the shared pools without references and connections.
    fn take_unused(&mut self) -> Vec<(u64, Arc<Pool>)> {
        let is_unused =
            |(_, pool): &mut (u64, Arc<Pool>)| Arc::strong_count(pool) == 1 && !pool.is_in_use();
        self.shared.extract_if(.., is_unused).collect()
    }

    /// The same if the number of pools has doubled since the last removal. New connections have
    /// pools dropped, too, but unreachable servers never get one.
    fn take_unused_if_many(&mut self) -> Vec<(u64, Arc<Pool>)> {
        if self.shared.len() < self.sweep_at.max(MIN_POOLS_AT_SWEEP) {
            return Vec::new();
        }
        let unused = self.take_unused();
        self.sweep_at = 2 * self.shared.len();
        unused
    }

    fn all(&self) -> Vec<Arc<Pool>> {
        let mut all = Vec::with_capacity(self.shared.len() + self.private.len());
        for (_, pool) in &self.shared {
            all.push(Arc::clone(pool));
        }
        for pool in &self.private {
            if let Some(pool) = pool.upgrade() {
                all.push(pool);
            }
        }
        all
    }
}

/// The thread that closes connections which have been idle for too long.
#[derive(Debug, Default)]
struct Reaper {
    thread: Option<orbium_sys::Thread>,
    ended: bool,
}

impl Pools {
    /// No connections; new ones are entered in the book.
    pub fn new(config: Arc<ClientConfig>, book: &ConnectionBook) -> Self {
        let counts = Arc::new(Counts::new(config.limits.idle_connections, book));
        Self(Arc::new(All {
            config: Versions::new(config),
            pools: Mutex::default(),
            counts,
            reaper: Mutex::default(),
            reaper_ends: Condvar::new(),
            flusher: Flusher::default(),
        }))
    }

    /// The connections to a server.
    ///
    /// # Errors
    /// INV_POLICY: no transport for the channel, or an invalid address.
    pub fn pool(&self, key: PoolKey) -> Result<Arc<Pool>, SystemException> {
        let all = &self.0;
        let mut known = all.lock();
        if key.partition.is_private() {
            if let Some(pool) = known.private(&key) {
                return Ok(pool);
            }
            let pool = Pool::new(key, all.config.current(), all)?;
            known.private.retain(|pool| pool.strong_count() > 0);
            known.private.push(Arc::downgrade(&pool));
            return Ok(pool);
        }
        let (place, hash) = match known.shared(&key) {
            Ok(pool) => return Ok(Arc::clone(pool)),
            Err(place) => place,
        };
        let pool = Pool::new(key, all.config.current(), all)?;
        known.shared.insert(place, (hash, Arc::clone(&pool)));
        let unused = known.take_unused_if_many();
        drop(known);
        // Without the lock: buffered oneways may need connections.
        drop(unused);
        Ok(pool)
    }

    /// Opens new connections with another configuration. Existing ones serve the references that
    /// are bound to them.
    pub fn reconfigure(&self, config: Arc<ClientConfig>) {
        let all = &self.0;
        all.counts.set_limit(config.limits.idle_connections);
        let mut known = all.lock();
        // After the maximum number of versions the last one remains.
        let _ = all.config.replace(config);
        let before = mem::take(&mut known.shared);
        known.private.retain(|pool| pool.strong_count() > 0);
        let pools = before.iter().map(|(_, pool)| Arc::downgrade(pool));
        known.private.extend(pools);
        drop(known);
        // Closes the pools that no reference is bound to, without the lock.
        drop(before);
        all.shrink();
    }

    /// The counts of all connections, for one outside the pools.
    pub fn counts(&self) -> &Arc<Counts> {
        &self.0.counts
    }

    /// In a forked child, closes its copies of the descriptors of idle connections, which it cannot
    /// use. Connections that threads of the parent were about to use are not touched.
    pub fn leave(&self) {
        let Some(known) = self.0.pools.try_lock() else {
            return;
        };
        for pool in known.all() {
            pool.leave_idle();
            // Leaked: dropping the last reference would close the parent's connections.
            std::mem::forget(pool);
        }
    }

    /// Closes idle connections, and further ones when they are released.
    pub fn close(&self) {
        let all = &self.0;
        all.counts.close();
        let known = std::mem::take(&mut *all.lock());
        // One deadline for all servers, not one for each that does not receive.
        let deadline = Deadline::after(Some(all.config.current().limits.send_time));
        for pool in known.all() {
            pool.close_by(deadline);
        }
        all.end_reaper();
        all.flusher.end();
        all.counts.flow_control().end();
    }
}

impl All {
    fn lock(&self) -> MutexGuard<'_, Known> {
        self.pools.lock()
    }

    /// The existing pools, to be visited without the lock.
    fn snapshot(&self) -> Vec<Arc<Pool>> {
        self.lock().all()
    }

    /// After a new connection: closes the least recently used idle ones if there are too many, and
    /// periodically the unusable ones.
    pub(super) fn connection_made(self: &Arc<Self>) {
        if self.counts.made.load(Ordering::Relaxed) >= SWEEP_AFTER {
            self.counts.made.store(0, Ordering::Relaxed);
            self.sweep();
        }
        self.note_uses();
        self.shrink();
        if let Some(time) = self.config.current().limits.client_idle_time {
            self.start_reaper(time);
        }
    }

    /// Closes idle connections that the server has closed or that are unusable, and
    /// drops pools without references. It visits every pool, so it runs once for many
    /// new connections.
    fn sweep(&self) {
        let unused = self.lock().take_unused();
        // Without the lock: buffered oneways may need connections.
        drop(unused);
        self.snapshot().iter().for_each(|pool| pool.drop_stale());
    }

    /// Dates the uses since the last check. Calls do not, so the order of uses is known only as far
    /// as connections were opened in between.
    fn note_uses(&self) {
        let now = Instant::now();
        for pool in self.snapshot() {
            pool.oldest_idle(now);
        }
    }

    /// Closes idle connections, the least recently used first, until the number is within the
    /// limit; busy ones are never closed.
    pub(super) fn shrink(&self) {
        let now = Instant::now();
        while self.counts.is_crowded() {
            let dated = self.snapshot().into_iter();
            let dated = dated.filter_map(|pool| Some((pool.oldest_idle(now)?, pool)));
            let Some((_, pool)) = dated.min_by_key(|&(used, _)| used) else {
                return;
            };
            pool.close_oldest();
        }
    }

    /// Starts the thread that closes connections which have been idle for that long.
    fn start_reaper(self: &Arc<Self>, time: Duration) {
        let mut reaper = self.reaper.lock();
        if reaper.thread.is_some() || reaper.ended {
            return;
        }
        let all = Arc::downgrade(self);
        match orbium_sys::spawn("orbium-idle", None, Box::new(move || reap(&all, time))) {
            Ok(thread) => reaper.thread = Some(thread),
            // The next new connection retries.
            Err(error) => {
                orbium_trace::log::warn!(target: "orbium::conn", %error, "no thread to close idle connections");
            }
        }
    }

    fn end_reaper(&self) {
        let thread = {
            let mut reaper = self.reaper.lock();
            reaper.ended = true;
            reaper.thread.take()
        };
        self.reaper_ends.notify_all();
        if let Some(thread) = thread
            && !thread.is_current()
        {
            thread.join();
        }
    }

    /// Schedules the sending of buffered oneways; `false` if there is no thread for that.
    pub(super) fn flush_at(self: &Arc<Self>, due: Instant) -> bool {
        let all = Arc::downgrade(self);
        self.flusher.wake_at(due, || Box::new(move || flush(&all)))
    }

    /// Waits for the next check; `false` at the end.
    fn wait_for_next_look(&self, pause: Duration) -> bool {
        let reaper = self.reaper.lock();
        if reaper.ended {
            return false;
        }
        !self.reaper_ends.wait_timeout(reaper, pause).0.ended
    }
}

/// Closes connections that have been idle for `time`, until the ORB ends.
fn reap(all: &Weak<All>, time: Duration) {
    let pause = (time / CHECKS_PER_IDLE_TIME).max(Duration::from_millis(1));
    while let Some(all) = all.upgrade() {
        if !all.wait_for_next_look(pause) {
            return;
        }
        let now = Instant::now();
        let Some(limit) = now.checked_sub(time) else {
            continue;
        };
        for pool in all.snapshot() {
            if pool.oldest_idle(now).is_some_and(|used| used <= limit) {
                pool.close_idle_since(limit);
            }
        }
    }
}

/// Sends buffered oneways when they are due, until the ORB ends.
fn flush(all: &Weak<All>) {
    while let Some(all) = all.upgrade() {
        if !all.flusher.wait() {
            return;
        }
        let now = Instant::now();
        let pools = all.snapshot();
        let due = pools
            .iter()
            .filter_map(|pool| pool.flush_due(now, &all.flusher));
        if let Some(next) = due.min() {
            all.flush_at(next);
        }
    }
}

impl Drop for Pools {
    fn drop(&mut self) {
        self.0.end_reaper();
        self.0.flusher.end();
    }
}

#[cfg(test)]
mod tests;
