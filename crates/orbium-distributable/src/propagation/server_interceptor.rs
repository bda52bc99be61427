// SPDX-License-Identifier: MIT OR Apache-2.0
//! Distributable threads in incoming requests.

use std::sync::Arc;

use orbium::interceptor::{
    Interrupt, ReceiveContexts, ReceiveRequest, SendException, SendOther, SendReply,
    ServerInterceptor,
};
use orbium::{Completion, SystemException};

use crate::error::{incompatible_disciplines, thread_cancelled};
use crate::propagation::context::{SCHEDULING_INFO, SchedulingInfo};
use crate::shared::Shared;
use crate::thread::State;
use crate::thread::level::{self, Level, Segment};

/// The interceptor.
pub(crate) struct Receiving(pub(crate) Arc<Shared>);

impl Receiving {
    /// Records the end of an upcall; `true` if its thread was cancelled.
    fn leave(&self) -> bool {
        let Some(mut level) = level::pop() else {
            return false;
        };
        let Some(thread) = level.thread.clone() else {
            return false;
        };
        self.0.end(&thread, level.end_thread());
        thread.presence().leave();
        self.0.registry.leave(thread.id());
        thread.state() == State::Cancelled
    }
}

impl ServerInterceptor for Receiving {
    fn name(&self) -> &str {
        "orbium distributable threads"
    }

    fn receive_request_service_contexts(
        &self,
        request: &mut ReceiveContexts<'_, '_>,
    ) -> Result<(), Interrupt> {
        let data = request.service_context(SCHEDULING_INFO).ok();
        let Some(info) = data.and_then(SchedulingInfo::decode) else {
            // An ordinary request, though this thread may wait for a reply within a segment.
            level::push(Level::default());
            return Ok(());
        };
        let discipline = info.parameter.map(|it| it.discipline());
        if discipline.is_some_and(|it| it != self.0.scheduler.discipline()) {
            return Err(incompatible_disciplines().into());
        }
        let replied = SchedulingInfo {
            name: String::new(),
            ..info.clone()
        };
        request.add_reply_service_context(SCHEDULING_INFO, replied.encode(), true)?;
        let thread = self.0.registry.enter(info.id);
        if thread.state() == State::Cancelled {
            self.0.registry.leave(info.id);
            return Err(thread_cancelled(Completion::No).into());
        }
        let segment = Segment::begin(info.name, info.parameter, info.parameter);
        self.0.enter(&thread, info.inherited);
        level::push(Level::of_upcall(thread, segment));
        self.0.reschedule();
        Ok(())
    }

    fn receive_request(&self, request: &mut ReceiveRequest<'_, '_>) -> Result<(), Interrupt> {
        let id = || {
            (
                request.adapter_name().join("/"),
                request.object_id().to_vec(),
            )
        };
        if let Some(segment) = self.0.objects.find(id) {
            self.0.enter_object(segment);
        }
        Ok(())
    }

    fn send_reply(&self, _: &mut SendReply<'_, '_>) -> Result<(), SystemException> {
        if self.leave() {
            Err(thread_cancelled(Completion::Yes))
        } else {
            Ok(())
        }
    }

    fn send_exception(&self, _: &mut SendException<'_, '_>) -> Result<(), Interrupt> {
        self.leave();
        Ok(())
    }

    fn send_other(&self, _: &mut SendOther<'_, '_>) -> Result<(), Interrupt> {
        self.leave();
        Ok(())
    }
}
