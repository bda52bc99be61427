// SPDX-License-Identifier: MIT OR Apache-2.0
//! The request of a call: over a line, or by a thread that waits.

use std::sync::{Arc, PoisonError};

use orbium_giop::{ReplyStatus, SystemException};
use orbium_invocation::story::story_of;

use super::super::answer::Answer as Reply;
use super::super::line::{Line, Pending};
use super::super::pending_call::Answered;
use super::super::reader::Reader;
use super::super::request::written;
use super::Call;
use super::state::Slot;
use orbium_client::attempt::Attempt;
use orbium_client::exchange::{Answer, Exchange};
use orbium_client::outcome::Outcome;
use orbium_client::way::Choice;

/// A request that is ready to be sent.
struct Ready {
    line: Arc<Line>,
    id: u32,
    octets: Vec<u8>,
    pending: Pending,
}

enum Prepared {
    Request(Ready),
    /// A thread has to do it: within the process, or over the one connection of a
    /// binding.
    ByThread {
        is_local: bool,
    },
}

impl Call {
    /// Sends the request, by whatever way there is.
    pub(super) fn send(
        self: &Arc<Self>,
        reader: &Arc<Reader>,
        attempt: Attempt<'_>,
        choice: Choice,
    ) {
        let Some(attempt) = self.start_flow(reader, attempt) else {
            return;
        };
        let prepared = match self.prepare(reader, &attempt, choice) {
            Ok(prepared) => prepared,
            Err(refused) => {
                let failed = Outcome::Failed(refused);
                return self.go_on_after(reader, attempt, failed, Choice::First);
            }
        };
        let Some(attempt) = self.flow_is_sent(reader, attempt) else {
            return;
        };
        match prepared {
            Prepared::Request(ready) => self.submit(reader, attempt, ready),
            Prepared::ByThread { is_local } => {
                {
                    let mut state = self.lock();
                    state.attempt = Some(attempt.suspend());
                    state.is_performed = true;
                }
                self.perform_elsewhere(reader, is_local);
            }
        }
    }

    fn submit(self: &Arc<Self>, reader: &Arc<Reader>, attempt: Attempt<'_>, ready: Ready) {
        {
            // Before it is sent: the answer may be there at once.
            let mut state = self.lock();
            if !matches!(state.slot, Slot::Awaited) {
                return;
            }
            state.attempt = Some(attempt.suspend());
            state.sent = Some((Arc::clone(&ready.line), ready.id));
            state.is_performed = false;
        }
        let submitted = ready
            .line
            .submit(reader, ready.id, ready.octets, ready.pending);
        if let Err(news) = submitted {
            // It ended after this call had found it.
            self.note_after_its_beginning(&ready.line.notes());
            self.lock().sent = None;
            self.resume(|call, reader, attempt| call.go_on(reader, attempt, news));
        }
    }

    fn prepare(
        self: &Arc<Self>,
        reader: &Arc<Reader>,
        attempt: &Attempt<'_>,
        choice: Choice,
    ) -> Result<Prepared, SystemException> {
        let way = attempt.way(choice)?;
        self.with_span(|span| {
            span.note_way(&self.object, way.candidate, attempt.is_forwarded());
            span.note_priority(self.priority);
        });
        let pool = match way.pool {
            Some(pool) if !way.own.is_some_and(|own| own.is_single()) => pool,
            pool => {
                let is_local = pool.is_none();
                return Ok(Prepared::ByThread { is_local });
            }
        };
        let line = reader.line(&way, pool)?;
        let (id, introduction) = line.introduce(way.said);
        self.note_request_id(id);
        let arguments = self.arguments.lock();
        let arguments = arguments.unwrap_or_else(PoisonError::into_inner);
        let written = written(
            self.client().config(),
            way.candidate,
            self.operation,
            (id, introduction),
            attempt.timing(),
            &self.added_contexts().borrowed(),
            arguments.as_deref(),
        );
        let octets = match written {
            // The server is asked for its code sets first, for which a thread waits.
            Err(request) if request.may_be_asked => {
                return Ok(Prepared::ByThread { is_local: false });
            }
            written => written?,
        };
        Ok(Prepared::Request(Ready {
            line,
            id,
            octets,
            pending: Pending::call(Arc::clone(self) as _, way.candidate),
        }))
    }

    /// Has a thread call, and wait.
    fn perform_elsewhere(self: &Arc<Self>, reader: &Arc<Reader>, is_local: bool) {
        let call = Arc::clone(self);
        let job = move || call.resume(Self::perform);
        if let Err(exception) = reader.perform(is_local, Box::new(job)) {
            self.complete(Err(exception));
        }
    }

    /// Calls the servant, if it is one of the caller's own ORB and nothing but the servant would
    /// notice a message; what that came to.
    fn serve_in_place(&self, attempt: &Attempt<'_>) -> Option<Answered> {
        if self.slots.is_some() {
            return None;
        }
        let detour = attempt.detour()?;
        let arguments = self.arguments.lock();
        let arguments = arguments.unwrap_or_else(PoisonError::into_inner);
        let served = arguments.as_ref()?.serve(&self.object, &detour)?;
        if let Err(exception) = served {
            self.lock().failure = story_of(exception);
        }
        Some(served.map(Reply::Returned))
    }

    fn perform(self: &Arc<Self>, reader: &Arc<Reader>, mut attempt: Attempt<'_>) {
        if let Some(answered) = self.serve_in_place(&attempt) {
            return self.answer(answered);
        }
        let contexts = self.added_contexts();
        let guard = self.arguments.lock();
        let guard = guard.unwrap_or_else(PoisonError::into_inner);
        let Some(arguments) = &*guard else { return };
        let answered = loop {
            let outcome = match attempt.link() {
                Ok(link) => {
                    let timing = attempt.timing();
                    let mut exchange = Exchange::new(&self.object, timing, false, link);
                    match contexts.is_empty() {
                        true => exchange.begin(self.operation),
                        false => {
                            let response = self.operation.response();
                            exchange.begin_with(self.operation, response, &contexts.borrowed());
                        }
                    }
                    self.note_request_id(exchange.request_id());
                    arguments.write(exchange.writer());
                    match exchange.perform() {
                        Answer::None => exchange.outcome(),
                        Answer::Results => {
                            break exchange
                                .take_reply(ReplyStatus::NoException)
                                .map(Reply::Message);
                        }
                        Answer::UserException => {
                            break exchange
                                .take_reply(ReplyStatus::UserException)
                                .map(Reply::Message);
                        }
                    }
                }
                Err(exception) => Outcome::Failed(attempt.reached_none(false, exception)),
            };
            if self.slots.is_some() {
                // The next attempt is a flow of its own.
                drop(guard);
                return self.go_on_after(reader, attempt, outcome, Choice::First);
            }
            if let Err(exception) = attempt.again(self.operation, outcome) {
                self.lock().failure = story_of(exception);
                break Err(exception);
            }
        };
        drop(guard);
        self.keep_for_interceptors(attempt);
        self.complete(answered);
    }
}
