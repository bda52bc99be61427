// SPDX-License-Identifier: MIT OR Apache-2.0
//! Thread pools (RT-CORBA 1.2, clause 5.8): what they are asked to be.

mod lane;
mod readers;
mod threads;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use orbium_core::{
    Completion, DetachedRequest, Endpoint, ExceptionKind, Orb, Priority, SystemException,
};

use crate::error::bad_param;
use crate::host::Host;
use lane::{Job, Lane};

/// Names a thread pool of an ORB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadpoolId(pub u32);

/// There is no thread pool of that id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidThreadpool(pub ThreadpoolId);

impl fmt::Display for InvalidThreadpool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no thread pool {}", self.0.0)
    }
}

impl std::error::Error for InvalidThreadpool {}

/// Threads of one priority.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadpoolLane {
    /// Their CORBA priority, 0 to 32767.
    pub lane_priority: i16,
    /// Threads that are there from the beginning; at least 1.
    pub static_threads: u32,
    /// Threads that are made beside them when all are busy, at most. They end
    /// when they have had nothing to do for a while.
    pub dynamic_threads: u32,
    /// Processors that the threads run on; none for all.
    pub processors: Vec<usize>,
    /// Where requests of this priority come in, read at this priority; none for
    /// the ORB's own endpoints. Of a pool all lanes have some, or none has.
    pub endpoints: Vec<Endpoint>,
}

impl ThreadpoolLane {
    /// A lane on all processors.
    #[must_use]
    pub const fn new(lane_priority: i16, static_threads: u32, dynamic_threads: u32) -> Self {
        Self {
            lane_priority,
            static_threads,
            dynamic_threads,
            processors: Vec::new(),
            endpoints: Vec::new(),
        }
    }
}

/// What all lanes of a thread pool have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadpoolConfig {
    /// Octets of the stack of each thread; 0 for the default.
    pub stack_size: usize,
    /// Octets of each stack that are touched before the first request.
    pub prefault_stack: usize,
    /// Whether a lane without a free thread has a request served by one of a
    /// lower lane, which is raised to its priority meanwhile.
    pub allow_borrowing: bool,
    /// Whether requests wait when no thread is free. Those that may not raise
    /// TRANSIENT 1.
    pub allow_request_buffering: bool,
    /// Requests of the whole pool that wait at most; 0 leaves it to the ORB,
    /// which bounds it all the same.
    pub max_buffered_requests: usize,
    /// Octets of requests of the whole pool that wait at most; 0 leaves it to
    /// the ORB: as many as a message may have.
    pub max_request_buffer_size: usize,
}

/// Requests that wait in a pool whose user has set no limit.
const MOST_BUFFERED: usize = 1 << 16;

/// A thread pool; ends when it is told to, not when it is dropped.
pub(crate) struct Threadpool {
    pub(crate) id: ThreadpoolId,
    /// Lowest priority first.
    lanes: Box<[Arc<Lane>]>,
    /// Whether it was made with lanes.
    pub(crate) has_lanes: bool,
    config: ThreadpoolConfig,
    buffered: Buffered,
    /// What reads the requests of each lane, if they have endpoints.
    pub(crate) readers: Vec<Reader>,
    /// Adapters whose requests it serves.
    attached: AtomicU32,
}

/// Reads the requests of one priority.
#[derive(Clone, Debug)]
pub(crate) struct Reader {
    pub(crate) priority: Priority,
    pub(crate) lane: orbium_core::Lane,
}

/// What waits in all lanes together.
struct Buffered {
    requests: AtomicUsize,
    octets: AtomicUsize,
    most_requests: usize,
    most_octets: usize,
}

impl fmt::Debug for Threadpool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lanes = self.lanes.iter().map(|lane| lane.priority.number());
        f.debug_struct("Threadpool")
            .field("id", &self.id.0)
            .field("lanes", &lanes.collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

/// A pool, or a lane, has neither a thread nor room for a request.
fn busy() -> SystemException {
    SystemException::omg(ExceptionKind::Transient, 1, Completion::No)
}

impl Buffered {
    /// Makes room for a request; `false` if there is none.
    fn enter(&self, octets: usize) -> bool {
        let add = |counter: &AtomicUsize, by: usize, most: usize| {
            let grown = |it: usize| it.checked_add(by).filter(|it| *it <= most);
            counter.fetch_update(Ordering::AcqRel, Ordering::Acquire, grown)
        };
        if add(&self.requests, 1, self.most_requests).is_err() {
            return false;
        }
        if add(&self.octets, octets, self.most_octets).is_err() {
            self.requests.fetch_sub(1, Ordering::AcqRel);
            return false;
        }
        true
    }

    fn leave(&self, octets: usize) {
        self.requests.fetch_sub(1, Ordering::AcqRel);
        self.octets.fetch_sub(octets, Ordering::AcqRel);
    }
}

impl Threadpool {
    /// Checks the lanes and starts their static threads.
    ///
    /// # Errors
    /// BAD_PARAM for priorities out of range or twice, no lanes, or a lane
    /// without static threads; DATA_CONVERSION 2 for priorities without a
    /// native one; NO_RESOURCES if the system refuses threads; NO_PERMISSION if
    /// it refuses their priority.
    pub(crate) fn start(
        id: ThreadpoolId,
        host: &Arc<Host>,
        orb: &Orb,
        lanes: &[ThreadpoolLane],
        has_lanes: bool,
        config: ThreadpoolConfig,
    ) -> Result<Arc<Self>, SystemException> {
        let mut made = Vec::with_capacity(lanes.len());
        for lane in lanes {
            let priority = Priority::new(lane.lane_priority).ok_or_else(bad_param)?;
            if lane.static_threads == 0 {
                return Err(bad_param());
            }
            host.to_native(priority)?;
            made.push(Arc::new(Lane::new(id, priority, lane.clone())));
        }
        made.sort_by_key(|lane| lane.priority);
        let twice = made.windows(2).any(|two| match two {
            [a, b] => a.priority == b.priority,
            _ => false,
        });
        if made.is_empty() || twice {
            return Err(bad_param());
        }
        let listening = lanes.iter().filter(|it| !it.endpoints.is_empty()).count();
        if listening != 0 && listening != lanes.len() {
            return Err(bad_param());
        }
        let limits = &orb.config().limits;
        let readers = readers::start(id, host, orb, lanes)?;
        let limit = |asked: usize, most: usize| if asked == 0 { most } else { asked };
        let pool = Arc::new(Self {
            id,
            lanes: made.into(),
            has_lanes,
            buffered: Buffered {
                requests: AtomicUsize::new(0),
                octets: AtomicUsize::new(0),
                most_requests: limit(config.max_buffered_requests, MOST_BUFFERED),
                most_octets: limit(config.max_request_buffer_size, limits.message_size),
            },
            config,
            readers,
            attached: AtomicU32::new(0),
        });
        match pool.start_static(host) {
            Ok(()) => Ok(pool),
            Err(exception) => {
                pool.end();
                Err(exception)
            }
        }
    }

    /// The lanes' priorities, lowest first.
    pub(crate) fn priorities(&self) -> impl Iterator<Item = Priority> + '_ {
        self.lanes.iter().map(|lane| lane.priority)
    }

    /// The priority of a pool without lanes.
    pub(crate) fn default_priority(&self) -> Option<Priority> {
        self.priorities().next()
    }

    /// The lane that serves a priority: the very one, or else the most urgent
    /// below it; its place and priority. A pool without lanes serves all.
    pub(crate) fn lane_for(
        &self,
        priority: Priority,
        suits: impl Fn(Priority) -> bool,
    ) -> Option<(usize, Priority)> {
        if !self.has_lanes {
            return Some((0, priority));
        }
        let lanes = || self.priorities().enumerate().filter(|(_, it)| suits(*it));
        let below = lanes().filter(|(_, it)| *it <= priority);
        below.last()
    }

    /// Has a request served by a thread of a lane, at a priority; or refuses it.
    pub(crate) fn put(
        self: &Arc<Self>,
        host: &Arc<Host>,
        place: usize,
        priority: Priority,
        request: DetachedRequest,
    ) {
        let Some(lane) = self.lanes.get(place) else {
            return request.refuse(busy());
        };
        let mut job = Box::new(Job {
            octets: request.size(),
            request,
            priority,
            buffered: false,
        });
        job = match lane.offer(job) {
            Ok(()) => return,
            Err(job) => job,
        };
        job = match self.grow(host, lane, job) {
            Ok(()) => return,
            Err(job) => job,
        };
        if self.config.allow_borrowing {
            for lower in self.lanes.iter().take(place).rev() {
                job = match lower.offer(job) {
                    Ok(()) => return,
                    Err(job) => job,
                };
            }
        }
        if self.config.allow_request_buffering && self.buffered.enter(job.octets) {
            job.buffered = true;
            if let Err(job) = lane.keep(job) {
                self.buffered.leave(job.octets);
                job.request.refuse(busy());
            }
            return;
        }
        job.request.refuse(busy());
    }

    /// One more adapter is served, or one less.
    pub(crate) fn attach(&self) {
        self.attached.fetch_add(1, Ordering::AcqRel);
    }

    pub(crate) fn detach(&self) {
        self.attached.fetch_sub(1, Ordering::AcqRel);
    }

    pub(crate) fn is_attached(&self) -> bool {
        self.attached.load(Ordering::Acquire) > 0
    }
}
