// SPDX-License-Identifier: MIT OR Apache-2.0
//! A request that a dynamic servant answers after it has returned.

use std::fmt;
use std::time::Instant;

use orbium_cdr::Any;
use orbium_core::{Completion, DeferredReply, ForwardRequest, SystemException};

use super::answer::Answer;
use crate::request::{Argument, Request, RequestError};

/// A request that was [deferred](crate::ServerRequest::defer): it may be moved to any thread, and
/// is consumed by the reply. If it is dropped instead, the client gets NO_RESPONSE, completed
/// MAYBE.
#[must_use = "the client waits for the answer"]
pub struct DeferredServerRequest {
    reply: DeferredReply<()>,
    answer: Answer,
}

impl DeferredServerRequest {
    pub(super) fn new(reply: DeferredReply<()>, answer: Answer) -> Self {
        Self { reply, answer }
    }

    /// Whether a reply can no longer reach a client.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.reply.is_cancelled()
    }

    /// The deadline of the call; `None` if the client sent none.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.reply.deadline()
    }

    /// Whether the client expects a reply. A reply to a oneway is discarded.
    #[must_use]
    pub fn response_expected(&self) -> bool {
        self.reply.response_expected()
    }

    /// The arguments.
    #[must_use]
    pub fn arguments(&self) -> &[Argument] {
        self.answer.arguments()
    }

    /// As [`ServerRequest::set_argument`](crate::ServerRequest::set_argument).
    ///
    /// # Errors
    /// The errors of that method.
    pub fn set_argument(&mut self, index: usize, value: Any) -> Result<(), SystemException> {
        self.answer.set_argument(index, value)
    }

    /// As [`ServerRequest::set_result`](crate::ServerRequest::set_result).
    ///
    /// # Errors
    /// The errors of that method.
    pub fn set_result(&mut self, value: Any) -> Result<(), SystemException> {
        self.answer.set_result(value)
    }

    /// As [`ServerRequest::set_results`](crate::ServerRequest::set_results).
    ///
    /// # Errors
    /// The errors of that method.
    pub fn set_results(&mut self, results: Any) -> Result<(), SystemException> {
        self.answer.set_results(results)
    }

    /// As [`ServerRequest::set_exception`](crate::ServerRequest::set_exception).
    ///
    /// # Errors
    /// The errors of that method.
    pub fn set_exception(&mut self, exception: Any) -> Result<(), SystemException> {
        self.answer.set_exception(exception)
    }

    /// Sends the values set so far; without a result or an exception the result is void.
    ///
    /// # Errors
    /// A value cannot be sent, or one is missing: the client gets this exception.
    pub fn answer(self) -> Result<(), SystemException> {
        let answer = self.answer;
        self.reply.answer_untyped(|reply| answer.give(reply))
    }

    /// Raises a system exception.
    pub fn raise(self, exception: SystemException) {
        // A system exception is always sent.
        let _ = self.reply.raise(exception);
    }

    /// Forwards the client to another object.
    pub fn forward(self, to: &ForwardRequest) {
        self.reply.forward(to);
    }

    /// Replies with the outcome of another request, like a gateway: [`Request::on_reply`] provides
    /// both.
    ///
    /// # Errors
    /// As [`answer`](Self::answer); the results do not match the operation.
    pub fn answer_as(
        mut self,
        request: &Request,
        outcome: Result<(), RequestError>,
    ) -> Result<(), SystemException> {
        let set = match outcome {
            Ok(()) => match request.results() {
                Ok(results) => self.set_results(results),
                Err(error) => Err(SystemException::from_cdr(error, Completion::Yes)),
            },
            Err(RequestError::User(exception)) => self.set_exception(exception),
            Err(other) => {
                self.raise(other.into());
                return Ok(());
            }
        };
        match set {
            Ok(()) => self.answer(),
            Err(exception) => {
                self.raise(exception);
                Err(exception)
            }
        }
    }
}

impl fmt::Debug for DeferredServerRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeferredServerRequest")
            .field("reply", &self.reply)
            .field("arguments", &self.answer.arguments)
            .finish_non_exhaustive()
    }
}
