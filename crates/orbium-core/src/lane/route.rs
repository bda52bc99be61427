// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which lane serves a request.

use orbium_giop::{Completion, ExceptionKind, SystemException};
use orbium_sys::Scheduling;

use crate::adapter::{ActiveObject, Incoming};
use crate::dispatch_hook::{Dispatch, RequestInfo, asked_priority};
use crate::{Call, Lane, Orb, Policies, Priority};

/// At which priority a request is served, if not at that of the thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Decided {
    pub(crate) priority: Option<Priority>,
    pub(crate) scheduling: Option<Scheduling>,
}

/// Where a request goes.
#[derive(Debug)]
pub(crate) enum Route {
    Here(Decided),
    To(Lane, Decided),
}

/// The number of the ORB's own lane.
pub(crate) const OWN: u32 = 0;

/// No lane's number: each request asks.
const ASKED: u32 = u32::MAX;

/// In place of a lane number: where the request is served has been decided.
pub(crate) const SETTLED: u32 = u32::MAX - 1;

/// The number of the lane that serves all requests to an object, or none's.
pub(crate) fn lane_of_object(
    orb: &Orb,
    policies: &Policies,
    object_priority: Option<Priority>,
) -> u32 {
    let hooked = policies.dispatch.is_some() || orb.config().dispatch.is_some();
    if hooked || policies.extension.is_some() {
        orb.core().lanes.route();
        return ASKED;
    }
    match (orb.lanes_of(policies), object_priority) {
        ([], _) => OWN,
        ([only], _) => only.0.number,
        (lanes, Some(priority)) => lane_for(lanes, priority).map_or(ASKED, |lane| lane.0.number),
        _ => ASKED,
    }
}

/// The lane for requests of a priority: the highest that is not above it.
pub(crate) fn lane_for(lanes: &[Lane], priority: Priority) -> Option<&Lane> {
    let mut best: Option<&Lane> = None;
    for lane in lanes {
        let fits = lane.priority().is_none_or(|it| it <= priority);
        if fits && best.is_none_or(|best| best.priority() <= lane.priority()) {
            best = Some(lane);
        }
    }
    best
}

impl Call<'_> {
    /// The lane of the connection that the request arrived over; `None` within the
    /// process, and for a connection with a dedicated thread.
    #[must_use]
    #[inline]
    pub fn lane(&self) -> Option<Lane> {
        let number = self.incoming.peer?.lane();
        match number {
            OWN => self.orb().own_lane().ok(),
            _ => {
                let mut lanes = self.orb().lanes().into_iter();
                lanes.find(|lane| lane.0.number == number)
            }
        }
    }
}

impl Incoming<'_> {
    /// Where the request goes, if that has to be found out.
    pub(crate) fn destination(&self) -> Result<Option<Route>, SystemException> {
        match self.orb.core().registry.find(self.key) {
            Ok(object) if object.lane != self.lane => self.route(&object).map(Some),
            // Whatever is wrong with the key shows when it is served.
            _ => Ok(None),
        }
    }

    /// Where a request to that object goes.
    pub(crate) fn route(&self, object: &ActiveObject) -> Result<Route, SystemException> {
        if let Some(decided) = self.decided {
            return Ok(Route::Here(*decided));
        }
        let info = RequestInfo {
            incoming: self,
            object,
        };
        let policies = object.policies();
        let hooks = [&policies.dispatch, &self.orb.config().dispatch];
        for hook in hooks.into_iter().flatten() {
            if let Some(route) = self.follow(hook.0.arrived(&info))? {
                return Ok(route);
            }
        }
        if let Some(extension) = &policies.extension
            && let Some(route) = self.follow(extension.0.place(&info))?
        {
            return Ok(route);
        }
        let plain = Decided::default();
        match self.orb.lanes_of(policies) {
            [] => Ok(self.to(&self.orb.own_lane()?, plain)),
            [only] => Ok(self.to(only, plain)),
            lanes => {
                let asked = object.priority.or_else(|| asked_priority(&self.contexts));
                let lane = match asked {
                    Some(priority) => lane_for(lanes, priority),
                    None => self.lane_without_priority(lanes),
                };
                // No lane is that low.
                let none = SystemException::new(ExceptionKind::InvPolicy, 0, Completion::No);
                Ok(self.to(lane.ok_or(none)?, plain))
            }
        }
    }

    /// What somebody has said of the request; `None` if he leaves it to others.
    fn follow(&self, dispatch: Dispatch) -> Result<Option<Route>, SystemException> {
        let at = |priority, scheduling| Decided {
            priority: Some(priority),
            scheduling,
        };
        Ok(Some(match dispatch {
            Dispatch::Here => return Ok(None),
            Dispatch::At(priority, scheduling) => Route::Here(at(priority, scheduling)),
            // By the thread of its connection, at the lane's priority.
            Dispatch::In(lane) if self.lane == SETTLED => Route::Here(Decided {
                priority: lane.priority(),
                scheduling: lane.scheduling(),
            }),
            Dispatch::In(lane) => self.to(&lane, Decided::default()),
            Dispatch::InAt(lane, priority, scheduling) => self.to(&lane, at(priority, scheduling)),
            Dispatch::Refuse(exception) => return Err(exception),
        }))
    }

    /// The lane for a request without priority: that of the endpoint it arrived at, or
    /// the lowest.
    fn lane_without_priority<'l>(&self, lanes: &'l [Lane]) -> Option<&'l Lane> {
        let own = lanes.iter().find(|lane| lane.0.number == self.lane);
        own.or_else(|| lanes.iter().min_by_key(|lane| lane.priority()))
    }

    fn to(&self, lane: &Lane, decided: Decided) -> Route {
        if self.peer.is_none() {
            // A call within the process: the caller's thread does what one of
            // the lane would.
            return Route::Here(Decided {
                priority: decided.priority.or(lane.priority()),
                scheduling: decided.scheduling.or(lane.scheduling()),
            });
        }
        // What its connection has a thread for is served by that.
        match self.lane == lane.0.number || self.lane == SETTLED {
            true => Route::Here(decided),
            false => Route::To(lane.clone(), decided),
        }
    }
}
