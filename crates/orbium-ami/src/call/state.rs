// SPDX-License-Identifier: MIT OR Apache-2.0
//! The state of an asynchronous invocation.

use std::sync::Arc;
use std::task::Waker;
use std::time::Instant;

use orbium_giop::SystemException;
use orbium_interceptor::client::SuspendedFlow;
use orbium_invocation::CallQueue;
use orbium_invocation::story::{Failure, Note};

use super::super::line::Line;
use super::super::pending_call::Answered;
use super::super::readers::UnderWay;
use orbium_client::attempt::Suspended;
use orbium_client::span::CallSpan;
use orbium_invocation::timing::Timing;

/// Runs with the answer.
pub(crate) type Handler = Box<dyn FnOnce(Answered) + Send>;

/// The action of a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// The request may be sent now.
    Begin,
    /// The request must be sent by now.
    Sent,
    /// The reply must have arrived by now.
    Reply,
    /// The reply may be delivered now.
    Deliver,
}

/// The destination of the answer.
pub(super) enum Then {
    /// The result is awaited; the waker of the waiting task.
    Kept(Option<Waker>),
    Handled(Handler),
    /// None: the handle was dropped.
    Dropped,
}

pub(super) enum Slot {
    Awaited,
    /// It has arrived, but must not be delivered yet.
    Early(Answered),
    /// It has arrived, and interceptors process it.
    Intercepted,
    There(Answered),
    Taken,
}

impl Slot {
    /// Whether the call is not yet complete.
    pub(super) fn is_open(&self) -> bool {
        matches!(self, Self::Awaited | Self::Early(_) | Self::Intercepted)
    }
}

pub(super) struct State {
    /// `None` while a thread acts on it, and at the end.
    pub(super) attempt: Option<Suspended>,
    pub(super) timing: Timing,
    /// Candidates that could not be reached.
    pub(super) tried: usize,
    /// The line and the request id of the pending reply.
    pub(super) sent: Option<(Arc<Line>, u32)>,
    /// A thread makes the call and blocks.
    pub(super) is_performed: bool,
    /// The queue in which it waits for a thread of the object's lane.
    pub(super) queue: Option<Arc<dyn CallQueue>>,
    pub(super) timer: Option<(Instant, Due)>,
    /// Whether its time is over, so that its request must not be sent.
    pub(super) is_given_up: bool,
    pub(super) slot: Slot,
    /// The exception with which it is complete.
    pub(super) raised: Option<SystemException>,
    pub(super) then: Then,
    /// Whether a thread waits for the end, or has waited.
    pub(super) is_waited_for: bool,
    pub(super) counted: Option<UnderWay>,
    /// Notes of the steps so far.
    pub(super) notes: Vec<Note>,
    /// The numbers of retries and of forwards.
    pub(super) counts: (u32, u32),
    /// Whether the request was lost, and is sent again or was: it may have been served.
    pub(super) was_repeated: bool,
    /// Its story, if it has failed.
    pub(super) failure: Option<Failure>,
    /// The interceptors that have seen the attempt begin.
    pub(super) flow: Option<Box<SuspendedFlow>>,
    /// The span, until the call is complete.
    pub(super) span: Option<CallSpan>,
}

/// The resources that a completed call no longer needs. They are released without its lock, as the
/// ORB may end with them.
pub(super) struct Over {
    pub(super) _attempt: Option<Suspended>,
    pub(super) sent: Option<(Arc<Line>, u32)>,
    pub(super) queue: Option<Arc<dyn CallQueue>>,
    pub(super) timer: Option<(Instant, Due)>,
    pub(super) _counted: Option<UnderWay>,
    pub(super) _span: Option<CallSpan>,
}

impl Over {
    pub(super) fn of(state: &mut State) -> Self {
        Self {
            _attempt: state.attempt.take(),
            sent: state.sent.take(),
            queue: state.queue.take(),
            timer: state.timer.take(),
            _counted: state.counted.take(),
            _span: state.span.take(),
        }
    }
}

impl State {
    /// Whether a request of the call may still be sent.
    pub(super) fn may_send(&self) -> bool {
        matches!(self.slot, Slot::Awaited) && !self.is_given_up
    }

    /// The state of a new call.
    pub(super) fn new(counted: Option<UnderWay>, span: Option<CallSpan>) -> Self {
        Self {
            attempt: None,
            timing: Timing::NEVER,
            tried: 0,
            sent: None,
            is_performed: false,
            queue: None,
            timer: None,
            is_given_up: false,
            slot: Slot::Awaited,
            raised: None,
            then: Then::Kept(None),
            is_waited_for: false,
            counted,
            notes: Vec::new(),
            counts: (0, 0),
            was_repeated: false,
            failure: None,
            flow: None,
            span,
        }
    }
}
