// SPDX-License-Identifier: MIT OR Apache-2.0
//! From a request that was admitted to its servant: threads, interceptors, stand-ins.

use std::sync::Arc;

use orbium_cdr::CdrReader;
use orbium_interceptor::Interceptors;
use orbium_invocation::reactor::is_within_a_wait;
use orbium_request::conclusion::busy;
use orbium_request::{
    IncomingRequest, UntypedReply, intercept, intercept_linked, intercept_unlinked, interrupted,
};

use crate::adapter::dispatch::dispatch;
use crate::adapter::implicit::is_implicit;
use crate::adapter::{ActiveObject, Adapters, ThreadModel};
use crate::raises::DispatchError;
use crate::servant::Call;

impl Adapters {
    /// Serves a request with an extension of the adapter around the upcall, or with a servant that
    /// the adapter finds for a stand-in, on the threads of the adapter's thread model.
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

    /// Serves a request by the adapter's policies: servant of a stand-in, thread model.
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
        let Some(all) = &self.interceptors else {
            return serve_found(request, object, arguments, reply, false);
        };
        let serve =
            |reply: &mut UntypedReply<'_>| serve_found(request, object, arguments, reply, true);
        intercept(all, request, object, reply, || false, serve)
    }

    /// Runs the servant, with interceptors: they see the request before the arguments are read if it
    /// `is_known` then.
    #[inline(always)]
    pub(crate) fn serve_seen(
        &self,
        all: &Interceptors,
        request: &IncomingRequest<'_>,
        object: &ActiveObject,
        (arguments, reply): (&mut CdrReader<'_>, &mut UntypedReply<'_>),
        is_known: impl FnOnce() -> bool,
    ) -> Result<(), DispatchError> {
        // Two closures: a shared one would be written to the stack.
        if let Some(linked) = reply.linked(all, request) {
            intercept_linked((linked, all), request, object, reply, is_known, |reply| {
                serve_servant(request, object, arguments, reply)
            })
        } else {
            intercept_unlinked(all, request, object, reply, is_known, |reply| {
                serve_servant(request, object, arguments, reply)
            })
        }
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
        let Some(all) = &self.interceptors else {
            reply.confirm_oneway(request)?;
            return serve_servant(request, object, arguments, reply);
        };
        let is_known = || !shows_itself(request, object);
        self.serve_seen(all, request, object, (arguments, reply), is_known)
    }
}

/// Whether the skeleton of the servant shows the request to interceptors, once it has read the
/// arguments.
#[inline]
fn shows_itself(request: &IncomingRequest<'_>, object: &ActiveObject) -> bool {
    object.servant.shows_requests() && !is_implicit(request.operation)
}

/// Runs the servant that the adapter finds, after interceptors have seen it.
fn serve_found(
    request: &IncomingRequest<'_>,
    object: &ActiveObject,
    arguments: &mut CdrReader<'_>,
    reply: &mut UntypedReply<'_>,
    is_seen: bool,
) -> Result<(), DispatchError> {
    let adapter = Arc::clone(&object.adapter);
    adapter.upcall(object, request.operation, reply, &mut |object, reply| {
        if !is_seen {
            reply.confirm_oneway(request)?;
        } else if !shows_itself(request, object)
            && let Err(interrupt) = reply.receive_request(object)
        {
            return interrupted(interrupt, reply);
        }
        serve_servant(request, object, arguments, reply)
    })
}

/// Runs the servant.
#[inline(always)]
fn serve_servant(
    request: &IncomingRequest<'_>,
    object: &ActiveObject,
    arguments: &mut CdrReader<'_>,
    reply: &mut UntypedReply<'_>,
) -> Result<(), DispatchError> {
    let call = Call {
        incoming: request,
        object,
    };
    dispatch(object, &call, arguments, reply)
}
