// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests by way of interceptors, or with service contexts of their callers.

use orbium_cdr::CdrWriter;
use orbium_giop::{ResponseFlags, ServiceContext, SystemException};
use orbium_interceptor::client::{CallFlow, CallOutcome, CallStart};
use orbium_interceptor::{ContextList, SlotTable};
use orbium_invocation::Operation;

use crate::attempt::{Attempt, Path};
use crate::buffered::{Buffered, flush_before_call};
use crate::errors::broken_invariant;
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
    pub(crate) link: for<'s> fn(&'s Attempt<'_>) -> Result<Link<'s>, SystemException>,
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
        let (operation, slots) = (self.operation, all.current().of_this_thread());
        loop {
            match self.attempt(attempt, &slots, read) {
                Ok(Some(ended)) => return ended,
                Ok(None) => {}
                Err(CallOutcome::Forward(to)) => attempt.again(operation, Outcome::Forward(to))?,
                Err(CallOutcome::Raised(it)) => return Err(attempt.failed(operation, it)),
                Err(_) => return Err(broken_invariant()),
            }
        }
    }

    /// One attempt by way of the interceptors: how the call ends, unless there is another
    /// attempt; or else what an interceptor has changed the outcome to.
    fn attempt(
        &self,
        attempt: &mut Attempt<'_>,
        slots: &SlotTable,
        read: &mut Reading<'_, 'a>,
    ) -> Result<Option<Result<(), SystemException>>, CallOutcome> {
        let object = attempt.object();
        let all = &object.client().config().interceptors;
        let mut flow = CallFlow::new(CallStart {
            all,
            operation: self.operation,
            target: attempt,
            slots,
            contexts: &object.overrides().contexts,
        });
        flow.send_request()?;
        let (tried, contexts) = self.exchange(attempt, &flow, read);
        object.keep_reply_contexts(&contexts);
        let outcome = match tried {
            Ok(outcome) => outcome,
            Err(outcome) => {
                // Whatever comes next has another target.
                let flow = flow.suspend();
                let (outcome, ended) = self.again(attempt, outcome);
                return flow.end(all, &outcome, &contexts).map(|()| ended);
            }
        };
        let ended = match outcome {
            CallOutcome::Raised(it) => Err(attempt.failed(self.operation, it)),
            _ => Ok(()),
        };
        flow.end(&outcome, &contexts).map(|()| Some(ended))
    }

    /// One exchange: what it came to, and the service contexts of the reply.
    fn exchange(
        &self,
        attempt: &Attempt<'_>,
        flow: &CallFlow<'_>,
        read: &mut Reading<'_, 'a>,
    ) -> (Result<CallOutcome, Outcome>, ContextList) {
        let response = attempt.object().overrides().response_to(self.operation);
        let oneway = response == ResponseFlags::None;
        let is_buffered = attempt.object().overrides().is_buffered();
        let contexts = flow.contexts();
        if is_buffered
            && oneway
            && let Some(sent) = self.buffer(attempt, &contexts.borrowed())
        {
            return (sent.map(|()| CallOutcome::Sent), ContextList::default());
        }
        if is_buffered {
            flush_before_call(attempt);
        }
        let link = match (self.link)(attempt) {
            Ok(link) if is_buffered => link.behind_oneways(),
            Ok(link) => link,
            Err(exception) => {
                let failed = Outcome::Failed(attempt.reached_none(oneway, exception));
                return (Err(failed), ContextList::default());
            }
        };
        let mut exchange = Exchange::new(attempt.object(), attempt.timing(), oneway, link);
        match contexts.is_empty() && response == self.operation.response() {
            true => exchange.begin(self.operation),
            false => exchange.begin_with(self.operation, response, &contexts.borrowed()),
        }
        (self.arguments)(exchange.writer());
        let answer = exchange.perform();
        let contexts = exchange.reply_contexts();
        let outcome = match answer {
            Answer::None => Err(exchange.outcome()),
            answer => Ok(match read(&mut exchange, answer) {
                Ok(Read::Results) => CallOutcome::Results,
                Ok(Read::UserException(id)) => {
                    attempt.note_user_exception_id(id);
                    CallOutcome::UserException(id.into())
                }
                Ok(Read::Nothing) => CallOutcome::Sent,
                Err(exception) => CallOutcome::Raised(exception),
            }),
        };
        (outcome, contexts)
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

    /// What becomes of an attempt without results: how it ended, and the end of the call
    /// unless there is another attempt.
    fn again(
        &self,
        attempt: &mut Attempt<'_>,
        outcome: Outcome,
    ) -> (CallOutcome, Option<Result<(), SystemException>>) {
        let next = match &outcome {
            Outcome::Forward(to) => CallOutcome::Forward(to.clone()),
            _ => CallOutcome::Retry,
        };
        match attempt.again(self.operation, outcome) {
            Ok(()) => (next, None),
            Err(exception) => (CallOutcome::Raised(exception), Some(Err(exception))),
        }
    }
}
