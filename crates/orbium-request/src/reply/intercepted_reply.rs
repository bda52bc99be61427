// SPDX-License-Identifier: MIT OR Apache-2.0
//! Replies seen by interceptors before they are sent.

use std::cell::RefCell;
use std::time::Instant;

use orbium_cdr::CdrWriter;
use orbium_giop::ReplyStatus;
use orbium_interceptor::server::{EndedOtherwise, InterceptedObject, RequestFlow, RequestOutcome};
use orbium_interceptor::{Interceptors, Interrupt};
use orbium_invocation::raises::DispatchError;

use super::path::ReplyPath;
use super::request_end::RequestEnd;
use super::untyped::UntypedReply;
use crate::IncomingRequest;
use crate::deferred::AnswerPath;

/// The path of a reply through the interceptors of its request.
pub(crate) trait InterceptedPath: ReplyPath {
    /// The end of the request.
    fn end(&self) -> &RequestEnd<'_>;

    /// Ends the request with that outcome, unless it has already ended.
    ///
    /// # Errors
    /// The system exception of the request; it was already sent.
    fn conclude(
        &self,
        reply: &mut UntypedReply<'_>,
        outcome: RequestOutcome,
    ) -> Result<(), DispatchError>;
}

/// The path of a reply through a flow, with each point of its interceptors. They are run by links
/// if it is `LINKED`: the request has a reply, and [all implement](Interceptors::linked_requests)
/// all of its points.
pub(crate) struct InterceptedReply<'p, 'r, const LINKED: bool> {
    end: RequestEnd<'p>,
    flow: RefCell<RequestFlow<'r>>,
}

/// The path of a reply if no interceptor implements a point of a request with results: interceptors
/// see only an end without results.
pub(crate) struct OverlookedReply<'p, 'r> {
    pub(crate) end: RequestEnd<'p>,
    pub(crate) seen: SeenRequest<'r>,
}

/// The view that interceptors may have of a request.
#[derive(Clone, Copy)]
pub(crate) struct SeenRequest<'r> {
    pub(crate) all: &'r Interceptors,
    /// The id of the request in its message.
    pub(crate) id: u32,
    pub(crate) request: &'r IncomingRequest<'r>,
    pub(crate) object: &'r dyn InterceptedObject,
}

impl<'r> SeenRequest<'r> {
    /// A new flow of the request.
    pub(crate) fn flow(self) -> RequestFlow<'r> {
        RequestFlow::new(self.all, self.id, self.request, self.object)
    }
}

impl<'p, 'r, const LINKED: bool> InterceptedReply<'p, 'r, LINKED> {
    #[inline(always)]
    pub(crate) fn new(end: RequestEnd<'p>, flow: RequestFlow<'r>) -> Self {
        Self {
            end,
            flow: RefCell::new(flow),
        }
    }

    /// Runs the first point, before there is a reply on the path.
    ///
    /// # Errors
    /// The interrupt of the request.
    #[inline(always)]
    pub(crate) fn receive_contexts(&mut self) -> Result<(), Box<Interrupt>> {
        let flow = self.flow.get_mut();
        if LINKED {
            flow.receive_contexts_linked()
        } else {
            flow.receive_contexts()
        }
    }

    /// Runs the next point, after the servant was found.
    ///
    /// # Errors
    /// The interrupt of the request.
    #[inline(always)]
    pub(crate) fn receive_request(
        &mut self,
        object: &dyn InterceptedObject,
    ) -> Result<(), Box<Interrupt>> {
        let flow = self.flow.get_mut();
        if LINKED {
            flow.receive_request_linked(object)
        } else {
            flow.receive_request(object)
        }
    }

    /// Sends results that interceptors have changed or added to.
    #[cold]
    fn send_otherwise(&self, ended: EndedOtherwise, message: &CdrWriter<'_>) {
        let mut flow = self.flow.borrow_mut();
        let outcome = flow.end_otherwise(ended);
        self.end.send_ended(&flow, outcome, message);
    }

    /// Sends a message other than plain results.
    #[cold]
    fn send_other(&self, message: &CdrWriter<'_>) {
        if self.end.expects_message() {
            self.end.send(&mut self.flow.borrow_mut(), message);
        }
    }
}

impl OverlookedReply<'_, '_> {
    /// A flow for the end of the request, which interceptors have not seen yet.
    #[cold]
    fn flow(&self) -> RequestFlow<'_> {
        let SeenRequest {
            all,
            id,
            request,
            object,
        } = self.seen;
        RequestFlow::under_way(all, id, request, object)
    }

    /// Sends a message without results, or with service contexts of the servant.
    #[cold]
    fn send_seen(&self, message: &CdrWriter<'_>) {
        self.end.send(&mut self.flow(), message);
    }
}

impl<const LINKED: bool> InterceptedPath for InterceptedReply<'_, '_, LINKED> {
    #[inline]
    fn end(&self) -> &RequestEnd<'_> {
        &self.end
    }

    #[cold]
    fn conclude(
        &self,
        reply: &mut UntypedReply<'_>,
        outcome: RequestOutcome,
    ) -> Result<(), DispatchError> {
        let mut flow = self.flow.borrow_mut();
        self.end.conclude(reply, outcome, &mut flow)
    }
}

impl InterceptedPath for OverlookedReply<'_, '_> {
    #[inline]
    fn end(&self) -> &RequestEnd<'_> {
        &self.end
    }

    #[cold]
    fn conclude(
        &self,
        reply: &mut UntypedReply<'_>,
        outcome: RequestOutcome,
    ) -> Result<(), DispatchError> {
        self.end.conclude(reply, outcome, &mut self.flow())
    }
}

impl<const LINKED: bool> ReplyPath for InterceptedReply<'_, '_, LINKED> {
    fn send(&self, message: &CdrWriter<'_>) {
        if !LINKED || !self.end.expects_plain_results() {
            return self.send_other(message);
        }
        let ended = self.flow.borrow_mut().end_linked();
        match ended {
            Ok(()) => self.end.send_plain(message),
            Err(otherwise) => self.send_otherwise(otherwise, message),
        }
    }

    fn announce(&self, status: ReplyStatus) {
        self.end.announce(status);
    }

    fn late(&self) -> Option<Box<dyn AnswerPath>> {
        self.end.late()
    }

    fn receive_request(&self, object: &dyn InterceptedObject) -> Result<(), Interrupt> {
        let received = self.flow.borrow_mut().receive_request(object);
        received.map_err(|interrupt| *interrupt)
    }

    fn arrived(&self) -> Option<Instant> {
        self.end.path().arrived()
    }

    fn dedicated(&self) {
        self.end.path().dedicated();
    }
}

impl ReplyPath for OverlookedReply<'_, '_> {
    fn send(&self, message: &CdrWriter<'_>) {
        if self.end.expects_plain_results() {
            self.end.send_plain(message);
        } else if self.end.expects_message() {
            self.send_seen(message);
        }
    }

    fn announce(&self, status: ReplyStatus) {
        self.end.announce(status);
    }

    fn late(&self) -> Option<Box<dyn AnswerPath>> {
        self.end.late()
    }

    fn arrived(&self) -> Option<Instant> {
        self.end.path().arrived()
    }

    fn dedicated(&self) {
        self.end.path().dedicated();
    }
}
