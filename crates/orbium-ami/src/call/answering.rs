// SPDX-License-Identifier: MIT OR Apache-2.0
//! Completing a call, and delivering its result.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use orbium_giop::{Completion, SystemException};
use orbium_invocation::exceptions::forked;
use orbium_invocation::scheduling;
use orbium_invocation::served_queue::wait_serving;
use orbium_invocation::story::{Failure, Note, Phase};
use orbium_metrics::End;
use orbium_sync::lock::MutexGuard;
use orbium_sync::role;
use orbium_transport::Deadline;

use super::super::pending_call::Answered;
use super::Call;
use super::state::{Due, Handler, Over, Slot, State, Then};
use orbium_client::attempt::Attempt;

impl Call {
    /// Processes a reply. A late one is discarded, an early one is delayed.
    pub(crate) fn answer(self: &Arc<Self>, answered: Answered) {
        let mut state = self.lock();
        if state.tried > 0 {
            self.prefer_candidate(&mut state);
        }
        if let Err(late) = state.timing.check_reply() {
            drop(state);
            self.note(Note::new(
                Phase::Wait,
                None,
                &"the reply came after the deadline",
            ));
            return self.complete(Err(late));
        }
        if !matches!(state.slot, Slot::Awaited) {
            return;
        }
        match state.timing.reply_start {
            Some(start) if start > Instant::now() => self.keep_back(state, start, answered),
            _ => self.deliver(state, answered),
        }
    }

    #[cold]
    fn prefer_candidate(&self, state: &mut State) {
        if let Some(suspended) = state.attempt.take() {
            let attempt = Attempt::resume(&self.object, suspended);
            attempt.prefer();
            state.attempt = Some(attempt.suspend());
        }
    }

    #[cold]
    fn keep_back(
        self: &Arc<Self>,
        mut state: MutexGuard<'_, State>,
        start: Instant,
        answered: Answered,
    ) {
        state.slot = Slot::Early(answered);
        drop(state);
        if self.arm(start, Due::Deliver).is_err() {
            self.deliver_early();
        }
    }

    pub(super) fn deliver_early(self: &Arc<Self>) {
        let mut state = self.lock();
        match mem::replace(&mut state.slot, Slot::Awaited) {
            Slot::Early(answered) => self.deliver(state, answered),
            other => state.slot = other,
        }
    }

    /// Completes the call, unless it is complete already.
    pub(crate) fn complete(self: &Arc<Self>, answered: Answered) {
        let state = self.lock();
        if matches!(state.slot, Slot::Awaited) {
            self.deliver(state, answered);
        }
    }

    /// Ends the call with the ORB.
    pub(crate) fn end(self: &Arc<Self>, ended: SystemException) {
        self.deliver_early();
        self.complete(Err(ended));
    }

    pub(super) fn deliver(self: &Arc<Self>, mut state: MutexGuard<'_, State>, answered: Answered) {
        if let Some(flow) = state.flow.take() {
            state.slot = Slot::Intercepted;
            drop(state);
            return self.show(flow, answered);
        }
        let answered = answered.map_err(|exception| match exception.completed {
            Completion::No if state.was_repeated => SystemException {
                completed: Completion::Maybe,
                ..exception
            },
            _ => exception,
        });
        if answered.is_err() {
            self.make_story(&mut state, &answered);
        }
        state.raised = answered.as_ref().err().copied();
        end_span(&state, &answered);
        let over = Over::of(&mut state);
        self.record(&answered);
        match mem::replace(&mut state.then, Then::Dropped) {
            Then::Kept(waker) => {
                state.slot = Slot::There(answered);
                let is_waited_for = state.is_waited_for;
                drop(state);
                // A system call, independently of waiting threads.
                if is_waited_for {
                    self.done.notify_all();
                }
                if let Some(waker) = waker {
                    // Wakers are external code: a panic must not end the reader thread.
                    let _ = catch_unwind(AssertUnwindSafe(|| waker.wake()));
                }
            }
            Then::Handled(handler) => {
                state.slot = Slot::Taken;
                drop(state);
                self.hand(handler, answered);
            }
            Then::Dropped => {
                state.slot = Slot::Taken;
                drop(state);
            }
        }
        self.clear(&over);
    }

    /// Records a call that is measured.
    fn record(&self, answered: &Answered) {
        let Some((begun, all)) = self.measured_since.zip(self.client().measurements()) else {
            return;
        };
        let (end, failed) = match answered {
            Err(exception) => (End::SystemException, Some(*exception)),
            Ok(reply) => reply.end(),
        };
        all.count_call(self.operation, begun.elapsed(), failed, end);
    }

    /// Releases the resources of a pending call. Called without its lock.
    fn clear(&self, over: &Over) {
        if let (Some(reader), Some((at, _))) = (&self.reader, over.timer) {
            reader.disarm(at, self.number);
        }
        if let Some(queue) = &over.queue {
            queue.withdraw(self.number);
        }
        // A thread that is still writing them releases them later.
        if let Some(mut arguments) = self.arguments.try_lock() {
            *arguments = None;
        }
    }

    /// Has a handler run.
    fn hand(self: &Arc<Self>, handler: Handler, answered: Answered) {
        // Keeps the ORB alive while the handler runs.
        let (object, priority) = (Arc::clone(&self.object), self.priority);
        let call = Arc::clone(self);
        let job = move || {
            call.tell();
            drop(call);
            let handle = || {
                let number = object.client().number();
                role::while_serving_own_thread(number, || handler(answered));
            };
            // The result does not matter: no native priority is given.
            let _ = scheduling::at(priority, None, handle);
        };
        match &self.reader {
            Some(reader) => reader.handle(Box::new(job)),
            None => job(),
        }
    }

    /// Registers the handler of the answer.
    pub(crate) fn on_reply(self: &Arc<Self>, handler: Handler) {
        if let Some(lost) = self.lost_in_fork() {
            return handler(Err(lost));
        }
        let mut state = self.lock();
        match mem::replace(&mut state.slot, Slot::Taken) {
            Slot::There(answered) => {
                drop(state);
                self.hand(handler, answered);
            }
            other @ (Slot::Awaited | Slot::Early(_) | Slot::Intercepted) => {
                state.slot = other;
                state.then = Then::Handled(handler);
            }
            Slot::Taken => {}
        }
    }

    /// Removes the handler of the answer; `None` if it has the answer, or there is none.
    pub(crate) fn take_handler(&self) -> Option<Handler> {
        let mut state = self.lock();
        if !state.slot.is_open() {
            return None;
        }
        match mem::replace(&mut state.then, Then::Kept(None)) {
            Then::Handled(handler) => Some(handler),
            other => {
                state.then = other;
                None
            }
        }
    }

    /// Keeps an answer that a handler was given, for the poller that it reads.
    pub(crate) fn put_back(&self, answered: Answered) {
        self.lock().slot = Slot::There(answered);
    }

    /// Whether the answer is pending.
    pub(crate) fn is_open(&self) -> bool {
        self.lost_in_fork().is_none() && self.lock().slot.is_open()
    }

    /// Whether the answer was taken.
    pub(crate) fn is_taken(&self) -> bool {
        self.lost_in_fork().is_none() && matches!(self.lock().slot, Slot::Taken)
    }

    /// Waits for the end of the call for at most `timeout`; returns whether it has ended.
    pub(crate) fn wait(self: &Arc<Self>, timeout: Option<Duration>) -> bool {
        if !self.is_open() {
            return true;
        }
        if timeout == Some(Duration::ZERO) {
            return false;
        }
        let deadline = Deadline::after(timeout);
        self.send_deferred();
        role::about_to_block();
        let call = Arc::clone(self);
        wait_serving(move || call.block(deadline)).unwrap_or_else(|| !self.is_open())
    }

    fn block(&self, deadline: Deadline) -> bool {
        let mut state = self.lock();
        state.is_waited_for = true;
        while state.slot.is_open() {
            let Ok(left) = deadline.remaining() else {
                return false;
            };
            state = self.done.wait_at_most(state, left);
        }
        true
    }

    /// Sends the request if that was left to the reader, as the caller adds no further ones.
    fn send_deferred(&self) {
        let sent = self.lock().sent.clone();
        if let (Some((line, _)), Some(reader)) = (sent, &self.reader) {
            line.send_deferred(reader);
        }
    }

    /// The exception of a call in a child that was forked while the call was pending: the parent
    /// receives the answer.
    fn lost_in_fork(&self) -> Option<SystemException> {
        (!self.begun_by.is_here()).then(|| SystemException {
            completed: Completion::Maybe,
            ..forked()
        })
    }

    /// Takes the answer, if it has arrived and was not taken.
    pub(crate) fn take(&self) -> Option<Answered> {
        if let Some(lost) = self.lost_in_fork() {
            return Some(Err(lost));
        }
        let mut state = self.lock();
        match mem::replace(&mut state.slot, Slot::Taken) {
            Slot::There(answered) => Some(answered),
            other => {
                state.slot = other;
                None
            }
        }
    }

    /// Takes the answer, if it has arrived, without waiting.
    pub(crate) fn take_if_over(&self) -> Option<Answered> {
        if self.lost_in_fork().is_some() {
            return None;
        }
        let mut state = self.lock();
        if !matches!(state.slot, Slot::There(_)) {
            return None;
        }
        match mem::replace(&mut state.slot, Slot::Taken) {
            Slot::There(answered) => Some(answered),
            _ => None,
        }
    }

    /// Has the waker woken with the answer; `true` if it has arrived.
    pub(crate) fn wake_when_ready(&self, waker: &Waker) -> bool {
        let mut state = self.lock();
        if self.lost_in_fork().is_some() || !state.slot.is_open() {
            return true;
        }
        if let Then::Kept(kept) = &mut state.then {
            *kept = Some(waker.clone());
        }
        false
    }

    /// The poll function of a future.
    pub(crate) fn poll(&self, cx: &mut Context<'_>) -> Poll<Option<Answered>> {
        if let Some(lost) = self.lost_in_fork() {
            return Poll::Ready(Some(Err(lost)));
        }
        let mut state = self.lock();
        match mem::replace(&mut state.slot, Slot::Taken) {
            Slot::There(answered) => Poll::Ready(Some(answered)),
            Slot::Taken => Poll::Ready(None),
            other @ (Slot::Awaited | Slot::Early(_) | Slot::Intercepted) => {
                state.slot = other;
                if let Then::Kept(waker) = &mut state.then {
                    match waker {
                        Some(waker) => waker.clone_from(cx.waker()),
                        None => *waker = Some(cx.waker().clone()),
                    }
                }
                Poll::Pending
            }
        }
    }

    /// Abandons the result.
    pub(crate) fn cancel(&self) {
        if self.lost_in_fork().is_some() {
            return;
        }
        let over = {
            let mut state = self.lock();
            if !state.slot.is_open() {
                return;
            }
            state.slot = Slot::Taken;
            state.then = Then::Dropped;
            Over::of(&mut state)
        };
        if let (Some((line, id)), Some(reader)) = (&over.sent, &self.reader) {
            line.withdraw(reader, *id);
        }
        self.clear(&over);
    }
}

/// Records the outcome of the call.
fn end_span(state: &State, answered: &Answered) {
    let Some(span) = &state.span else { return };
    match answered {
        Err(exception) => {
            let phase = state.failure.as_ref().map_or(Phase::Wait, Failure::phase);
            span.note_failure(*exception, phase);
        }
        Ok(answer) => {
            if let Some(id) = answer.user_exception() {
                span.note_user_exception(id.as_deref());
            }
        }
    }
}
