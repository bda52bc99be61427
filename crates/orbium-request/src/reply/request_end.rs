// SPDX-License-Identifier: MIT OR Apache-2.0
//! End of a request as seen by interceptors.

use std::cell::Cell;

use orbium_cdr::{CdrWriter, Encode};
use orbium_giop::{
    Completion, ExceptionKind, ReplyStatus, ResponseFlags, SystemException, SystemExceptionBody,
    Version, minor,
};
use orbium_interceptor::server::{
    AddedContexts, LinkedRequests, RequestFlow, RequestOutcome, ServedRequest,
};
use orbium_interceptor::{ContextList, Interceptors, ReplyMessage, with_contexts};
use orbium_invocation::raises::DispatchError;

use super::path::ReplyPath;
use super::untyped::{ReplyHead, UntypedReply};
use crate::IncomingRequest;
use crate::deferred::AnswerPath;

/// The end of a request.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    NotYet,
    Results,
    UserException,
    Raised(SystemException),
    Forward,
    /// Without a reply, or with a deferred one.
    Unanswered,
}

impl From<&RequestOutcome> for Ended {
    fn from(outcome: &RequestOutcome) -> Self {
        match outcome {
            RequestOutcome::Results => Self::Results,
            RequestOutcome::UserException(_) => Self::UserException,
            RequestOutcome::Raised(exception) => Self::Raised(*exception),
            RequestOutcome::Forward(_) => Self::Forward,
            RequestOutcome::Late | RequestOutcome::Unanswered => Self::Unanswered,
        }
    }
}

/// The kind of the next message of a servant.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    /// Results.
    Results,
    /// Any other message.
    Other,
    /// The client expects none, or has already received one.
    Unexpected,
}

/// A request, the path of its reply, and its outcome.
pub(crate) struct RequestEnd<'p> {
    path: &'p dyn ReplyPath,
    /// The additions of the servant.
    added: AddedContexts,
    /// The end of the request, once its interceptors have seen it.
    ended: Cell<Ended>,
    next: Cell<Next>,
    is_late: Cell<bool>,
}

impl<'p> RequestEnd<'p> {
    #[inline(always)]
    pub(crate) fn new(reply: &UntypedReply<'p>, request: &IncomingRequest<'_>) -> Self {
        let next = match reply.head.response {
            ResponseFlags::Full => Next::Results,
            _ => Next::Unexpected,
        };
        Self {
            path: reply.path,
            added: AddedContexts::of(ServedRequest::of(request)),
            ended: Cell::new(Ended::NotYet),
            next: Cell::new(next),
            is_late: Cell::new(false),
        }
    }

    /// Whether results were sent unchanged.
    #[inline]
    pub(crate) fn has_sent_results(&self) -> bool {
        self.ended.get() == Ended::Results
    }

    /// Whether the client still expects a message with results or an exception.
    #[inline]
    pub(super) fn expects_message(&self) -> bool {
        self.next.get() != Next::Unexpected
    }

    /// Whether the next message has results without additions of the servant. Then later additions
    /// are refused.
    #[inline(always)]
    pub(super) fn expects_plain_results(&self) -> bool {
        let is_plain = self.next.get() == Next::Results && !self.added.has_any();
        if is_plain {
            self.added.close();
        }
        is_plain
    }

    /// Sends results unchanged.
    #[inline(always)]
    pub(super) fn send_plain(&self, message: &CdrWriter<'_>) {
        self.path.send(message);
        self.set_ended(Ended::Results);
    }

    #[inline(always)]
    fn set_ended(&self, ended: Ended) {
        self.ended.set(ended);
        self.next.set(Next::Unexpected);
    }

    pub(super) fn announce(&self, status: ReplyStatus) {
        if self.expects_message() && status != ReplyStatus::NoException {
            self.next.set(Next::Other);
        }
    }

    pub(super) fn late(&self) -> Option<Box<dyn AnswerPath>> {
        let way = self.path.late();
        self.is_late.set(way.is_some());
        way
    }

    /// The path without interceptors.
    pub(super) fn path(&self) -> &'p dyn ReplyPath {
        self.path
    }

    /// The outcome of a servant that has returned.
    #[cold]
    pub(crate) fn outcome_of(
        &self,
        response: ResponseFlags,
        served: Result<(), DispatchError>,
    ) -> RequestOutcome {
        match served {
            _ if self.is_late.get() => RequestOutcome::Late,
            Err(error) => RequestOutcome::Raised(error.exception()),
            Ok(()) if response == ResponseFlags::Full => RequestOutcome::Raised(unanswered()),
            Ok(()) => RequestOutcome::Unanswered,
        }
    }

    /// Passes a message other than plain results to the interceptors of the flow, then sends it to
    /// the client.
    #[cold]
    pub(super) fn send(&self, flow: &mut RequestFlow<'_>, message: &CdrWriter<'_>) {
        let outcome = if self.next.get() == Next::Results {
            RequestOutcome::Results
        } else {
            let broken = RequestOutcome::Raised(unanswered());
            read(message).map_or(broken, |mut it| it.outcome())
        };
        let ended = flow.end(&outcome, self.added.take());
        self.send_ended(flow, ended.map(|()| outcome), message);
    }

    /// Sends the message unchanged, unless the interceptors have changed the outcome.
    #[cold]
    pub(super) fn send_ended(
        &self,
        flow: &RequestFlow<'_>,
        ended: Result<RequestOutcome, RequestOutcome>,
        message: &CdrWriter<'_>,
    ) {
        match ended {
            Ok(outcome) => {
                match flow.reply_contexts() {
                    None => self.path.send(message),
                    Some(contexts) => send_rewritten(self.path, contexts, message),
                }
                self.set_ended(Ended::from(&outcome));
            }
            Err(changed) => {
                let head = read(message).map(|it| (it.version(), it.request_id()));
                self.send_changed(head.unwrap_or((Version::V1_2, 0)), flow, &changed);
            }
        }
    }

    /// Sends the outcome of a request without results.
    #[cold]
    fn send_changed(
        &self,
        (version, id): (Version, u32),
        flow: &RequestFlow<'_>,
        outcome: &RequestOutcome,
    ) {
        let contexts = flow.reply_contexts().unwrap_or(ContextList::none());
        let message = match outcome {
            RequestOutcome::Raised(exception) => {
                let body = SystemExceptionBody::from(*exception);
                let status = ReplyStatus::SystemException;
                with_contexts(version, id, status, contexts, |writer| body.write(writer))
            }
            RequestOutcome::Forward(to) => {
                let status = ReplyStatus::LocationForward;
                with_contexts(version, id, status, contexts, |writer| to.encode(writer))
            }
            _ => return,
        };
        self.path.send(&message);
        self.set_ended(Ended::from(outcome));
    }

    /// Ends the request with that outcome, unless it has already ended.
    ///
    /// # Errors
    /// The system exception of the request; it was already sent.
    #[cold]
    pub(super) fn conclude(
        &self,
        reply: &mut UntypedReply<'_>,
        outcome: RequestOutcome,
        flow: &mut RequestFlow<'_>,
    ) -> Result<(), DispatchError> {
        if self.ended.get() == Ended::NotYet {
            self.end_unsent(flow, reply, outcome);
        }
        reply.note_answered();
        match self.ended.get() {
            Ended::Raised(exception) => return Err(exception.into()),
            Ended::UserException => reply.raised = true,
            Ended::Forward => reply.forwarded = true,
            Ended::NotYet | Ended::Results | Ended::Unanswered => {}
        }
        Ok(())
    }

    /// Ends the request without a message of its servant: the interceptors see the outcome, which
    /// is sent if the client waits for it.
    fn end_unsent(
        &self,
        flow: &mut RequestFlow<'_>,
        reply: &UntypedReply<'_>,
        outcome: RequestOutcome,
    ) {
        let is_late = outcome == RequestOutcome::Late;
        let seen = flow.end(&outcome, self.added.take());
        let outcome = match seen {
            Err(changed) if !is_late => changed,
            _ => outcome,
        };
        if reply.is_answered() || !reply.is_expected() || is_late {
            self.set_ended(Ended::from(&outcome));
        } else {
            let head = reply.head.lengthened();
            self.send_changed((head.version, head.request_id), flow, &outcome);
        }
    }
}

/// Sends the message with these service contexts.
#[cold]
fn send_rewritten(path: &dyn ReplyPath, contexts: &ContextList, message: &CdrWriter<'_>) {
    match read(message) {
        Some(reply) => path.send(&reply.rewritten(contexts)),
        None => path.send(message),
    }
}

fn read(message: &CdrWriter<'_>) -> Option<ReplyMessage> {
    let mut octets = Vec::with_capacity(message.len());
    for piece in message.pieces() {
        octets.extend_from_slice(piece);
    }
    ReplyMessage::read(octets)
}

/// The exception for a servant without a valid reply.
fn unanswered() -> SystemException {
    let code = minor::INVARIANT_BROKEN;
    SystemException::orbium(ExceptionKind::Internal, code, Completion::Maybe)
}

impl UntypedReply<'_> {
    /// The interceptors of the request, if they are run by links: there is a reply with service
    /// contexts.
    #[doc(hidden)]
    #[must_use]
    #[inline(always)]
    pub fn linked<'i>(
        &self,
        all: &'i Interceptors,
        request: &IncomingRequest<'_>,
    ) -> Option<LinkedRequests<'i>> {
        if self.head.response == ResponseFlags::Full && !self.head.is_short() {
            all.linked_requests(request.locality())
        } else {
            None
        }
    }

    /// A reply to the same request on that path, in place of this one.
    #[inline(always)]
    pub(crate) fn by_path<'s>(
        &'s mut self,
        path: &'s dyn ReplyPath,
        head: ReplyHead,
    ) -> UntypedReply<'s> {
        UntypedReply::with_head(path, self.storage, head)
    }

    /// Marks the reply as sent, or not expected.
    #[inline]
    pub(crate) fn note_answered(&mut self) {
        self.answered = true;
    }
}
