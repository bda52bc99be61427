// SPDX-License-Identifier: MIT OR Apache-2.0
//! A thread for each servant.

use std::collections::HashMap;

use orbium_core::lock::{Mutex, MutexGuard};
use orbium_core::{
    Completion, Dispatch, DispatchHook, ExceptionKind, Lane, LaneConfig, Orb, OrbError,
    RequestInfo, ServerStrategy, SystemException,
};

use super::per_request::in_lane;

/// Serves the requests to each object of an adapter by one thread, which it does not share with
/// other objects: one at a time, in the order of arrival or by priority. All threads are started in
/// advance; an object is assigned one with its first request, and keeps it until
/// [`release`](Self::release). Requests to objects beyond their number raise NO_RESOURCES.
///
/// Install it as [`Policies::dispatch`](orbium_core::Policies) of one adapter, or as the last of a
/// [`HookChain`](super::HookChain): objects are identified by their ids.
#[derive(Debug)]
pub struct ThreadPerServant {
    threads: Mutex<Threads>,
}

#[derive(Debug)]
struct Threads {
    free: Vec<Lane>,
    taken: HashMap<Vec<u8>, Lane>,
}

impl ThreadPerServant {
    /// Starts that many threads of that name, each with a queue of at most `queue` requests; beyond
    /// that they raise TRANSIENT.
    ///
    /// # Errors
    /// [`OrbError`]: the system refuses threads; those already started are ended.
    pub fn start(orb: &Orb, name: &str, servants: usize, queue: usize) -> Result<Self, OrbError> {
        let mut free: Vec<Lane> = Vec::with_capacity(servants);
        for number in (0..servants).rev() {
            let started = orb.add_lane(&LaneConfig {
                name: format!("{name}-{number}"),
                strategy: ServerStrategy::WorkerPool { workers: 1, queue },
                replaces_waiting: false,
                ..LaneConfig::default()
            });
            match started {
                Ok(lane) => free.push(lane),
                Err(error) => {
                    for lane in free {
                        let _ = lane.stop();
                    }
                    return Err(error);
                }
            }
        }
        let taken = HashMap::with_capacity(servants);
        Ok(Self {
            threads: Mutex::new(Threads { free, taken }),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Threads> {
        self.threads.lock()
    }

    /// Frees the thread of an object, which was deactivated, for another; returns whether it had
    /// one.
    pub fn release(&self, object_id: &[u8]) -> bool {
        let mut threads = self.lock();
        let released = threads.taken.remove(object_id);
        let any = released.is_some();
        threads.free.extend(released);
        any
    }

    /// The number of unassigned threads.
    #[must_use]
    pub fn free(&self) -> usize {
        self.lock().free.len()
    }
}

impl DispatchHook for ThreadPerServant {
    fn arrived(&self, request: &RequestInfo<'_>) -> Dispatch {
        let mut threads = self.lock();
        let id = request.object_id();
        let lane = match threads.taken.get(id) {
            Some(lane) => lane.clone(),
            None => {
                let Some(lane) = threads.free.pop() else {
                    let kind = ExceptionKind::NoResources;
                    return Dispatch::Refuse(SystemException::new(kind, 0, Completion::No));
                };
                threads.taken.insert(id.to_vec(), lane.clone());
                lane
            }
        };
        drop(threads);
        in_lane(&lane, request)
    }
}
