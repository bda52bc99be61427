// SPDX-License-Identifier: MIT OR Apache-2.0
//! Thread pools (RT-CORBA 1.2, clause 5.8): lanes of the ORB, all alike.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use orbium_core::budget::Budget;
use orbium_core::{
    Completion, Endpoint, ExceptionKind, Lane, LaneConfig, Orb, OrbError, Priority, QueueBounds,
    Reservation, ServerStrategy, SystemException,
};
use orbium_giop::minor;
use orbium_giop::real_time::PriorityBand;

use crate::error::{bad_param, refused};
use crate::priority::band::holds;
use crate::priority::host::Host;

/// Names a thread pool of an ORB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadpoolId(pub u32);

/// There is no thread pool with that id.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct InvalidThreadpool(pub ThreadpoolId);

impl fmt::Display for InvalidThreadpool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no thread pool {}", self.0.0)
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for InvalidThreadpool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for InvalidThreadpool {}

/// Threads of one priority.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadpoolLane {
    /// Their CORBA priority, 0 to 32767.
    pub lane_priority: i16,
    /// Threads started in advance; at least 1.
    pub static_threads: u32,
    /// Maximum number of additional threads, started when all static ones are busy; together at
    /// most [`Limits::serving_threads`](orbium_core::Limits). They end after some idle time.
    pub dynamic_threads: u32,
    /// Processors that the threads run on; none for all.
    pub processors: Vec<usize>,
    /// The endpoints for requests of this priority, read at this priority; empty for the ORB's own
    /// endpoints. Either all lanes of a pool have endpoints, or none.
    pub endpoints: Vec<Endpoint>,
    /// Processor time of its threads together in each period, beyond which they are demoted until
    /// it is replenished; `None` for no limit. Requires a native priority.
    pub budget: Option<Budget>,
    /// Processor time that the host reserves for its serving thread (SCHED_DEADLINE), which then
    /// takes precedence over all native priorities; a thread that only reads has the native
    /// priority. Requires 1 static thread, no dynamic ones, all processors and no budget. An ORB
    /// that is [soft](crate::RtOrbBuilder::soft) continues without it if the host refuses it:
    /// [`Lane::reservation`](orbium_core::Lane::reservation) returns the effective one.
    pub reservation: Option<Reservation>,
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
            budget: None,
            reservation: None,
        }
    }

    /// Whether the requested reservation is permitted, as far as can be checked here.
    fn may_reserve(&self) -> bool {
        let is_one = (self.static_threads, self.dynamic_threads) == (1, 0);
        self.reservation.is_none() || is_one && self.processors.is_empty() && self.budget.is_none()
    }
}

/// The configuration shared by all lanes of a thread pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadpoolConfig {
    /// Octets of the stack of each thread; 0 for the default.
    pub stack_size: usize,
    /// Octets of each stack that are prefaulted before the first request.
    pub prefault_stack: usize,
    /// Whether a lane without a free thread borrows one of a lower lane, which runs at
    /// the priority of the borrower for that request.
    pub allow_borrowing: bool,
    /// Whether requests are queued when no thread is free. Otherwise they raise TRANSIENT 1.
    pub allow_request_buffering: bool,
    /// Maximum number of queued requests of the whole pool; 0 leaves it to the ORB, which also
    /// limits it.
    pub max_buffered_requests: usize,
    /// Maximum octets of queued requests of the whole pool; 0 leaves it to the ORB: the maximum
    /// size of a message.
    pub max_request_buffer_size: usize,
}

/// Limit of queued requests in a pool without a configured limit.
const MAX_BUFFERED: usize = 1 << 16;

/// A thread pool; ends when it is destroyed, or with the ORB.
pub(crate) struct Threadpool {
    pub(crate) id: ThreadpoolId,
    /// Lowest priority first.
    lanes: Box<[(Priority, Lane)]>,
    /// Whether it was created with lanes.
    pub(crate) has_lanes: bool,
    /// Whether its lanes have endpoints.
    listens: bool,
    /// The number of adapters it serves.
    attached: AtomicU32,
}

impl fmt::Debug for Threadpool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lanes = self.priorities().map(Priority::number);
        f.debug_struct("Threadpool")
            .field("id", &self.id.0)
            .field("lanes", &lanes.collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

impl Threadpool {
    /// Validates the lanes and starts their static threads.
    ///
    /// # Errors
    /// BAD_PARAM for priorities that are out of range or duplicate, no lanes, a lane without static
    /// threads, or an invalid budget or reservation; DATA_CONVERSION 2 for priorities without a
    /// native one; NO_RESOURCES if the system refuses threads, with `NOT_RESERVED` if it refuses
    /// their reservation; NO_PERMISSION if it refuses their priority.
    pub(crate) fn start(
        id: ThreadpoolId,
        host: &Host,
        orb: &Orb,
        lanes: &[ThreadpoolLane],
        has_lanes: bool,
        config: ThreadpoolConfig,
    ) -> Result<Arc<Self>, SystemException> {
        let mut asked = Vec::with_capacity(lanes.len());
        for lane in lanes {
            let priority = Priority::new(lane.lane_priority).ok_or_else(bad_param)?;
            if lane.static_threads == 0 || !lane.may_reserve() {
                return Err(bad_param());
            }
            let scheduling = host.scheduling(priority)?;
            if let Some(Err(why)) = lane.budget.map(|it| it.check(scheduling)) {
                tracing::error!(target: "orbium::lane", %priority, why, "a thread pool cannot be");
                return Err(bad_param());
            }
            asked.push((priority, scheduling, lane));
        }
        asked.sort_by_key(|(priority, ..)| *priority);
        let twice = asked.windows(2).any(|two| match two {
            [a, b] => a.0 == b.0,
            _ => false,
        });
        let listening = lanes.iter().filter(|it| !it.endpoints.is_empty()).count();
        let some_listen = listening != 0 && listening != lanes.len();
        if asked.is_empty() || twice || some_listen {
            return Err(bad_param());
        }
        let bounds = config.queue_bounds(orb);
        let mut made: Vec<(Priority, Lane)> = Vec::with_capacity(asked.len());
        for (priority, scheduling, lane) in asked {
            let lower = made.iter().rev().map(|(_, lane)| lane.clone());
            let lane = LaneConfig {
                name: format!("rt-{}-{priority}", id.0),
                priority: Some(priority),
                scheduling,
                soft: host.class.is_none() && lane.reservation.is_some(),
                borrows_from: if config.allow_borrowing {
                    lower.collect()
                } else {
                    Vec::new()
                },
                queue_bounds: bounds.clone(),
                ..lane.config(&config, orb)
            };
            match orb.add_lane(&lane) {
                Ok(lane) => made.push((priority, lane)),
                Err(error) => {
                    stop(&made);
                    return Err(no_lane(orb, &error));
                }
            }
        }
        Ok(Arc::new(Self {
            id,
            lanes: made.into(),
            has_lanes,
            listens: listening != 0,
            attached: AtomicU32::new(0),
        }))
    }

    /// The lanes' priorities, lowest first.
    pub(crate) fn priorities(&self) -> impl Iterator<Item = Priority> + '_ {
        self.lanes.iter().map(|(priority, _)| *priority)
    }

    /// The default priority of a pool without lanes.
    pub(crate) fn default_priority(&self) -> Option<Priority> {
        self.priorities().next()
    }

    /// The lane that serves a priority: that of the same priority, otherwise the most urgent one
    /// below it. With a band it is one within the band, the lowest if all are above.
    pub(crate) fn lane_for(
        &self,
        priority: Priority,
        band: Option<&PriorityBand>,
    ) -> Option<&(Priority, Lane)> {
        let suitable = || {
            let all = self.lanes.iter();
            all.filter(|(it, _)| band.is_none_or(|band| holds(band, *it)))
        };
        let below = suitable().rfind(|(it, _)| *it <= priority);
        below.or_else(|| band.and_then(|_| suitable().next()))
    }

    /// The single lane of a pool without lanes.
    pub(crate) fn only_lane(&self) -> Option<&Lane> {
        self.lanes.first().map(|(_, lane)| lane)
    }

    /// The lanes with endpoints for references; none for the ORB's.
    pub(crate) fn listening(&self) -> Vec<Lane> {
        if self.listens {
            self.lanes.iter().map(|(_, lane)| lane.clone()).collect()
        } else {
            Vec::new()
        }
    }

    /// Whether the calling thread belongs to the pool.
    pub(crate) fn is_of_this_thread(&self) -> bool {
        self.lanes.iter().any(|(_, lane)| lane.is_of_this_thread())
    }

    /// Ends the pool: accepts no more requests, refuses the queued ones, and joins the threads.
    pub(crate) fn end(&self) {
        stop(&self.lanes);
    }

    pub(crate) fn is_attached(&self) -> bool {
        self.attached.load(Ordering::Acquire) > 0
    }
}

/// The pool of an adapter: it is not destroyed before this is dropped.
#[derive(Debug)]
pub(crate) struct Attached(Arc<Threadpool>);

impl Attached {
    pub(crate) fn to(pool: &Arc<Threadpool>) -> Self {
        pool.attached.fetch_add(1, Ordering::AcqRel);
        Self(Arc::clone(pool))
    }
}

impl Deref for Attached {
    type Target = Threadpool;

    fn deref(&self) -> &Threadpool {
        &self.0
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        self.0.attached.fetch_sub(1, Ordering::AcqRel);
    }
}

impl ThreadpoolConfig {
    /// The bounds on the queues of all lanes together; `None` if requests are not queued.
    fn queue_bounds(&self, orb: &Orb) -> Option<QueueBounds> {
        let limit = |asked: usize, most: usize| if asked == 0 { most } else { asked };
        self.allow_request_buffering.then(|| {
            QueueBounds::new(
                limit(self.max_buffered_requests, MAX_BUFFERED),
                limit(
                    self.max_request_buffer_size,
                    orb.config().limits.message_size,
                ),
            )
        })
    }
}

impl ThreadpoolLane {
    /// The configuration of the ORB's lane, without the settings shared by the pool.
    fn config(&self, pool: &ThreadpoolConfig, orb: &Orb) -> LaneConfig {
        let number = |it: u32| usize::try_from(it).unwrap_or(usize::MAX);
        let workers = number(self.static_threads);
        let most = orb.config().limits.serving_threads;
        let queue = if pool.allow_request_buffering {
            // The pool's bounds suffice: the lane has no limit.
            usize::MAX
        } else {
            0
        };
        LaneConfig {
            processors: (!self.processors.is_empty()).then(|| self.processors.clone()),
            strategy: ServerStrategy::WorkerPool { workers, queue },
            endpoints: self.endpoints.clone(),
            budget: self.budget,
            reservation: self.reservation,
            dynamic_threads: number(self.dynamic_threads).min(most.saturating_sub(workers)),
            stack_size: (pool.stack_size > 0).then_some(pool.stack_size),
            prefault_stack: pool.prefault_stack,
            replaces_waiting: false,
            queue_octets: Some(usize::MAX),
            ..LaneConfig::default()
        }
    }
}

fn stop(lanes: &[(Priority, Lane)]) {
    for (_, lane) in lanes {
        // Refused on one of its own threads: it then ends with the ORB.
        if let Err(exception) = lane.stop() {
            tracing::debug!(target: "orbium::lane", %exception, "a lane still serves");
        }
    }
}

/// The exception for a lane that could not be started.
fn no_lane(orb: &Orb, error: &OrbError) -> SystemException {
    if !orb.is_running() {
        return SystemException::omg(ExceptionKind::BadInvOrder, 4, Completion::No);
    }
    tracing::error!(target: "orbium::lane", %error, "a thread pool cannot be");
    let exception = match error {
        OrbError::RealTime(_, error) => refused(error),
        OrbError::Listen(..) => SystemException::new(ExceptionKind::Initialize, 0, Completion::No),
        OrbError::Threads(..) => SystemException::orbium(
            ExceptionKind::NoResources,
            minor::SYSTEM_EXHAUSTED,
            Completion::No,
        ),
        _ => SystemException::new(ExceptionKind::NoResources, 0, Completion::No),
    };
    orbium_core::explain_refusal(exception, "create_threadpool", error);
    exception
}
