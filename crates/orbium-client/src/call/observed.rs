// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls that are measured, traced or intercepted.

use std::time::Instant;

use orbium_giop::SystemException;
use orbium_interceptor::client::Progress;
use orbium_invocation::story::Phase;
use orbium_invocation::{Operation, Priority};
use orbium_metrics::Measured;

use crate::call::notice;
use crate::call::span::CallSpan;
use crate::reference::Reference;
use crate::reference::candidate::Candidate;

/// A call of this thread under way: recorded when it is dropped.
pub(crate) struct Observed<'o> {
    measured: Option<Measured<'o>>,
    /// Boxed: few calls have one, and each makes room for it.
    span: Option<Box<CurrentSpan>>,
    /// The flow of its interceptors, between the two functions that it passes.
    flow: Option<Box<Progress>>,
}

/// The span of a call, which is that of its thread.
struct CurrentSpan {
    /// Left before the span ends.
    _entered: tracing::span::EnteredSpan,
    span: CallSpan,
}

impl<'o> Observed<'o> {
    /// `None` unless it is observed.
    #[cold]
    pub(crate) fn begin(
        object: &'o Reference,
        operation: &'static Operation,
        notices: u8,
    ) -> Option<Self> {
        let measured = match notices & notice::METRICS {
            0 => None,
            _ => {
                let all = object.client().measurements();
                all.map(|all| Measured::begin(all, operation))
            }
        };
        let wanted = orbium_trace::log::wants_spans();
        let span = wanted.then(|| CallSpan::begin(object, operation)).flatten();
        let span = span.map(|span| {
            let _entered = span.enter();
            Box::new(CurrentSpan { _entered, span })
        });
        let flow = None;
        (measured.is_some() || span.is_some()).then_some(Self {
            measured,
            span,
            flow,
        })
    }

    /// A call that interceptors alone have seen begin.
    #[cold]
    pub(crate) fn begun(flow: Progress) -> Self {
        Self {
            measured: None,
            span: None,
            flow: Some(Box::new(flow)),
        }
    }

    /// Takes the flow of the interceptors, if it has begun.
    #[cold]
    pub(crate) fn take_flow(&mut self) -> Option<Progress> {
        self.flow.take().map(|flow| *flow)
    }

    /// Whether a subscriber wants its span.
    pub(crate) fn has_span(&self) -> bool {
        self.span.is_some()
    }

    /// The request goes that way.
    #[cold]
    pub(crate) fn note_way(&self, object: &Reference, candidate: &Candidate, is_forwarded: bool) {
        if let Some(current) = &self.span {
            current.span.note_way(object, candidate, is_forwarded);
        }
    }

    /// At that priority.
    #[cold]
    pub(crate) fn note_priority(&self, priority: Option<Priority>) {
        if let Some(current) = &self.span {
            current.span.note_priority(priority);
        }
    }

    /// The reply has to be there by then.
    pub(crate) fn note_deadline(&self, deadline: Option<Instant>) {
        if let Some(current) = &self.span {
            current.span.note_deadline(deadline);
        }
    }

    /// It was sent again so often, and forwarded, so far.
    pub(crate) fn note_counts(&self, retries: u32, forwards: u32) {
        if let Some(current) = &self.span {
            current.span.note_counts(retries, forwards);
        }
    }

    /// It is made again, and counted as that.
    pub(crate) fn withdraw(&self) {
        if let Some(measured) = &self.measured {
            measured.withdraw();
        }
    }

    /// It ends with a user exception.
    pub(crate) fn note_user_exception(&self, id: &'static str) {
        if let Some(measured) = &self.measured {
            measured.note_user_exception();
        }
        if let Some(current) = &self.span {
            current.span.note_user_exception(Some(id));
        }
    }

    /// It ends with a system exception, in that phase.
    pub(crate) fn note_failure(&self, exception: SystemException, phase: Phase) {
        if let Some(measured) = &self.measured {
            measured.note_failure(exception);
        }
        if let Some(current) = &self.span {
            current.span.note_failure(exception, phase);
        }
    }
}

impl Drop for Observed<'_> {
    /// Out of line: every operation's stub would have it otherwise.
    #[cold]
    fn drop(&mut self) {
        drop(self.span.take());
        drop(self.measured.take());
    }
}
