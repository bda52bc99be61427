// SPDX-License-Identifier: MIT OR Apache-2.0
//! Route of a request to its lane.

use std::time::{Duration, Instant};

use orbium_giop::Ior;
use orbium_sys::{RealTimeError, Scheduling};

use crate::Lane;
use orbium_invocation::{Expiry, Priority, scheduling};

/// Times of a request by the schedule of its operation, set by a dispatch hook.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestTiming {
    /// The deadline of its end.
    pub deadline: Option<Instant>,
    /// The execution time of its operation.
    pub execution: Duration,
    /// Its rank among operations of equal priority: 0 is first.
    pub subpriority: u32,
    /// Whether its servant sees the deadline as that of its client.
    pub is_for_servant: bool,
}

/// The priority of a request, if it differs from that of the thread, and its times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Decided {
    /// The CORBA priority.
    pub priority: Option<Priority>,
    /// The native one.
    pub scheduling: Option<Scheduling>,
    /// Its times, if its operation is scheduled.
    pub timing: Option<RequestTiming>,
}

impl Decided {
    /// A fixed CORBA priority, and the native one if given.
    #[must_use]
    pub fn at(priority: Priority, scheduling: Option<Scheduling>) -> Self {
        Self {
            priority: Some(priority),
            scheduling,
            timing: None,
        }
    }

    /// These times.
    #[must_use]
    pub fn timed(timing: RequestTiming) -> Self {
        Self {
            timing: Some(timing),
            ..Self::default()
        }
    }

    /// Fills in undecided values from the lane.
    #[must_use]
    pub fn in_lane(self, lane: &Lane) -> Self {
        Self {
            priority: self.priority.or(lane.priority()),
            scheduling: self.scheduling.or(lane.scheduling()),
            ..self
        }
    }

    /// Runs `serve` at that priority.
    ///
    /// # Errors
    /// The host refuses the native priority; nothing was done.
    #[inline]
    pub fn run<R>(&self, serve: impl FnOnce() -> R) -> Result<R, RealTimeError> {
        match (self.priority, self.scheduling) {
            (None, None) => Ok(serve()),
            (priority, native) => scheduling::at(priority, native, serve),
        }
    }

    /// The expiry of a request with its own expiry `own`.
    #[must_use]
    pub fn expiry(&self, own: Expiry) -> Expiry {
        let timing = self.timing.filter(|it| it.is_for_servant);
        let deadline = timing.and_then(|it| it.deadline);
        deadline.map_or(own, |deadline| own.at_latest(deadline))
    }
}

/// Route of a request.
#[derive(Debug)]
pub enum Route {
    /// The thread that holds it serves it.
    Here(Decided),
    /// Another lane serves it.
    To(Lane, Decided),
    /// The client is forwarded to another object, permanently if the second is set.
    Elsewhere(Ior, bool),
}

/// The number of the ORB's own lane.
pub const OWN: u32 = 0;

/// In place of a lane number: the ORB's own lane serves the object, with interceptors.
pub const OWN_INTERCEPTED: u32 = u32::MAX - 2;

/// In place of a lane number: each request is routed.
pub const ASKED: u32 = u32::MAX;

/// In place of a lane number: the thread and lane of the request have been decided.
pub const SETTLED: u32 = u32::MAX - 1;

/// The lane for requests without a priority, unless the lane of their endpoint serves them: the
/// lowest.
#[must_use]
pub fn lowest_lane(lanes: &[Lane]) -> Option<&Lane> {
    let lanes = lanes.iter().filter(|lane| !lane.is_leaving());
    lanes.min_by_key(|lane| lane.priority())
}

/// The lane for requests of a priority: the highest not above it.
pub fn lane_for(lanes: &[Lane], priority: Priority) -> Option<&Lane> {
    let mut best: Option<&Lane> = None;
    for lane in lanes.iter().filter(|lane| !lane.is_leaving()) {
        let fits = lane.priority().is_none_or(|it| it <= priority);
        if fits && best.is_none_or(|best| best.priority() <= lane.priority()) {
            best = Some(lane);
        }
    }
    best
}
