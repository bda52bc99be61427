// SPDX-License-Identifier: MIT OR Apache-2.0
//! Attempts on the plain path as seen by interceptors. If no interceptor implements a point with
//! results, they see only the end of an attempt without results; else they see all of it, unless
//! the request carries service contexts of theirs.

use std::borrow::Cow;
use std::sync::Arc;

use orbium_giop::{Ior, SystemException};
use orbium_interceptor::client::{
    Begun, BegunCall, CallFlow, CallOutcome, CallPolicies, CallStart, CallTarget, Progress,
};
use orbium_interceptor::{ContextList, Interceptors, Locality, Policy, SlotTable};
use orbium_invocation::raises::Raised;
use orbium_invocation::{Operation, SyncScope};

use super::watch::Watch;
use super::{Attempt, Path};
use crate::call::exchange::Exchange;
use crate::call::observed::Observed;
use crate::errors::broken_invariant;
use crate::policy::effective_policies::EffectivePolicies;
use orbium_connection::outcome::Outcome;

impl<'o> Attempt<'o> {
    /// The path of a request that may have interceptors of the ORB and needs no other check. If it
    /// is the plain path and they see all of it, they have seen its beginning.
    ///
    /// # Errors
    /// The exception with which an interceptor ends the call.
    pub(super) fn intercepted_path(
        &mut self,
        operation: &'static Operation,
    ) -> Result<Path, SystemException> {
        let object = self.object;
        let all = &object.client().config().interceptors;
        // A collocated call needs no message for interceptors.
        let is_own = self.may_be_collocated() && self.target().own_object().is_some();
        if operation.is_oneway() || object.own_notices() != 0 || is_own {
            return Ok(Path::Intercepted);
        }
        let locality = self.locality();
        if all.ignores_results(locality) {
            self.watch = Watch::End;
            return Ok(Path::Plain);
        }
        match self
            .start(all, operation, SlotTable::none())
            .begin(all, locality)
        {
            Ok(call) => Ok(self.begun_plainly(call)),
            Err(begun) => self.begun_otherwise(operation, begun),
        }
    }

    #[inline(always)]
    fn begun_plainly(&mut self, call: BegunCall<'o>) -> Path {
        self.watch = Watch::Whole(call);
        Path::Plain
    }

    /// The path of a call with slots, with interceptors that implement only some points, with an
    /// addition of an interceptor to the request, or with an attempt ended by one.
    ///
    /// # Errors
    /// The exception of the call.
    #[cold]
    fn begun_otherwise(
        &mut self,
        operation: &'static Operation,
        begun: Begun<'o>,
    ) -> Result<Path, SystemException> {
        match begun {
            Begun::Plainly(call) => return Ok(self.begun_plainly(call)),
            Begun::NotYet => {}
            Begun::Extended(progress) => self.watch = Watch::Observed(Observed::begun(progress)),
            Begun::Ended(changed) => self.go_on_changed(operation, changed)?,
        }
        Ok(Path::Intercepted)
    }

    /// Takes the interceptor flow of a request that does not take the plain path.
    #[inline]
    pub(crate) fn take_flow(&mut self) -> Option<Progress> {
        self.watch.take_flow()
    }

    /// The parameters of the attempt.
    #[inline]
    pub(crate) fn start<'s>(
        &'s self,
        all: &'s Interceptors,
        operation: &'static Operation,
        slots: &'s SlotTable,
    ) -> CallStart<'s> {
        CallStart {
            operation,
            target: self,
            orb: all.orb_slots(),
            slots,
        }
    }

    /// As [`check_before_request`](Attempt::check_before_request), for a request that does not take
    /// the plain path.
    #[cold]
    pub(crate) fn check_derived_request(
        &mut self,
        operation: &'static Operation,
    ) -> Result<(), SystemException> {
        let begun = self.begin_request(self.object.notices(), operation);
        begun
            .map(drop)
            .map_err(|exception| self.failed(operation, exception))
    }

    /// Whether the object called may belong to the same ORB.
    #[inline(always)]
    pub(crate) fn may_be_collocated(&self) -> bool {
        self.target().may_be_collocated()
    }

    /// The service contexts of the reply, if interceptors see the end of the attempt.
    #[cold]
    pub(crate) fn unseen(&self, exchange: &mut Exchange<'_, '_>) -> Option<ContextList> {
        self.watch.shows_end().then(|| exchange.reply_contexts())
    }

    /// The service contexts of the reply, if interceptors see its results.
    #[cold]
    pub(crate) fn unseen_results(&self, exchange: &mut Exchange<'_, '_>) -> Option<ContextList> {
        let whole = self.watch.whole();
        whole.map(|_| exchange.reply_contexts())
    }

    /// As `unseen`, for an attempt without a link.
    #[cold]
    pub(crate) fn unseen_unreached(&self) -> Option<ContextList> {
        self.watch.shows_end().then(ContextList::default)
    }

    /// Shows the results, already read, of a reply without service contexts to interceptors.
    ///
    /// # Errors
    /// The outcome to which an interceptor has changed the call.
    #[inline(always)]
    pub(crate) fn show_results(
        &self,
        operation: &'static Operation,
    ) -> Result<(), Box<CallOutcome>> {
        match self.watch {
            Watch::Nothing => Ok(()),
            _ => self.show_watched_results(operation),
        }
    }

    #[cold]
    fn show_watched_results(&self, operation: &'static Operation) -> Result<(), Box<CallOutcome>> {
        let Watch::Whole(call) = &self.watch else {
            return Ok(());
        };
        let all = &self.object.client().config().interceptors;
        call.end(all, self.start(all, operation, SlotTable::none()))
    }

    /// Shows the results, already read, with the service contexts of the reply to interceptors.
    /// Returns the next step if an interceptor forwards the request.
    ///
    /// # Errors
    /// The changed exception of the call.
    #[cold]
    pub(crate) fn show_seen(
        &self,
        operation: &'static Operation,
        contexts: &ContextList,
    ) -> Result<Option<Outcome>, SystemException> {
        self.show_end(operation, &CallOutcome::Results, contexts)
    }

    /// Shows to interceptors that the results cannot be read. Returns the next step if an
    /// interceptor forwards the request.
    ///
    /// # Errors
    /// That exception, or the one to which an interceptor has changed it.
    #[cold]
    pub(crate) fn show_unreadable(
        &self,
        operation: &'static Operation,
        exchange: &mut Exchange<'_, '_>,
        exception: SystemException,
    ) -> Result<Outcome, SystemException> {
        let exception = self.failed(operation, exception);
        let shown = self.show_exception(operation, exchange, &Raised::System(exception))?;
        shown.ok_or(exception)
    }

    /// Shows an exception of the call to interceptors. Returns if one of them forwards the request.
    ///
    /// # Errors
    /// The exception of the call.
    #[cold]
    pub(crate) fn show_exception(
        &self,
        operation: &'static Operation,
        exchange: &mut Exchange<'_, '_>,
        raised: &Raised<'_>,
    ) -> Result<Option<Outcome>, SystemException> {
        let Some(contexts) = self.unseen(exchange) else {
            return Ok(None);
        };
        exchange.release();
        let outcome = match raised {
            Raised::User(id, _) => CallOutcome::UserException((*id).into()),
            Raised::System(exception) => CallOutcome::Raised(*exception),
        };
        self.show_end(operation, &outcome, &contexts)
    }

    /// Shows the end of the call to interceptors. Returns the next step if one of them forwards the
    /// request.
    ///
    /// # Errors
    /// The changed exception of the call.
    #[cold]
    fn show_end(
        &self,
        operation: &'static Operation,
        outcome: &CallOutcome,
        contexts: &ContextList,
    ) -> Result<Option<Outcome>, SystemException> {
        let all = &self.object.client().config().interceptors;
        let slots = self.slots(all);
        match self.flow(all, operation, &slots).end(outcome, contexts) {
            Ok(()) => Ok(None),
            Err(changed) => self.changed(operation, changed).map(Some),
        }
    }

    /// The next step chosen by an interceptor.
    ///
    /// # Errors
    /// The exception of the call.
    #[cold]
    pub(crate) fn changed(
        &self,
        operation: &'static Operation,
        changed: CallOutcome,
    ) -> Result<Outcome, SystemException> {
        match changed {
            CallOutcome::Forward(to) => Ok(Outcome::Forward(to)),
            CallOutcome::Raised(exception) => Err(self.failed(operation, exception)),
            _ => Err(broken_invariant()),
        }
    }

    /// As [`again`](Attempt::again), after interceptors have seen the end of the attempt; `unseen`
    /// has the service contexts of the reply if that is still to be done. Returns whether another
    /// attempt takes the other path.
    #[cold]
    pub(crate) fn again_unless_changed(
        &mut self,
        operation: &'static Operation,
        outcome: Outcome,
        unseen: Option<ContextList>,
    ) -> Result<bool, SystemException> {
        let Some(contexts) = unseen else {
            self.again(operation, outcome)?;
            return Ok(self.leaves_plain_path());
        };
        let all = &self.object.client().config().interceptors;
        let slots = self.slots(all);
        // Any further attempt has another target.
        let flow = self.flow(all, operation, &slots).suspend();
        let (shown, ended) = self.again_shown(operation, outcome);
        match flow.end(all, &shown, &contexts) {
            Ok(()) => ended?,
            Err(changed) => self.go_on_changed(operation, changed)?,
        }
        Ok(self.leaves_plain_path())
    }

    /// Whether another attempt takes the other path: one seen by interceptors is a separate flow.
    fn leaves_plain_path(&mut self) -> bool {
        let is_whole = self.watch.whole().is_some();
        if is_whole {
            self.watch = Watch::Nothing;
        }
        is_whole
    }

    /// As [`again`](Attempt::again), and the end of the attempt as seen by interceptors.
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

    /// Continues as decided by an interceptor.
    ///
    /// # Errors
    /// The exception of the call.
    #[cold]
    pub(crate) fn go_on_changed(
        &mut self,
        operation: &'static Operation,
        changed: CallOutcome,
    ) -> Result<(), SystemException> {
        let outcome = self.changed(operation, changed)?;
        self.again(operation, outcome)
    }

    /// The slots of the request.
    fn slots(&self, all: &Interceptors) -> Cow<'static, SlotTable> {
        match self.watch.whole() {
            Some(_) => Cow::Borrowed(SlotTable::none()),
            None => all.current().of_this_thread(),
        }
    }

    /// The flow of an attempt on the plain path, up to the point that interceptors have seen.
    fn flow<'s>(
        &'s self,
        all: &'s Interceptors,
        operation: &'static Operation,
        slots: &'s SlotTable,
    ) -> CallFlow<'s> {
        let begun = self.watch.whole();
        let id = begun.map_or_else(|| all.next_request(), |call| call.id);
        CallFlow::under_way(all, self.start(all, operation, slots), id)
    }
}

impl CallTarget for Attempt<'_> {
    fn target(&self) -> &Arc<Ior> {
        self.object.ior()
    }

    fn effective_target(&self) -> &Arc<Ior> {
        self.target().ior()
    }

    fn profile(&self) -> usize {
        let used = self.used();
        let place = used.and_then(|it| it.profile_in(self.target().ior()));
        place.map_or(0, |(place, _)| place as usize)
    }

    fn policy(&self, policy_type: u32) -> Option<Policy> {
        EffectivePolicies::of(self.object).policy(policy_type)
    }

    fn policies(&self) -> Arc<dyn CallPolicies> {
        Arc::new(EffectivePolicies::of(self.object))
    }

    fn sync_scope(&self) -> SyncScope {
        self.object.overrides().policies.messaging.sync_scope()
    }

    #[inline]
    fn locality(&self) -> Locality {
        Attempt::locality(self)
    }

    fn contexts(&self) -> &ContextList {
        &self.object.overrides().contexts
    }
}
