// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests through interceptors, or with service contexts of their callers.

use orbium_cdr::CdrWriter;
use orbium_giop::{ResponseFlags, ServiceContext, SystemException};
use orbium_interceptor::client::{CallFlow, CallOutcome};
use orbium_interceptor::{ContextList, Interceptors, SlotTable};
use orbium_invocation::Operation;
use orbium_invocation::raises::ExceptionId;
use orbium_invocation::story::{Phase, note};

use crate::call::attempt::{Attempt, Path};
use crate::call::buffered::{Buffered, flush_before_call};
use crate::call::exchange::{Answer, Exchange};
use crate::call::link::Link;
use orbium_connection::outcome::Outcome;
use orbium_invocation::typed_reply::ReplyReader;

/// The part of a reply that was read.
#[derive(Debug)]
enum Read {
    Results,
    /// Its repository id.
    UserException(&'static str),
    /// No reply: a oneway.
    Nothing,
}

/// The result of a collocated call, without a message.
#[derive(Debug)]
pub struct ServedCall<T, E> {
    /// The result of the servant; or the outcome of the attempt.
    pub outcome: Result<Result<T, E>, Outcome>,
    /// The service contexts of the reply.
    pub contexts: ContextList,
}

impl<T, E> ServedCall<T, E> {
    /// A call that has failed without a reply.
    #[must_use]
    pub fn failed(exception: SystemException) -> Self {
        Self {
            outcome: Err(Outcome::Failed(exception)),
            contexts: ContextList::default(),
        }
    }
}

/// Calls the servant of an attempt with these service contexts, and reads a marshalled answer;
/// `None` if the call needs a message.
pub type InPlace<'c> = dyn Fn(&Attempt<'_>, &ContextList, &mut dyn ReplyReader) -> Option<ServedCall<(), ExceptionId>>
    + 'c;

/// A request seen by interceptors.
pub(crate) struct Intercepted<'c, 'a> {
    pub(crate) operation: &'static Operation,
    pub(crate) arguments: &'c dyn Fn(&mut CdrWriter<'a>),
    pub(crate) in_place: &'c InPlace<'c>,
    /// Whether it is a oneway: unless it is acknowledged, it uses a connection not known to be
    /// closed by the server.
    pub(crate) is_oneway: bool,
}

/// The result of an attempt, unless it has results and no service contexts.
struct Tried {
    /// The end of the call; or the outcome of the attempt.
    outcome: Result<CallOutcome, Outcome>,
    /// The service contexts of the reply.
    contexts: ContextList,
}

impl<'a> Intercepted<'_, 'a> {
    /// Makes the request until it has ended, through the reference of the attempt or, for
    /// [`Path::Derived`], through the derived one.
    pub(crate) fn perform(
        &self,
        attempt: &mut Attempt<'_>,
        path: Path,
        reply: &mut dyn ReplyReader,
    ) -> Result<(), SystemException> {
        let derived = match path {
            Path::Derived => attempt.take_derived(),
            Path::Plain | Path::Intercepted | Path::Buffered => None,
        };
        let Some(derived) = derived else {
            return self.attempts(attempt, reply);
        };
        let mut attempt = Attempt::new(&derived);
        attempt.check_derived_request(self.operation)?;
        self.attempts(&mut attempt, reply)
    }

    /// Makes the request until it has ended; each attempt is a separate flow.
    fn attempts(
        &self,
        attempt: &mut Attempt<'_>,
        reply: &mut dyn ReplyReader,
    ) -> Result<(), SystemException> {
        let all = &attempt.object().client().config().interceptors;
        let slots = all.current().of_this_thread();
        loop {
            match self.attempt(all, attempt, &slots, reply) {
                Ok(Some(ended)) => return ended,
                Ok(None) => {}
                Err(changed) => attempt.go_on_changed(self.operation, changed)?,
            }
        }
    }

    /// One attempt through the interceptors: returns the end of the call, unless there is another
    /// attempt; or else the outcome to which an interceptor has changed it.
    fn attempt(
        &self,
        all: &Interceptors,
        attempt: &mut Attempt<'_>,
        slots: &SlotTable,
        reply: &mut dyn ReplyReader,
    ) -> Result<Option<Result<(), SystemException>>, CallOutcome> {
        let begun = attempt.take_flow();
        let object = attempt.object();
        let of_caller = &object.overrides().contexts;
        let operation = self.operation;
        let flow = match begun {
            Some(progress) => {
                let start = attempt.start(all, operation, slots);
                Some(CallFlow::resumed(all, start, progress))
            }
            None if all.ignores_results(attempt.locality()) => None,
            None => {
                let mut flow = CallFlow::new(all, attempt.start(all, operation, slots));
                flow.send_request()?;
                Some(flow)
            }
        };
        let contexts = flow.as_ref().map_or(of_caller, CallFlow::contexts);
        if let Err(tried) = self.exchange(attempt, contexts, reply) {
            object.keep_reply_contexts(&tried.contexts);
            let flow = flow.unwrap_or_else(|| {
                let start = attempt.start(all, operation, slots);
                CallFlow::under_way(all, start, all.next_request())
            });
            return match tried.outcome {
                Ok(outcome) => self.end(attempt, flow, &outcome, &tried.contexts),
                Err(outcome) => {
                    // Any further attempt has another target.
                    let flow = flow.suspend();
                    let (outcome, ended) = attempt.again_shown(self.operation, outcome);
                    let ended = ended.err().map(Err);
                    flow.end(all, &outcome, &tried.contexts).map(|()| ended)
                }
            };
        }
        let contexts = ContextList::default();
        object.keep_reply_contexts(&contexts);
        if let Some(mut flow) = flow {
            flow.end(&CallOutcome::Results, &contexts)?;
        }
        Ok(Some(Ok(())))
    }

    /// Ends the call without results, or with more than plain results.
    #[cold]
    fn end(
        &self,
        attempt: &Attempt<'_>,
        mut flow: CallFlow<'_>,
        outcome: &CallOutcome,
        contexts: &ContextList,
    ) -> Result<Option<Result<(), SystemException>>, CallOutcome> {
        let ended = match outcome {
            CallOutcome::Raised(it) => Err(attempt.failed(self.operation, *it)),
            _ => Ok(()),
        };
        flow.end(outcome, contexts).map(|()| Some(ended))
    }

    /// One exchange.
    ///
    /// # Errors
    /// The result, unless there are results and no service contexts.
    fn exchange(
        &self,
        attempt: &Attempt<'_>,
        contexts: &ContextList,
        reply: &mut dyn ReplyReader,
    ) -> Result<(), Tried> {
        if attempt.may_be_collocated()
            && let Some(served) = (self.in_place)(attempt, contexts, reply)
        {
            return self.served(attempt, served);
        }
        let overrides = attempt.object().overrides();
        let response = overrides.response_to(self.operation);
        let oneway = response == ResponseFlags::None;
        let link = if overrides.is_buffered() {
            self.link_behind_buffer(attempt, oneway, contexts)?
        } else {
            match self.link(attempt) {
                Ok(link) => link,
                Err(exception) => return Err(Tried::unreached(attempt, oneway, exception)),
            }
        };
        let mut exchange = Exchange::new(attempt.object(), attempt.timing(), oneway, link);
        if contexts.is_empty() && response == self.operation.response() {
            exchange.begin(self.operation);
        } else {
            exchange.begin_with(self.operation, response, &contexts.borrowed());
        }
        (self.arguments)(exchange.writer());
        match exchange.perform() {
            Answer::Results | Answer::Extended => match self.results(&mut exchange, reply) {
                Ok(Read::Results) if !exchange.has_reply_contexts() => Ok(()),
                read => Err(Tried::of(attempt, exchange.reply_contexts(), &read)),
            },
            Answer::UserException => {
                let read = self.user_exception(&mut exchange, reply);
                Err(Tried::of(attempt, exchange.reply_contexts(), &read))
            }
            Answer::None => Err(Tried {
                contexts: exchange.reply_contexts(),
                outcome: Err(exchange.outcome()),
            }),
        }
    }

    /// The result of a collocated call, as that of an exchange.
    #[cold]
    fn served(
        &self,
        attempt: &Attempt<'_>,
        served: ServedCall<(), ExceptionId>,
    ) -> Result<(), Tried> {
        let contexts = served.contexts;
        let read = match served.outcome {
            Ok(Ok(())) if self.is_oneway => Ok(Read::Nothing),
            Ok(Ok(())) if contexts.is_empty() => return Ok(()),
            Ok(Ok(())) => Ok(Read::Results),
            Ok(Err(ExceptionId::User(id))) => Ok(Read::UserException(id)),
            Ok(Err(ExceptionId::System(exception))) => Err(exception),
            Err(outcome) => {
                note(Phase::Wait, None, &outcome.text());
                let outcome = Err(outcome);
                return Err(Tried { outcome, contexts });
            }
        };
        Err(Tried::of(attempt, contexts, &read))
    }

    /// Reads the results; an acknowledged oneway has none.
    fn results(
        &self,
        exchange: &mut Exchange<'_, '_>,
        reply: &mut dyn ReplyReader,
    ) -> Result<Read, SystemException> {
        if self.is_oneway {
            return Ok(Read::Nothing);
        }
        let results = exchange.results(|reader| reply.read_results(reader));
        results.map(|()| Read::Results)
    }

    #[cold]
    fn user_exception(
        &self,
        exchange: &mut Exchange<'_, '_>,
        reply: &mut dyn ReplyReader,
    ) -> Result<Read, SystemException> {
        if self.is_oneway {
            return Ok(Read::Nothing);
        }
        match exchange.user_exception(reply)? {
            ExceptionId::User(id) => Ok(Read::UserException(id)),
            ExceptionId::System(exception) => Err(exception),
        }
    }

    #[inline(always)]
    fn link<'s>(&self, attempt: &'s Attempt<'_>) -> Result<Link<'s>, SystemException> {
        if self.is_oneway && !attempt.object().overrides().is_acknowledged() {
            attempt.open_link_for_oneway()
        } else {
            attempt.link()
        }
    }

    /// Under SYNC_NONE: puts a oneway into the buffer of its connection; else returns a link for a
    /// message to be sent after the buffer.
    ///
    /// # Errors
    /// The oneway is buffered, or there is no link.
    #[cold]
    fn link_behind_buffer<'s>(
        &self,
        attempt: &'s Attempt<'_>,
        oneway: bool,
        contexts: &ContextList,
    ) -> Result<Link<'s>, Tried> {
        if oneway && let Some(sent) = self.buffer(attempt, &contexts.borrowed()) {
            return Err(Tried {
                outcome: sent.map(|()| CallOutcome::Sent),
                contexts: ContextList::default(),
            });
        }
        flush_before_call(attempt);
        let link = self.link(attempt).map(Link::after_oneways);
        link.map_err(|it| Tried::unreached(attempt, oneway, it))
    }

    /// Puts a oneway into the buffer of its connection, if there is one.
    fn buffer(
        &self,
        attempt: &Attempt<'_>,
        contexts: &[ServiceContext<'_>],
    ) -> Option<Result<(), Outcome>> {
        let request = Buffered {
            operation: self.operation,
            contexts,
            arguments: self.arguments,
        };
        request.send(attempt)
    }
}

impl Tried {
    /// The result without a link.
    #[cold]
    fn unreached(attempt: &Attempt<'_>, oneway: bool, exception: SystemException) -> Self {
        Self {
            outcome: Err(Outcome::Failed(attempt.reached_none(oneway, exception))),
            contexts: ContextList::default(),
        }
    }

    /// The result from an answer that was read.
    #[cold]
    fn of(
        attempt: &Attempt<'_>,
        contexts: ContextList,
        read: &Result<Read, SystemException>,
    ) -> Self {
        Self {
            outcome: Ok(match *read {
                Ok(Read::Results) => CallOutcome::Results,
                Ok(Read::UserException(id)) => {
                    attempt.note_user_exception_id(id);
                    CallOutcome::UserException(id.into())
                }
                Ok(Read::Nothing) => CallOutcome::Sent,
                Err(exception) => CallOutcome::Raised(exception),
            }),
            contexts,
        }
    }
}
