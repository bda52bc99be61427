// SPDX-License-Identifier: MIT OR Apache-2.0
//! Routing of a request to a lane, by hooks, extensions, priorities and the policies of its
//! adapter.

use orbium_giop::{Completion, ExceptionKind, SystemException};

use crate::adapter::{ActiveObject, Adapters, Policies, ThreadModel};
use crate::dispatch_hook::{Dispatch, RequestInfo};
use crate::raises::DispatchError;
use crate::{Lane, Priority};
use orbium_lane::{ASKED, Decided, OWN, OWN_INTERCEPTED, Route, SETTLED, lane_for, lowest_lane};
use orbium_request::{IncomingRequest, PeerConnection, asked_priority};

impl Adapters {
    /// The number of the lane that serves all requests to an object, or the number for no lane.
    /// `shows_requests` is that of its [servant](crate::Servant).
    pub(crate) fn lane_of_object(
        &self,
        policies: &Policies,
        object_priority: Option<Priority>,
        shows_requests: bool,
    ) -> u32 {
        let hooked = policies.dispatch.is_some() || self.hook.is_some();
        if hooked || policies.extension.is_some() {
            self.context.route();
            return ASKED;
        }
        if policies.is_special() || policies.goes_one_way() && self.goes_both_ways {
            return ASKED;
        }
        match (self.lanes_of(policies), object_priority) {
            ([], _) if self.interceptors.is_some() && !shows_requests => OWN_INTERCEPTED,
            _ if self.interceptors.is_some() => ASKED,
            ([], _) => OWN,
            ([only], _) => only.number(),
            (lanes, Some(priority)) => lane_for(lanes, priority).map_or(ASKED, Lane::number),
            _ => ASKED,
        }
    }

    /// The route of a request, if it has to be resolved.
    pub(crate) fn destination(
        &self,
        request: &IncomingRequest<'_>,
    ) -> Result<Option<Route>, SystemException> {
        match self.registry.find(request.key) {
            // A request cannot change lanes once it is queued.
            Ok(object) if object.policies().thread_model == ThreadModel::MainThread => {
                let lane = self.main.lane().cloned();
                Ok(lane.map(|lane| Route::To(lane, Decided::default())))
            }
            Ok(object) if object.lane() != request.lane => self.route(request, &object).map(Some),
            // An invalid key is reported when the request is served.
            _ => Ok(None),
        }
    }

    /// Whether the adapter of that object permits call-backs over the connections of its clients.
    /// An invalid key is reported when the request is served.
    pub(crate) fn takes_listen_points(&self, key: &[u8]) -> bool {
        let object = self.registry.find(key);
        object.map_or(true, |object| !object.policies().goes_one_way())
    }

    /// The route of a request to that object.
    pub(crate) fn route(
        &self,
        request: &IncomingRequest<'_>,
        object: &ActiveObject,
    ) -> Result<Route, SystemException> {
        if object.policies().goes_one_way()
            && request.peer.is_some_and(PeerConnection::is_opened_here)
        {
            return Err(not_allowed());
        }
        if let Some(decided) = request.decided {
            return Ok(Route::Here(*decided));
        }
        let info = RequestInfo::new(request, object);
        let policies = object.policies();
        let hooks = [&policies.dispatch, &self.hook];
        for hook in hooks.into_iter().flatten() {
            if let Some(route) = follow(request, hook.0.arrived(&info))? {
                return Ok(route);
            }
        }
        if let Some(extension) = &policies.extension
            && let Some(route) = follow(request, extension.0.place(&info))?
        {
            return Ok(route);
        }
        let plain = Decided::default();
        match self.lanes_of(policies) {
            [] => Ok(to(request, &self.factory()?.own_lane()?, plain)),
            [only] => Ok(to(request, only, plain)),
            lanes => {
                let asked = object
                    .priority
                    .or_else(|| asked_priority(&request.contexts));
                let lane_of = |lanes| match asked {
                    Some(priority) => lane_for(lanes, priority),
                    None => lane_without_priority(request, lanes),
                };
                // Other lanes have joined before any of these began to leave.
                let lane = lane_of(lanes).or_else(|| lane_of(self.lanes_of(policies)));
                // No lane has so low a priority.
                Ok(to(request, lane.ok_or_else(not_allowed)?, plain))
            }
        }
    }
}

/// A policy of the adapter forbids the request.
fn not_allowed() -> SystemException {
    SystemException::new(ExceptionKind::InvPolicy, 0, Completion::No)
}

impl Adapters {
    /// Calls the hooks before a request is served; they may refuse it.
    pub(crate) fn begins(
        &self,
        incoming: &IncomingRequest<'_>,
        object: &ActiveObject,
    ) -> Result<(), SystemException> {
        let hooks = [&object.policies().dispatch, &self.hook];
        let info = RequestInfo::new(incoming, object);
        let mut hooks = hooks.into_iter().flatten();
        hooks.try_for_each(|hook| hook.0.begins(&info))
    }

    /// Calls the hooks with the outcome of a request.
    pub(crate) fn leave(
        &self,
        incoming: &IncomingRequest<'_>,
        object: &ActiveObject,
        served: Result<(), DispatchError>,
    ) -> Result<(), DispatchError> {
        let hooks = [&self.hook, &object.policies().dispatch];
        let info = RequestInfo::new(incoming, object);
        hooks.into_iter().flatten().fold(served, |served, hook| {
            let failed = served.as_ref().err().copied().map(DispatchError::exception);
            match (hook.0.leaves(&info, failed), failed) {
                (Some(other), Some(failed)) if other != failed => Err(other.into()),
                _ => served,
            }
        })
    }
}

/// The route that a hook has chosen for the request; `None` if it does not decide.
fn follow(
    request: &IncomingRequest<'_>,
    dispatch: Dispatch,
) -> Result<Option<Route>, SystemException> {
    Ok(Some(match dispatch {
        Dispatch::Here => return Ok(None),
        Dispatch::At(priority, scheduling) => Route::Here(Decided::at(priority, scheduling)),
        Dispatch::In(lane) => within(request, &lane, Decided::default()),
        Dispatch::Timed(lane, timing) => within(request, &lane, Decided::timed(timing)),
        Dispatch::InAt(lane, priority, scheduling) => {
            to(request, &lane, Decided::at(priority, scheduling))
        }
        Dispatch::Refuse(exception) => return Err(exception),
        Dispatch::Forward(forward) => Route::Elsewhere(forward.to.ior().clone(), forward.permanent),
    }))
}

/// The lane for a request without priority: that of the endpoint it arrived at, or
/// the lowest.
fn lane_without_priority<'l>(request: &IncomingRequest<'_>, lanes: &'l [Lane]) -> Option<&'l Lane> {
    let own = lanes.iter().find(|lane| lane.number() == request.lane);
    own.or_else(|| lowest_lane(lanes))
}

fn within(request: &IncomingRequest<'_>, lane: &Lane, decided: Decided) -> Route {
    if request.lane == SETTLED {
        // By the thread of its connection, at the lane's priority.
        Route::Here(decided.in_lane(lane))
    } else {
        to(request, lane, decided)
    }
}

fn to(request: &IncomingRequest<'_>, lane: &Lane, decided: Decided) -> Route {
    if request.peer.is_none() {
        // A collocated call: the caller's thread serves it in place of a thread of the lane.
        return Route::Here(decided.in_lane(lane));
    }
    // The dedicated thread of a connection serves its requests.
    if request.lane == lane.number() || request.lane == SETTLED {
        Route::Here(decided)
    } else {
        Route::To(lane.clone(), decided)
    }
}
