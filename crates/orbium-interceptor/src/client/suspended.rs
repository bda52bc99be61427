// SPDX-License-Identifier: MIT OR Apache-2.0
//! The flow of an asynchronous call, on several threads.

use super::call_outcome::CallOutcome;
use super::flow::{CallFlow, Progress};
use super::start::CallStart;
use super::target::CallFacts;
use crate::registration::registry::Interceptors;
use crate::request::context_list::ContextList;
use crate::request::dynamic::DynamicInvocation;
use crate::request::slots::SlotTable;

/// An attempt at an asynchronous call between its points, which run on different threads.
#[derive(Debug)]
pub struct SuspendedFlow {
    facts: CallFacts,
    slots: SlotTable,
    progress: Progress,
    /// Whether interceptors have seen the ending point of a request that was sent.
    is_sent: bool,
}

impl SuspendedFlow {
    /// Starts with `send_request` of each interceptor.
    ///
    /// # Errors
    /// The outcome of the attempt; ending points were already called.
    pub fn send_request(
        all: &Interceptors,
        facts: CallFacts,
        slots: SlotTable,
    ) -> Result<Self, CallOutcome> {
        let mut flow = CallFlow::new(all, start(all, &facts, &slots));
        flow.send_request()?;
        let (_, progress) = flow.into_parts();
        Ok(Self {
            facts,
            slots,
            progress,
            is_sent: false,
        })
    }

    /// The service contexts of the request.
    #[must_use]
    pub fn contexts(&self) -> &ContextList {
        let extended = self.progress.extended.as_ref();
        extended.unwrap_or(&self.facts.contexts)
    }

    /// The facts of a dynamic call, for its reply.
    #[must_use]
    pub fn dynamic(&self) -> Option<&DynamicInvocation> {
        self.slots.dynamic(self.facts.operation)
    }

    /// Ends with `receive_other` of each interceptor: the request is passed to its connection. When
    /// the reply arrives, a second sequence begins with `send_poll`.
    ///
    /// # Errors
    /// The changed outcome of the attempt.
    pub fn sent(self, all: &Interceptors) -> Result<Self, CallOutcome> {
        if self.is_sent {
            return Ok(self);
        }
        let mut flow = CallFlow::resumed(all, start(all, &self.facts, &self.slots), self.progress);
        flow.end(&CallOutcome::Pending, &ContextList::default())?;
        let (_, progress) = flow.into_parts();
        Ok(Self {
            facts: self.facts,
            slots: self.slots,
            progress,
            is_sent: true,
        })
    }

    /// Ends with the ending points, after `send_poll` of each interceptor if the request was
    /// [sent](Self::sent).
    ///
    /// # Errors
    /// The outcome to which an interceptor has changed the attempt.
    pub fn end(
        self,
        all: &Interceptors,
        outcome: &CallOutcome,
        reply: &ContextList,
    ) -> Result<(), CallOutcome> {
        let mut flow = CallFlow::resumed(all, start(all, &self.facts, &self.slots), self.progress);
        if self.is_sent {
            flow.send_poll()?;
        }
        flow.end(outcome, reply)
    }
}

impl CallFlow<'_> {
    /// Suspends the flow while its attempt changes.
    #[cold]
    #[must_use]
    pub fn suspend(self) -> SuspendedFlow {
        let (start, progress) = self.into_parts();
        SuspendedFlow {
            facts: CallFacts::of(start.operation, start.target),
            slots: start.slots.clone(),
            progress,
            is_sent: false,
        }
    }
}

fn start<'i>(all: &'i Interceptors, facts: &'i CallFacts, slots: &'i SlotTable) -> CallStart<'i> {
    CallStart {
        operation: facts.operation,
        target: facts,
        orb: all.orb_slots(),
        slots,
    }
}
