// SPDX-License-Identifier: MIT OR Apache-2.0
//! End of a request as interceptors see it.

use std::cell::Cell;

use orbium_cdr::{CdrWriter, Encode};
use orbium_giop::{
    Completion, ExceptionKind, ReplyStatus, ResponseFlags, ServiceContexts, SystemException,
    SystemExceptionBody, Version, minor,
};
use orbium_interceptor::server::{
    AddedContexts, InterceptedMessage, InterceptedObject, RequestFlow, RequestOutcome,
    ServedRequest,
};
use orbium_interceptor::{ContextList, Interceptors, Locality, ReplyMessage, with_contexts};
use orbium_invocation::raises::DispatchError;

use super::path::ReplyPath;
use super::untyped::UntypedReply;
use crate::IncomingRequest;
use crate::deferred::AnswerPath;

/// How a request has ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    NotYet,
    Results,
    UserException,
    Raised(SystemException),
    Forward,
    /// Without a reply, or with one that comes later.
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

/// A request, the way of its reply, and what it has ended with.
pub(crate) struct RequestEnd<'p, 'r> {
    path: &'p dyn ReplyPath,
    all: &'r Interceptors,
    request: &'r IncomingRequest<'r>,
    pub(super) object: &'r dyn InterceptedObject,
    /// What the servant adds to it.
    added: AddedContexts,
    version: Version,
    request_id: u32,
    response: ResponseFlags,
    /// How the request has ended, once its interceptors have seen that.
    ended: Cell<Ended>,
    /// Whether the next message has no results.
    is_other: Cell<bool>,
    is_late: Cell<bool>,
}

impl<'p, 'r> RequestEnd<'p, 'r> {
    #[inline(always)]
    pub(crate) fn new(
        all: &'r Interceptors,
        reply: &UntypedReply<'p>,
        request: &'r IncomingRequest<'r>,
        object: &'r dyn InterceptedObject,
    ) -> Self {
        Self {
            path: reply.path,
            all,
            request,
            object,
            added: AddedContexts::of(ServedRequest::of(request)),
            // Short headers have no place for service contexts.
            version: match reply.version {
                Version::SHORT | Version::NATIVE => Version::V1_2,
                version => version,
            },
            request_id: reply.request_id,
            response: reply.response,
            ended: Cell::new(Ended::NotYet),
            is_other: Cell::new(false),
            is_late: Cell::new(false),
        }
    }

    /// A flow for the end of a request that its interceptors have overlooked so far.
    #[cold]
    pub(super) fn flow_under_way(&self) -> RequestFlow<'_> {
        RequestFlow::under_way(self.all, self, self.object)
    }

    /// A flow that is yet to begin.
    #[inline(always)]
    pub(super) fn flow(&self) -> RequestFlow<'_> {
        RequestFlow::new(self.all, self)
    }

    /// The answer that takes that path, in place of another one.
    #[inline(always)]
    pub(crate) fn reply<'s>(
        &self,
        path: &'s dyn ReplyPath,
        of: &'s mut UntypedReply<'_>,
    ) -> UntypedReply<'s> {
        let mut format = of.format;
        format.minor = self.version.minor;
        let (version, id) = (self.version, self.request_id);
        UntypedReply::new(path, of.storage, version, id, format, self.response)
    }

    /// Whether results were sent, as the servant has given them.
    #[inline]
    pub(crate) fn has_sent_results(&self) -> bool {
        self.ended.get() == Ended::Results
    }

    /// Whether the client still expects a message with results or an exception.
    #[inline]
    pub(super) fn expects_message(&self) -> bool {
        self.response == ResponseFlags::Full && self.ended.get() == Ended::NotYet
    }

    /// Sends results as they are, and returns true, if the servant has added nothing to them.
    #[inline]
    pub(super) fn send_overlooked(&self, message: &CdrWriter<'_>) -> bool {
        if self.is_other.get() || self.added.has_any() {
            return false;
        }
        self.added.close();
        self.path.send(message);
        self.ended.set(Ended::Results);
        true
    }

    /// The message goes to the interceptors of the flow, then to the client.
    #[inline]
    pub(super) fn send(&self, flow: &mut RequestFlow<'_>, message: &CdrWriter<'_>) {
        if self.is_other.get() {
            self.send_other(flow, message);
        } else {
            self.send_results(flow, message);
        }
    }

    pub(super) fn announce(&self, status: ReplyStatus) {
        self.is_other.set(status != ReplyStatus::NoException);
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

    /// What a servant that has returned leaves.
    #[cold]
    pub(crate) fn outcome_of(&self, served: Result<(), DispatchError>) -> RequestOutcome {
        match served {
            _ if self.is_late.get() => RequestOutcome::Late,
            Err(error) => RequestOutcome::Raised(error.exception()),
            Ok(()) if self.response == ResponseFlags::Full => RequestOutcome::Raised(unanswered()),
            Ok(()) => RequestOutcome::Unanswered,
        }
    }

    /// Sends what is no results.
    #[cold]
    #[inline(never)]
    fn send_other(&self, flow: &mut RequestFlow<'_>, message: &CdrWriter<'_>) {
        let broken = RequestOutcome::Raised(unanswered());
        let read = read(message);
        let outcome = read.map_or(broken, |mut it| it.outcome());
        let ended = flow.end(&outcome, self.added.take());
        self.send_ended(flow, ended.map(|()| outcome), message);
    }

    /// The request ends with results.
    #[inline]
    fn send_results(&self, flow: &mut RequestFlow<'_>, message: &CdrWriter<'_>) {
        match flow.end_with_results(self.added.take()) {
            Ok(()) if flow.reply_contexts().is_none() => {
                self.path.send(message);
                self.ended.set(Ended::Results);
            }
            ended => self.send_ended(flow, ended.map(|()| RequestOutcome::Results), message),
        }
    }

    /// Sends the message as it is ended with, unless the interceptors have changed that.
    #[cold]
    #[inline(never)]
    fn send_ended(
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
                self.ended.set(Ended::from(&outcome));
            }
            Err(changed) => self.send_changed(flow, &changed),
        }
    }

    /// Sends what the request has come to without results.
    #[cold]
    fn send_changed(&self, flow: &RequestFlow<'_>, outcome: &RequestOutcome) {
        let none = ContextList::default();
        let contexts = flow.reply_contexts().unwrap_or(&none);
        let (version, id) = (self.version, self.request_id);
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
        self.ended.set(Ended::from(outcome));
    }

    /// Ends the request with that outcome, unless it has ended already.
    ///
    /// # Errors
    /// The system exception that it has ended with; it was sent already.
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

    /// The request ends without a message of its servant: the interceptors see that, and what
    /// it ends with is sent if the client waits for it.
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
            self.ended.set(Ended::from(&outcome));
        } else {
            self.send_changed(flow, &outcome);
        }
    }
}

impl InterceptedMessage for RequestEnd<'_, '_> {
    fn request_id(&self) -> u32 {
        self.request_id
    }

    fn operation(&self) -> &[u8] {
        self.request.operation
    }

    fn contexts(&self) -> ServiceContexts<'_> {
        self.request.contexts
    }

    fn response(&self) -> ResponseFlags {
        self.request.response
    }

    #[inline]
    fn locality(&self) -> Locality {
        self.request.locality()
    }

    fn served(&self) -> ServedRequest {
        ServedRequest::of(self.request)
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

/// The servant has not answered, or not in a way that can be read.
fn unanswered() -> SystemException {
    let code = minor::INVARIANT_BROKEN;
    SystemException::orbium(ExceptionKind::Internal, code, Completion::Maybe)
}

impl UntypedReply<'_> {
    /// It is on its way, or the client expects none.
    #[inline]
    pub(crate) fn note_answered(&mut self) {
        self.answered = true;
    }
}
