// SPDX-License-Identifier: MIT OR Apache-2.0
//! Observers of an attempt.

use orbium_interceptor::client::{BegunCall, Progress};

use crate::call::observed::Observed;

/// The observers of an attempt. A call with results checks it once: without observers, there is
/// nothing to drop.
pub(super) enum Watch<'o> {
    /// None.
    Nothing,
    /// Interceptors, on the plain path: the end of an attempt without results.
    End,
    /// Interceptors, on the plain path: the whole attempt.
    Whole(BegunCall<'o>),
    /// Metrics or a span, or interceptors on the other path.
    Observed(Observed<'o>),
}

impl<'o> Watch<'o> {
    /// The metrics and span, if any.
    pub(super) fn by(observed: Option<Observed<'o>>) -> Self {
        observed.map_or(Self::Nothing, Self::Observed)
    }

    /// Whether interceptors see the end of an attempt on the plain path without results.
    pub(super) fn shows_end(&self) -> bool {
        matches!(self, Self::End | Self::Whole(_))
    }

    /// The call, if interceptors see the whole attempt on the plain path.
    pub(super) fn whole(&self) -> Option<&BegunCall<'o>> {
        match self {
            Self::Whole(call) => Some(call),
            _ => None,
        }
    }

    /// Takes the interceptor flow of a request that does not take the plain path.
    pub(super) fn take_flow(&mut self) -> Option<Progress> {
        match self {
            Self::Observed(observed) => observed.take_flow(),
            _ => None,
        }
    }

    /// The observers other than interceptors on the plain path.
    pub(super) fn observed(&self) -> Option<&Observed<'o>> {
        match self {
            Self::Observed(observed) => Some(observed),
            _ => None,
        }
    }
}
