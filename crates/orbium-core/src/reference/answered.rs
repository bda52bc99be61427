// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls of a servant of the same ORB that has a reply slot or answers later: it is lent the
//! arguments, and its answer is a message.

use orbium_cdr::{CdrError, CdrReader, CdrWriter};
use orbium_giop::{SystemException, Version};
use orbium_invocation::collocation::Passing;
use orbium_server::Kept;
use orbium_transport::Deadline;

use super::ObjectRef;
use super::collocated::{Copies, served};
use super::detoured::Detoured;
use crate::adapter::Terms;
use crate::client::{Collocated, Reference};
use crate::raises::{DispatchError, Raises};
use crate::{Call, Operation, Orb, UntypedReply, client};

impl ObjectRef {
    /// As [`call`](Self::call); where a servant of the same ORB is seen as `S`, `answer` calls it
    /// with a reply that is kept. What else there is says `call_or_serve`.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    #[doc(hidden)]
    #[inline]
    pub fn call_or_answer<'a, S: ?Sized + Sync + 'static, T, E: Raises>(
        &self,
        operation: &'static Operation,
        passing: Passing,
        arguments: (impl Fn(&mut CdrWriter<'a>), impl Fn(&mut CdrWriter<'a>)),
        results: impl Fn(&mut CdrReader<'_>) -> Result<T, CdrError>,
        answer: impl FnOnce(
            &S,
            &Call<'_>,
            Option<&mut CdrReader<'_>>,
            &mut UntypedReply<'_>,
        ) -> Result<(), DispatchError>,
    ) -> Result<T, E> {
        let (arguments, copies) = arguments;
        if self.target().may_be_collocated()
            && let Some(answered) = self.answer(operation, passing, &copies, &results, answer)
        {
            return answered;
        }
        client::call(self.target(), operation, arguments, results)
    }

    /// As [`send`](Self::send); where a servant of the same ORB is seen as `S`, `answer` calls it. What
    /// it answers has no way to the caller, but for exceptions under SYNC_WITH_TARGET.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    #[doc(hidden)]
    #[inline]
    pub fn send_or_answer<'a, S: ?Sized + Sync + 'static>(
        &self,
        operation: &'static Operation,
        passing: Passing,
        arguments: (impl Fn(&mut CdrWriter<'a>), impl Fn(&mut CdrWriter<'a>)),
        answer: impl FnOnce(
            &S,
            &Call<'_>,
            Option<&mut CdrReader<'_>>,
            &mut UntypedReply<'_>,
        ) -> Result<(), DispatchError>,
    ) -> Result<(), SystemException> {
        let (arguments, copies) = arguments;
        if self.target().may_be_collocated()
            && let Some(posted) = self.post_answer(operation, passing, &copies, answer)
        {
            return posted;
        }
        client::send(self.target(), operation, arguments)
    }

    /// Calls the servant and waits for its answer; `None` if it takes a message, or has forwarded
    /// the reference.
    #[inline(never)]
    fn answer<S: ?Sized + Sync + 'static, T, E: Raises>(
        &self,
        operation: &'static Operation,
        passing: Passing,
        copies: Copies<'_, '_>,
        results: &dyn Fn(&mut CdrReader<'_>) -> Result<T, CdrError>,
        answer: impl FnOnce(
            &S,
            &Call<'_>,
            Option<&mut CdrReader<'_>>,
            &mut UntypedReply<'_>,
        ) -> Result<(), DispatchError>,
    ) -> Option<Result<T, E>> {
        let object = self.target();
        self.in_place(operation, |at, detoured| {
            if detoured.is_some_and(Detoured::is_observed) {
                return None;
            }
            let terms = detoured.map(|it| it.terms(operation, None));
            let terms = terms.as_ref().unwrap_or(&Terms::NONE);
            let called = (object, self.orb());
            let kept = kept_answer(called, at, operation, passing, copies, terms, answer)?;
            let deadline = detoured.map_or(Deadline::NEVER, Detoured::deadline);
            let message = kept.and_then(|kept| kept.into_message(deadline));
            let late = detoured.and_then(Detoured::late);
            let message = late.map_or(message, Err);
            object.answered(at.format, operation, message, results)
        })
    }

    /// As `answer`, for a oneway.
    #[inline(never)]
    fn post_answer<S: ?Sized + Sync + 'static>(
        &self,
        operation: &'static Operation,
        passing: Passing,
        copies: Copies<'_, '_>,
        answer: impl FnOnce(
            &S,
            &Call<'_>,
            Option<&mut CdrReader<'_>>,
            &mut UntypedReply<'_>,
        ) -> Result<(), DispatchError>,
    ) -> Option<Result<(), SystemException>> {
        let object = self.target();
        self.in_place(operation, |at, detoured| {
            if detoured.is_some_and(Detoured::is_observed) {
                return None;
            }
            let terms = detoured.map(|it| it.terms(operation, None));
            let terms = terms.as_ref().unwrap_or(&Terms::NONE);
            let called = (object, self.orb());
            let kept = kept_answer(called, at, operation, passing, copies, terms, answer)?;
            let Some(detoured) = detoured else {
                return Some(Ok(()));
            };
            if detoured.awaits_target() {
                let message = kept.and_then(|kept| kept.into_message(detoured.deadline()));
                let message = detoured.late().map_or(message, Err);
                return object.answered(at.format, operation, message, &|_| Ok(()));
            }
            let late = detoured.raised_by_oneway(Ok(Ok(())));
            let raised = |exception| Err(object.raised_in_place(operation, exception));
            Some(late.map_or(Ok(()), raised))
        })
    }
}

/// Has the servant answer a request that is made through that reference of that ORB; its answer
/// is kept, or comes later. `None` if it takes a message.
pub(crate) fn kept_answer<S: ?Sized + Sync + 'static>(
    called: (&Reference, &Orb),
    at: &Collocated,
    operation: &'static Operation,
    passing: Passing,
    copies: Copies<'_, '_>,
    terms: &Terms<'_, '_>,
    answer: impl FnOnce(
        &S,
        &Call<'_>,
        Option<&mut CdrReader<'_>>,
        &mut UntypedReply<'_>,
    ) -> Result<(), DispatchError>,
) -> Option<Result<Kept, SystemException>> {
    let kept = Kept::default();
    let mut storage = Vec::new();
    let version = Version {
        major: 1,
        minor: at.format.minor,
    };
    let response = terms.response.unwrap_or(operation.response());
    let mut reply = UntypedReply::new(&kept, &mut storage, version, 0, at.format, response);
    let answer = |servant: &S, call: &Call<'_>, copies: Option<&mut CdrReader<'_>>| {
        answer(servant, call, copies, &mut reply).map_err(DispatchError::exception)
    };
    let served = served(called, at, operation, passing, copies, terms, answer)?;
    let answered = served.and_then(|answered| answered);
    Some(answered.map(|()| kept))
}
