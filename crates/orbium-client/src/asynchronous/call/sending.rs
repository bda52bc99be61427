// SPDX-License-Identifier: MIT OR Apache-2.0
//! The request of a call: over a line, or by a thread that waits.

use std::sync::{Arc, PoisonError};

use orbium_giop::{ReplyStatus, SystemException};
use orbium_invocation::story::story_of;

use super::super::line::{Line, Pending};
use super::super::reader::Reader;
use super::super::request::written;
use super::Call;
use super::state::Slot;
use crate::attempt::Attempt;
use crate::exchange::{Answer, Exchange};
use crate::outcome::Outcome;
use crate::way::Choice;

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
        let refused = match self.prepare(reader, &attempt, choice) {
            Ok(Prepared::Request(ready)) => return self.submit(reader, attempt, ready),
            Ok(Prepared::ByThread { is_local }) => {
                {
                    let mut state = self.lock();
                    state.attempt = Some(attempt.suspend());
                    state.is_performed = true;
                }
                return self.perform_elsewhere(reader, is_local);
            }
            Err(exception) => exception,
        };
        self.go_on_after(reader, attempt, Outcome::Failed(refused), Choice::First);
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
        let job = move || call.resume(|call, _, attempt| call.perform(attempt));
        if let Err(exception) = reader.perform(is_local, Box::new(job)) {
            self.complete(Err(exception));
        }
    }

    fn perform(self: &Arc<Self>, mut attempt: Attempt<'_>) {
        let arguments = self.arguments.lock();
        let arguments = arguments.unwrap_or_else(PoisonError::into_inner);
        let Some(arguments) = &*arguments else { return };
        let answered = loop {
            let outcome = match attempt.link() {
                Ok(link) => {
                    let timing = attempt.timing();
                    let mut exchange = Exchange::new(&self.object, timing, false, link);
                    exchange.begin(self.operation);
                    self.note_request_id(exchange.request_id());
                    arguments.write(exchange.writer());
                    match exchange.perform() {
                        Answer::None => exchange.outcome(),
                        Answer::Results => {
                            break exchange.take_reply(ReplyStatus::NoException);
                        }
                        Answer::UserException => {
                            break exchange.take_reply(ReplyStatus::UserException);
                        }
                    }
                }
                Err(exception) => Outcome::Failed(attempt.reached_none(false, exception)),
            };
            if let Err(exception) = attempt.again(self.operation, outcome) {
                self.lock().failure = story_of(exception);
                break Err(exception);
            }
        };
        self.complete(answered);
    }
}
