// SPDX-License-Identifier: MIT OR Apache-2.0
//! Replies that interceptors see before they are sent.

use std::cell::RefCell;
use std::time::Instant;

use orbium_cdr::CdrWriter;
use orbium_giop::ReplyStatus;
use orbium_interceptor::Interrupt;
use orbium_interceptor::server::{InterceptedObject, RequestFlow, RequestOutcome};
use orbium_invocation::raises::DispatchError;

use super::path::ReplyPath;
use super::request_end::RequestEnd;
use super::untyped::UntypedReply;
use crate::deferred::AnswerPath;

/// The path of a reply by way of the interceptors of its request.
pub(crate) trait InterceptedPath<'p, 'r>: ReplyPath {
    /// How the request ends.
    fn end(&self) -> &RequestEnd<'p, 'r>;

    /// Ends the request with that outcome, unless it has ended already.
    ///
    /// # Errors
    /// The system exception that it has ended with; it was sent already.
    fn conclude(
        &self,
        reply: &mut UntypedReply<'_>,
        outcome: RequestOutcome,
    ) -> Result<(), DispatchError>;
}

/// The path of a reply by way of a flow, with each point of its interceptors.
pub(crate) struct InterceptedReply<'e, 'p, 'r> {
    end: &'e RequestEnd<'p, 'r>,
    flow: RefCell<RequestFlow<'e>>,
}

/// The path of a reply where no interceptor implements a point of a request that ends with
/// results: interceptors see only how it ends otherwise.
pub(crate) struct OverlookedReply<'e, 'p, 'r>(pub(crate) &'e RequestEnd<'p, 'r>);

impl<'e, 'p, 'r> InterceptedReply<'e, 'p, 'r> {
    #[inline(always)]
    pub(crate) fn new(end: &'e RequestEnd<'p, 'r>) -> Self {
        let flow = RefCell::new(end.flow());
        Self { end, flow }
    }

    /// Begins the flow, with the first point of the interceptors.
    ///
    /// # Errors
    /// What interrupts the request. Ending points are yet to be called.
    #[inline(always)]
    pub(crate) fn begin(&self) -> Result<(), Interrupt> {
        self.flow.borrow_mut().receive_contexts(self.end.object)
    }

    /// Goes on with the flow, once the servant is known.
    ///
    /// # Errors
    /// What interrupts the request. Ending points are yet to be called.
    #[inline(always)]
    pub(crate) fn go_on(&self, object: &dyn InterceptedObject) -> Result<(), Interrupt> {
        self.flow.borrow_mut().receive_request(object)
    }
}

impl<'p, 'r> InterceptedPath<'p, 'r> for InterceptedReply<'_, 'p, 'r> {
    #[inline]
    fn end(&self) -> &RequestEnd<'p, 'r> {
        self.end
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

impl<'p, 'r> InterceptedPath<'p, 'r> for OverlookedReply<'_, 'p, 'r> {
    #[inline]
    fn end(&self) -> &RequestEnd<'p, 'r> {
        self.0
    }

    #[cold]
    fn conclude(
        &self,
        reply: &mut UntypedReply<'_>,
        outcome: RequestOutcome,
    ) -> Result<(), DispatchError> {
        self.0
            .conclude(reply, outcome, &mut self.0.flow_under_way())
    }
}

impl ReplyPath for InterceptedReply<'_, '_, '_> {
    fn send(&self, message: &CdrWriter<'_>) {
        if self.end.expects_message() {
            self.end.send(&mut self.flow.borrow_mut(), message);
        }
    }

    fn announce(&self, status: ReplyStatus) {
        self.end.announce(status);
    }

    fn late(&self) -> Option<Box<dyn AnswerPath>> {
        self.end.late()
    }

    fn receive_request(&self, object: &dyn InterceptedObject) -> Result<(), Interrupt> {
        self.go_on(object)
    }

    fn arrived(&self) -> Option<Instant> {
        self.end.path().arrived()
    }

    fn dedicated(&self) {
        self.end.path().dedicated();
    }
}

impl ReplyPath for OverlookedReply<'_, '_, '_> {
    fn send(&self, message: &CdrWriter<'_>) {
        if self.0.expects_message() && !self.0.send_overlooked(message) {
            self.send_seen(message);
        }
    }

    fn announce(&self, status: ReplyStatus) {
        self.0.announce(status);
    }

    fn late(&self) -> Option<Box<dyn AnswerPath>> {
        self.0.late()
    }

    fn arrived(&self) -> Option<Instant> {
        self.0.path().arrived()
    }

    fn dedicated(&self) {
        self.0.path().dedicated();
    }
}

impl OverlookedReply<'_, '_, '_> {
    /// The message is no results, or has service contexts of the servant.
    #[cold]
    #[inline(never)]
    fn send_seen(&self, message: &CdrWriter<'_>) {
        self.0.send(&mut self.0.flow_under_way(), message);
    }
}
