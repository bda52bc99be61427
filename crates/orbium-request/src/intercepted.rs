// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests by way of interceptors: from the first point to the reply.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use orbium_giop::{Completion, ExceptionKind, ResponseFlags, SystemException, minor};
use orbium_interceptor::server::{InterceptedObject, RequestOutcome};
use orbium_interceptor::{Interceptors, Interrupt};
use orbium_invocation::raises::DispatchError;

use crate::reply::{
    InterceptedPath, InterceptedReply, OverlookedReply, ReplyHead, RequestEnd, SeenRequest,
};
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
#[inline(always)]
pub fn intercept(
    all: &Interceptors,
    request: &IncomingRequest<'_>,
    object: &dyn InterceptedObject,
    reply: &mut UntypedReply<'_>,
    is_known: impl FnOnce() -> bool,
    serve: impl FnOnce(&mut UntypedReply<'_>) -> Result<(), DispatchError>,
) -> Result<(), DispatchError> {
    let seen = |id| SeenRequest {
        all,
        id,
        request,
        object,
    };
    let head = reply.head;
    let may_be_linked = head.response == ResponseFlags::Full && !head.is_short();
    if may_be_linked && all.links_requests(request.locality()) {
        serve_linked(seen(head.request_id), reply, is_known, serve)
    } else {
        serve_unlinked(seen(head.request_id), reply, is_known, serve)
    }
}

/// Serves a request that has a reply, where all interceptors implement all points of one with results.
#[inline(always)]
fn serve_linked(
    seen: SeenRequest<'_>,
    reply: &mut UntypedReply<'_>,
    is_known: impl FnOnce() -> bool,
    serve: impl FnOnce(&mut UntypedReply<'_>) -> Result<(), DispatchError>,
) -> Result<(), DispatchError> {
    let mut path = InterceptedReply::new(RequestEnd::new(reply, seen.request), seen, true);
    if let Err(interrupt) = path.flow().receive_contexts_linked() {
        return path.conclude(reply, (*interrupt).into());
    }
    if is_known()
        && let Err(interrupt) = path.flow().receive_request_linked(seen.object)
    {
        return end_interrupted(&path, reply, *interrupt);
    }
    serve_by(&path, reply, reply.head, serve)
}

/// Serves any other request.
#[inline(never)]
fn serve_unlinked(
    seen: SeenRequest<'_>,
    reply: &mut UntypedReply<'_>,
    is_known: impl FnOnce() -> bool,
    serve: impl FnOnce(&mut UntypedReply<'_>) -> Result<(), DispatchError>,
) -> Result<(), DispatchError> {
    let request = seen.request;
    let end = RequestEnd::new(reply, request);
    if seen.all.overlooks_requests(request.locality()) {
        return serve_overlooked(&OverlookedReply { end, seen }, request, reply, serve);
    }
    let mut path = InterceptedReply::new(end, seen, false);
    if let Err(interrupt) = path.flow().receive_contexts() {
        return path.conclude(reply, (*interrupt).into());
    }
    if let Err(error) = reply.confirm_oneway(request) {
        return path.conclude(reply, RequestOutcome::Raised(error.exception()));
    }
    if is_known()
        && let Err(interrupt) = path.flow().receive_request(seen.object)
    {
        return end_interrupted(&path, reply, *interrupt);
    }
    serve_by(&path, reply, reply.head.lengthened(), serve)
}

/// Serves a request of which interceptors see only how it ends otherwise than with results.
#[inline(always)]
fn serve_overlooked(
    path: &OverlookedReply<'_, '_>,
    request: &IncomingRequest<'_>,
    reply: &mut UntypedReply<'_>,
    serve: impl FnOnce(&mut UntypedReply<'_>) -> Result<(), DispatchError>,
) -> Result<(), DispatchError> {
    match reply.confirm_oneway(request) {
        Ok(()) => serve_by(path, reply, reply.head.lengthened(), serve),
        Err(error) => path.conclude(reply, RequestOutcome::Raised(error.exception())),
    }
}

/// An interceptor has ended the request before its servant, once that was known.
///
/// # Errors
/// The exception that it has raised; it was sent already.
#[cold]
#[inline(never)]
fn end_interrupted(
    path: &impl InterceptedPath,
    reply: &mut UntypedReply<'_>,
    interrupt: Interrupt,
) -> Result<(), DispatchError> {
    let head = reply.head.lengthened();
    serve_by(path, reply, head, |reply| interrupted(interrupt, reply))
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

/// Runs the servant with an answer that takes that path, and begins so.
#[inline(always)]
fn serve_by(
    path: &impl InterceptedPath,
    reply: &mut UntypedReply<'_>,
    head: ReplyHead,
    serve: impl FnOnce(&mut UntypedReply<'_>) -> Result<(), DispatchError>,
) -> Result<(), DispatchError> {
    let served = {
        let mut inner = reply.by_path(path, head);
        catch_unwind(AssertUnwindSafe(|| serve(&mut inner)))
    };
    match served {
        Ok(Ok(())) if path.end().has_sent_results() => {
            reply.note_answered();
            Ok(())
        }
        Ok(served) => {
            let outcome = path.end().outcome_of(reply.head.response, served);
            path.conclude(reply, outcome)
        }
        Err(panic) => {
            // What it has answered is sent already.
            let served = Err(panicked().into());
            let _ = path.conclude(reply, path.end().outcome_of(reply.head.response, served));
            resume_unwind(panic)
        }
    }
}

fn panicked() -> SystemException {
    let code = minor::SERVANT_PANICKED;
    SystemException::orbium(ExceptionKind::Unknown, code, Completion::Maybe)
}
