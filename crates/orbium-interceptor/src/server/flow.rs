// SPDX-License-Identifier: MIT OR Apache-2.0
//! The flow of a request through the interceptors.

use std::fmt;

use orbium_giop::{Completion, SystemException};

use super::info::{ReceiveContexts, ReceiveRequest, SendException, SendOther, SendReply};
use super::links::{RECEIVE_CONTEXTS, RECEIVE_REQUEST, SEND_REPLY};
use super::points::ServerInterceptor;
use super::request_info::{InterceptedMessage, InterceptedObject, ServerRequest};
use super::request_outcome::RequestOutcome;
use crate::chain::{Chain, Point, Stopped, Unimplemented};
use crate::processing_mode::Locality;
use crate::registration::registry::Interceptors;
use crate::request::context_list::ContextList;
use crate::request::interrupt::Interrupt;
use crate::request::slots::NO_SLOTS;

/// A request, and the interceptors that have seen its beginning.
pub struct RequestFlow<'r> {
    interceptors: &'r Chain<dyn ServerInterceptor>,
    request: ServerRequest<'r>,
    /// The number of interceptors that have yet to see an ending point.
    started: usize,
    /// Whether the thread has the slots of the request.
    slots_are_current: bool,
}

/// Interceptors run by [links](Interceptors::linked_requests).
#[derive(Clone, Copy)]
pub struct LinkedRequests<'i>(&'i Chain<dyn ServerInterceptor>);

/// A request that does not end with plain results: interceptors have added to them, or the one that
/// has stopped its ending points has changed them.
pub struct EndedOtherwise(Option<Box<Stopped>>);

impl<'r> RequestFlow<'r> {
    /// A flow with empty slots, for the request with that id in its message.
    #[must_use]
    #[inline(always)]
    pub fn new<M: InterceptedMessage>(
        all: &'r Interceptors,
        id: u32,
        message: &'r M,
        object: &'r dyn InterceptedObject,
    ) -> Self {
        Self {
            interceptors: all.server.of(message.locality()),
            request: ServerRequest::new(id, message, object, all.slots()),
            started: 0,
            slots_are_current: false,
        }
    }

    /// A flow with points run by links: each interceptor has yet to see an ending point.
    #[must_use]
    #[inline(always)]
    pub fn linked<M: InterceptedMessage>(
        linked: LinkedRequests<'r>,
        all: &'r Interceptors,
        id: u32,
        message: &'r M,
        object: &'r dyn InterceptedObject,
    ) -> Self {
        Self {
            interceptors: linked.0,
            started: linked.0.len(),
            request: ServerRequest::new(id, message, object, all.slots()),
            slots_are_current: false,
        }
    }

    /// A flow in progress: no interceptor implements the points before the servant, and each has
    /// yet to see an ending point.
    #[must_use]
    #[cold]
    pub fn under_way<M: InterceptedMessage>(
        all: &'r Interceptors,
        id: u32,
        message: &'r M,
        object: &'r dyn InterceptedObject,
    ) -> Self {
        let mut flow = Self::new(all, id, message, object);
        flow.started = flow.interceptors.len();
        flow
    }

    /// Starts with `receive_request_service_contexts` of each interceptor; then the object is
    /// available to them, and the thread has the slots of the request, until the flow ends.
    ///
    /// # Errors
    /// The interrupt of the request. Ending points have yet to be called.
    pub fn receive_contexts(&mut self) -> Result<(), Box<Interrupt>> {
        let current = self.request.current();
        let mut info = ReceiveContexts::of(&mut self.request);
        let (all, started) = (self.interceptors, &mut self.started);
        let received = all.start(RECEIVE_CONTEXTS, current, started, &mut info, |it, info| {
            it.receive_request_service_contexts(info)
        });
        if let Err(interrupt) = received {
            self.request.object = None;
            return Err(Box::new(interrupt));
        }
        if current.has_slots() {
            self.make_slots_current();
        }
        Ok(())
    }

    /// As [`receive_contexts`](Self::receive_contexts), by links.
    ///
    /// # Errors
    /// The interrupt of the request. Ending points have yet to be called.
    #[inline(always)]
    pub fn receive_contexts_linked(&mut self) -> Result<(), Box<Interrupt>> {
        let links = self.interceptors.starting();
        match links.receive_contexts(&mut self.request) {
            Ok(()) => Ok(()),
            Err(stopped) => Err(self.start_stopped(*stopped)),
        }
    }

    #[cold]
    fn start_stopped(&mut self, stopped: Stopped) -> Box<Interrupt> {
        self.request.object = None;
        Box::new(self.interceptors.stopped(stopped, &mut self.started))
    }

    #[cold]
    fn make_slots_current(&mut self) {
        let slots = self.request.kept().map(|kept| kept.slots.clone());
        let before = self.request.current().exchange(slots.unwrap_or_default());
        if !before.is_empty() {
            self.request.keep().slots_before = before;
        }
        self.slots_are_current = true;
    }

    /// Restores the slots of the thread; the request gets those left by its servant.
    #[cold]
    fn take_slots_back(&mut self) {
        let kept = self.request.kept_if_any();
        let before = kept.map(|kept| std::mem::take(&mut kept.slots_before));
        let slots = self.request.current().exchange(before.unwrap_or_default());
        if !slots.is_empty() || self.request.kept().is_some() {
            self.request.keep().slots = slots;
        }
        self.slots_are_current = false;
    }

    /// Continues with `receive_request` of each interceptor: the servant is known.
    ///
    /// # Errors
    /// The interrupt of the request. Ending points have yet to be called.
    pub fn receive_request(
        &mut self,
        object: &dyn InterceptedObject,
    ) -> Result<(), Box<Interrupt>> {
        let mut info = ReceiveRequest::of(&mut self.request, object);
        let all = self.interceptors;
        let received = all.start(RECEIVE_REQUEST, NO_SLOTS, &mut 0, &mut info, |it, info| {
            it.receive_request(info)
        });
        received.map_err(Box::new)
    }

    /// As [`receive_request`](Self::receive_request), by links.
    ///
    /// # Errors
    /// The interrupt of the request. Ending points have yet to be called.
    #[inline(always)]
    pub fn receive_request_linked(
        &mut self,
        object: &dyn InterceptedObject,
    ) -> Result<(), Box<Interrupt>> {
        let links = self.interceptors.starting();
        match links.receive_request(&mut self.request, object) {
            Ok(()) => Ok(()),
            // All have started.
            Err(stopped) => Err(Box::new(self.interceptors.stopped(*stopped, &mut 0))),
        }
    }

    /// Ends with the ending points of the interceptors that have seen the beginning, in reverse;
    /// `reply` has the service contexts added by the servant to its reply.
    ///
    /// # Errors
    /// The outcome to which an interceptor has changed the request.
    pub fn end(
        &mut self,
        outcome: &RequestOutcome,
        reply: ContextList,
    ) -> Result<(), RequestOutcome> {
        if self.slots_are_current {
            self.take_slots_back();
        }
        if !reply.is_empty() {
            self.request.keep().reply_contexts.extend(reply);
        }
        let ended = match outcome {
            RequestOutcome::Results => self.send_reply().map_err(Interrupt::Raise),
            _ => self.send_other(outcome),
        };
        ended.map_err(|interrupt| self.end_changed(interrupt.into()))
    }

    /// As [`end`](Self::end), with [`RequestOutcome::Results`] without additions of the servant or
    /// an interceptor, by links.
    ///
    /// # Errors
    /// Any other end.
    #[inline(always)]
    pub fn end_linked(&mut self) -> Result<(), EndedOtherwise> {
        match self.interceptors.ending().send_reply(&mut self.request) {
            Ok(()) if self.reply_contexts().is_none() => Ok(()),
            Ok(()) => Err(EndedOtherwise(None)),
            Err(stopped) => Err(EndedOtherwise(Some(stopped))),
        }
    }

    /// The outcome of a request that has not ended with plain results.
    ///
    /// # Errors
    /// The outcome to which an interceptor has changed them.
    #[cold]
    pub fn end_otherwise(
        &mut self,
        ended: EndedOtherwise,
    ) -> Result<RequestOutcome, RequestOutcome> {
        let Some(stopped) = ended.0 else {
            return Ok(RequestOutcome::Results);
        };
        let interrupt = self.interceptors.stopped(*stopped, &mut self.started);
        Err(self.end_changed(interrupt.into()))
    }

    /// Runs the remaining interceptors after one has changed the outcome.
    #[cold]
    fn end_changed(&mut self, mut outcome: RequestOutcome) -> RequestOutcome {
        while let Err(interrupt) = self.send_other(&outcome) {
            outcome = interrupt.into();
        }
        outcome
    }

    fn send_reply(&mut self) -> Result<(), SystemException> {
        let current = self.request.current();
        let mut info = SendReply::of(&mut self.request);
        let (all, started) = (self.interceptors, &mut self.started);
        all.end(SEND_REPLY, current, started, &mut info, |it, info| {
            it.send_reply(info)
        })
    }

    /// Runs the ending points of a request without results.
    #[cold]
    fn send_other(&mut self, outcome: &RequestOutcome) -> Result<(), Interrupt> {
        let (all, started) = (self.interceptors, &mut self.started);
        let current = self.request.current();
        let (request, unimplemented) = (&mut self.request, Unimplemented::default());
        match outcome {
            RequestOutcome::UserException(_) | RequestOutcome::Raised(_) => {
                let mut info = SendException {
                    request,
                    outcome,
                    unimplemented,
                };
                all.end(SEND_EXCEPTION, current, started, &mut info, |it, info| {
                    it.send_exception(info)
                })
            }
            _ => {
                let mut info = SendOther {
                    request,
                    outcome,
                    unimplemented,
                };
                all.end(SEND_OTHER, current, started, &mut info, |it, info| {
                    it.send_other(info)
                })
            }
        }
    }

    /// The service contexts of the reply; `None` if there are none.
    #[must_use]
    #[inline]
    pub fn reply_contexts(&self) -> Option<&ContextList> {
        let kept = self.request.kept()?;
        Some(&kept.reply_contexts).filter(|it| !it.is_empty())
    }
}

impl Interceptors {
    /// The interceptors of such requests, if all implement all points of a request with results,
    /// and it has no slots.
    #[must_use]
    #[inline]
    pub fn linked_requests(&self, locality: Locality) -> Option<LinkedRequests<'_>> {
        let points = [RECEIVE_CONTEXTS, RECEIVE_REQUEST, SEND_REPLY];
        let all = self.server.of(locality);
        let are_linked = all.implements(&points) && !self.current().has_slots();
        are_linked.then_some(LinkedRequests(all))
    }

    /// Whether no interceptor of such requests implements a point of a request with results, and it
    /// has no slots. A flow is needed only for a request without results: it is [in
    /// progress](RequestFlow::under_way) then.
    #[must_use]
    #[inline]
    pub fn ignores_requests(&self, locality: Locality) -> bool {
        let points = [RECEIVE_CONTEXTS, RECEIVE_REQUEST, SEND_REPLY];
        self.server.of(locality).does_nothing_at_all(&points) && !self.current().has_slots()
    }
}

impl fmt::Debug for RequestFlow<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestFlow")
            .field("request", &self.request)
            .field("started", &self.started)
            .finish_non_exhaustive()
    }
}

const SEND_EXCEPTION: Point = Point {
    bit: 8,
    completed: Completion::Maybe,
};
const SEND_OTHER: Point = Point {
    bit: 16,
    completed: Completion::Maybe,
};
