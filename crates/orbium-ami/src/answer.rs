// SPDX-License-Identifier: MIT OR Apache-2.0
//! Answer of an asynchronous call: a reply message, or the outcome of a collocated servant.

use std::any::Any;

use orbium_cdr::{CdrError, CdrReader};
use orbium_client::ServedCall;
use orbium_client::received_reply::ReceivedReply;
use orbium_connection::outcome::Outcome;
use orbium_giop::{ReplyStatus, SystemException};
use orbium_interceptor::client::CallOutcome;
use orbium_interceptor::{ContextList, DynamicInvocation};
use orbium_invocation::Decoding;
use orbium_invocation::call_exceptions::broken_invariant;
use orbium_invocation::raises::{Raised, Raises};
use orbium_metrics::End;

/// The results or the user exception of a servant of the caller's own ORB.
pub(super) struct Returned {
    /// A `Result` of both.
    outcome: Box<dyn Any + Send>,
    /// The repository id of the exception.
    exception: Option<&'static str>,
    /// The service contexts of the reply.
    contexts: ContextList,
}

impl Returned {
    /// # Errors
    /// The outcome of an attempt without results.
    pub(super) fn new<T: Send + 'static, E: Raises + Send + 'static>(
        served: ServedCall<T, E>,
    ) -> Result<Self, Outcome> {
        let ServedCall { outcome, contexts } = served;
        let outcome = outcome?;
        let raised = outcome.as_ref().err().map(Raises::raised);
        let exception = match raised {
            None => None,
            Some(Raised::User(id, _)) => Some(id),
            Some(Raised::System(exception)) => return Err(Outcome::Failed(exception)),
        };
        Ok(Self {
            outcome: Box::new(outcome),
            exception,
            contexts,
        })
    }
}

/// Converts the returned values of a servant to the outcome of a call; `None` if the types differ.
pub(super) type TakeReturned<T, E> = fn(Box<dyn Any + Send>) -> Option<Result<T, E>>;

/// For a call without in-place dispatch to a servant.
pub(super) fn takes_none<T, E>(_: Box<dyn Any + Send>) -> Option<Result<T, E>> {
    None
}

/// The outcome of a call with results of these types.
pub(super) fn take_returned<T: 'static, E: 'static>(
    outcome: Box<dyn Any + Send>,
) -> Option<Result<T, E>> {
    outcome.downcast().ok().map(|outcome| *outcome)
}

/// Functions that obtain results and exceptions from an answer.
pub(super) struct Results<T, E> {
    pub(super) read: fn(&mut CdrReader<'_>) -> Result<T, CdrError>,
    pub(super) take: TakeReturned<T, E>,
}

impl<T, E> Clone for Results<T, E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, E> Copy for Results<T, E> {}

/// The answer to a call that has not failed.
pub(super) enum Answer {
    Message(ReceivedReply),
    Returned(Returned),
}

impl Answer {
    /// The outcome of the call, for interceptors.
    pub(super) fn call_outcome(&self) -> CallOutcome {
        match self {
            Self::Message(reply) => reply.call_outcome(),
            Self::Returned(returned) => match returned.exception {
                Some(id) => CallOutcome::UserException(id.into()),
                None => CallOutcome::Results,
            },
        }
    }

    /// Passes the contents of the answer to interceptors of a dynamic call.
    pub(super) fn show(&self, decoding: &Decoding, facts: &DynamicInvocation) {
        if let Self::Message(reply) = self {
            reply.show(decoding, facts);
        }
    }

    /// The service contexts of the reply.
    pub(super) fn contexts(&mut self) -> ContextList {
        match self {
            Self::Message(reply) => reply.contexts(),
            Self::Returned(returned) => std::mem::take(&mut returned.contexts),
        }
    }

    /// The outcome of the call, for metrics.
    pub(super) fn end(&self) -> (End, Option<SystemException>) {
        match self {
            Self::Message(reply) => reply.end(),
            Self::Returned(returned) => match returned.exception {
                Some(_) => (End::UserException, None),
                None => (End::Results, None),
            },
        }
    }

    /// Whether it is a user exception, and its repository id if that can be read.
    pub(super) fn user_exception(&self) -> Option<Option<String>> {
        match self {
            Self::Message(reply) => {
                (reply.status == ReplyStatus::UserException).then(|| reply.exception_id())
            }
            Self::Returned(returned) => returned.exception.map(|id| Some(id.to_owned())),
        }
    }

    /// The results or the user exception; an exception and its reason if neither can be read.
    pub(super) fn into_result<T, E: Raises>(
        self,
        decoding: &Decoding,
        results: Results<T, E>,
    ) -> Result<Result<T, E>, (SystemException, String)> {
        match self {
            Self::Message(reply) => reply.into_result(decoding, results.read),
            Self::Returned(returned) => (results.take)(returned.outcome).ok_or_else(|| {
                let exception = broken_invariant();
                (exception, exception.to_string())
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orbium_giop::ExceptionKind;

    type Ended = Result<u32, SystemException>;

    fn returned(ended: Ended) -> Result<Returned, Outcome> {
        Returned::new(ServedCall {
            outcome: Ok(ended),
            contexts: ContextList::default(),
        })
    }

    #[test]
    fn results_are_taken_as_their_own_type_alone() {
        let had: Option<Ended> = take_returned(returned(Ok(7)).unwrap().outcome);
        assert_eq!(had, Some(Ok(7)));
        let other: Option<Result<u8, SystemException>> =
            take_returned(returned(Ok(7)).unwrap().outcome);
        assert_eq!(other, None);
        let raised = returned(Err(ExceptionKind::NoMemory.into())).err();
        let is_raised =
            |it| matches!(it, Outcome::Failed(it) if it.kind == ExceptionKind::NoMemory);
        assert!(raised.is_some_and(is_raised));
    }
}
