// SPDX-License-Identifier: MIT OR Apache-2.0
//! Attempts at calls of a servant of the same ORB that interceptors see, or that carry service
//! contexts: without a message, between the interception points of both sides.

use orbium_giop::{ResponseFlags, SystemException};
use orbium_interceptor::ContextList;
use orbium_interceptor::server::awaited_by_oneway;
use orbium_request::Kept;

use super::ObjectRef;
use super::answered::{AnsweredCall, kept_answer};
use super::in_place_call::{InPlaceCall, served};
use crate::Orb;
use crate::adapter::{Carried, Served, Terms, Unserved};
use crate::client::attempt::Attempt;
use crate::client::{Acknowledgement, Detour, ObservedCall, Reference, ReplyReader, ServedCall};
use crate::raises::ExceptionId;
use orbium_connection::outcome::Outcome;

/// An attempt, and the service contexts that its request carries in addition to those of the ORB.
pub(super) type Request<'r, 'o> = (&'r Attempt<'o>, &'r ContextList);

impl ObjectRef {
    /// Calls the servant; `None` if the call needs a message.
    #[cold]
    pub(super) fn serve_seen<S: ?Sized + Sync + 'static>(
        &self,
        (attempt, contexts): Request<'_, '_>,
        call: &InPlaceCall<'_, '_, S>,
    ) -> Option<ServedCall<(), ExceptionId>> {
        let detour = detour(attempt, contexts)?;
        if let Some(late) = detour.late() {
            return Some(ServedCall::failed(late));
        }
        let mut served = serve_detoured((attempt.object(), self.orb()), &detour, call)?;
        served.outcome = detour.outcome_in_time(served.outcome);
        Some(served)
    }

    /// As `serve_seen`, for a oneway.
    #[cold]
    pub(super) fn post_seen<S: ?Sized + Sync + 'static>(
        &self,
        (attempt, contexts): Request<'_, '_>,
        call: &InPlaceCall<'_, '_, S>,
    ) -> Option<ServedCall<(), ExceptionId>> {
        let detour = detour(attempt, contexts)?;
        if let Some(late) = detour.late() {
            return Some(ServedCall::failed(late));
        }
        let (object, response) = (attempt.object(), detour.response_to(call.operation));
        let carried = Carried::new(response, detour.contexts.clone());
        let observed = ObservedCall::of_request(object, &detour, call.operation);
        let terms = Terms::of_attempt(&detour, call.operation, &carried, observed.as_ref());
        let (called, at) = ((object, self.orb()), detour.at(object)?);
        let served = match &terms {
            Ok(terms) => served(called, at, terms, call)?,
            Err(exception) => return Some(ServedCall::failed(*exception)),
        };
        let outcome = match awaited_by_oneway(response, served) {
            None => Ok(Ok(())),
            Some(served) => detour.outcome_in_time(outcome_of(served)),
        };
        // A reply of the server alone has contexts only if it refuses the request.
        let contexts = if response == ResponseFlags::Full || outcome.is_err() {
            carried.reply_contexts.into_inner()
        } else {
            ContextList::default()
        };
        Some(ServedCall { outcome, contexts })
    }
}

impl ObjectRef {
    /// Calls a servant with a reply slot or a deferred reply, and waits for its answer; `None` if
    /// the call needs a message.
    #[cold]
    pub(super) fn answer_seen<S: ?Sized + Sync + 'static>(
        &self,
        (attempt, contexts): Request<'_, '_>,
        call: &AnsweredCall<'_, '_, S>,
        reply: &mut dyn ReplyReader,
    ) -> Option<ServedCall<(), ExceptionId>> {
        let detour = detour(attempt, contexts)?;
        if let Some(late) = detour.late() {
            return Some(ServedCall::failed(late));
        }
        let (object, at) = (attempt.object(), detour.at(attempt.object())?);
        let kept = answer_detoured((object, self.orb()), &detour, call)?;
        let message = kept.and_then(|kept| kept.into_message(detour.timing.reply));
        Some(object.served_by_message(at.format, detour.in_time(message), reply))
    }

    /// As `answer_seen`, for a oneway.
    #[cold]
    pub(super) fn post_answer_seen<S: ?Sized + Sync + 'static>(
        &self,
        request: Request<'_, '_>,
        call: &AnsweredCall<'_, '_, S>,
    ) -> Option<ServedCall<(), ExceptionId>> {
        let (attempt, contexts) = request;
        let response = attempt.object().overrides().response_to(call.operation);
        if response == ResponseFlags::Full {
            return self.answer_seen(request, call, &mut Acknowledgement);
        }
        let detour = detour(attempt, contexts)?;
        if let Some(late) = detour.late() {
            return Some(ServedCall::failed(late));
        }
        let (object, at) = (attempt.object(), detour.at(attempt.object())?);
        if let Err(exception) = detour.expiry() {
            return Some(ServedCall::failed(exception));
        }
        match answer_detoured((object, self.orb()), &detour, call)? {
            // Confirmed, or refused earlier.
            Ok(kept) if kept.has_message() => {
                let message = kept.into_message(detour.timing.reply);
                Some(object.served_by_message(at.format, message, &mut Acknowledgement))
            }
            _ => Some(ServedCall {
                outcome: Ok(Ok(())),
                contexts: ContextList::default(),
            }),
        }
    }
}

/// Has the servant answer a request with a detour; `None` if it needs a message.
pub(crate) fn answer_detoured<S: ?Sized + Sync + 'static>(
    called: (&Reference, &Orb),
    detour: &Detour,
    call: &AnsweredCall<'_, '_, S>,
) -> Option<Result<Kept, SystemException>> {
    let at = detour.at(called.0)?;
    let response = detour.response_to(call.operation);
    let carried = Carried::new(response, detour.contexts.clone());
    let observed = ObservedCall::of_request(called.0, detour, call.operation);
    match Terms::of_attempt(detour, call.operation, &carried, observed.as_ref()) {
        Ok(terms) => kept_answer(called, at, &terms, call),
        Err(exception) => Some(Err(exception)),
    }
}

/// The detour of an attempt without a message, with these service contexts.
fn detour(attempt: &Attempt<'_>, contexts: &ContextList) -> Option<Detour> {
    Some(attempt.detour()?.carrying(contexts))
}

/// Calls the servant with a detour, and copies its results for the caller; `None` if the call needs
/// a message.
pub(crate) fn serve_detoured<S: ?Sized + Sync + 'static>(
    called: (&Reference, &Orb),
    detour: &Detour,
    call: &InPlaceCall<'_, '_, S>,
) -> Option<ServedCall<(), ExceptionId>> {
    let object = called.0;
    let at = detour.at(object)?;
    let response = detour.response_to(call.operation);
    let carried = Carried::new(response, detour.contexts.clone());
    let observed = ObservedCall::of_request(object, detour, call.operation);
    let served = match Terms::of_attempt(detour, call.operation, &carried, observed.as_ref()) {
        Ok(terms) => served(called, at, &terms, call)?,
        Err(exception) => Err(Unserved::Refused(exception)),
    };
    // Interceptors have seen the checked results.
    let is_checked = called.1.core().adapters.interceptors.is_some();
    let served = match served {
        Ok(served) if !is_checked => Ok(call.as_served(object, at, served)),
        served => served,
    };
    Some(ServedCall {
        outcome: outcome_of(served),
        contexts: carried.reply_contexts.into_inner(),
    })
}

/// The outcome of an attempt.
fn outcome_of(served: Served) -> Result<Result<(), ExceptionId>, Outcome> {
    match served {
        Ok(Err(ExceptionId::System(exception))) => Err(Outcome::Failed(exception)),
        Ok(served) => Ok(served),
        Err(unserved) => Err(match unserved.exception() {
            Ok(exception) => Outcome::Failed(exception),
            Err(to) => Outcome::Forward(to),
        }),
    }
}
