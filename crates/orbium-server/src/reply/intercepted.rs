// SPDX-License-Identifier: MIT OR Apache-2.0
//! Replies that interceptors see before they are sent.

use std::cell::{Cell, RefCell, RefMut};
use std::time::Instant;

use orbium_cdr::{CdrWriter, Encode};
use orbium_giop::{
    Completion, ExceptionKind, ReplyStatus, ResponseFlags, SystemException, SystemExceptionBody,
    Version, minor,
};
use orbium_interceptor::server::{
    AddedContexts, InterceptedObject, RequestFacts, RequestFlow, RequestOutcome, ServedRequest,
};
use orbium_interceptor::{ContextList, Interceptors, Interrupt, ReplyMessage, with_contexts};
use orbium_invocation::raises::DispatchError;

use super::path::ReplyPath;
use super::untyped::UntypedReply;
use crate::IncomingRequest;
use crate::deferred::Way;

/// The flow of a request; `None` until there is one.
type Flow<'r> = RefCell<Option<RequestFlow<'r>>>;

/// The path of a reply by way of the interceptors of its request.
pub(crate) struct InterceptedReply<'p, 'r> {
    path: &'p dyn ReplyPath,
    all: &'r Interceptors,
    request: &'r IncomingRequest<'r>,
    object: &'r dyn InterceptedObject,
    flow: Flow<'r>,
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

/// How a request has ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ended {
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

impl ReplyPath for InterceptedReply<'_, '_> {
    fn send(&self, message: &CdrWriter<'_>) {
        // The client expects no results, or has them.
        if self.response != ResponseFlags::Full || self.has_ended() {
            return;
        }
        if self.is_other.get() {
            return self.send_other(message);
        }
        let added = self.added.take();
        if added.is_empty() && self.flow.borrow().is_none() {
            self.path.send(message);
            self.ended.set(Ended::Results);
            return;
        }
        self.send_results(added, message);
    }

    fn announce(&self, status: ReplyStatus) {
        self.is_other.set(status != ReplyStatus::NoException);
    }

    fn late(&self) -> Option<Box<dyn Way>> {
        let way = self.path.late();
        self.is_late.set(way.is_some());
        way
    }

    fn arrived(&self) -> Option<Instant> {
        self.path.arrived()
    }

    fn dedicated(&self) {
        self.path.dedicated();
    }
}

impl<'p, 'r> InterceptedReply<'p, 'r> {
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
            flow: RefCell::new(None),
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

    /// Begins a flow, with the first point of the interceptors.
    ///
    /// # Errors
    /// What interrupts the request. Ending points are yet to be called.
    #[inline]
    pub(crate) fn begin(&self) -> Result<(), Interrupt> {
        let flow = RequestFlow::new(self.all, self.facts());
        let mut own = self.flow.borrow_mut();
        own.insert(flow).receive_contexts(self.object)
    }

    #[inline]
    fn facts(&self) -> RequestFacts<'r> {
        RequestFacts {
            request_id: self.request_id,
            operation: self.request.operation,
            contexts: self.request.contexts,
            response: self.request.response,
        }
    }

    pub(crate) fn flow(&self) -> &Flow<'r> {
        &self.flow
    }

    /// The flow, which is under way if none was needed so far.
    fn own_flow(&self) -> RefMut<'_, RequestFlow<'r>> {
        let under_way = || RequestFlow::under_way(self.all, self.facts(), self.object);
        RefMut::map(self.flow.borrow_mut(), |own| {
            own.get_or_insert_with(under_way)
        })
    }

    #[inline]
    fn has_ended(&self) -> bool {
        self.ended.get() != Ended::NotYet
    }

    /// The answer that takes this path, in place of another one.
    #[inline]
    pub(crate) fn reply<'s>(&'s self, of: &'s mut UntypedReply<'_>) -> UntypedReply<'s> {
        let mut format = of.format;
        format.minor = self.version.minor;
        let (version, id) = (self.version, self.request_id);
        UntypedReply::new(self, of.storage, version, id, format, self.response)
    }

    /// Whether results were sent, as the servant has given them.
    #[inline]
    pub(crate) fn has_sent_results(&self) -> bool {
        self.ended.get() == Ended::Results
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
    fn send_other(&self, message: &CdrWriter<'_>) {
        let broken = RequestOutcome::Raised(unanswered());
        let read = read(message);
        let outcome = read.map_or(broken, |mut it| it.outcome());
        let mut flow = self.own_flow();
        let ended = flow.end(&outcome, self.added.take());
        self.send_ended(flow, ended.map(|()| outcome), message);
    }

    /// The request ends with results.
    #[inline]
    fn send_results(&self, added: ContextList, message: &CdrWriter<'_>) {
        let mut flow = self.own_flow();
        let ended = flow.end_with_results(added);
        self.send_ended(flow, ended.map(|()| RequestOutcome::Results), message);
    }

    /// Sends the message as it is ended with, unless the interceptors have changed that.
    #[inline]
    fn send_ended(
        &self,
        flow: RefMut<'_, RequestFlow<'_>>,
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
            Err(changed) => {
                drop(flow);
                self.send_changed(&changed);
            }
        }
    }

    /// Sends what the request has come to without results.
    #[cold]
    fn send_changed(&self, outcome: &RequestOutcome) {
        let flow = self.own_flow();
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
    pub(crate) fn conclude(
        &self,
        reply: &mut UntypedReply<'_>,
        outcome: RequestOutcome,
    ) -> Result<(), DispatchError> {
        if !self.has_ended() {
            self.end_unsent(reply, outcome);
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
    fn end_unsent(&self, reply: &UntypedReply<'_>, outcome: RequestOutcome) {
        let is_late = outcome == RequestOutcome::Late;
        let seen = self.own_flow().end(&outcome, self.added.take());
        let outcome = match seen {
            Err(changed) if !is_late => changed,
            _ => outcome,
        };
        match reply.is_answered() || !reply.is_expected() || is_late {
            true => self.ended.set(Ended::from(&outcome)),
            false => self.send_changed(&outcome),
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
