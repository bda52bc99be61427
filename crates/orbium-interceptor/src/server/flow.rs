// SPDX-License-Identifier: MIT OR Apache-2.0
//! One request on its way through the interceptors.

use std::fmt;

use orbium_giop::Completion;

use super::info::{
    InterceptedObject, ReceiveContexts, ReceiveRequest, RequestFacts, SendException, SendOther,
    SendReply, ServerRequest,
};
use super::outcome::RequestOutcome;
use crate::context_list::ContextList;
use crate::guard::{point, raise_only, unpanicked};
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
    pub fn receive_contexts(&mut self) -> Result<(), Interrupt> {
        let (all, current) = (self.all, self.request.current);
        for interceptor in &all.server {
            let request = &mut self.request;
            let mut info = ReceiveContexts { request };
            let run = || interceptor.receive_request_service_contexts(&mut info);
            point(&current, interceptor.name(), Completion::No, run)?;
            self.started += 1;
        }
        let slots = self.request.slots.clone();
        self.before = Some(current.exchange(slots));
        Ok(())
    }

    /// The adapter of the object is known.
    pub fn locate(&mut self, object: &'r dyn InterceptedObject) {
        self.request.object = Some(object);
    }

    /// Goes on with `receive_request` of each interceptor: the servant is known.
    ///
    /// # Errors
    /// What interrupts the request. Ending points are yet to be called.
    pub fn receive_request(&mut self, object: &dyn InterceptedObject) -> Result<(), Interrupt> {
        for interceptor in &self.all.server {
            let request = &mut self.request;
            let mut info = ReceiveRequest { request, object };
            let run = || interceptor.receive_request(&mut info);
            unpanicked(interceptor.name(), Completion::No, run)?;
        }
        Ok(())
    }

    /// Ends with the ending points of the interceptors that have seen it begin, in reverse;
    /// `reply` are the service contexts that the reply has already.
    ///
    /// # Errors
    /// What the request ends with instead, where an interceptor has changed that.
    pub fn end(
        &mut self,
        mut outcome: RequestOutcome,
        reply: &ContextList,
    ) -> Result<(), RequestOutcome> {
        if let Some(before) = self.before.take() {
            self.request.slots = self.request.current.exchange(before);
        }
        for context in reply.iter() {
            let data = context.data.clone();
            // What the servant added itself goes before.
            let _ = self.request.reply_contexts.add(context.id, data, true);
        }
        let mut is_changed = false;
        while self.started > 0 {
            // Before it is called: none is called twice.
            self.started -= 1;
            if let Err(interrupt) = self.ending_point(&outcome) {
                outcome = interrupt.into();
                is_changed = true;
            }
        }
        match is_changed {
            true => Err(outcome),
            false => Ok(()),
        }
    }

    fn ending_point(&mut self, outcome: &RequestOutcome) -> Result<(), Interrupt> {
        let interceptor = &self.all.server[self.started];
        let current = self.request.current;
        let (request, name) = (&mut self.request, interceptor.name());
        match outcome {
            RequestOutcome::Results => {
                let mut info = SendReply { request };
                let run = || interceptor.send_reply(&mut info);
                raise_only(point(&current, name, Completion::Yes, run))
            }
            RequestOutcome::UserException(_) | RequestOutcome::Raised(_) => {
                let mut info = SendException { request, outcome };
                let run = || interceptor.send_exception(&mut info);
                point(&current, name, Completion::Maybe, run)
            }
            _ => {
                let mut info = SendOther { request, outcome };
                let run = || interceptor.send_other(&mut info);
                point(&current, name, Completion::Maybe, run)
            }
        }
    }

    /// The service contexts that the reply is to carry.
    #[must_use]
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
