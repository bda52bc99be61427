// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls of a servant of the same ORB that has a reply slot or answers later: it is lent the
//! arguments, and its answer is a message.

use orbium_cdr::{CdrError, CdrReader, CdrWriter};
use orbium_giop::{ResponseFlags, Version};
use orbium_invocation::collocation::Passing;
use orbium_server::Kept;
use orbium_transport::Deadline;

use super::ObjectRef;
use super::collocated::{Copies, served};
use super::detoured::Detoured;
use crate::adapter::Terms;
use crate::raises::{DispatchError, Raises};
use crate::{Call, Operation, UntypedReply, client};

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
            let kept = Kept::default();
            let mut storage = Vec::new();
            let version = Version {
                major: 1,
                minor: at.format.minor,
            };
            let response = ResponseFlags::Full;
            let mut reply = UntypedReply::new(&kept, &mut storage, version, 0, at.format, response);
            let answer = |servant: &S, call: &Call<'_>, copies: Option<&mut CdrReader<'_>>| {
                answer(servant, call, copies, &mut reply).map_err(DispatchError::exception)
            };
            let called = (object, self.orb());
            let served = served(called, at, operation, passing, copies, terms, answer)?;
            let deadline = detoured.map_or(Deadline::NEVER, Detoured::deadline);
            let answered = served.and_then(|answered| answered);
            let message = answered.and_then(|()| kept.into_message(deadline));
            let late = detoured.and_then(Detoured::late);
            let message = late.map_or(message, Err);
            object.answered(at.format, operation, message, results)
        })
    }
}
