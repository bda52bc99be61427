// SPDX-License-Identifier: MIT OR Apache-2.0
//! The terms of a call without a message, for its adapter.

use orbium_giop::{EncodedContexts, ResponseFlags, SystemException};
use orbium_interceptor::ContextList;
use orbium_interceptor::server::Carried;
use orbium_invocation::{Expiry, Operation};
use orbium_transport::Deadline;

use crate::collocation::detour::{Detour, ItsRequest, ObservedCall};

/// The properties of a call without a message besides its object and operation.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'c, 'o> {
    /// The expiry of the request.
    pub expiry: Expiry,
    /// The deadline by which another thread has to begin.
    pub until: Deadline,
    /// The contents of a message header.
    pub carried: Option<&'c Carried>,
    /// The caller's side of its metrics and its span.
    pub observed: Option<&'c ObservedCall<'o>>,
    /// Whether the servant answers by a message, seen by interceptors.
    pub is_answered: bool,
}

impl<'c, 'o> Terms<'c, 'o> {
    /// The terms of an attempt with this detour.
    ///
    /// # Errors
    /// The request is obsolete.
    pub fn of_attempt(
        detour: &Detour,
        operation: &Operation,
        carried: &'c Carried,
        observed: Option<&'c ObservedCall<'o>>,
    ) -> Result<Self, SystemException> {
        Ok(Self {
            expiry: detour.expiry()?,
            until: detour.until(operation),
            carried: Some(carried),
            observed,
            is_answered: false,
        })
    }
}

impl<'o> Terms<'_, 'o> {
    /// The terms of nearly all calls.
    pub const NONE: Self = Self {
        expiry: Expiry::NEVER,
        until: Deadline::NEVER,
        carried: None,
        observed: None,
        is_answered: false,
    };

    /// The reply that the caller expects.
    #[must_use]
    pub fn response_to(&self, operation: &Operation) -> ResponseFlags {
        self.carried.map_or(operation.response(), |it| it.response)
    }

    /// The terms for another thread, which makes the call. The caller's side of its observers
    /// begins here.
    #[must_use]
    pub fn lent(&self) -> LentTerms<'o> {
        self.observed.iter().for_each(|it| it.begin());
        LentTerms {
            expiry: self.expiry,
            carried: self.carried.map(|it| (it.response, it.contexts.clone())),
            observed: self.observed.map(ObservedCall::its_request),
            is_answered: self.is_answered,
        }
    }

    /// Ends the terms after another thread has made the call, or found that it needs a message;
    /// with the service contexts of the reply, if any.
    pub fn made(&self, is_made: bool, contexts: ContextList) {
        if !is_made {
            self.observed.iter().for_each(|it| it.withdraw());
        }
        if let Some(carried) = self.carried {
            carried.reply_contexts.replace(contexts);
        }
    }
}

/// The terms of a call made by another thread.
#[derive(Debug)]
pub struct LentTerms<'o> {
    expiry: Expiry,
    carried: Option<(ResponseFlags, EncodedContexts)>,
    observed: Option<ItsRequest<'o>>,
    is_answered: bool,
}

impl LentTerms<'_> {
    /// Runs `make` with the terms on that thread; returns its result, and the service contexts of
    /// the reply.
    pub fn run<R>(self, make: impl FnOnce(&Terms<'_, '_>) -> R) -> (R, ContextList) {
        let observed = self.observed.map(ItsRequest::observed);
        let carried = self.carried;
        let carried = carried.map(|(response, contexts)| Carried::new(response, contexts));
        let made = make(&Terms {
            expiry: self.expiry,
            carried: carried.as_ref(),
            observed: observed.as_ref(),
            is_answered: self.is_answered,
            ..Terms::NONE
        });
        let contexts = carried.map(|it| it.reply_contexts.into_inner());
        (made, contexts.unwrap_or_default())
    }
}
