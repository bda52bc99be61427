// SPDX-License-Identifier: MIT OR Apache-2.0
//! Asynchronous calls of servants of the same ORB with a reply slot or a deferred reply.

use std::fmt;
use std::sync::Arc;

use orbium_ami::{Answered, Asynchronous, LateAnswers};
use orbium_cdr::{CdrError, CdrReader, CdrWriter};
use orbium_invocation::collocation::Passing;

use super::reply_readers;
use crate::client::{Detour, Reference};
use crate::raises::{DispatchError, Raises};
use crate::reference::answered::AnsweredCall;
use crate::reference::intercepted::answer_detoured;
use crate::{Call, ObjectRef, Operation, Orb, UntypedReply};

/// As [`InPlace`](super::InPlace), for servants with a reply slot or a deferred reply.
#[doc(hidden)]
pub struct AnsweredInPlace<S: ?Sized, A> {
    /// The passing of the arguments to the servant.
    pub passing: Passing,
    /// Marshals the arguments that are not plain.
    pub copies: for<'a> fn(&'a A, &mut CdrWriter<'a>),
    /// Calls the servant.
    pub answer: Answer<S, A>,
}

/// Calls a servant with the arguments owned by a call; the reader contains those that are passed as
/// copies.
type Answer<S, A> = fn(
    &A,
    &S,
    &Call<'_>,
    Option<&mut CdrReader<'_>>,
    &mut UntypedReply<'_>,
) -> Result<(), DispatchError>;

impl ObjectRef {
    /// As [`call_async_or_serve`](Self::call_async_or_serve), for a servant with a reply slot or a
    /// deferred reply: no thread waits for its answer.
    #[doc(hidden)]
    pub fn call_async_or_answer<S, A, T, E>(
        &self,
        operation: &'static Operation,
        arguments: A,
        write: for<'a> fn(&'a A, &mut CdrWriter<'a>),
        results: fn(&mut CdrReader<'_>) -> Result<T, CdrError>,
        in_place: AnsweredInPlace<S, A>,
    ) -> Asynchronous<T, E>
    where
        S: ?Sized + Sync + 'static,
        A: Send + Sync + 'static,
        E: Raises,
    {
        if !self.target().may_be_collocated() {
            return self.call_async(operation, arguments, write, results);
        }
        let object: Arc<Reference> = Arc::clone(&self.0) as _;
        let answer =
            move |arguments: &A, object: &Reference, detour: &Detour, later: LateAnswers<'_>| {
                in_place.answer(operation, (arguments, write), object, detour, later)
            };
        let readers = reply_readers(self.orb());
        let arguments = (arguments, write);
        orbium_ami::call_async_or_answer(readers, object, operation, arguments, results, answer)
    }
}

impl<S: ?Sized + Sync + 'static, A: Sync> AnsweredInPlace<S, A> {
    /// `None`, without any effect, if the call needs a message.
    fn answer<'a>(
        &self,
        operation: &'static Operation,
        (arguments, write): (&'a A, for<'v> fn(&'v A, &mut CdrWriter<'v>)),
        object: &Reference,
        detour: &Detour,
        later: LateAnswers<'_>,
    ) -> Option<Answered> {
        let orb = Orb::from_owner(&object.client().decoding().owner)?;
        let at = detour.at(object)?;
        let call = AnsweredCall {
            operation,
            passing: self.passing,
            arguments: &|writer: &mut CdrWriter<'a>| write(arguments, writer),
            copies: &|writer: &mut CdrWriter<'a>| (self.copies)(arguments, writer),
            answer: &|servant: &S, call, copies, reply| {
                (self.answer)(arguments, servant, call, copies, reply)
            },
        };
        let kept = answer_detoured((object, &orb), detour, &call)?;
        Some(match kept {
            Err(exception) => Answered::Raised(object.raised_in_place(operation, exception)),
            Ok(kept) => match kept.into_message_or(|| later(at.format)) {
                Some(message) => Answered::Message(message, at.format),
                None => Answered::Later,
            },
        })
    }
}

impl<S: ?Sized, A> fmt::Debug for AnsweredInPlace<S, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AnsweredInPlace")
    }
}
