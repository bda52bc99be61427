// SPDX-License-Identifier: MIT OR Apache-2.0
//! From a request that was let in to its servant: threads, interceptors, stand-ins.

use std::cell::RefCell;
use std::sync::Arc;

use orbium_cdr::CdrReader;
use orbium_giop::ResponseFlags;
use orbium_interceptor::Interrupt;
use orbium_interceptor::server::RequestFlow;
use orbium_invocation::reactor::is_within_a_wait;
use orbium_server::{IncomingRequest, UntypedReply, intercept};

use crate::adapter::dispatch::{busy, dispatch};
use crate::adapter::{ActiveObject, Adapters, ThreadModel};
use crate::raises::DispatchError;
use crate::servant::Call;

impl Adapters {
    /// The adapter finds the servant of a stand-in, and sees to the threads.
    pub(super) fn serve_by_policies(
        &self,
        request: &IncomingRequest<'_>,
        object: &ActiveObject,
        arguments: &mut CdrReader<'_>,
        reply: &mut UntypedReply<'_>,
    ) -> Result<(), DispatchError> {
        if !object.policies().is_special() {
            return self.serve_intercepted(request, object, arguments, reply);
        }
        if object.policies().thread_model == ThreadModel::MainThread
            && !self.main.is_this()
            && let Some(lane) = self.main.lane()
        {
            return match reply.move_to(lane, request.decided.copied().unwrap_or_default()) {
                true => Ok(()),
                false => Err(busy().into()),
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
        self.serve_intercepted(request, object, arguments, reply)
    }

    /// Interceptors, if there are any, see the request on the thread that serves it.
    fn serve_intercepted(
        &self,
        request: &IncomingRequest<'_>,
        object: &ActiveObject,
        arguments: &mut CdrReader<'_>,
        reply: &mut UntypedReply<'_>,
    ) -> Result<(), DispatchError> {
        let Some(all) = &self.interceptors else {
            return serve_upcall(request, object, arguments, reply, None);
        };
        intercept(all, request, Some(object), reply, &mut |reply, flow| {
            serve_upcall(request, object, arguments, reply, Some(flow))
        })
    }
}

/// Runs the servant, which the adapter finds for a stand-in.
fn serve_upcall(
    request: &IncomingRequest<'_>,
    object: &ActiveObject,
    arguments: &mut CdrReader<'_>,
    reply: &mut UntypedReply<'_>,
    flow: Option<&RefCell<RequestFlow<'_>>>,
) -> Result<(), DispatchError> {
    let mut serve = |object: &ActiveObject, reply: &mut UntypedReply<'_>| {
        let call = Call {
            incoming: request,
            object,
        };
        match flow {
            Some(flow) => {
                let received = flow.borrow_mut().receive_request(object);
                match received {
                    Ok(()) => {}
                    Err(Interrupt::Raise(exception)) => return Err(exception.into()),
                    Err(Interrupt::Forward(to)) => return reply.forward(&to, false),
                }
            }
            None if request.response == ResponseFlags::SyncWithServer => {
                reply.confirm(request.peer)?;
            }
            None => {}
        }
        dispatch(object, &call, arguments, reply)
    };
    if !object.policies().is_special() {
        return serve(object, reply);
    }
    let adapter = Arc::clone(&object.adapter);
    adapter.upcall(object, request.operation, reply, &mut serve)
}
