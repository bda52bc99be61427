// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests by way of interceptors: from the first point to the reply.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use orbium_cdr::Encode;
use orbium_giop::{
    Completion, ExceptionKind, ReplyStatus, ResponseFlags, SystemException, SystemExceptionBody,
    minor,
};
use orbium_interceptor::server::{
    InterceptedObject, RequestFacts, RequestFlow, RequestOutcome, ServedRequest, collecting,
};
use orbium_interceptor::{ContextList, Interceptors, ReplyMessage, with_contexts};
use orbium_invocation::raises::DispatchError;

use crate::reply::KeptReply;
use crate::{IncomingRequest, UntypedReply};

/// Runs the servant. `receive_request` of the flow is called in it.
type Serve<'s, 'r> =
    dyn FnMut(&mut UntypedReply<'_>, &mut RequestFlow<'r>) -> Result<(), DispatchError> + 's;

/// What the servant left: the reply as it would be sent, and its panic.
struct Served {
    outcome: RequestOutcome,
    message: Option<ReplyMessage>,
    /// The service contexts that it has added.
    added: ContextList,
    panic: Option<Box<dyn Any + Send>>,
}

impl From<RequestOutcome> for Served {
    fn from(outcome: RequestOutcome) -> Self {
        Self {
            outcome,
            message: None,
            added: ContextList::default(),
            panic: None,
        }
    }
}

/// Serves a request by way of interceptors, and answers it. The reply is kept until all of
/// them have seen it.
///
/// # Errors
/// The system exception that the request ends with; it was sent already.
///
/// # Panics
/// As the servant did, once the request is answered.
#[cold]
pub fn intercept<'r>(
    all: &'r Interceptors,
    request: &IncomingRequest<'r>,
    object: Option<&'r dyn InterceptedObject>,
    reply: &mut UntypedReply<'_>,
    serve: &mut Serve<'_, 'r>,
) -> Result<(), DispatchError> {
    let facts = RequestFacts {
        request_id: reply.request_id,
        operation: request.operation,
        contexts: request.contexts,
        response: request.response,
    };
    let mut flow = RequestFlow::new(all, facts);
    let mut served = match flow.receive_contexts() {
        Err(interrupt) => Served::from(RequestOutcome::from(interrupt)),
        Ok(()) => {
            if let Some(object) = object {
                flow.locate(object);
            }
            serve_within(&mut flow, request, reply, serve)
        }
    };
    let contexts = served.message.as_mut();
    let mut contexts = contexts.map_or_else(ContextList::default, ReplyMessage::take_contexts);
    contexts.extend(std::mem::take(&mut served.added));
    let changed = flow.end(served.outcome.clone(), &contexts);
    if let Err(changed) = changed
        && served.outcome != RequestOutcome::Late
    {
        served = Served {
            outcome: changed,
            message: None,
            ..served
        };
    }
    answer(reply, &served, flow.reply_contexts());
    if let Some(panic) = served.panic {
        resume_unwind(panic);
    }
    match served.outcome {
        RequestOutcome::Raised(exception) => Err(exception.into()),
        _ => Ok(()),
    }
}

/// Runs the servant, whatever it does.
fn serve_within<'r>(
    flow: &mut RequestFlow<'r>,
    request: &IncomingRequest<'_>,
    reply: &mut UntypedReply<'_>,
    serve: &mut Serve<'_, 'r>,
) -> Served {
    let is_full = request.response == ResponseFlags::Full;
    if request.response == ResponseFlags::SyncWithServer
        && let Err(error) = reply.confirm(request.peer)
    {
        return RequestOutcome::Raised(error.exception()).into();
    }
    let ((served, reply), added) = collecting(ServedRequest::of(request), || {
        reply.kept(|inner| catch_unwind(AssertUnwindSafe(|| serve(inner, flow))))
    });
    let mut message = match reply {
        KeptReply::Message(message) if is_full => ReplyMessage::read(message),
        KeptReply::Message(_) => None,
        KeptReply::Late => {
            return Served {
                outcome: RequestOutcome::Late,
                message: None,
                added,
                panic: served.err(),
            };
        }
    };
    let outcome = match (&served, &mut message) {
        (Err(_), _) => {
            RequestOutcome::Raised(fault(ExceptionKind::Unknown, minor::SERVANT_PANICKED))
        }
        (Ok(_), Some(message)) => message.outcome(),
        (Ok(Err(error)), None) => RequestOutcome::Raised(error.exception()),
        (Ok(Ok(())), None) if is_full => {
            RequestOutcome::Raised(fault(ExceptionKind::Internal, minor::INVARIANT_BROKEN))
        }
        (Ok(Ok(())), None) => RequestOutcome::Unanswered,
    };
    Served {
        outcome,
        message,
        added,
        panic: served.err(),
    }
}

fn fault(kind: ExceptionKind, code: u32) -> SystemException {
    SystemException::orbium(kind, code, Completion::Maybe)
}

/// Sends what the request came to.
fn answer(reply: &mut UntypedReply<'_>, served: &Served, contexts: &ContextList) {
    let is_late = served.outcome == RequestOutcome::Late;
    if reply.is_answered() || !reply.is_expected() || is_late {
        return reply.note_unanswered();
    }
    let is_user_exception = matches!(served.outcome, RequestOutcome::UserException(_));
    (reply.raised, reply.forwarded) = (
        is_user_exception,
        matches!(served.outcome, RequestOutcome::Forward(_)),
    );
    let (version, id) = (reply.version_with_contexts(), reply.request_id);
    let message = match (&served.message, &served.outcome) {
        (Some(message), _) => message.rewritten(contexts),
        (None, RequestOutcome::Raised(exception)) => {
            let body = SystemExceptionBody::from(*exception);
            let status = ReplyStatus::SystemException;
            with_contexts(version, id, status, contexts, |writer| body.write(writer))
        }
        (None, RequestOutcome::Forward(to)) => {
            let status = ReplyStatus::LocationForward;
            with_contexts(version, id, status, contexts, |writer| to.encode(writer))
        }
        (None, _) => with_contexts(version, id, ReplyStatus::NoException, contexts, |_| {}),
    };
    reply.send_message(&message);
}
