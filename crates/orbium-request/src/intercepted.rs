// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests by way of interceptors: from the first point to the reply.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use orbium_giop::{Completion, ExceptionKind, ResponseFlags, SystemException, minor};
use orbium_interceptor::server::{InterceptedObject, RequestOutcome};
use orbium_interceptor::{Interceptors, Interrupt};
use orbium_invocation::raises::DispatchError;

use crate::reply::{InterceptedPath, InterceptedReply, OverlookedReply, RequestEnd};
use crate::{IncomingRequest, UntypedReply};

/// Serves a request by way of interceptors, and answers it. The ending points are called when
/// the reply is written, before it is sent. `serve` runs the servant, and runs `receive_request` of
/// the answer unless its servant `is_known` before.
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
    is_known: impl FnOnce() -> bool,
    serve: impl FnOnce(&mut UntypedReply<'_>) -> Result<(), DispatchError>,
) -> Result<(), DispatchError> {
    let end = RequestEnd::new(all, reply, request, object);
    if all.overlooks_requests(request.locality()) {
        return serve_by(&OverlookedReply(&end), request, reply, serve);
    }
    let path = InterceptedReply::new(&end);
    if let Err(interrupt) = path.begin() {
        return path.conclude(reply, interrupt.into());
    }
    serve_by(&path, request, reply, |reply| {
        if is_known()
            && let Err(interrupt) = path.go_on(object)
        {
            return interrupted(interrupt, reply);
        }
        serve(reply)
    })
}

/// An interceptor has ended the request before its servant.
///
/// # Errors
/// The exception that it has raised.
#[cold]
pub fn interrupted(
    interrupt: Interrupt,
    reply: &mut UntypedReply<'_>,
) -> Result<(), DispatchError> {
    match interrupt {
        Interrupt::Raise(exception) => Err(exception.into()),
        Interrupt::Forward(to) => reply.forward(&to, false),
    }
}

/// Runs the servant with an answer that takes that path.
#[inline(always)]
fn serve_by<'p, 'r>(
    path: &impl InterceptedPath<'p, 'r>,
    request: &IncomingRequest<'_>,
    reply: &mut UntypedReply<'_>,
    serve: impl FnOnce(&mut UntypedReply<'_>) -> Result<(), DispatchError>,
) -> Result<(), DispatchError> {
    if request.response == ResponseFlags::SyncWithServer
        && let Err(error) = reply.confirm(request.peer)
    {
        return path.conclude(reply, RequestOutcome::Raised(error.exception()));
    }
    let served = {
        let mut inner = path.end().reply(path, reply);
        catch_unwind(AssertUnwindSafe(|| serve(&mut inner)))
    };
    match served {
        Ok(Ok(())) if path.end().has_sent_results() => {
            reply.note_answered();
            Ok(())
        }
        Ok(served) => path.conclude(reply, path.end().outcome_of(served)),
        Err(panic) => {
            // What it has answered is sent already.
            let _ = path.conclude(reply, path.end().outcome_of(Err(panicked().into())));
            resume_unwind(panic)
        }
    }
}

fn panicked() -> SystemException {
    let code = minor::SERVANT_PANICKED;
    SystemException::orbium(ExceptionKind::Unknown, code, Completion::Maybe)
}
