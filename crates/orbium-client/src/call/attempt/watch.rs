// SPDX-License-Identifier: MIT OR Apache-2.0
//! Observers of an attempt.

use orbium_interceptor::client::{BegunCall, Progress};

use crate::call::observed::Observed;

/// What observes an attempt. A call with results checks it once: where nothing does, there is nothing to drop.
pub(super) enum Watch<'o> {
    /// Nothing.
    Nothing,
    /// Interceptors, on the plain path: how it ends, if it ends without results.
    End,
    /// Interceptors, on the plain path: all of it.
    Whole(BegunCall<'o>),
    /// Metrics or a span, or interceptors on the other path.
    Observed(Observed<'o>),
}

impl<'o> Watch<'o> {
    /// Metrics and a span, if there are any.
    pub(super) fn by(observed: Option<Observed<'o>>) -> Self {
        observed.map_or(Self::Nothing, Self::Observed)
    }

    /// Whether interceptors see how an attempt on the plain path ends without results.
    pub(super) fn shows_end(&self) -> bool {
        matches!(self, Self::End | Self::Whole(_))
    }

    /// The call, if interceptors see all of an attempt on the plain path.
    pub(super) fn whole(&self) -> Option<&BegunCall<'o>> {
        match self {
            Self::Whole(call) => Some(call),
            _ => None,
        }
    }

    /// Takes the flow of interceptors that has begun, of a request that does not take the plain path.
    pub(super) fn take_flow(&mut self) -> Option<Progress> {
        match self {
            Self::Observed(observed) => observed.take_flow(),
            _ => None,
        }
    }

    /// What observes it but interceptors on the plain path.
    pub(super) fn observed(&self) -> Option<&Observed<'o>> {
        match self {
            Self::Observed(observed) => Some(observed),
            _ => None,
        }
    }
}
