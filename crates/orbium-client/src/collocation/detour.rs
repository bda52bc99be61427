// SPDX-License-Identifier: MIT OR Apache-2.0
//! The circumstances of a call without a message: policies, service contexts,
//! metrics and a span.

use std::cell::OnceCell;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use orbium_connection::outcome::Outcome;
use orbium_giop::time::ContextData;
use orbium_giop::{
    Completion, EncodedContexts, ExceptionKind, ResponseFlags, ServiceContext, SystemException,
    service_context,
};
use orbium_interceptor::ContextList;
use orbium_invocation::exceptions::deadline_passed;
use orbium_invocation::raises::{ExceptionId, Raised, Raises};
use orbium_invocation::router_policies::RouterPolicies;
use orbium_invocation::story::Phase;
use orbium_invocation::timing::Timing;
use orbium_invocation::{Expiry, Operation, SyncScope};
use orbium_transport::Deadline;

use crate::call::observed::Observed;
use crate::collocation::own_object::Collocated;
use crate::reference::Reference;

/// A call without a message that has deadlines, start times or a Messaging policy, or is made
/// through another reference, measured or traced.
#[derive(Debug)]
pub struct Detour {
    /// The reference that replaces the original one.
    pub(crate) target: Option<Arc<Reference>>,
    /// Its deadlines.
    pub timing: Timing,
    /// The start time of the request.
    pub(crate) start: Option<Instant>,
    /// The event that a oneway waits for.
    pub sync_scope: SyncScope,
    /// Whether it is measured or traced.
    pub is_observed: bool,
    /// The service contexts that its request carries.
    pub contexts: EncodedContexts,
    /// The policies for routers of its request.
    pub(crate) routers: RouterPolicies,
}

impl Detour {
    /// The object of a call through `object`.
    #[must_use]
    pub fn at<'d>(&'d self, object: &'d Reference) -> Option<&'d Collocated> {
        let target = self.target.as_deref().unwrap_or(object);
        target.own_object().or_else(|| target.banded_object())
    }

    /// With the policies for routers, if any.
    pub(crate) fn routed(self) -> Self {
        if self.routers.is_none() {
            self
        } else {
            self.carrying(&ContextList::default())
        }
    }

    /// With the service contexts that a message would carry: these, after those of the ORB.
    #[cold]
    #[must_use]
    pub fn carrying(mut self, added: &ContextList) -> Self {
        let times = self.timing.is_propagated.then(|| self.timing.contexts());
        let (left, ends) = times.unzip();
        let routed = !self.routers.is_none();
        let routed = routed.then(|| self.routers.encode_behind(&ends.unwrap_or_default()));
        let (left, ends) = (left.map(|it| it.encode()), ends.map(|it| it.encode()));
        let left = left.as_ref().map(ContextData::as_slice);
        let ends = ends.as_ref().map(ContextData::as_slice);
        let ends = routed.as_deref().or(ends);
        let own = [
            (service_context::INVOCATION_POLICIES, ends),
            (service_context::ORBIUM_TIME_LEFT, left),
        ];
        let own = own.into_iter();
        let own = own.filter_map(|(id, data)| Some(ServiceContext { id, data: data? }));
        let mut all: Vec<_> = own.collect();
        all.extend(added.borrowed());
        self.contexts = EncodedContexts::of(&all);
        self
    }

    /// The expiry of the request.
    ///
    /// # Errors
    /// The service contexts of the request demand an impossible time.
    pub fn expiry(&self) -> Result<Expiry, SystemException> {
        let contexts = self.contexts.contexts();
        if contexts.is_empty() {
            return Ok(Expiry::of_call(&self.timing));
        }
        let said = Expiry::of(&contexts, None)?;
        Ok(if self.timing.is_propagated {
            Expiry::of_call(&self.timing)
        } else {
            said
        })
    }

    /// The deadline by which the serving thread has to begin.
    #[must_use]
    pub fn until(&self, operation: &Operation) -> Deadline {
        if operation.is_oneway() {
            self.timing.sending
        } else {
            self.timing.reply
        }
    }

    /// The reply that the caller expects.
    #[must_use]
    pub fn response_to(&self, operation: &Operation) -> ResponseFlags {
        if operation.is_oneway() {
            self.sync_scope.response()
        } else {
            operation.response()
        }
    }

    /// Blocks until the start time of the request, if it has one.
    ///
    /// # Errors
    /// TIMEOUT if the deadline has passed; the exception of a cancellation, or of the end of the
    /// ORB.
    pub fn await_start(&mut self, object: &Reference) -> Result<(), SystemException> {
        let Some(start) = self.start else {
            return Ok(());
        };
        self.timing.await_start(start, &|| {
            object.check_cancellation(Completion::Maybe)?;
            object.client().check_running()
        })
    }

    /// The exception for a request that must not be sent any more.
    #[must_use]
    pub fn late(&self) -> Option<SystemException> {
        let has_passed = self.timing.sending.has_passed();
        has_passed.then(deadline_passed)
    }

    /// The outcome of an attempt after the reply times were applied.
    ///
    /// # Errors
    /// As `outcome`, or TIMEOUT.
    pub fn outcome_in_time<T>(&self, outcome: Result<T, Outcome>) -> Result<T, Outcome> {
        match outcome {
            Err(Outcome::Failed(exception)) => {
                self.in_time(Err(exception)).map_err(Outcome::Failed)
            }
            other => {
                let other = self.in_time(Ok(other));
                other.unwrap_or_else(|late| Err(Outcome::Failed(late)))
            }
        }
    }

    /// The result of a call after the reply times were applied.
    ///
    /// # Errors
    /// TIMEOUT: it was late, unless `ended` is already a TIMEOUT of a call that was not begun; that
    /// of `ended`.
    pub fn in_time<T>(&self, ended: Result<T, SystemException>) -> Result<T, SystemException> {
        let is_unbegun = |it: &SystemException| {
            (it.kind, it.completed) == (ExceptionKind::Timeout, Completion::No)
        };
        if self.timing.is_timed && !ended.as_ref().is_err_and(is_unbegun) {
            self.timing.await_reply_start()?;
        }
        ended
    }
}

/// The metrics and the span of a call without a message. They begin when the servant is entered: if
/// it is not, a message is measured instead.
pub struct ObservedCall<'o> {
    object: &'o Reference,
    detour: &'o Detour,
    operation: &'static Operation,
    observed: OnceCell<Option<Observed<'o>>>,
}

impl<'o> ObservedCall<'o> {
    /// The observers of a call that has not begun.
    #[must_use]
    pub fn new(object: &'o Reference, detour: &'o Detour, operation: &'static Operation) -> Self {
        Self {
            object,
            detour,
            operation,
            observed: OnceCell::new(),
        }
    }

    /// The observers of the request of an asynchronous call, which records its own side; `None`
    /// without observers.
    #[must_use]
    pub fn of_request(
        object: &'o Reference,
        detour: &'o Detour,
        operation: &'static Operation,
    ) -> Option<Self> {
        detour.is_observed.then(|| Self {
            observed: OnceCell::from(None),
            ..Self::new(object, detour, operation)
        })
    }

    /// The server side of its request, for another thread.
    pub(crate) fn its_request(&self) -> ItsRequest<'o> {
        ItsRequest(self.object, self.detour, self.operation)
    }

    /// Begins: the servant is called.
    pub fn begin(&self) {
        self.observed.get_or_init(|| {
            let notices = self.object.notices();
            let observed = Observed::begin(self.object, self.operation, notices)?;
            observed.note_deadline(self.detour.timing.reply.instant());
            let target = self.detour.target.as_deref();
            if let Ok(binding) = target.unwrap_or(self.object).binding()
                && let Some(candidate) = binding.preferred_candidate()
            {
                let is_forwarded = self.object.is_forwarded();
                observed.note_way(self.object, candidate, is_forwarded);
            }
            Some(observed)
        });
    }

    /// Withdraws the count: the call was forwarded, and a message is measured instead.
    #[cold]
    pub fn withdraw(&self) {
        if let Some(Some(observed)) = self.observed.get() {
            observed.withdraw();
        }
    }

    /// Records the end of the call for its caller; `None` if it is made again by a message.
    pub fn note_ended(&self, ended: Option<&Result<(), ExceptionId>>) {
        match ended {
            None => self.withdraw(),
            Some(Err(exception)) => self.note_raised(&exception.raised()),
            Some(Ok(())) => {}
        }
    }

    /// Records the exception of the caller.
    pub fn note_raised(&self, raised: &Raised<'_>) {
        let Some(Some(observed)) = self.observed.get() else {
            return;
        };
        match raised {
            Raised::User(id, _) => observed.note_user_exception(id),
            Raised::System(exception) => observed.note_failure(*exception, Phase::Wait),
        }
    }
}

/// As [`ObservedCall`], for the server side of a request on another thread.
#[derive(Debug)]
pub(crate) struct ItsRequest<'o>(&'o Reference, &'o Detour, &'static Operation);

impl<'o> ItsRequest<'o> {
    pub(crate) fn observed(self) -> ObservedCall<'o> {
        ObservedCall {
            observed: OnceCell::from(None),
            ..ObservedCall::new(self.0, self.1, self.2)
        }
    }
}

impl fmt::Debug for ObservedCall<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObservedCall")
            .field("operation", &self.operation.name())
            .finish_non_exhaustive()
    }
}
