// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls made by a thread: one that blocks for the reply, or one of the object's lane.

use std::sync::Arc;

use orbium_cdr::Format;
use orbium_giop::{ReplyStatus, SystemException};
use orbium_invocation::story::{Note, Phase, story_of};
use orbium_invocation::{LateAnswer, QueueableCall};

use super::super::answer::Answer as Reply;
use super::super::pending_call::{self, Answered};
use super::super::reader::Reader;
use super::super::request::{Answered as InPlace, Served};
use super::Call;
use orbium_client::Detour;
use orbium_client::attempt::Attempt;
use orbium_client::exchange::{Answer, Exchange};
use orbium_client::received_reply::ReceivedReply;
use orbium_client::request_path::Choice;
use orbium_connection::outcome::Outcome;
use orbium_invocation::call_exceptions::broken_invariant;

/// The outcome on a thread that made the call.
pub(super) enum Performed {
    /// A servant was called in place, without a message.
    InPlace(Answered),
    /// The servant has replied by a message.
    Answered(ReceivedReply),
    ByMessage(Answered),
    /// The call is complete, or continues elsewhere.
    Nothing,
}

impl Performed {
    pub(super) fn deliver(self, call: &Arc<Call>) {
        match self {
            Self::InPlace(answered) => call.answer(answered),
            Self::Answered(reply) => pending_call::answer(Arc::clone(call) as _, reply, None),
            Self::ByMessage(answered) => call.complete(answered),
            Self::Nothing => {}
        }
    }
}

impl Call {
    /// Makes the call and waits for the reply.
    pub(super) fn perform(
        self: &Arc<Self>,
        reader: &Arc<Reader>,
        attempt: Attempt<'_>,
    ) -> Performed {
        let Some(detour) = attempt.detour() else {
            return self.perform_by_message(reader, attempt);
        };
        let detour = match self.slots {
            Some(_) => detour.carrying(&self.added_contexts()),
            None => detour,
        };
        // A late reply may arrive at once, on another thread.
        self.lock().attempt = Some(attempt.suspend());
        let served = self.serve_in_place(&detour);
        if let Some(Ok(performed)) = served {
            return performed;
        }
        let Some(suspended) = self.lock().attempt.take() else {
            return Performed::Nothing;
        };
        let attempt = Attempt::resume(&self.object, suspended);
        match served {
            Some(Err(outcome)) => {
                self.go_on_after(reader, attempt, outcome, Choice::First);
                Performed::Nothing
            }
            _ => self.perform_by_message(reader, attempt),
        }
    }

    /// Calls the servant in place, if it belongs to the caller's own ORB and a message would make
    /// no difference; returns the result, or else the outcome of the attempt.
    fn serve_in_place(self: &Arc<Self>, detour: &Detour) -> Option<Result<Performed, Outcome>> {
        let later = |format| {
            let call = Arc::clone(self);
            Box::new(Late { call, format }) as Box<dyn LateAnswer>
        };
        let arguments = self.arguments.lock();
        let served = arguments.as_ref()?.serve(&self.object, detour, &later)?;
        Some(Ok(match served {
            Served::Returned(Ok(returned)) => Performed::InPlace(Ok(Reply::Returned(returned))),
            Served::Returned(Err(outcome)) => {
                self.note(Note::new(Phase::Wait, None, &outcome.text()));
                match outcome {
                    Outcome::Failed(it) if !self.may_go_on() => Performed::InPlace(Err(it)),
                    outcome => return Some(Err(outcome)),
                }
            }
            Served::Answered(InPlace::Raised(exception)) => {
                self.lock().failure = story_of(exception);
                Performed::InPlace(Err(exception))
            }
            Served::Answered(InPlace::Message(message, format)) => in_process(message, format),
            Served::Answered(InPlace::Later) => Performed::Nothing,
        }))
    }

    /// Makes the call by a message and waits for the reply.
    fn perform_by_message(
        self: &Arc<Self>,
        reader: &Arc<Reader>,
        mut attempt: Attempt<'_>,
    ) -> Performed {
        let contexts = self.added_contexts();
        let guard = self.arguments.lock();
        let Some(arguments) = &*guard else {
            return Performed::Nothing;
        };
        let answered = loop {
            let outcome = match attempt.link() {
                Ok(link) => {
                    let timing = attempt.timing();
                    let mut exchange = Exchange::new(&self.object, timing, false, link);
                    if contexts.is_empty() {
                        exchange.begin(self.operation);
                    } else {
                        let response = self.operation.response();
                        exchange.begin_with(self.operation, response, &contexts.borrowed());
                    }
                    self.note_request_id(exchange.request_id());
                    arguments.write(exchange.writer());
                    match exchange.perform() {
                        Answer::None => exchange.outcome(),
                        Answer::Results | Answer::Extended => {
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
                // The next attempt has a flow of its own.
                drop(guard);
                self.go_on_after(reader, attempt, outcome, Choice::First);
                return Performed::Nothing;
            }
            if let Err(exception) = attempt.again(self.operation, outcome) {
                self.lock().failure = story_of(exception);
                break Err(exception);
            }
        };
        drop(guard);
        self.keep_for_interceptors(attempt);
        Performed::ByMessage(answered)
    }
}

impl QueueableCall for Call {
    fn serve(self: Arc<Self>, answers: &dyn Fn()) {
        let begins = {
            let mut state = self.lock();
            // Taken by the withdrawal, if that came first.
            let begins = state.queue.take().is_some();
            state.is_performed |= begins;
            begins
        };
        let mut performed = Performed::Nothing;
        if begins {
            self.resume(|call, reader, attempt| performed = call.perform(reader, attempt));
        }
        answers();
        performed.deliver(&self);
    }

    fn refuse(self: Arc<Self>, exception: SystemException) {
        self.lock().queue = None;
        let what = "the lane of the object takes no more";
        self.note(Note::new(Phase::Send, None, &what));
        self.complete(Err(exception));
    }
}

/// Receives a reply, in that format, which the servant sends after it has returned.
struct Late {
    call: Arc<Call>,
    format: Format,
}

impl LateAnswer for Late {
    fn answered(self: Box<Self>, message: Vec<u8>) {
        in_process(message, self.format).deliver(&self.call);
    }

    fn is_over(&self) -> bool {
        !self.call.lock().slot.is_open()
    }
}

/// The reply in a message of the caller's own ORB.
fn in_process(message: Vec<u8>, format: Format) -> Performed {
    match ReceivedReply::in_process(message, format) {
        Some(reply) => Performed::Answered(reply),
        None => Performed::InPlace(Err(broken_invariant())),
    }
}
