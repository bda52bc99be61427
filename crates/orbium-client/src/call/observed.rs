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

/// A call in progress on this thread: recorded when it is dropped.
pub(crate) struct Observed<'o> {
    measured: Option<Measured<'o>>,
    /// Boxed: few calls have one, but all have the field.
    span: Option<Box<CurrentSpan>>,
    /// The flow of its interceptors, passed between two functions.
    flow: Option<Box<Progress>>,
}

/// The span of a call, entered by its thread.
struct CurrentSpan {
    /// Exited before the span ends.
    _entered: tracing::span::EnteredSpan,
    span: CallSpan,
}

impl<'o> Observed<'o> {
    /// `None` without observers.
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

    /// A call without other observers than interceptors, which have seen its beginning.
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

    /// Whether it has a span for a subscriber.
    pub(crate) fn has_span(&self) -> bool {
        self.span.is_some()
    }

    /// Records the candidate of the request.
    #[cold]
    pub(crate) fn note_way(&self, object: &Reference, candidate: &Candidate, is_forwarded: bool) {
        if let Some(current) = &self.span {
            current.span.note_way(object, candidate, is_forwarded);
        }
    }

    /// Records its priority.
    #[cold]
    pub(crate) fn note_priority(&self, priority: Option<Priority>) {
        if let Some(current) = &self.span {
            current.span.note_priority(priority);
        }
    }

    /// Records the deadline of the reply.
    pub(crate) fn note_deadline(&self, deadline: Option<Instant>) {
        if let Some(current) = &self.span {
            current.span.note_deadline(deadline);
        }
    }

    /// Records the numbers of retries and forwards so far.
    pub(crate) fn note_counts(&self, retries: u32, forwards: u32) {
        if let Some(current) = &self.span {
            current.span.note_counts(retries, forwards);
        }
    }

    /// Withdraws its count: it is made again, and counted then.
    pub(crate) fn withdraw(&self) {
        if let Some(measured) = &self.measured {
            measured.withdraw();
        }
    }

    /// Records that it ends with a user exception.
    pub(crate) fn note_user_exception(&self, id: &'static str) {
        if let Some(measured) = &self.measured {
            measured.note_user_exception();
        }
        if let Some(current) = &self.span {
            current.span.note_user_exception(Some(id));
        }
    }

    /// Records that it ends with a system exception, in that phase.
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
    /// Out of line: the stub of each operation would contain it otherwise.
    #[cold]
    fn drop(&mut self) {
        drop(self.span.take());
        drop(self.measured.take());
    }
}
