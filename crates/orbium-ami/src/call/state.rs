// SPDX-License-Identifier: MIT OR Apache-2.0
//! The state of an asynchronous invocation.

use std::sync::Arc;
use std::task::Waker;
use std::time::Instant;

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

/// What is to be done at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// The request may be sent.
    Begin,
    /// It has to be sent.
    Sent,
    /// The reply has to be there.
    Reply,
    /// The reply may be had.
    Deliver,
}

/// What is to happen with the answer.
pub(super) enum Then {
    /// The result is awaited; the waker of the waiting task.
    Kept(Option<Waker>),
    Handled(Handler),
    /// Nothing: the handle was dropped.
    Dropped,
}

pub(super) enum Slot {
    Awaited,
    /// It came, but must not be had yet.
    Early(Answered),
    /// It came, and interceptors see it.
    Intercepted,
    There(Answered),
    Taken,
}

impl Slot {
    /// Whether the call is not over yet.
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
    /// Where the answer is awaited.
    pub(super) sent: Option<(Arc<Line>, u32)>,
    /// A thread makes it, and waits.
    pub(super) is_performed: bool,
    /// Where it waits for a thread of its object's lane.
    pub(super) queue: Option<Arc<dyn CallQueue>>,
    pub(super) timer: Option<(Instant, Due)>,
    pub(super) slot: Slot,
    pub(super) then: Then,
    /// Whether a thread waits for the end, or has done so.
    pub(super) is_waited_for: bool,
    pub(super) counted: Option<UnderWay>,
    /// What happened on its way.
    pub(super) notes: Vec<Note>,
    /// Times that it was sent again, and forwarded.
    pub(super) counts: (u32, u32),
    /// Whether the request was sent again though it may have been served.
    pub(super) was_repeated: bool,
    /// Its story, if it has failed.
    pub(super) failure: Option<Failure>,
    /// The interceptors that have seen the attempt begin.
    pub(super) flow: Option<Box<SuspendedFlow>>,
    /// Until it is over.
    pub(super) span: Option<CallSpan>,
}

/// What a call that is over needs no more. It is let go of without its lock: the
/// ORB may end with it.
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
    /// Of a call that begins.
    pub(super) fn new(counted: Option<UnderWay>, span: Option<CallSpan>) -> Self {
        Self {
            attempt: None,
            timing: Timing::NEVER,
            tried: 0,
            sent: None,
            is_performed: false,
            queue: None,
            timer: None,
            slot: Slot::Awaited,
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
