// SPDX-License-Identifier: MIT OR Apache-2.0
//! Interceptors of an asynchronous invocation: each attempt is one sequence of points when
//! its request is sent, on the thread that sends it, and another one when its reply is
//! there, on a thread of the reader that may block.

use std::sync::Arc;

use orbium_interceptor::client::{CallFacts, CallOutcome, SuspendedFlow};
use orbium_interceptor::{ContextList, Interceptors};
use orbium_invocation::scheduling;
use orbium_sync::role;

use super::super::pending_call::Answered;
use super::super::reader::Reader;
use super::Call;
use super::state::Slot;
use orbium_client::attempt::Attempt;
use orbium_client::request_path::Choice;
use orbium_connection::outcome::Outcome;
use orbium_invocation::call_exceptions::broken_invariant;

impl Call {
    fn interceptors(&self) -> &Interceptors {
        &self.client().config().interceptors
    }

    fn take_flow(&self) -> Option<Box<SuspendedFlow>> {
        self.slots.as_ref()?;
        self.lock().flow.take()
    }

    /// Starts a flow, unless the attempt continues with another address of its object, or the call
    /// is over. Returns the attempt if its request is to be sent.
    pub(super) fn start_flow<'o>(
        self: &Arc<Self>,
        reader: &Arc<Reader>,
        attempt: Attempt<'o>,
    ) -> Option<Attempt<'o>> {
        let Some(slots) = &self.slots else {
            return Some(attempt);
        };
        let (has_flow, may_send) = {
            let state = self.lock();
            (state.flow.is_some(), state.may_send())
        };
        if has_flow || !may_send {
            return may_send.then_some(attempt);
        }
        let facts = CallFacts::of(self.operation, &attempt);
        let flow = SuspendedFlow::send_request(self.interceptors(), facts, slots.clone());
        self.go_on_with(reader, attempt, flow)
    }

    /// Runs the interception point after the request is written, before it is passed to its
    /// connection. Returns the attempt unless an interceptor has changed that.
    pub(super) fn flow_is_sent<'o>(
        self: &Arc<Self>,
        reader: &Arc<Reader>,
        attempt: Attempt<'o>,
    ) -> Option<Attempt<'o>> {
        let Some(flow) = self.take_flow() else {
            return Some(attempt);
        };
        let flow = flow.sent(self.interceptors());
        self.go_on_with(reader, attempt, flow)
    }

    /// Stores the flow, or ends it if the call has failed during its points. Returns the attempt
    /// unless that is so or an interceptor has changed its outcome.
    fn go_on_with<'o>(
        self: &Arc<Self>,
        reader: &Arc<Reader>,
        attempt: Attempt<'o>,
        flow: Result<SuspendedFlow, CallOutcome>,
    ) -> Option<Attempt<'o>> {
        match flow {
            Ok(flow) => {
                let mut state = self.lock();
                let Some(exception) = state.raised else {
                    state.flow = Some(Box::new(flow));
                    return Some(attempt);
                };
                drop(state);
                let outcome = CallOutcome::Raised(exception);
                // The outcome of the call cannot be changed any more.
                let _ = flow.end(self.interceptors(), &outcome, &ContextList::default());
                None
            }
            Err(changed) => {
                self.go_on_changed(reader, attempt, changed);
                None
            }
        }
    }

    /// The service contexts of the request in addition to those of the ORB.
    pub(super) fn added_contexts(&self) -> ContextList {
        if self.slots.is_none() {
            return ContextList::default();
        }
        let state = self.lock();
        let contexts = state.flow.as_ref().map(|flow| flow.contexts().clone());
        contexts.unwrap_or_default()
    }

    /// Ends the flow of an attempt that is followed by another.
    pub(super) fn end_flow(&self, outcome: &CallOutcome) -> Result<(), CallOutcome> {
        match self.take_flow() {
            Some(flow) => flow.end(self.interceptors(), outcome, &ContextList::default()),
            None => Ok(()),
        }
    }

    /// Continues as determined by interceptors.
    pub(super) fn go_on_changed(
        self: &Arc<Self>,
        reader: &Arc<Reader>,
        attempt: Attempt<'_>,
        changed: CallOutcome,
    ) {
        match changed {
            CallOutcome::Forward(to) => {
                self.go_on_after(reader, attempt, Outcome::Forward(to), Choice::First);
            }
            CallOutcome::Raised(exception) => self.complete(Err(exception)),
            _ => self.complete(Err(broken_invariant())),
        }
    }

    /// Completes the call after the interceptors. They may block, so they do not run on the reader
    /// thread.
    pub(super) fn show(self: &Arc<Self>, flow: Box<SuspendedFlow>, answered: Answered) {
        let call = Arc::clone(self);
        let job = move || {
            let number = call.client().number();
            let show = || call.show_now(*flow, answered);
            let run = || role::while_serving_own_thread(number, show);
            let _ = scheduling::at(call.priority, None, run);
        };
        match &self.reader {
            Some(reader) => reader.intercept(Box::new(job)),
            None => job(),
        }
    }

    fn show_now(self: &Arc<Self>, flow: SuspendedFlow, mut answered: Answered) {
        if let (Some(facts), Ok(reply)) = (flow.dynamic(), &answered) {
            reply.show(self.client().decoding(), facts);
        }
        let (outcome, contexts) = match &mut answered {
            Ok(reply) => (reply.call_outcome(), reply.contexts()),
            Err(exception) => (CallOutcome::Raised(*exception), ContextList::default()),
        };
        self.object.keep_reply_contexts(&contexts);
        let ended = flow.end(self.interceptors(), &outcome, &contexts);
        let mut state = self.lock();
        if !matches!(state.slot, Slot::Intercepted) {
            return;
        }
        state.slot = Slot::Awaited;
        match ended {
            Ok(()) => self.deliver(state, answered),
            Err(CallOutcome::Forward(to)) if state.attempt.is_some() => {
                let timing = state.timing;
                state.is_given_up = false;
                drop(state);
                // Its timer may have fired before.
                if let Err(exception) = self.await_sending(&timing) {
                    return self.complete(Err(exception));
                }
                self.resume(|call, reader, attempt| {
                    call.go_on_changed(reader, attempt, CallOutcome::Forward(to));
                });
            }
            Err(CallOutcome::Raised(exception)) => self.deliver(state, Err(exception)),
            Err(_) => self.deliver(state, Err(broken_invariant())),
        }
    }
}
