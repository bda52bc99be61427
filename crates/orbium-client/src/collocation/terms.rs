// SPDX-License-Identifier: MIT OR Apache-2.0
//! The terms of a call without a message, as its adapter has to know them.

use orbium_giop::{EncodedContexts, ResponseFlags, SystemException};
use orbium_interceptor::ContextList;
use orbium_interceptor::server::Carried;
use orbium_invocation::{Expiry, Operation};
use orbium_transport::Deadline;

use crate::collocation::detour::{Detour, ItsRequest, ObservedCall};

/// What a call without a message says of itself besides its object and operation.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'c, 'o> {
    /// Until when it makes sense to begin.
    pub expiry: Expiry,
    /// Until when the caller waits for another thread to begin.
    pub until: Deadline,
    /// What a message would say in its header.
    pub carried: Option<&'c Carried>,
    /// The caller's half of its metrics and its span.
    pub observed: Option<&'c ObservedCall<'o>>,
    /// Whether the servant answers by a message, which interceptors see.
    pub is_answered: bool,
}

impl<'c, 'o> Terms<'c, 'o> {
    /// Of an attempt that takes this detour.
    ///
    /// # Errors
    /// It makes no sense to begin.
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
    /// Of nearly all.
    pub const NONE: Self = Self {
        expiry: Expiry::NEVER,
        until: Deadline::NEVER,
        carried: None,
        observed: None,
        is_answered: false,
    };

    /// Which answer to a request the caller waits for.
    #[must_use]
    pub fn response_to(&self, operation: &Operation) -> ResponseFlags {
        self.carried.map_or(operation.response(), |it| it.response)
    }

    /// The same for another thread, which makes the call. The caller's half of what observes it
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

    /// Another thread has made the call, or found that it takes a message; with the service contexts
    /// of the reply, if there are any.
    pub fn made(&self, is_made: bool, contexts: ContextList) {
        if !is_made {
            self.observed.iter().for_each(|it| it.withdraw());
        }
        if let Some(carried) = self.carried {
            carried.reply_contexts.replace(contexts);
        }
    }
}

/// The terms of a call that another thread makes.
#[derive(Debug)]
pub struct LentTerms<'o> {
    expiry: Expiry,
    carried: Option<(ResponseFlags, EncodedContexts)>,
    observed: Option<ItsRequest<'o>>,
    is_answered: bool,
}

impl LentTerms<'_> {
    /// Runs `make` with the terms on that thread; what it returns, and the service contexts of the
    /// reply.
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
