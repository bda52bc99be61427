// SPDX-License-Identifier: MIT OR Apache-2.0
//! One attempt at a call on its way through the interceptors.

use std::fmt;

use orbium_giop::{Completion, ServiceContext};

use super::info::{
    CallFacts, ClientRequest, ReceiveException, ReceiveOther, ReceiveReply, SendPoll, SendRequest,
};
use super::outcome::CallOutcome;
use crate::context_list::ContextList;
use crate::guard::{point, raise_only};
use crate::interrupt::Interrupt;
use crate::registry::Interceptors;
use crate::slots::SlotTable;

/// An attempt at a call, and the interceptors that have seen it begin.
pub struct CallFlow<'i> {
    all: &'i Interceptors,
    request: ClientRequest,
    /// How many of them are owed an ending point.
    started: usize,
    /// Whether they have seen the ending point of an asynchronous request that was sent.
    is_sent: bool,
}

/// The flow of an asynchronous call between its request and its reply, which another thread
/// may receive.
#[derive(Debug)]
pub struct SuspendedFlow {
    request: ClientRequest,
    started: usize,
    is_sent: bool,
}

impl SuspendedFlow {
    /// The service contexts that the request carries.
    #[must_use]
    pub fn contexts(&self) -> &ContextList {
        &self.request.facts.contexts
    }

    /// The request is handed to its connection: ends with `receive_other` of each interceptor.
    /// When the reply is there, a second sequence begins with `send_poll`.
    ///
    /// # Errors
    /// What the attempt ends with instead.
    pub fn sent(self, all: &Interceptors) -> Result<Self, CallOutcome> {
        if self.is_sent {
            return Ok(self);
        }
        let mut flow = self.resume(all);
        flow.end(CallOutcome::Pending, &ContextList::default())?;
        flow.is_sent = true;
        Ok(flow.suspend())
    }

    /// Ends with the ending points, after `send_poll` of each interceptor if the request was
    /// [sent](Self::sent).
    ///
    /// # Errors
    /// What the attempt ends with instead, where an interceptor has changed that.
    pub fn end(
        self,
        all: &Interceptors,
        outcome: CallOutcome,
        reply: &ContextList,
    ) -> Result<(), CallOutcome> {
        let mut flow = self.resume(all);
        if flow.is_sent {
            flow.send_poll()?;
        }
        flow.end(outcome, reply)
    }

    fn resume(self, all: &Interceptors) -> CallFlow<'_> {
        CallFlow {
            all,
            request: self.request,
            started: self.started,
            is_sent: self.is_sent,
        }
    }
}

impl<'i> CallFlow<'i> {
    /// A flow with the slots that the calling thread had when it made the call.
    #[must_use]
    pub fn new(all: &'i Interceptors, facts: CallFacts, slots: SlotTable) -> Self {
        Self {
            request: ClientRequest {
                id: all.next_request(),
                facts,
                current: all.current(),
                slots,
                reply_contexts: ContextList::default(),
            },
            all,
            started: 0,
            is_sent: false,
        }
    }

    /// What is kept of the flow until the reply to an asynchronous request is there.
    #[must_use]
    pub fn suspend(self) -> SuspendedFlow {
        SuspendedFlow {
            request: self.request,
            started: self.started,
            is_sent: self.is_sent,
        }
    }

    /// Starts with `send_request` of each interceptor.
    ///
    /// # Errors
    /// What the attempt ends with; ending points were called already.
    pub fn send_request(&mut self) -> Result<(), CallOutcome> {
        let (all, current) = (self.all, self.request.current);
        for interceptor in &all.client {
            let request = &mut self.request;
            let mut info = SendRequest { request };
            let run = || interceptor.send_request(&mut info);
            match point(&current, interceptor.name(), Completion::No, run) {
                Ok(()) => self.started += 1,
                Err(interrupt) => return Err(self.interrupted(interrupt.into())),
            }
        }
        Ok(())
    }

    /// Starts with `send_poll` of each interceptor: the reply to an asynchronous request is
    /// there.
    fn send_poll(&mut self) -> Result<(), CallOutcome> {
        let (all, current) = (self.all, self.request.current);
        for interceptor in &all.client {
            let request = &self.request;
            let mut info = SendPoll { request };
            let run = || interceptor.send_poll(&mut info);
            match point(&current, interceptor.name(), Completion::No, run) {
                Ok(()) => self.started += 1,
                Err(exception) => return Err(self.interrupted(CallOutcome::Raised(exception))),
            }
        }
        Ok(())
    }

    #[cold]
    fn interrupted(&mut self, outcome: CallOutcome) -> CallOutcome {
        self.end(outcome.clone(), &ContextList::default())
            .err()
            .unwrap_or(outcome)
    }

    /// The service contexts that the request is to carry.
    #[must_use]
    pub fn contexts(&self) -> Vec<ServiceContext<'_>> {
        self.request.facts.contexts.borrowed()
    }

    /// Ends with the ending points of the interceptors that have seen it begin, in reverse.
    ///
    /// # Errors
    /// What the attempt ends with instead, where an interceptor has changed that.
    pub fn end(
        &mut self,
        mut outcome: CallOutcome,
        reply: &ContextList,
    ) -> Result<(), CallOutcome> {
        if !reply.is_empty() {
            self.request.reply_contexts.clone_from(reply);
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

    fn ending_point(&self, outcome: &CallOutcome) -> Result<(), Interrupt> {
        let interceptor = &self.all.client[self.started];
        let (request, current, name) = (&self.request, &self.request.current, interceptor.name());
        match outcome {
            CallOutcome::Results => {
                let mut info = ReceiveReply { request };
                let run = || interceptor.receive_reply(&mut info);
                raise_only(point(current, name, Completion::Yes, run))
            }
            CallOutcome::UserException(_) | CallOutcome::Raised(_) => {
                let mut info = ReceiveException { request, outcome };
                let run = || interceptor.receive_exception(&mut info);
                point(current, name, Completion::Maybe, run)
            }
            _ => {
                let mut info = ReceiveOther { request, outcome };
                let run = || interceptor.receive_other(&mut info);
                point(current, name, Completion::Maybe, run)
            }
        }
    }
}

impl fmt::Debug for CallFlow<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallFlow")
            .field("request", &self.request)
            .field("started", &self.started)
            .finish_non_exhaustive()
    }
}
