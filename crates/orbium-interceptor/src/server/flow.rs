// SPDX-License-Identifier: MIT OR Apache-2.0
//! One request on its way through the interceptors.

use std::fmt;

use orbium_giop::Completion;

use super::info::{
    InterceptedObject, ReceiveContexts, ReceiveRequest, RequestFacts, SendException, SendOther,
    SendReply, ServerRequest,
};
use super::outcome::RequestOutcome;
use crate::chain::{Point, Unimplemented};
use crate::context_list::ContextList;
use crate::interrupt::Interrupt;
use crate::registry::Interceptors;
use crate::slots::SlotTable;

/// A request, and the interceptors that have seen it begin.
pub struct RequestFlow<'r> {
    all: &'r Interceptors,
    request: ServerRequest<'r>,
    /// How many of them are owed an ending point.
    started: usize,
    /// The slots that the thread had, while the servant has those of the request.
    before: Option<SlotTable>,
}

impl<'r> RequestFlow<'r> {
    /// A flow with empty slots.
    #[must_use]
    #[inline(always)]
    pub fn new(all: &'r Interceptors, facts: RequestFacts<'r>) -> Self {
        Self {
            request: ServerRequest {
                facts,
                object: None,
                current: all.current(),
                slots: SlotTable::default(),
                reply_contexts: ContextList::default(),
            },
            all,
            started: 0,
            before: None,
        }
    }

    /// Starts with `receive_request_service_contexts` of each interceptor; then the thread
    /// has the slots of the request, until the flow ends.
    ///
    /// # Errors
    /// What interrupts the request. Ending points are yet to be called.
    #[inline]
    pub fn receive_contexts(&mut self) -> Result<(), Interrupt> {
        let current = self.request.current;
        let mut info = ReceiveContexts {
            request: &mut self.request,
            unimplemented: Unimplemented::default(),
        };
        let (all, started) = (&self.all.server, &mut self.started);
        all.start(RECEIVE_CONTEXTS, current, started, &mut info, |it, info| {
            it.receive_request_service_contexts(info)
        })?;
        if current.has_slots() {
            self.before = Some(current.exchange(self.request.slots.clone()));
        }
        Ok(())
    }

    /// The adapter of the object is known.
    #[inline]
    pub fn locate(&mut self, object: &'r dyn InterceptedObject) {
        self.request.object = Some(object);
    }

    /// Goes on with `receive_request` of each interceptor: the servant is known.
    ///
    /// # Errors
    /// What interrupts the request. Ending points are yet to be called.
    #[inline]
    pub fn receive_request(&mut self, object: &dyn InterceptedObject) -> Result<(), Interrupt> {
        let mut info = ReceiveRequest {
            request: &mut self.request,
            object,
            unimplemented: Unimplemented::default(),
        };
        let all = &self.all.server;
        all.go_on(RECEIVE_REQUEST, &mut info, |it, info| {
            it.receive_request(info)
        })
    }

    /// Ends with the ending points of the interceptors that have seen it begin, in reverse;
    /// `reply` are the service contexts that the servant has added to its reply.
    ///
    /// # Errors
    /// What the request ends with instead, where an interceptor has changed that.
    #[inline]
    pub fn end(
        &mut self,
        outcome: &RequestOutcome,
        reply: ContextList,
    ) -> Result<(), RequestOutcome> {
        if let Some(before) = self.before.take() {
            self.request.slots = self.request.current.exchange(before);
        }
        if !reply.is_empty() {
            self.request.reply_contexts.extend(reply);
        }
        match self.ending_points(outcome) {
            Ok(()) => Ok(()),
            Err(interrupt) => Err(self.end_changed(interrupt.into())),
        }
    }

    /// An interceptor has changed what the request ends with: the remaining ones see that.
    #[cold]
    fn end_changed(&mut self, mut outcome: RequestOutcome) -> RequestOutcome {
        while let Err(interrupt) = self.ending_points(&outcome) {
            outcome = interrupt.into();
        }
        outcome
    }

    #[inline]
    fn ending_points(&mut self, outcome: &RequestOutcome) -> Result<(), Interrupt> {
        let (all, started) = (&self.all.server, &mut self.started);
        let current = self.request.current;
        let request = &mut self.request;
        let unimplemented = Unimplemented::default();
        match outcome {
            RequestOutcome::Results => {
                let mut info = SendReply {
                    request,
                    unimplemented,
                };
                all.end(SEND_REPLY, current, started, &mut info, |it, info| {
                    it.send_reply(info).map_err(Interrupt::Raise)
                })
            }
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

    /// The service contexts that the reply is to carry.
    #[must_use]
    #[inline]
    pub fn reply_contexts(&self) -> &ContextList {
        &self.request.reply_contexts
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
