// SPDX-License-Identifier: MIT OR Apache-2.0
//! From a request that was let in to its servant: threads, interceptors, stand-ins.

use std::sync::Arc;

use orbium_cdr::CdrReader;
use orbium_giop::ResponseFlags::SyncWithServer;
use orbium_interceptor::Interrupt;
use orbium_invocation::reactor::is_within_a_wait;
use orbium_request::conclusion::busy;
use orbium_request::{IncomingRequest, Interception, UntypedReply, intercept};

use crate::adapter::dispatch::dispatch;
use crate::adapter::implicit::is_implicit;
use crate::adapter::{ActiveObject, Adapters, ThreadModel};
use crate::raises::DispatchError;
use crate::servant::Call;

impl Adapters {
    /// An extension of the adapter wraps the upcall, or the adapter finds the servant of a
    /// stand-in and sees to the threads.
    #[inline(never)]
    pub(crate) fn serve_by_policies(
        &self,
        request: &IncomingRequest<'_>,
        object: &ActiveObject,
        arguments: &mut CdrReader<'_>,
        reply: &mut UntypedReply<'_>,
    ) -> Result<(), DispatchError> {
        let mut serve = || {
            if object.policies().is_special() {
                self.serve_special(request, object, arguments, reply)
            } else {
                self.serve_intercepted(request, object, arguments, reply)
            }
        };
        match object.extension() {
            None => serve(),
            Some(extension) => {
                let call = Call {
                    incoming: request,
                    object,
                };
                extension.0.upcall(&call, &mut serve)
            }
        }
    }

    /// The adapter finds the servant of a stand-in, and sees to the threads.
    fn serve_special(
        &self,
        request: &IncomingRequest<'_>,
        object: &ActiveObject,
        arguments: &mut CdrReader<'_>,
        reply: &mut UntypedReply<'_>,
    ) -> Result<(), DispatchError> {
        if object.policies().thread_model == ThreadModel::MainThread
            && !self.main.is_this()
            && let Some(lane) = self.main.lane()
        {
            return if reply.move_to(lane, request.decided.copied().unwrap_or_default()) {
                Ok(())
            } else {
                Err(busy().into())
            };
        }
        if is_within_a_wait()
            && object.adapter.is_taken_by_this_thread()
            && let Some(lane) = self.lane_numbered(request.lane)
            && reply.move_to(&lane, request.decided.copied().unwrap_or_default())
        {
            // Another thread waits for the upcall further down on this very stack.
            return Ok(());
        }
        self.intercepted(request, object, reply, |reply, interception| {
            serve_found(request, object, arguments, reply, interception)
        })
    }

    /// Runs the servant. Interceptors, if there are any, see the request.
    #[inline]
    pub(crate) fn serve_intercepted(
        &self,
        request: &IncomingRequest<'_>,
        object: &ActiveObject,
        arguments: &mut CdrReader<'_>,
        reply: &mut UntypedReply<'_>,
    ) -> Result<(), DispatchError> {
        self.intercepted(request, object, reply, |reply, interception| {
            serve_servant(request, object, arguments, reply, interception)
        })
    }

    /// Interceptors, if there are any, see the request on the thread that serves it.
    #[inline(always)]
    fn intercepted(
        &self,
        request: &IncomingRequest<'_>,
        object: &ActiveObject,
        reply: &mut UntypedReply<'_>,
        serve: impl FnOnce(&mut UntypedReply<'_>, Interception<'_, '_>) -> Result<(), DispatchError>,
    ) -> Result<(), DispatchError> {
        match &self.interceptors {
            None => serve(reply, Interception::None),
            Some(all) => intercept(all, request, object, reply, serve),
        }
    }
}

/// Runs the servant that the adapter finds.
fn serve_found(
    request: &IncomingRequest<'_>,
    object: &ActiveObject,
    arguments: &mut CdrReader<'_>,
    reply: &mut UntypedReply<'_>,
    interception: Interception<'_, '_>,
) -> Result<(), DispatchError> {
    let adapter = Arc::clone(&object.adapter);
    adapter.upcall(object, request.operation, reply, &mut |object, reply| {
        serve_servant(request, object, arguments, reply, interception)
    })
}

/// Runs the servant, once interceptors have seen which it is.
#[inline(always)]
fn serve_servant(
    request: &IncomingRequest<'_>,
    object: &ActiveObject,
    arguments: &mut CdrReader<'_>,
    reply: &mut UntypedReply<'_>,
    interception: Interception<'_, '_>,
) -> Result<(), DispatchError> {
    match interception {
        Interception::None if request.response == SyncWithServer => reply.confirm(request.peer)?,
        Interception::None | Interception::Overlooked => {}
        // Its skeleton does that, once it has read the arguments.
        _ if object.servant.shows_requests() && !is_implicit(request.operation) => {}
        Interception::Flow(_) => match interception.receive_request(object) {
            Ok(()) => {}
            Err(Interrupt::Raise(exception)) => return Err(exception.into()),
            Err(Interrupt::Forward(to)) => return reply.forward(&to, false),
        },
    }
    let call = Call {
        incoming: request,
        object,
    };
    dispatch(object, &call, arguments, reply)
}
