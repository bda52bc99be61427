// SPDX-License-Identifier: MIT OR Apache-2.0
//! Asynchronous collocated calls: the lanes in which they are queued.

use orbium_giop::SystemException;
use orbium_invocation::{CallQueue, Expiry, Operation, Priority, QueuedCall, priority};
use orbium_lane::{Lane, OWN, OWN_INTERCEPTED, lane_for, lowest_lane};
use orbium_request::IncomingRequest;

use crate::adapter::{ActiveObject, Adapters, ThreadModel};
use crate::{Dispatch, RequestInfo};

/// The queue of a lane, and the priority that orders a call in it.
pub(crate) struct LaneQueue {
    lane: Lane,
    priority: Option<Priority>,
}

impl CallQueue for LaneQueue {
    fn put(&self, call: QueuedCall) -> Result<(), SystemException> {
        let priority = self.priority;
        let queue = self.lane.serving().call_queue();
        queue.put(QueuedCall { priority, ..call })
    }

    fn withdraw(&self, number: u64) {
        self.lane.serving().call_queue().withdraw(number);
    }

    fn bounds_octets(&self) -> bool {
        self.lane.serving().call_queue().bounds_octets()
    }
}

impl Adapters {
    /// The queue of the lane that serves an asynchronous call to the object with that key,
    /// including the lane of the main thread; `None` if a thread of the caller's priority serves
    /// it: no lane serves the object, a hook decides for each request when it is served, or calls
    /// bypass policies.
    pub(crate) fn call_queue(
        &self,
        key: &[u8],
        operation: &'static Operation,
    ) -> Option<LaneQueue> {
        if self.calls_directly {
            return None;
        }
        let object = self.registry.find(key).ok()?;
        if matches!(object.lane(), OWN | OWN_INTERCEPTED) {
            return None;
        }
        let policies = object.policies();
        let is_hooked = self.hook.is_some() || policies.dispatch.is_some();
        if is_hooked {
            return None;
        }
        if policies.thread_model == ThreadModel::MainThread
            && let Some(lane) = self.main.lane()
        {
            return Some(LaneQueue {
                lane: lane.clone(),
                priority: priority::current(),
            });
        }
        if let Some(placed) = self.placed_by_extension(key, operation, &object) {
            return placed;
        }
        let lane = match (self.lanes_of(policies), object.priority) {
            ([], _) => return None,
            ([only], _) => only,
            (lanes, Some(priority)) => lane_for(lanes, priority)?,
            // As a request without a priority.
            (lanes, None) => lowest_lane(lanes)?,
        };
        Some(LaneQueue {
            lane: lane.clone(),
            priority: None,
        })
    }

    /// The queue chosen by an extension of the adapter, the inner `None` for a thread of the
    /// caller's priority; the outer `None` if there is no extension, or it does not decide.
    fn placed_by_extension(
        &self,
        key: &[u8],
        operation: &'static Operation,
        object: &ActiveObject,
    ) -> Option<Option<LaneQueue>> {
        let extension = object.extension()?;
        let incoming = IncomingRequest::collocated(&self.context, key, operation, Expiry::NEVER);
        let info = RequestInfo {
            is_asynchronous: true,
            ..RequestInfo::new(&incoming, object)
        };
        let (lane, priority) = match extension.0.place(&info) {
            Dispatch::Here => return None,
            Dispatch::In(lane) | Dispatch::Timed(lane, _) => (lane, priority::current()),
            Dispatch::InAt(lane, priority, _) => (lane, Some(priority)),
            // Refusals and forwards are applied when the request is served.
            Dispatch::At(..) | Dispatch::Refuse(_) | Dispatch::Forward(_) => return Some(None),
        };
        Some(Some(LaneQueue { lane, priority }))
    }
}
