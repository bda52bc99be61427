// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests by way of interceptors: from the first point to the reply.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use orbium_giop::{Completion, ExceptionKind, ResponseFlags, SystemException, minor};
use orbium_interceptor::Interceptors;
use orbium_interceptor::server::{InterceptedObject, RequestFacts, RequestFlow, RequestOutcome};
use orbium_invocation::raises::DispatchError;

use crate::reply::InterceptedReply;
use crate::{IncomingRequest, UntypedReply};

/// Serves a request by way of interceptors, and answers it. The ending points are called when
/// the reply is written, before it is sent. `serve` runs the servant, and calls
/// `receive_request` of the flow.
///
/// # Errors
/// The system exception that the request ends with; it was sent already.
///
/// # Panics
/// As the servant did, once the request is answered.
#[inline]
pub fn intercept(
    all: &Interceptors,
    request: &IncomingRequest<'_>,
    object: &dyn InterceptedObject,
    reply: &mut UntypedReply<'_>,
    serve: impl FnOnce(&mut UntypedReply<'_>, &RefCell<RequestFlow<'_>>) -> Result<(), DispatchError>,
) -> Result<(), DispatchError> {
    let facts = RequestFacts {
        request_id: reply.request_id(),
        operation: request.operation,
        contexts: request.contexts,
        response: request.response,
    };
    let path = InterceptedReply::new(all, reply, request, &facts);
    let received = path.flow().borrow_mut().receive_contexts(object);
    if let Err(interrupt) = received {
        return path.conclude(reply, interrupt.into());
    }
    if request.response == ResponseFlags::SyncWithServer
        && let Err(error) = reply.confirm(request.peer)
    {
        return path.conclude(reply, RequestOutcome::Raised(error.exception()));
    }
    let served = {
        let mut inner = path.reply(reply);
        catch_unwind(AssertUnwindSafe(|| serve(&mut inner, path.flow())))
    };
    match served {
        Ok(Ok(())) if path.has_sent_results() => {
            reply.note_answered();
            Ok(())
        }
        Ok(served) => path.conclude(reply, path.outcome_of(served)),
        Err(panic) => {
            // What it has answered is sent already.
            let _ = path.conclude(reply, path.outcome_of(Err(panicked().into())));
            resume_unwind(panic)
        }
    }
}

fn panicked() -> SystemException {
    let code = minor::SERVANT_PANICKED;
    SystemException::orbium(ExceptionKind::Unknown, code, Completion::Maybe)
}
