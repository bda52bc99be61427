// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests by way of interceptors, or with service contexts of their callers.

use orbium_cdr::CdrWriter;
use orbium_giop::{ResponseFlags, ServiceContext, SystemException};
use orbium_interceptor::client::{CallFlow, CallOutcome, CallStart};
use orbium_interceptor::{ContextList, Interceptors, SlotTable};
use orbium_invocation::Operation;

use crate::attempt::{Attempt, Path};
use crate::buffered::{Buffered, flush_before_call};
use crate::exchange::{Answer, Exchange};
use crate::link::Link;
use crate::outcome::Outcome;

/// What was read of a reply.
pub(crate) enum Read {
    Results,
    /// Its repository id.
    UserException(&'static str),
    /// There is no reply: a oneway.
    Nothing,
}

/// Reads the results or the user exception of an exchange.
type Reading<'c, 'a> =
    dyn FnMut(&mut Exchange<'a, '_>, Answer) -> Result<Read, SystemException> + 'c;

/// A request that interceptors see.
pub(crate) struct Intercepted<'c, 'a> {
    pub(crate) operation: &'static Operation,
    pub(crate) arguments: &'c dyn Fn(&mut CdrWriter<'a>),
    /// Whether it is a oneway: unless it is acknowledged, it goes over a connection that the
    /// server is not known to have closed.
    pub(crate) is_oneway: bool,
}

/// What an attempt came to, unless it has results and no service contexts.
struct Tried {
    /// How the call ends; or else what to do about the attempt.
    outcome: Result<CallOutcome, Outcome>,
    /// The service contexts of the reply.
    contexts: ContextList,
}

impl<'a> Intercepted<'_, 'a> {
    /// Makes the request until it is done, through the reference of the attempt or, where the
    /// path says so, through that which is derived of it.
    #[inline(never)]
    pub(crate) fn perform(
        &self,
        attempt: &mut Attempt<'_>,
        path: Path,
        read: &mut Reading<'_, 'a>,
    ) -> Result<(), SystemException> {
        let derived = match path {
            Path::Derived => attempt.take_derived(),
            Path::Plain | Path::Intercepted => None,
        };
        let Some(derived) = derived else {
            return self.attempts(attempt, read);
        };
        let mut attempt = Attempt::new(&derived);
        attempt.check_before_request(self.operation)?;
        self.attempts(&mut attempt, read)
    }

    /// Makes the request until it is done; each attempt is a flow of its own.
    fn attempts(
        &self,
        attempt: &mut Attempt<'_>,
        read: &mut Reading<'_, 'a>,
    ) -> Result<(), SystemException> {
        let all = &attempt.object().client().config().interceptors;
        let slots = all.current().of_this_thread();
        loop {
            match self.attempt(all, attempt, &slots, read) {
                Ok(Some(ended)) => return ended,
                Ok(None) => {}
                Err(changed) => attempt.go_on_changed(self.operation, changed)?,
            }
        }
    }

    /// One attempt by way of the interceptors: how the call ends, unless there is another
    /// attempt; or else what an interceptor has changed the outcome to.
    #[inline(always)]
    fn attempt(
        &self,
        all: &Interceptors,
        attempt: &mut Attempt<'_>,
        slots: &SlotTable,
        read: &mut Reading<'_, 'a>,
    ) -> Result<Option<Result<(), SystemException>>, CallOutcome> {
        let object = attempt.object();
        let of_caller = &object.overrides().contexts;
        let start = |attempt| CallStart {
            operation: self.operation,
            target: attempt,
            current: all.current(),
            slots,
            contexts: of_caller,
        };
        let mut flow = match all.overlooks_results() {
            true => None,
            false => Some(CallFlow::new(all, start(attempt))),
        };
        if let Some(flow) = &mut flow {
            flow.send_request()?;
        }
        let contexts = flow.as_ref().map_or(of_caller, CallFlow::contexts);
        if let Err(tried) = self.exchange(attempt, contexts, read) {
            object.keep_reply_contexts(&tried.contexts);
            let flow = flow.unwrap_or_else(|| CallFlow::under_way(all, start(attempt)));
            return match tried.outcome {
                Ok(outcome) => self.end(attempt, flow, &outcome, &tried.contexts),
                Err(outcome) => {
                    // Whatever comes next has another target.
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
            flow.end_with_results(&contexts)?;
        }
        Ok(Some(Ok(())))
    }

    /// The call ends in another way than with results alone.
    #[cold]
    #[inline(never)]
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
    /// What it came to, unless there are results and no service contexts.
    #[inline(always)]
    fn exchange(
        &self,
        attempt: &Attempt<'_>,
        contexts: &ContextList,
        read: &mut Reading<'_, 'a>,
    ) -> Result<(), Tried> {
        let overrides = attempt.object().overrides();
        let response = overrides.response_to(self.operation);
        let oneway = response == ResponseFlags::None;
        let link = match overrides.is_buffered() {
            true => self.link_behind_buffer(attempt, oneway, contexts)?,
            false => match self.link(attempt) {
                Ok(link) => link,
                Err(exception) => return Err(Tried::unreached(attempt, oneway, exception)),
            },
        };
        let mut exchange = Exchange::new(attempt.object(), attempt.timing(), oneway, link);
        match contexts.is_empty() && response == self.operation.response() {
            true => exchange.begin(self.operation),
            false => exchange.begin_with(self.operation, response, &contexts.borrowed()),
        }
        (self.arguments)(exchange.writer());
        match exchange.perform() {
            Answer::Results => match read(&mut exchange, Answer::Results) {
                Ok(Read::Results) if !exchange.has_reply_contexts() => Ok(()),
                read => Err(Tried::of(attempt, &mut exchange, &read)),
            },
            Answer::UserException => {
                let read = read(&mut exchange, Answer::UserException);
                Err(Tried::of(attempt, &mut exchange, &read))
            }
            Answer::None => Err(Tried {
                contexts: exchange.reply_contexts(),
                outcome: Err(exchange.outcome()),
            }),
        }
    }

    #[inline(always)]
    fn link<'s>(&self, attempt: &'s Attempt<'_>) -> Result<Link<'s>, SystemException> {
        match self.is_oneway && !attempt.object().overrides().is_acknowledged() {
            false => attempt.link(),
            true => attempt.open_link_for_oneway(),
        }
    }

    /// Under SYNC_NONE: puts a oneway into the buffer of its connection, or else a link for what
    /// is sent behind the buffer.
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
        let link = self.link(attempt).map(Link::behind_oneways);
        link.map_err(|it| Tried::unreached(attempt, oneway, it))
    }

    /// Puts a oneway into the buffer of its connection, unless nothing is buffered on its way.
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
    /// There was no link.
    #[cold]
    fn unreached(attempt: &Attempt<'_>, oneway: bool, exception: SystemException) -> Self {
        Self {
            outcome: Err(Outcome::Failed(attempt.reached_none(oneway, exception))),
            contexts: ContextList::default(),
        }
    }

    /// What was read of an answer.
    #[cold]
    fn of(
        attempt: &Attempt<'_>,
        exchange: &mut Exchange<'_, '_>,
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
            contexts: exchange.reply_contexts(),
        }
    }
}
