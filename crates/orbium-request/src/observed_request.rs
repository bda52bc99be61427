// SPDX-License-Identifier: MIT OR Apache-2.0
//! The metrics and the span of a collocated request.

use std::fmt;
use std::time::Instant;

use orbium_giop::{Completion, ExceptionKind, ResponseFlags, SystemException};
use orbium_invocation::raises::Raised;
use orbium_metrics::{End, Measurements, Series};
use tracing::span::EnteredSpan;

use crate::IncomingRequest;
use crate::conclusion::servant_panicked;
use crate::spans::{ServedObject, collocated_span, end_collocated_span};

/// A request in progress: recorded when it is dropped.
pub struct ObservedRequest<'r> {
    request: &'r IncomingRequest<'r>,
    begun: Instant,
    measured: Option<(&'r Measurements, &'r Series)>,
    /// The current span of the thread.
    span: Option<EnteredSpan>,
    /// The outcome; a panic if it is dropped before that is set.
    ended: Option<Ended>,
}

/// The outcome of a request.
#[derive(Clone, Copy)]
enum Ended {
    Results,
    UserException(&'static str),
    SystemException(SystemException),
}

impl<'r> ObservedRequest<'r> {
    /// Begins the observation before the upcall.
    #[must_use]
    pub fn begin(
        request: &'r IncomingRequest<'r>,
        object: &dyn ServedObject,
        measured: Option<(&'r Measurements, &'r Series)>,
    ) -> Self {
        if let Some((_, series)) = measured {
            series.begin();
        }
        Self {
            request,
            begun: Instant::now(),
            measured,
            span: collocated_span(request, object),
            ended: None,
        }
    }

    /// Ends the observation after the upcall; `raised` is the exception of the servant, if any.
    pub fn end(mut self, raised: Option<&Raised<'_>>) {
        self.ended = Some(match raised {
            None => Ended::Results,
            Some(Raised::User(id, _)) => Ended::UserException(id),
            Some(Raised::System(exception)) => Ended::SystemException(*exception),
        });
    }

    fn record(&self, all: &Measurements, series: &Series) {
        let ended = Instant::now();
        let is_awaited = self.request.response == ResponseFlags::Full;
        let end = match self.ended {
            Some(Ended::Results) if is_awaited => End::Results,
            Some(Ended::Results) => End::Oneway,
            Some(Ended::UserException(_)) => End::UserException,
            Some(Ended::SystemException(exception)) => {
                all.count_raised(exception);
                if (exception.kind, exception.completed) == (ExceptionKind::Timeout, Completion::No)
                {
                    series.note_late(false);
                }
                End::SystemException
            }
            None => {
                all.count_raised(servant_panicked());
                all.count_panic();
                End::SystemException
            }
        };
        let deadline = self.request.expiry.deadline().instant();
        if deadline.is_some_and(|deadline| (self.begun..ended).contains(&deadline)) {
            series.note_late(true);
        }
        series.end(ended.saturating_duration_since(self.begun), end);
    }
}

impl fmt::Debug for ObservedRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ObservedRequest")
            .field(self.request)
            .finish()
    }
}

impl Drop for ObservedRequest<'_> {
    fn drop(&mut self) {
        if let Some((all, series)) = self.measured {
            self.record(all, series);
        }
        if let Some(span) = self.span.take() {
            let (failed, id) = match self.ended {
                Some(Ended::SystemException(exception)) => (Some(exception), None),
                None => (Some(servant_panicked()), None),
                Some(Ended::UserException(id)) => (None, Some(id)),
                Some(Ended::Results) => (None, None),
            };
            end_collocated_span(&span, self.request, failed, id);
        }
    }
}
