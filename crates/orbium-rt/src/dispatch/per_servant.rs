// SPDX-License-Identifier: MIT OR Apache-2.0
//! A thread for each servant.

use std::collections::HashMap;

use orbium_core::lock::{Mutex, MutexGuard};
use orbium_core::{
    Completion, Dispatch, DispatchHook, ExceptionKind, Lane, LaneConfig, Orb, OrbError, Poa,
    RequestInfo, ServerStrategy, SystemException,
};

use super::per_request::in_lane;

/// Serves the requests to each object by one thread, which it does not share with other objects:
/// one at a time, in the order of arrival or by priority. All threads are started in advance; an
/// object is assigned one with its first request. An active object keeps it until
/// [`release`](Self::release). An object without a servant in the active object map, the id of
/// which a client can make up, keeps it while it has requests: then it is free for the next
/// object. Requests to objects beyond the number of threads raise NO_RESOURCES.
///
/// Install it as [`Policies::dispatch`](orbium_core::Policies) of adapters, or as the last of a
/// [`HookChain`](super::HookChain).
#[derive(Debug)]
pub struct ThreadPerServant {
    threads: Mutex<Threads>,
}

#[derive(Debug)]
struct Threads {
    free: Vec<Lane>,
    taken: HashMap<Key, Taken>,
}

/// The path of an adapter, and the id of an object.
type Key = (String, Vec<u8>);

/// The thread of an object.
#[derive(Debug)]
struct Taken {
    /// Counts the requests that are about to be queued.
    lane: Lane,
    /// Whether the object had a servant when its last request arrived.
    is_incarnated: bool,
}

impl Threads {
    /// The thread of an object; `None` if there is none left.
    fn lane_of(&mut self, object: Key, is_incarnated: bool) -> Option<Lane> {
        if let Some(taken) = self.taken.get_mut(&object) {
            taken.is_incarnated = is_incarnated;
            return Some(taken.lane.clone());
        }
        let lane = self.free.pop().or_else(|| self.reclaim())?;
        let taken = Taken {
            lane: lane.clone(),
            is_incarnated,
        };
        self.taken.insert(object, taken);
        Some(lane)
    }

    /// Takes the thread of an object that is not active, and has no requests.
    #[cold]
    fn reclaim(&mut self) -> Option<Lane> {
        let is_unused = |taken: &mut Taken| !taken.is_incarnated && taken.lane.is_idle();
        let mut unused = self.taken.extract_if(|_, taken| is_unused(taken));
        unused.next().map(|(_, taken)| taken.lane)
    }
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
                Ok(lane) => free.push(lane.counted()),
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
    pub fn release(&self, poa: &Poa, object_id: &[u8]) -> bool {
        let object = (poa.path_text(), object_id.to_vec());
        let mut threads = self.lock();
        let released = threads.taken.remove(&object);
        let any = released.is_some();
        threads.free.extend(released.map(|it| it.lane));
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
        let (adapter, _) = request.target().adapter();
        let object = (adapter, request.object_id().to_vec());
        let lane = self
            .lock()
            .lane_of(object, request.target().is_incarnated());
        match lane {
            Some(lane) => in_lane(&lane, request),
            None => Dispatch::Refuse(SystemException::new(
                ExceptionKind::NoResources,
                0,
                Completion::No,
            )),
        }
    }
}
