// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests with interceptors: from the first point to the reply.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use orbium_giop::{Completion, ExceptionKind, SystemException, minor};
use orbium_interceptor::server::{InterceptedObject, LinkedRequests, RequestFlow, RequestOutcome};
use orbium_interceptor::{Interceptors, Interrupt};
use orbium_invocation::raises::DispatchError;

use crate::reply::{
    InterceptedPath, InterceptedReply, OverlookedReply, ReplyHead, RequestEnd, SeenRequest,
};
use crate::{IncomingRequest, UntypedReply};

/// Serves a request with interceptors, and answers it. The ending points are called when the reply
/// is written, before it is sent. `serve` runs the servant, and calls `receive_request` of the
/// reply unless its servant `is_known` before.
///
/// # Errors
/// The system exception of the request; it was already sent.
///
/// # Panics
/// If the servant panics, after the request is answered.
#[inline(always)]
pub fn intercept(
    all: &Interceptors,
    request: &IncomingRequest<'_>,
    object: &dyn InterceptedObject,
    reply: &mut UntypedReply<'_>,
    is_known: impl FnOnce() -> bool,
    serve: impl FnOnce(&mut UntypedReply<'_>) -> Result<(), DispatchError>,
) -> Result<(), DispatchError> {
    match reply.linked(all, request) {
        Some(linked) => intercept_linked((linked, all), request, object, reply, is_known, serve),
        None => intercept_unlinked(all, request, object, reply, is_known, serve),
    }
}

/// As [`intercept`], for a request with [linked](UntypedReply::linked) interceptors.
///
/// # Errors
/// As for [`intercept`].
#[inline(always)]
pub fn intercept_linked(
    (linked, all): (LinkedRequests<'_>, &Interceptors),
    request: &IncomingRequest<'_>,
    object: &dyn InterceptedObject,
    reply: &mut UntypedReply<'_>,
    is_known: impl FnOnce() -> bool,
    serve: impl FnOnce(&mut UntypedReply<'_>) -> Result<(), DispatchError>,
) -> Result<(), DispatchError> {
    let end = RequestEnd::new(reply, request);
    let flow = RequestFlow::linked(linked, all, reply.head.request_id, request, object);
    let path = InterceptedReply::<true>::new(end, flow);
    serve_seen(path, (request, object), reply, is_known, serve)
}

/// As [`intercept`], for any other request.
///
/// # Errors
/// As for [`intercept`].
#[cold]
pub fn intercept_unlinked(
    all: &Interceptors,
    request: &IncomingRequest<'_>,
    object: &dyn InterceptedObject,
    reply: &mut UntypedReply<'_>,
    is_known: impl FnOnce() -> bool,
    serve: impl FnOnce(&mut UntypedReply<'_>) -> Result<(), DispatchError>,
) -> Result<(), DispatchError> {
    let seen = SeenRequest {
        all,
        id: reply.head.request_id,
        request,
        object,
    };
    let end = RequestEnd::new(reply, request);
    if all.ignores_requests(request.locality()) {
        return serve_overlooked(&OverlookedReply { end, seen }, request, reply, serve);
    }
    let path = InterceptedReply::<false>::new(end, seen.flow());
    serve_seen(path, (request, object), reply, is_known, serve)
}

/// Serves a request with each point of its interceptors, run by links if it is `LINKED`.
#[inline(always)]
fn serve_seen<const LINKED: bool>(
    mut path: InterceptedReply<'_, '_, LINKED>,
    (request, object): (&IncomingRequest<'_>, &dyn InterceptedObject),
    reply: &mut UntypedReply<'_>,
    is_known: impl FnOnce() -> bool,
    serve: impl FnOnce(&mut UntypedReply<'_>) -> Result<(), DispatchError>,
) -> Result<(), DispatchError> {
    if let Err(interrupt) = path.receive_contexts() {
        return path.conclude(reply, (*interrupt).into());
    }
    if !LINKED && let Err(error) = reply.confirm_oneway(request) {
        return path.conclude(reply, RequestOutcome::Raised(error.exception()));
    }
    if is_known()
        && let Err(interrupt) = path.receive_request(object)
    {
        return end_interrupted(&path, reply, *interrupt);
    }
    let head = if LINKED {
        reply.head
    } else {
        reply.head.lengthened()
    };
    serve_by(&path, reply, head, serve)
}

/// Serves a request for which interceptors see only an end without results.
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

/// Ends a request that an interceptor has interrupted before its servant, after that was found.
///
/// # Errors
/// The exception of the interceptor; it was already sent.
#[cold]
fn end_interrupted(
    path: &impl InterceptedPath,
    reply: &mut UntypedReply<'_>,
    interrupt: Interrupt,
) -> Result<(), DispatchError> {
    let head = reply.head.lengthened();
    serve_by(path, reply, head, |reply| interrupted(interrupt, reply))
}

/// Answers a request that an interceptor has interrupted before its servant.
///
/// # Errors
/// The exception of the interceptor.
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

/// Runs the servant with a reply on that path, with that head.
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
            // Its reply was already sent.
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
