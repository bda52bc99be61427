// SPDX-License-Identifier: MIT OR Apache-2.0
//! Route of a request to its lane.

use orbium_giop::Ior;
use orbium_sys::Scheduling;

use crate::Lane;
use orbium_invocation::Priority;

/// At which priority a request is served, if not at that of the thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Decided {
    /// The CORBA priority.
    pub priority: Option<Priority>,
    /// The native one.
    pub scheduling: Option<Scheduling>,
}

/// Route of a request.
#[derive(Debug)]
pub enum Route {
    /// The thread that has it serves it.
    Here(Decided),
    /// That lane does.
    To(Lane, Decided),
    /// The client is sent to another object, for good if the second is set.
    Elsewhere(Ior, bool),
}

/// The number of the ORB's own lane.
pub const OWN: u32 = 0;

/// No lane's number: the ORB's own lane serves the object, by way of interceptors.
pub const OWN_INTERCEPTED: u32 = u32::MAX - 2;

/// No lane's number: each request asks.
pub const ASKED: u32 = u32::MAX;

/// In place of a lane number: where the request is served has been decided.
pub const SETTLED: u32 = u32::MAX - 1;

/// The lane for requests of a priority: the highest that is not above it.
pub fn lane_for(lanes: &[Lane], priority: Priority) -> Option<&Lane> {
    let mut best: Option<&Lane> = None;
    for lane in lanes {
        let fits = lane.priority().is_none_or(|it| it <= priority);
        if fits && best.is_none_or(|best| best.priority() <= lane.priority()) {
            best = Some(lane);
        }
    }
    best
}
