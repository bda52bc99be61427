// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ends of attempts as interceptors see them. They overlook an attempt with results if none of
//! them implements a point that it passes: then it takes the plain path, and a flow begins when
//! the attempt ends in another way.

use orbium_giop::SystemException;
use orbium_interceptor::ContextList;
use orbium_interceptor::client::{CallFlow, CallOutcome, CallStart, SuspendedFlow};
use orbium_invocation::Operation;
use orbium_invocation::raises::Raised;

use super::{Attempt, Path};
use crate::call::exchange::Exchange;
use crate::errors::broken_invariant;
use orbium_connection::outcome::Outcome;

impl Attempt<'_> {
    /// The path of a request that the interceptors of the ORB may see, and that has nothing
    /// else to check.
    pub(super) fn intercepted_path(&mut self, operation: &'static Operation) -> Path {
        let all = &self.object.client().config().interceptors;
        let is_plain = !operation.is_oneway() && self.object.own_notices() == 0;
        let overlooked = is_plain && all.overlooks_results(self.locality());
        // A call of an object of its own ORB needs no message where they see it.
        let is_own = self.may_be_collocated() && self.target().own_object().is_some();
        self.is_overlooked = overlooked && !is_own;
        if self.is_overlooked {
            Path::Plain
        } else {
            Path::Intercepted
        }
    }

    /// Whether the object that is called may be one of its own ORB.
    #[inline(always)]
    pub(crate) fn may_be_collocated(&self) -> bool {
        self.target().may_be_collocated()
    }

    /// The service contexts of the reply, if interceptors have overlooked the attempt so far
    /// and are to see how it ends.
    #[cold]
    pub(crate) fn unseen(&self, exchange: &mut Exchange<'_, '_>) -> Option<ContextList> {
        self.is_overlooked.then(|| exchange.reply_contexts())
    }

    /// As `unseen`, of an attempt without a link.
    #[cold]
    pub(crate) fn unseen_unreached(&self) -> Option<ContextList> {
        self.is_overlooked.then(ContextList::default)
    }

    /// The results cannot be read: what the call ends with.
    #[cold]
    #[inline(never)]
    pub(crate) fn unreadable(
        &self,
        operation: &'static Operation,
        exchange: &mut Exchange<'_, '_>,
        exception: SystemException,
    ) -> SystemException {
        let exception = self.failed(operation, exception);
        match self.show_exception(operation, exchange, &Raised::System(exception)) {
            Ok(None) => exception,
            Ok(Some(_)) => broken_invariant(),
            Err(changed) => changed,
        }
    }

    /// The call ends with that exception, unless an interceptor that sees it forwards the
    /// request.
    ///
    /// # Errors
    /// What the call ends with instead.
    #[cold]
    #[inline(never)]
    pub(crate) fn show_exception(
        &self,
        operation: &'static Operation,
        exchange: &mut Exchange<'_, '_>,
        raised: &Raised<'_>,
    ) -> Result<Option<Outcome>, SystemException> {
        let Some(contexts) = self.unseen(exchange) else {
            return Ok(None);
        };
        let outcome = match raised {
            Raised::User(id, _) => CallOutcome::UserException((*id).into()),
            Raised::System(exception) => CallOutcome::Raised(*exception),
        };
        match self.under_way(operation).end(
            &self.object.client().config().interceptors,
            &outcome,
            &contexts,
        ) {
            Ok(()) => Ok(None),
            Err(CallOutcome::Forward(to)) => Ok(Some(Outcome::Forward(to))),
            Err(CallOutcome::Raised(exception)) => Err(self.failed(operation, exception)),
            Err(_) => Err(broken_invariant()),
        }
    }

    /// As [`again`](Attempt::again), once interceptors that have overlooked the attempt so far
    /// have seen how it ends; `unseen` are the service contexts of the reply then.
    #[cold]
    #[inline(never)]
    pub(crate) fn again_unless_changed(
        &mut self,
        operation: &'static Operation,
        outcome: Outcome,
        unseen: Option<ContextList>,
    ) -> Result<(), SystemException> {
        let Some(contexts) = unseen else {
            return self.again(operation, outcome);
        };
        // Whatever comes next has another target.
        let flow = self.under_way(operation);
        let (shown, ended) = self.again_shown(operation, outcome);
        let all = &self.object.client().config().interceptors;
        match flow.end(all, &shown, &contexts) {
            Ok(()) => ended,
            Err(changed) => self.go_on_changed(operation, changed),
        }
    }

    /// As [`again`](Attempt::again), and how interceptors see that the attempt has ended.
    pub(crate) fn again_shown(
        &mut self,
        operation: &'static Operation,
        outcome: Outcome,
    ) -> (CallOutcome, Result<(), SystemException>) {
        let next = match &outcome {
            Outcome::Forward(to) => CallOutcome::Forward(to.clone()),
            _ => CallOutcome::Retry,
        };
        match self.again(operation, outcome) {
            Ok(()) => (next, Ok(())),
            Err(exception) => (CallOutcome::Raised(exception), Err(exception)),
        }
    }

    /// Goes on as an interceptor says.
    ///
    /// # Errors
    /// What the call ends with instead.
    #[cold]
    pub(crate) fn go_on_changed(
        &mut self,
        operation: &'static Operation,
        changed: CallOutcome,
    ) -> Result<(), SystemException> {
        match changed {
            CallOutcome::Forward(to) => self.again(operation, Outcome::Forward(to)),
            CallOutcome::Raised(it) => Err(self.failed(operation, it)),
            _ => Err(broken_invariant()),
        }
    }

    /// The flow of an attempt that interceptors have overlooked so far.
    fn under_way(&self, operation: &'static Operation) -> SuspendedFlow {
        let all = &self.object.client().config().interceptors;
        let slots = all.current().of_this_thread();
        let start = CallStart {
            operation,
            target: self,
            locality: self.locality(),
            current: all.current(),
            slots: &slots,
            contexts: &self.object.overrides().contexts,
        };
        CallFlow::under_way(all, start).suspend()
    }
}
