// SPDX-License-Identifier: MIT OR Apache-2.0
//! Distributable threads in outgoing requests.

use std::sync::Arc;

use orbium::giop::Ior;
use orbium::interceptor::{
    ClientInterceptor, ClientRequest, Interrupt, ReceiveException, ReceiveOther, ReceiveReply,
    SendRequest,
};
use orbium::{Completion, ExceptionKind, Interface, SystemException};
use orbium_sys::NativeThread;

use crate::error::thread_cancelled;
use crate::propagation::context::{SCHEDULING_INFO, SchedulingInfo};
use crate::propagation::control::CONTROL_KEY;
use crate::propagation::notice::Inherited;
use crate::shared::Shared;
use crate::thread::id::ThreadId;
use crate::thread::level::{self, Segment};
use crate::thread::native::processor_time;
use crate::thread::{DistributableThread, State};
use crate::thread_control::Control;

/// The interceptor.
pub(crate) struct Sending(pub(crate) Arc<Shared>);

/// The distributable thread of the calling thread, and its innermost segment.
fn current() -> Option<(DistributableThread, Segment)> {
    level::with(|level| Some((level.thread.clone()?, level.segments.last()?.clone())))
}

/// The scheduling information of a oneway, which starts a separate thread, with the implicit
/// parameter.
fn of_oneway(segment: &Segment) -> SchedulingInfo {
    SchedulingInfo {
        id: ThreadId::unique(),
        name: String::new(),
        parameter: segment.implicit,
        inherited: Inherited::default(),
    }
}

/// The object through which the server of a request is notified of cancellation.
fn control_of(request: &ClientRequest<'_>) -> Option<Ior> {
    let profile = request.effective_profile()?;
    let profile = profile.with_object_key(CONTROL_KEY.as_bytes())?;
    Some(Ior {
        type_id: Control::REPOSITORY_ID.to_owned(),
        profiles: vec![profile],
    })
}

impl Sending {
    /// Records the request as a call of the thread. Returns the parameter to send.
    fn begin(
        &self,
        request: &SendRequest<'_>,
        thread: &DistributableThread,
        segment: Segment,
    ) -> SchedulingInfo {
        let used = || processor_time(NativeThread::current());
        let (parameter, control) = (segment.remaining(used), control_of(request));
        let (id, call) = (request.request_id(), self.0.next_call());
        let mut presence = thread.presence();
        SchedulingInfo {
            id: thread.id(),
            name: segment.name,
            parameter,
            inherited: presence.begin_call(id, call, control, &self.0.scheduler),
        }
    }

    /// Records the arrival of a reply; returns the thread that sent the request.
    fn resume(&self, request: u32) -> Option<DistributableThread> {
        let thread = level::with(|level| level.thread.clone())?;
        if !thread.presence().end_call(request) {
            return None;
        }
        self.0.reschedule();
        Some(thread)
    }
}

impl ClientInterceptor for Sending {
    fn name(&self) -> &str {
        "orbium distributable threads"
    }

    fn send_request(&self, request: &mut SendRequest<'_>) -> Result<(), Interrupt> {
        // Cancellation itself is not a part of the cancelled thread.
        if request.interface() == Control::REPOSITORY_ID {
            return Ok(());
        }
        let Some((thread, segment)) = current() else {
            return Ok(());
        };
        let is_twoway = request.response_expected();
        let info = if is_twoway {
            self.begin(request, &thread, segment)
        } else {
            of_oneway(&segment)
        };
        // After the call was recorded: a canceller finds it, or this finds the cancellation.
        if thread.state() == State::Cancelled {
            thread.presence().end_call(request.request_id());
            return Err(thread_cancelled(Completion::No).into());
        }
        request.add_service_context(SCHEDULING_INFO, info.encode(), true)?;
        if is_twoway {
            thread.presence().pause(&self.0.scheduler);
        }
        Ok(())
    }

    fn receive_reply(&self, request: &mut ReceiveReply<'_>) -> Result<(), SystemException> {
        let thread = self.resume(request.request_id());
        if thread.is_some_and(|it| it.state() == State::Cancelled) {
            Err(thread_cancelled(Completion::Yes))
        } else {
            Ok(())
        }
    }

    fn receive_exception(&self, request: &mut ReceiveException<'_>) -> Result<(), Interrupt> {
        let Some(thread) = self.resume(request.request_id()) else {
            return Ok(());
        };
        let received = request.received_exception();
        if received.is_some_and(|it| it.kind == ExceptionKind::ThreadCancelled) {
            // It was cancelled by a callee; the caller gets the exception unchanged.
            thread.mark_cancelled();
        } else if thread.state() == State::Cancelled {
            return Err(thread_cancelled(Completion::Maybe).into());
        }
        Ok(())
    }

    fn receive_other(&self, request: &mut ReceiveOther<'_>) -> Result<(), Interrupt> {
        self.resume(request.request_id());
        Ok(())
    }
}
