// SPDX-License-Identifier: MIT OR Apache-2.0
//! Observers of an attempt.

use orbium_interceptor::client::Progress;

use crate::call::observed::Observed;

/// What observes an attempt. A call with results checks it once: where nothing does, there is nothing to drop.
pub(super) enum Watch<'o> {
    /// Nothing.
    Nothing,
    /// Interceptors, on the plain path.
    Interceptors,
    /// Metrics or a span, or interceptors on the other path.
    Observed(Observed<'o>),
}

impl<'o> Watch<'o> {
    /// Metrics and a span, if there are any.
    pub(super) fn by(observed: Option<Observed<'o>>) -> Self {
        observed.map_or(Self::Nothing, Self::Observed)
    }

    /// Whether there is anything.
    #[inline(always)]
    pub(super) fn is_any(&self) -> bool {
        !matches!(self, Self::Nothing)
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
