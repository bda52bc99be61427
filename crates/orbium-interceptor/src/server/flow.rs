// SPDX-License-Identifier: MIT OR Apache-2.0
//! One request on its way through the interceptors.

use std::fmt;

use orbium_giop::{Completion, SystemException};

use super::info::{ReceiveContexts, ReceiveRequest, SendException, SendOther, SendReply};
use super::points::ServerInterceptor;
use super::request_info::{InterceptedMessage, InterceptedObject, ServerRequest};
use super::request_outcome::RequestOutcome;
use crate::chain::{Chain, Point, Unimplemented};
use crate::processing_mode::Locality;
use crate::registration::registry::Interceptors;
use crate::request::context_list::ContextList;
use crate::request::interrupt::Interrupt;
use crate::request::slots::NO_SLOTS;

/// A request, and the interceptors that have seen it begin.
pub struct RequestFlow<'r> {
    all: &'r Chain<dyn ServerInterceptor>,
    request: ServerRequest<'r>,
    /// How many of them are owed an ending point.
    started: usize,
    /// Whether the thread has the slots of the request.
    slots_are_current: bool,
}

impl<'r> RequestFlow<'r> {
    /// A flow with empty slots.
    #[must_use]
    #[inline(always)]
    pub fn new<M: InterceptedMessage>(all: &'r Interceptors, message: &'r M) -> Self {
        Self {
            request: ServerRequest::new(message, all.current()),
            all: all.server.of(message.locality()),
            started: 0,
            slots_are_current: false,
        }
    }

    /// A flow that is under way: no interceptor implements the points before the servant, and
    /// each is owed an ending point.
    #[must_use]
    #[cold]
    pub fn under_way<M: InterceptedMessage>(
        all: &'r Interceptors,
        message: &'r M,
        object: &'r dyn InterceptedObject,
    ) -> Self {
        let mut flow = Self::new(all, message);
        flow.request.object = Some(object);
        flow.started = flow.all.len();
        flow
    }

    /// Starts with `receive_request_service_contexts` of each interceptor; then they can ask for
    /// the object, and the thread has the slots of the request, until the flow ends.
    ///
    /// # Errors
    /// What interrupts the request. Ending points are yet to be called.
    #[inline(always)]
    pub fn receive_contexts(&mut self, object: &'r dyn InterceptedObject) -> Result<(), Interrupt> {
        let current = self.request.current;
        let request = &mut self.request;
        let (all, started) = (self.all, &mut self.started);
        all.start(
            RECEIVE_CONTEXTS,
            current,
            started,
            || ReceiveContexts {
                request,
                unimplemented: Unimplemented::default(),
            },
            |it, info| it.receive_request_service_contexts(info),
        )?;
        self.request.object = Some(object);
        if current.has_slots() {
            self.make_slots_current();
        }
        Ok(())
    }

    #[cold]
    fn make_slots_current(&mut self) {
        let slots = self.request.kept().map(|kept| kept.slots.clone());
        let before = self.request.current.exchange(slots.unwrap_or_default());
        if !before.is_empty() {
            self.request.keep().slots_before = before;
        }
        self.slots_are_current = true;
    }

    /// The thread has its own slots again; the request has those that its servant leaves.
    #[cold]
    fn take_slots_back(&mut self) {
        let kept = self.request.kept_if_any();
        let before = kept.map(|kept| std::mem::take(&mut kept.slots_before));
        let slots = self.request.current.exchange(before.unwrap_or_default());
        if !slots.is_empty() || self.request.kept().is_some() {
            self.request.keep().slots = slots;
        }
        self.slots_are_current = false;
    }

    /// Goes on with `receive_request` of each interceptor: the servant is known.
    ///
    /// # Errors
    /// What interrupts the request. Ending points are yet to be called.
    #[inline(always)]
    pub fn receive_request(&mut self, object: &dyn InterceptedObject) -> Result<(), Interrupt> {
        let request = &mut self.request;
        let all = self.all;
        all.start(
            RECEIVE_REQUEST,
            NO_SLOTS,
            &mut 0,
            || ReceiveRequest {
                request,
                object,
                unimplemented: Unimplemented::default(),
            },
            |it, info| it.receive_request(info),
        )
    }

    /// Ends with the ending points of the interceptors that have seen it begin, in reverse;
    /// `reply` are the service contexts that the servant has added to its reply.
    ///
    /// # Errors
    /// What the request ends with instead, where an interceptor has changed that.
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

    /// As [`end`](Self::end), with [`RequestOutcome::Results`].
    ///
    /// # Errors
    /// What the request ends with instead, where an interceptor has changed that.
    #[inline]
    pub fn end_with_results(&mut self, reply: ContextList) -> Result<(), RequestOutcome> {
        if !self.slots_are_current && reply.is_empty() {
            self.send_reply()
                .map_err(|it| self.end_changed(RequestOutcome::Raised(it)))
        } else {
            self.end(&RequestOutcome::Results, reply)
        }
    }

    /// An interceptor has changed what the request ends with: the remaining ones see that.
    #[cold]
    fn end_changed(&mut self, mut outcome: RequestOutcome) -> RequestOutcome {
        while let Err(interrupt) = self.send_other(&outcome) {
            outcome = interrupt.into();
        }
        outcome
    }

    #[inline]
    fn send_reply(&mut self) -> Result<(), SystemException> {
        let current = self.request.current;
        let request = &mut self.request;
        self.all.end(
            SEND_REPLY,
            current,
            &mut self.started,
            || SendReply {
                request,
                unimplemented: Unimplemented::default(),
            },
            |it, info| it.send_reply(info),
        )
    }

    /// The ending points of what ends without results.
    #[cold]
    fn send_other(&mut self, outcome: &RequestOutcome) -> Result<(), Interrupt> {
        let (all, started) = (self.all, &mut self.started);
        let current = self.request.current;
        let request = &mut self.request;
        let unimplemented = Unimplemented::default();
        match outcome {
            RequestOutcome::UserException(_) | RequestOutcome::Raised(_) => all.end(
                SEND_EXCEPTION,
                current,
                started,
                || SendException {
                    request,
                    outcome,
                    unimplemented,
                },
                |it, info| it.send_exception(info),
            ),
            _ => all.end(
                SEND_OTHER,
                current,
                started,
                || SendOther {
                    request,
                    outcome,
                    unimplemented,
                },
                |it, info| it.send_other(info),
            ),
        }
    }

    /// The service contexts that the reply is to carry; `None` if there are none.
    #[must_use]
    #[inline]
    pub fn reply_contexts(&self) -> Option<&ContextList> {
        let kept = self.request.kept()?;
        Some(&kept.reply_contexts).filter(|it| !it.is_empty())
    }
}

impl Interceptors {
    /// Whether no interceptor of such requests implements a point of one that ends with results, and no
    /// slot accompanies it. A flow is needed only for a request that ends without: it is
    /// [under way](RequestFlow::under_way) then.
    #[must_use]
    #[inline]
    pub fn overlooks_requests(&self, locality: Locality) -> bool {
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

const RECEIVE_CONTEXTS: Point = Point {
    bit: 1,
    completed: Completion::No,
};
const RECEIVE_REQUEST: Point = Point {
    bit: 2,
    completed: Completion::No,
};
const SEND_REPLY: Point = Point {
    bit: 4,
    completed: Completion::Yes,
};
const SEND_EXCEPTION: Point = Point {
    bit: 8,
    completed: Completion::Maybe,
};
const SEND_OTHER: Point = Point {
    bit: 16,
    completed: Completion::Maybe,
};
