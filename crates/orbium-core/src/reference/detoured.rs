// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls of a servant of the same ORB that have policies, are measured or traced.

use orbium_giop::{ResponseFlags, SystemException};
use orbium_interceptor::server::awaited_by_oneway;
use orbium_invocation::Expiry;
use orbium_transport::Deadline;

use super::ObjectRef;
use crate::Operation;
use crate::adapter::{Carried, Served, Terms};
use crate::client::{Collocated, Detour, ObservedCall};
use crate::raises::ExceptionId;

/// A call with deadlines, start times or a Messaging policy, or one that is made through another
/// reference, measured or traced.
pub(super) struct Detoured {
    detour: Detour,
    /// The time after which the request is obsolete.
    expiry: Expiry,
    /// The reply that the caller of a oneway expects.
    response: ResponseFlags,
    carried: Carried,
    /// Whether `carried` has service contexts of the request.
    carries_contexts: bool,
}

impl ObjectRef {
    /// Has `serve` make a call of a servant of the same ORB: at once, or with its detour; `None` if
    /// the call needs a message. The result includes failures before the call begins.
    #[inline(always)]
    pub(super) fn in_place<T, E: From<SystemException>>(
        &self,
        operation: &'static Operation,
        serve: impl FnOnce(&Collocated, Option<&Detoured>) -> Option<Result<T, E>>,
    ) -> Option<Result<T, E>> {
        let detoured;
        let (at, detoured) = match self.target().collocated() {
            Some(at) => (at, None),
            None => {
                detoured = match Detoured::of(self, operation)? {
                    Ok(detoured) => detoured,
                    Err(exception) => return Some(Err(exception.into())),
                };
                (detoured.at(self)?, Some(&*detoured))
            }
        };
        serve(at, detoured)
    }
}

impl Detoured {
    /// A call after its start time; `None` if it needs a message.
    ///
    /// # Errors
    /// The exception that ended it before.
    #[cold]
    fn of(
        object: &ObjectRef,
        operation: &'static Operation,
    ) -> Option<Result<Box<Self>, SystemException>> {
        let target = object.target();
        let mut detour = target.detour()?;
        let begun = detour.await_start(target);
        let expiry = match begun.and_then(|()| detour.expiry()) {
            Ok(expiry) => expiry,
            Err(exception) => return Some(Err(target.raised_in_place(operation, exception))),
        };
        let response = detour.response_to(operation);
        let contexts = std::mem::take(&mut detour.contexts);
        Some(Ok(Box::new(Self {
            detour,
            expiry,
            response,
            carries_contexts: !contexts.contexts().is_empty(),
            carried: Carried::new(response, contexts),
        })))
    }

    /// The collocated object that is called.
    #[cold]
    fn at<'d>(&'d self, object: &'d ObjectRef) -> Option<&'d Collocated> {
        self.detour.at(object.target())
    }

    /// Whether its caller waits until the servant has returned, even for a oneway.
    pub(super) fn awaits_target(&self) -> bool {
        self.response == ResponseFlags::Full
    }

    /// The deadline of its caller.
    pub(super) fn deadline(&self) -> Deadline {
        self.detour.timing.reply
    }

    /// The client side of its metrics and its span, if it is observed.
    #[cold]
    pub(super) fn observed<'d>(
        &'d self,
        object: &'d ObjectRef,
        operation: &'static Operation,
    ) -> Option<ObservedCall<'d>> {
        let is_observed = self.detour.is_observed;
        is_observed.then(|| ObservedCall::new(object.target(), &self.detour, operation))
    }

    /// The terms of the call for the adapter.
    #[cold]
    pub(super) fn terms<'c, 'o>(
        &'c self,
        operation: &Operation,
        observed: Option<&'c ObservedCall<'o>>,
    ) -> Terms<'c, 'o> {
        Terms {
            expiry: self.expiry,
            until: self.detour.until(operation),
            carried: (operation.is_oneway() || self.carries_contexts).then_some(&self.carried),
            observed,
            is_answered: false,
        }
    }

    /// The result of the call after the reply times were applied.
    #[cold]
    pub(super) fn in_time<T>(
        &self,
        ended: Result<T, SystemException>,
    ) -> Result<T, SystemException> {
        self.detour.in_time(ended)
    }

    /// The result of a oneway for its caller, by its SyncScopePolicy (CORBA 3.3 Part 1, clause
    /// 17.2); `None` if it was forwarded and has to be made again.
    #[cold]
    pub(super) fn raised_by_oneway(
        &self,
        object: &ObjectRef,
        operation: &'static Operation,
        served: Served,
    ) -> Option<Option<SystemException>> {
        let Some(awaited) = awaited_by_oneway(self.response, served) else {
            return Some(None);
        };
        let served = object.unless_elsewhere(operation, awaited)?;
        Some(self.in_time(served).and_then(ExceptionId::kept).err())
    }
}
