// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls of a servant of the same ORB with a reply slot or a deferred reply: it borrows the
//! arguments, and its reply is a message.

use std::cell::RefCell;

use orbium_cdr::{CdrError, CdrReader, CdrWriter};
use orbium_giop::{ResponseFlags, SystemException};
use orbium_interceptor::ContextList;
use orbium_interceptor::server::UpcallResult;
use orbium_invocation::collocation::Passing;
use orbium_request::Kept;
use orbium_transport::Deadline;

use super::ObjectRef;
use super::detoured::Detoured;
use super::in_place_call::{Copies, InPlaceCall, TypedUpcall, served};
use super::lent::Lent;
use crate::adapter::{Dispatches, Served, Terms, Unserved};
use crate::client::attempt::Attempt;
use crate::client::{self, Acknowledgement, Collocated, Reference, ReplyReader, TypedOutcome};
use crate::raises::{DispatchError, ExceptionId, Raises};
use crate::{Call, Operation, Orb, UntypedReply};

/// Calls a servant with a reply; the reader contains the arguments that are passed as copies.
type Answering<'c, S> = dyn Fn(&S, &Call<'_>, Option<&mut CdrReader<'_>>, &mut UntypedReply<'_>) -> Answered
    + Sync
    + 'c;
type Answered = Result<(), DispatchError>;
pub(crate) type Answer<'c, S> = &'c Answering<'c, S>;

/// As [`InPlaceCall`], for servants with a reply slot or a deferred reply.
pub(crate) struct AnsweredCall<'c, 'a, S: ?Sized> {
    pub(crate) operation: &'static Operation,
    /// The passing of the arguments to the servant.
    pub(crate) passing: Passing,
    /// Marshals all arguments.
    pub(crate) arguments: Copies<'c, 'a>,
    pub(crate) copies: Copies<'c, 'a>,
    pub(crate) answer: Answer<'c, S>,
}

impl ObjectRef {
    /// As [`call`](Self::call); if the servant is in the same ORB and implements `S`, `answer`
    /// calls it with a reply that is retained. Otherwise as `call_or_serve`.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    #[doc(hidden)]
    #[inline]
    pub fn call_or_answer<'a, S: ?Sized + Sync + 'static, T, E: Raises>(
        &self,
        operation: &'static Operation,
        passing: Passing,
        arguments: (
            impl Fn(&mut CdrWriter<'a>) + Sync,
            impl Fn(&mut CdrWriter<'a>) + Sync,
        ),
        results: impl Fn(&mut CdrReader<'_>) -> Result<T, CdrError>,
        answer: impl Fn(
            &S,
            &Call<'_>,
            Option<&mut CdrReader<'_>>,
            &mut UntypedReply<'_>,
        ) -> Result<(), DispatchError>
        + Sync,
    ) -> Result<T, E> {
        let (arguments, copies) = arguments;
        if !self.target().may_be_collocated() {
            return client::call(self.target(), operation, arguments, results);
        }
        let call = AnsweredCall {
            operation,
            passing,
            arguments: &arguments,
            copies: &copies,
            answer: &answer,
        };
        let outcome = TypedOutcome::new();
        let mut results = results;
        let mut reply = outcome.read_by(&mut results);
        outcome.ended(self.perform_answered(&call, &arguments, &mut reply))
    }

    /// As [`send`](Self::send); if the servant is in the same ORB and implements `S`, `answer`
    /// calls it. Its reply is discarded, except for exceptions under SYNC_WITH_TARGET.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    #[doc(hidden)]
    #[inline]
    pub fn send_or_answer<'a, S: ?Sized + Sync + 'static>(
        &self,
        operation: &'static Operation,
        passing: Passing,
        arguments: (
            impl Fn(&mut CdrWriter<'a>) + Sync,
            impl Fn(&mut CdrWriter<'a>) + Sync,
        ),
        answer: impl Fn(
            &S,
            &Call<'_>,
            Option<&mut CdrReader<'_>>,
            &mut UntypedReply<'_>,
        ) -> Result<(), DispatchError>
        + Sync,
    ) -> Result<(), SystemException> {
        let (arguments, copies) = arguments;
        if !self.target().may_be_collocated() {
            return client::send(self.target(), operation, arguments);
        }
        let call = AnsweredCall {
            operation,
            passing,
            arguments: &arguments,
            copies: &copies,
            answer: &answer,
        };
        self.post_answered(&call, &arguments)
    }

    /// Has the servant answer, or else calls by a message.
    fn perform_answered<'a, S: ?Sized + Sync + 'static>(
        &self,
        call: &AnsweredCall<'_, 'a, S>,
        arguments: &dyn Fn(&mut CdrWriter<'a>),
        reply: &mut dyn ReplyReader,
    ) -> Result<(), ExceptionId> {
        if let Some(answered) = self.answer(call, reply) {
            return answered;
        }
        let seen = |attempt: &Attempt<'_>, contexts: &ContextList, reply: &mut dyn ReplyReader| {
            self.answer_seen((attempt, contexts), call, reply)
        };
        client::call_or_serve(self.target(), call.operation, arguments, reply, &seen)
    }

    /// Has the servant answer, or else sends a message.
    fn post_answered<'a, S: ?Sized + Sync + 'static>(
        &self,
        call: &AnsweredCall<'_, 'a, S>,
        arguments: &dyn Fn(&mut CdrWriter<'a>),
    ) -> Result<(), SystemException> {
        if let Some(posted) = self.post_answer(call) {
            return ExceptionId::kept(posted);
        }
        let seen = |attempt: &Attempt<'_>, contexts: &ContextList, _: &mut dyn ReplyReader| {
            self.post_answer_seen((attempt, contexts), call)
        };
        client::send_or_serve(self.target(), call.operation, arguments, &seen)
    }

    /// Calls the servant and waits for its answer; `None` if the call needs a message, or has been
    /// forwarded.
    fn answer<S: ?Sized + Sync + 'static>(
        &self,
        call: &AnsweredCall<'_, '_, S>,
        reply: &mut dyn ReplyReader,
    ) -> Option<Result<(), ExceptionId>> {
        let (object, operation) = (self.target(), call.operation);
        self.in_place(operation, |at, detoured| {
            let observed = detoured.and_then(|it| it.observed(self, operation));
            let terms = detoured.map(|it| it.terms(operation, observed.as_ref()));
            let terms = terms.as_ref().unwrap_or(&Terms::NONE);
            let kept = kept_answer((object, self.orb()), at, terms, call)?;
            let deadline = detoured.map_or(Deadline::NEVER, Detoured::deadline);
            let message = kept.and_then(|kept| kept.into_message(deadline));
            let message = match detoured {
                Some(detoured) => detoured.in_time(message),
                None => message,
            };
            let ended = object.answered(at.format, operation, message, reply);
            observed.iter().for_each(|it| it.note_ended(ended.as_ref()));
            ended
        })
    }

    /// As `answer`, for a oneway.
    fn post_answer<S: ?Sized + Sync + 'static>(
        &self,
        call: &AnsweredCall<'_, '_, S>,
    ) -> Option<Result<(), ExceptionId>> {
        let (object, operation) = (self.target(), call.operation);
        self.in_place(operation, |at, detoured| {
            let observed = detoured.and_then(|it| it.observed(self, operation));
            let terms = detoured.map(|it| it.terms(operation, observed.as_ref()));
            let terms = terms.as_ref().unwrap_or(&Terms::NONE);
            let kept = kept_answer((object, self.orb()), at, terms, call)?;
            let Some(detoured) = detoured else {
                return Some(Ok(()));
            };
            // Refused or forwarded before the servant was called.
            let is_refused = kept.as_ref().is_ok_and(Kept::has_message);
            if detoured.awaits_target() || is_refused {
                let message = kept.and_then(|kept| kept.into_message(detoured.deadline()));
                let message = detoured.in_time(message);
                let ended = object.answered(at.format, operation, message, &mut Acknowledgement);
                observed.iter().for_each(|it| it.note_ended(ended.as_ref()));
                return ended;
            }
            let served = kept.map(|_| Ok(())).map_err(Unserved::Refused);
            let late = detoured.raised_by_oneway(self, operation, served)?;
            let raised = |exception| Err(object.raised_in_place(operation, exception).into());
            let ended = Some(late.map_or(Ok(()), raised));
            observed.iter().for_each(|it| it.note_ended(ended.as_ref()));
            ended
        })
    }
}

/// Has the servant answer a request made through that reference of that ORB; the answer is
/// retained, or deferred. `None` if the request needs a message.
pub(crate) fn kept_answer<S: ?Sized + Sync + 'static>(
    called: (&Reference, &Orb),
    at: &Collocated,
    terms: &Terms<'_, '_>,
    call: &AnsweredCall<'_, '_, S>,
) -> Option<Result<Kept, SystemException>> {
    let kept = Kept::default();
    let mut storage = Vec::new();
    let response = terms.response_to(call.operation);
    let reply = kept.answer(&mut storage, at.format, response);
    let reply = RefCell::new(reply);
    let upcall = AnsweredUpcall {
        call,
        orb: called.1,
        reply: &reply,
    };
    let answered = InPlaceCall {
        operation: call.operation,
        passing: call.passing,
        copies: call.copies,
        is_plain: true,
        upcall: &upcall,
        lends: false,
    };
    let terms = &Terms {
        is_answered: true,
        ..*terms
    };
    let Some(served) = served(called, at, terms, &answered) else {
        let lent = Lent::of::<S>(called, at, terms)?;
        let mut made = None;
        let ended = lent.run(&mut |called, at, terms| {
            made = kept_answer(called, at, terms, call);
            made.is_some()
        });
        return match ended? {
            Ok(()) => made,
            Err(exception) => Some(Err(exception)),
        };
    };
    // The caller of a oneway under SYNC_WITH_SERVER has its confirmation by then.
    let is_confirmed = response == ResponseFlags::SyncWithServer
        && matches!(
            served,
            Ok(_) | Err(Unserved::Raised(_) | Unserved::Panicked(_))
        );
    match served {
        _ if is_confirmed => Some(Ok(kept)),
        // An exception of `postinvoke` replaces an existing answer.
        Err(Unserved::Raised(exception)) if !kept.is_late() => Some(Err(exception)),
        Err(Unserved::Raised(_)) => Some(Ok(kept)),
        Ok(Ok(()) | Err(ExceptionId::User(_))) => Some(Ok(kept)),
        // Interceptors have seen the answer and may have replaced it.
        _ if kept.has_message() => Some(Ok(kept)),
        Ok(Err(ExceptionId::System(exception))) => Some(Err(exception)),
        Err(unserved) => match unserved.exception() {
            Ok(exception) => Some(Err(exception)),
            Err(to) => {
                let _ = reply.borrow_mut().forward(&to, false);
                Some(Ok(kept))
            }
        },
    }
}

/// The upcall of a servant that answers by a message, which is retained.
struct AnsweredUpcall<'u, 'c, 'a, 'r, S: ?Sized> {
    call: &'u AnsweredCall<'c, 'a, S>,
    orb: &'u Orb,
    reply: &'u RefCell<UntypedReply<'r>>,
}

impl<S: ?Sized> TypedUpcall<S> for AnsweredUpcall<'_, '_, '_, '_, S> {
    fn serve(
        &self,
        servant: &S,
        request: &Call<'_>,
        copies: Option<&mut CdrReader<'_>>,
    ) -> Result<(), ExceptionId> {
        let adapters = &self.orb.core().adapters;
        let call = self.call;
        let answer = |reply: &mut UntypedReply<'_>| (call.answer)(servant, request, copies, reply);
        let reply = &mut *self.reply.borrow_mut();
        match adapters.answer_intercepted(request, reply, answer) {
            Ok(()) => reply.ended(),
            Err(error) => Err(error.exception().into()),
        }
    }

    fn serve_by_message(
        &self,
        called: (&Reference, &Collocated),
        _: &Terms<'_, '_>,
        dispatches: &mut Dispatches<'_>,
    ) -> UpcallResult {
        let reply = &mut *self.reply.borrow_mut();
        let (object, at) = called;
        let dispatched = object.with_arguments(at, self.call.arguments, |arguments| {
            let served = dispatches(arguments, reply);
            served.map_err(DispatchError::exception)
        });
        Ok(match dispatched {
            Ok(()) => reply.ended(),
            Err(exception) => Err(exception.into()),
        })
    }

    fn copy_results(
        &self,
        _: &Reference,
        _: &Collocated,
        served: Result<(), ExceptionId>,
    ) -> Result<Result<(), ExceptionId>, SystemException> {
        Ok(served)
    }

    /// The call is lent as a whole, with the slot for its answer.
    fn lend(&self, _: &Lent<'_, '_>) -> Option<Served> {
        None
    }
}
