// SPDX-License-Identifier: MIT OR Apache-2.0
//! One asynchronous invocation, from its request to its reply.

mod answering;
mod intercepting;
mod pending;
mod performing;
mod request_sending;
mod state;
mod telling;
mod times;

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use orbium_giop::SystemException;
use orbium_interceptor::SlotTable;
use orbium_interceptor::client::CallOutcome;
use orbium_invocation::{Operation, Priority, priority};
use orbium_sync::lock::{Condvar, Mutex, MutexGuard};
use orbium_sys::fork::Origin;
use orbium_trace::log::wants_spans;
use orbium_transport::Stamp;

use super::pending_call::News;
use super::reader::Reader;
use super::readers::Readers;
use super::request::Arguments;
use orbium_client::ClientContext;
use orbium_client::Reference;
use orbium_client::attempt::{Attempt, Suspended, may_try_others};
use orbium_client::request_path::Choice;
use orbium_client::span::CallSpan;
use orbium_connection::outcome::Outcome;
use state::{Due, Slot, State};

/// A call, shared by its handle, the reader that receives its reply, and its timer.
pub(crate) struct Call {
    /// Distinguishes timers of the same time.
    number: u64,
    object: Arc<Reference>,
    operation: &'static Operation,
    arguments: Mutex<Option<Box<dyn Arguments>>>,
    /// The caller's.
    priority: Option<Priority>,
    /// Whether the caller serves a request.
    is_nested: bool,
    /// Time of its creation.
    begun: Stamp,
    /// `None` if the call was refused.
    reader: Option<Arc<Reader>>,
    /// Whether a subscriber records its span.
    has_span: bool,
    state: Mutex<State>,
    done: Condvar,
    /// Time of its beginning, if it is measured.
    measured_since: Option<Instant>,
    begun_by: Origin,
    /// The caller's, if interceptors see the call.
    slots: Option<SlotTable>,
}

impl Call {
    /// Begins a call.
    pub(super) fn begin(
        readers: &Readers,
        object: Arc<Reference>,
        operation: &'static Operation,
        arguments: Box<dyn Arguments>,
    ) -> Arc<Self> {
        let client = object.client();
        let counted = readers.count_in(client.config().limits.asynchronous_calls);
        let refused = counted.as_ref().err().copied();
        let refused = refused.or_else(|| arguments.refusal());
        let real_time = client.real_time();
        let is_nested = real_time.is_some_and(|it| it.is_serving());
        let span = wants_spans()
            .then(|| CallSpan::begin(&object, operation))
            .flatten();
        let priority = own_priority(client, is_nested);
        let reader = match refused {
            None => readers.reader(client, priority),
            Some(refused) => Err(refused),
        };
        let refused = reader.as_ref().err().copied();
        let call = Arc::new(Self {
            number: readers.next_number(),
            priority,
            measured_since: client.measurements().map(|_| Instant::now()),
            slots: object.slots_of_caller(),
            object,
            operation,
            arguments: Mutex::new(Some(arguments)),
            is_nested,
            begun: Stamp::now(),
            reader: reader.ok(),
            has_span: span.is_some(),
            state: Mutex::new(State::new(counted.ok(), span)),
            done: Condvar::new(),
            begun_by: Origin::here(),
        });
        let started = refused.map_or_else(|| call.start(), Err);
        if let Err(refused) = started {
            call.take_notes();
            call.complete(Err(refused));
        }
        call
    }

    fn start(self: &Arc<Self>) -> Result<(), SystemException> {
        let Some(reader) = &self.reader else {
            return Ok(());
        };
        let mut attempt = Attempt::new(&self.object);
        let start = attempt.apply_policies_or_start_time()?;
        let timing = *attempt.timing();
        self.lock().timing = timing;
        self.with_span(|span| span.note_deadline(timing.reply.instant()));
        if let Some(start) = start {
            self.lock().attempt = Some(attempt.suspend());
            return self.arm(start, Due::Begin);
        }
        self.await_sending(&timing)?;
        self.send(reader, attempt, Choice::First);
        Ok(())
    }

    fn client(&self) -> &ClientContext {
        self.object.client()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Records data of the call, if a subscriber records its span.
    fn with_span(&self, record: impl FnOnce(&CallSpan)) {
        if self.has_span
            && let Some(span) = &self.lock().span
        {
            record(span);
        }
    }

    fn note_request_id(&self, id: u32) {
        if wants_spans() {
            self.with_span(|span| span.note_request_id(id));
        }
    }

    /// Runs a job that may block on the reader's threads.
    fn chore(self: &Arc<Self>, job: Box<dyn FnOnce() + Send>) {
        match &self.reader {
            Some(reader) if self.slots.is_some() => reader.intercept(job),
            Some(reader) => reader.chore(job),
            None => job(),
        }
    }

    /// Resumes the attempt at the caller's priority, unless the call is complete.
    fn resume(self: &Arc<Self>, act: impl FnOnce(&Arc<Self>, &Arc<Reader>, Attempt<'_>)) {
        let suspended = self.lock().attempt.take();
        let _entered = self.lock().span.as_ref().map(CallSpan::enter);
        if let (Some(suspended), Some(reader)) = (suspended, &self.reader) {
            priority::while_at(self.priority, || {
                let act = || act(self, reader, Attempt::resume(&self.object, suspended));
                match self.client().real_time() {
                    Some(real_time) if self.is_nested => {
                        let mut act = Some(act);
                        real_time.while_serving(&mut || {
                            if let Some(act) = act.take() {
                                act();
                            }
                        });
                    }
                    _ => act(),
                }
            });
        }
    }

    /// Goes on after something that was no answer. On the thread that reads: this
    /// does not block.
    pub(super) fn hear(self: &Arc<Self>, news: News) {
        {
            let mut state = self.lock();
            state.sent = None;
            // Known at the deadline too, which may pass before a thread goes on with the call.
            state.was_repeated |= matches!(news, News::Outcome(Outcome::Lost(_)));
        }
        let last = match &news {
            News::Outcome(Outcome::Failed(exception)) => Some(*exception),
            News::Outcome(Outcome::Lost(exception)) if !self.may_repeat() => Some(*exception),
            _ => None,
        };
        if let Some(exception) = last.filter(|_| !self.may_go_on()) {
            return self.complete(Err(exception));
        }
        let call = Arc::clone(self);
        self.chore(Box::new(move || {
            call.resume(|call, reader, attempt| call.go_on(reader, attempt, news));
        }));
    }

    /// Whether the call may be continued after a failure.
    pub(super) fn may_go_on(&self) -> bool {
        let state = self.lock();
        state.attempt.as_ref().is_some_and(Suspended::may_go_on)
    }

    /// Whether the request may be sent again after the loss of its connection.
    fn may_repeat(&self) -> bool {
        self.operation.is_idempotent() && self.object.idempotent_retries() > 0
    }

    fn go_on(self: &Arc<Self>, reader: &Arc<Reader>, attempt: Attempt<'_>, news: News) {
        let tried = self.lock().tried;
        let (outcome, choice) = match news {
            News::Unreachable(exception)
                if may_try_others(exception) && tried + 1 < attempt.ways() =>
            {
                self.lock().tried += 1;
                return self.send(reader, attempt, Choice::Next);
            }
            News::Unreachable(exception) => (Outcome::Failed(exception), Choice::First),
            News::Outcome(Outcome::Readdress(wanted)) => (Outcome::Readdress(wanted), Choice::Same),
            News::Outcome(outcome) => (outcome, Choice::First),
        };
        self.go_on_after(reader, attempt, outcome, choice);
    }

    /// Continues after an outcome without results, possibly after a pause, and notes the outcome.
    fn go_on_after(
        self: &Arc<Self>,
        reader: &Arc<Reader>,
        mut attempt: Attempt<'_>,
        outcome: Outcome,
        choice: Choice,
    ) {
        let ended = match &outcome {
            Outcome::Forward(to) => CallOutcome::Forward(Arc::clone(to)),
            _ => CallOutcome::Retry,
        };
        let again = attempt.go_on(self.operation, outcome);
        {
            let mut state = self.lock();
            state.counts = attempt.counts();
            state.was_repeated |= attempt.was_repeated();
            state.tried = 0;
            if let Some(span) = &state.span {
                span.note_counts(state.counts.0, state.counts.1);
            }
        }
        self.take_notes();
        if again.is_ok()
            && let Err(changed) = self.end_flow(&ended)
        {
            return self.go_on_changed(reader, attempt, changed);
        }
        match again {
            Ok(None) => self.send(reader, attempt, choice),
            Ok(Some(start)) => {
                {
                    let mut state = self.lock();
                    if !matches!(state.slot, Slot::Awaited) {
                        return;
                    }
                    state.attempt = Some(attempt.suspend());
                }
                if let Err(exception) = self.arm(start, Due::Begin) {
                    self.complete(Err(exception));
                }
            }
            Err(exception) => {
                self.keep_for_interceptors(attempt);
                self.complete(Err(exception));
            }
        }
    }

    /// Retains the attempt, as interceptors may forward the request after any outcome.
    fn keep_for_interceptors(&self, attempt: Attempt<'_>) {
        if self.slots.is_some() {
            self.lock().attempt = Some(attempt.suspend());
        }
    }
}

/// The priority of the calling thread: the one mapped from its native priority, if none was set.
fn own_priority(client: &ClientContext, is_nested: bool) -> Option<Priority> {
    match (priority::current(), client.real_time()) {
        (None, Some(real_time)) if !is_nested => real_time.outgoing(&[]).ok().flatten(),
        (own, _) => own,
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("operation", &self.operation.name())
            .field("object", &self.object)
            .field("priority", &self.priority)
            .finish_non_exhaustive()
    }
}
