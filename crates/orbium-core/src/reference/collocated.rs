// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls of stubs: of the servant itself if it is in the same ORB, or else by a message.

use orbium_cdr::{CdrError, CdrReader, CdrWriter};
use orbium_giop::SystemException;
use orbium_interceptor::ContextList;
use orbium_invocation::collocation::Passing;

use super::ObjectRef;
use super::in_place_call::{InPlaceCall, StubCall, TypedCall, served};
use crate::adapter::{CollocatedServant, Served, Terms, Unserved};
use crate::client::attempt::Attempt;
use crate::client::{self, Collocated, ObservedCall, ReplyReader, TypedOutcome};
use crate::raises::{ExceptionId, Raises};
use crate::{Call, Operation};
use orbium_connection::outcome::Outcome;

/// The result of a servant, or the exception for its panic.
type Returned<T, E> = Result<Result<T, E>, SystemException>;

impl ObjectRef {
    /// Whether a servant of the same ORB may serve its calls without a message.
    #[doc(hidden)]
    #[must_use]
    #[inline]
    pub fn may_be_collocated(&self) -> bool {
        self.target().may_be_collocated()
    }

    /// As [`call`](Self::call); if the servant is in the same ORB and implements `S`, `serve` calls
    /// it. `passing`: how arguments are passed to a servant, and whether the result can be moved
    /// unchecked; `write` marshals a result. `arguments`: functions that marshal all arguments, and
    /// the ones that are not plain: `serve` gets these as copies if required.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    #[doc(hidden)]
    #[inline]
    pub fn call_or_serve<'a, S: ?Sized + Sync + 'static, T: Send, E: Raises + Send>(
        &self,
        operation: &'static Operation,
        (passing, is_plain): (Passing, bool),
        arguments: (
            impl Fn(&mut CdrWriter<'a>) + Sync,
            impl Fn(&mut CdrWriter<'a>) + Sync,
        ),
        results: impl Fn(&mut CdrReader<'_>) -> Result<T, CdrError> + Sync,
        write: for<'v> fn(&'v T, &mut CdrWriter<'v>),
        serve: impl Fn(&S, &Call<'_>, Option<&mut CdrReader<'_>>) -> Result<T, E> + Sync,
    ) -> Result<T, E> {
        let (arguments, copies) = arguments;
        if !self.target().may_be_collocated() {
            return client::call(self.target(), operation, arguments, results);
        }
        let call = StubCall {
            arguments,
            copies,
            read: results,
            write,
            serve,
        };
        if passing != Passing::Plain || !is_plain {
            return self.call_own_otherwise(call.typed(operation, (passing, is_plain)), None);
        }
        self.call_own(operation, call)
    }

    /// As [`send`](Self::send); if the servant is in the same ORB and implements `S`, `serve` calls
    /// it.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    #[doc(hidden)]
    #[inline]
    pub fn send_or_serve<'a, S: ?Sized + Sync + 'static>(
        &self,
        operation: &'static Operation,
        passing: Passing,
        arguments: (
            impl Fn(&mut CdrWriter<'a>) + Sync,
            impl Fn(&mut CdrWriter<'a>) + Sync,
        ),
        serve: impl Fn(&S, &Call<'_>, Option<&mut CdrReader<'_>>) -> Result<(), SystemException> + Sync,
    ) -> Result<(), SystemException> {
        let (arguments, copies) = arguments;
        if !self.target().may_be_collocated() {
            return client::send(self.target(), operation, arguments);
        }
        let call = StubCall {
            arguments,
            copies,
            read: |_: &mut CdrReader<'_>| Ok(()),
            write: |(), _| {},
            serve,
        };
        let call = call.typed(operation, (passing, true));
        let outcome = TypedOutcome::new();
        self.send_own(&call.keeping(&outcome).in_place::<S>(), call.arguments)
    }

    /// Has the servant serve a oneway, or else sends a message.
    fn send_own<'a, S: ?Sized + Sync + 'static>(
        &self,
        call: &InPlaceCall<'_, 'a, S>,
        arguments: &dyn Fn(&mut CdrWriter<'a>),
    ) -> Result<(), SystemException> {
        if let Some(posted) = self.post(call) {
            return posted;
        }
        let seen = |attempt: &Attempt<'_>, contexts: &ContextList, _: &mut dyn ReplyReader| {
            self.post_seen((attempt, contexts), call)
        };
        client::send_or_serve(self.target(), call.operation, arguments, &seen)
    }

    /// Calls the servant without copies, or else calls by a message.
    ///
    /// Compiled for each operation, and short if only the adapter decides.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "in registers, or none: a reference would have it written to the stack"
    )]
    fn call_own<'a, S: ?Sized + Sync + 'static, T: Send, E: Raises + Send>(
        &self,
        operation: &'static Operation,
        call: StubCall<
            T,
            impl Fn(&mut CdrWriter<'a>) + Sync,
            impl Fn(&mut CdrWriter<'a>) + Sync,
            impl Fn(&mut CdrReader<'_>) -> Result<T, CdrError> + Sync,
            impl Fn(&S, &Call<'_>, Option<&mut CdrReader<'_>>) -> Result<T, E> + Sync,
        >,
    ) -> Result<T, E> {
        if let Some(at) = self.target().collocated()
            && let Some(servant) = at.servant::<CollocatedServant<S>>()
            && !servant.is_placed
        {
            let serve = |servant: &S, request: &Call<'_>| (call.serve)(servant, request, None);
            let mut outcome = None;
            let panic = servant.serve_plainly(at, operation, &Terms::NONE, &mut outcome, serve);
            let served = match (outcome, panic) {
                (Some(Ok(value)), None) => return Ok(value),
                (Some(served), _) => Some(Ok(served)),
                (None, Some(panic)) => Some(Err(servant.panicked(at, operation, &*panic))),
                (None, None) => None,
            };
            let call = call.typed(operation, (Passing::Plain, true));
            return self.call_own_otherwise(call, served.map(|served| (at, served)));
        }
        self.call_own_otherwise(call.typed(operation, (Passing::Plain, true)), None)
    }

    /// As `call_own`, by the shared path of all operations; also for an exception or a panic with
    /// which the servant has `served` the call.
    #[cold]
    fn call_own_otherwise<'a, S: ?Sized + Sync + 'static, T: Send, E: Raises + Send>(
        &self,
        call: TypedCall<
            '_,
            'a,
            T,
            impl Fn(&S, &Call<'_>, Option<&mut CdrReader<'_>>) -> Result<T, E> + Sync,
        >,
        served: Option<(&Collocated, Returned<T, E>)>,
    ) -> Result<T, E> {
        let outcome = TypedOutcome::new();
        let kept_call = call.keeping(&outcome);
        let in_place = kept_call.in_place::<S>();
        let ended = match served {
            Some((at, served)) => {
                self.copied(&in_place, at, served.map(|served| outcome.keep(served)))
            }
            None => {
                let mut read = call.read;
                self.perform(&in_place, call.arguments, &mut outcome.read_by(&mut read))
            }
        };
        outcome.ended(ended)
    }

    /// Calls the servant, or else calls by a message.
    fn perform<'a, S: ?Sized + Sync + 'static>(
        &self,
        call: &InPlaceCall<'_, 'a, S>,
        arguments: &dyn Fn(&mut CdrWriter<'a>),
        reply: &mut dyn ReplyReader,
    ) -> Result<(), ExceptionId> {
        if let Some(served) = self.serve(call) {
            return served;
        }
        let seen = |attempt: &Attempt<'_>, contexts: &ContextList, _: &mut dyn ReplyReader| {
            self.serve_seen((attempt, contexts), call)
        };
        client::call_or_serve(self.target(), call.operation, arguments, reply, &seen)
    }

    /// Calls the servant; `None` if the call needs a message.
    fn serve<S: ?Sized + Sync + 'static>(
        &self,
        call: &InPlaceCall<'_, '_, S>,
    ) -> Option<Result<(), ExceptionId>> {
        let operation = call.operation;
        self.in_place(operation, |at, detoured| {
            let observed = detoured.and_then(|it| it.observed(self, operation));
            let terms = detoured.map(|it| it.terms(operation, observed.as_ref()));
            let terms = terms.as_ref().unwrap_or(&Terms::NONE);
            let served = served((self.target(), self.orb()), at, terms, call)?;
            if call.is_plain && detoured.is_none() && matches!(served, Ok(Ok(()))) {
                return Some(Ok(()));
            }
            let Some(served) = self.unless_elsewhere(operation, served) else {
                observed.iter().for_each(ObservedCall::withdraw);
                return None;
            };
            let served = match detoured {
                Some(detoured) => detoured.in_time(served),
                None => served,
            };
            let ended = self.copied(call, at, served);
            if let (Some(observed), Err(exception)) = (&observed, &ended) {
                observed.note_raised(&exception.raised());
            }
            Some(ended)
        })
    }

    /// The result of the servant, copied for the caller.
    #[cold]
    fn copied<S: ?Sized>(
        &self,
        call: &InPlaceCall<'_, '_, S>,
        at: &Collocated,
        served: Result<Result<(), ExceptionId>, SystemException>,
    ) -> Result<(), ExceptionId> {
        let object = self.target();
        let checked = served.and_then(|served| call.checked(object, at, served));
        checked.unwrap_or_else(|it| Err(object.raised_in_place(call.operation, it).into()))
    }

    /// As `serve`, for a oneway.
    fn post<S: ?Sized + Sync + 'static>(
        &self,
        call: &InPlaceCall<'_, '_, S>,
    ) -> Option<Result<(), SystemException>> {
        let operation = call.operation;
        self.in_place(operation, |at, detoured| {
            let observed = detoured.and_then(|it| it.observed(self, operation));
            let terms = detoured.map(|it| it.terms(operation, observed.as_ref()));
            let terms = terms.as_ref().unwrap_or(&Terms::NONE);
            let served = served((self.target(), self.orb()), at, terms, call)?;
            let Some(detoured) = detoured else {
                // Exceptions of the servant are not returned to the caller of a oneway.
                return Some(match served {
                    Err(Unserved::Withdrawn(exception)) => {
                        Err(self.target().raised_in_place(operation, exception))
                    }
                    _ => Ok(()),
                });
            };
            let Some(raised) = detoured.raised_by_oneway(self, operation, served) else {
                observed.iter().for_each(ObservedCall::withdraw);
                return None;
            };
            let Some(raised) = raised else {
                return Some(Ok(()));
            };
            if let Some(observed) = &observed {
                observed.note_raised(&raised.raised());
            }
            Some(Err(self.target().raised_in_place(operation, raised)))
        })
    }
}

impl ObjectRef {
    /// The result of a servant; `None` if the call was forwarded and has to be made again.
    #[cold]
    pub(super) fn unless_elsewhere(
        &self,
        operation: &'static Operation,
        served: Served,
    ) -> Option<Result<Result<(), ExceptionId>, SystemException>> {
        match served.map_err(Unserved::exception) {
            Ok(served) => Some(Ok(served)),
            Err(Ok(exception)) => Some(Err(exception)),
            Err(Err(to)) => {
                let mut attempt = Attempt::new(self.target());
                let followed = attempt.again(operation, Outcome::Forward(to));
                followed.err().map(Err)
            }
        }
    }
}
