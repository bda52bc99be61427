// SPDX-License-Identifier: MIT OR Apache-2.0
//! The distributable thread of the calling thread, and its segments.

use std::fmt;
use std::sync::Arc;

use crate::error::SegmentError;
use crate::scheduling::parameter::SchedulingParameter;
use crate::shared::Shared;
use crate::thread::id::ThreadId;
use crate::thread::level::{self, Segment};
use crate::thread::{DistributableThread, State};

/// The calling thread (`RTScheduling::Current`). Segments nest, and end in the upcall that began
/// them.
#[derive(Clone)]
pub struct Current(pub(crate) Arc<Shared>);

impl Current {
    /// Begins a segment: the outermost one makes the calling thread a distributable one. A segment
    /// without parameter is scheduled by the implicit one, its own or that of the enclosing
    /// segment; an empty name is valid. The segments that a native thread has not ended end with it.
    ///
    /// # Errors
    /// [`SegmentError::UnsupportedDiscipline`]; [`SegmentError::Cancelled`].
    pub fn begin_scheduling_segment(
        &self,
        name: &str,
        parameter: impl Into<Option<SchedulingParameter>>,
        implicit: Option<SchedulingParameter>,
    ) -> Result<(), SegmentError> {
        let parameter = parameter.into();
        self.0.check(parameter.or(implicit))?;
        self.0.check(implicit)?;
        level::with(|level| {
            if level.thread.is_none() {
                let thread = self.0.registry.enter(ThreadId::unique());
                let (shared, own) = (Arc::clone(&self.0), thread.clone());
                level.begin_thread(thread);
                level.unended = Some(Box::new(move || shared.abandon(&own)));
            }
            not_cancelled(level.thread.as_ref())?;
            let around = level.segments.last().and_then(|it| it.implicit);
            let segment = Segment::begin(name.to_owned(), parameter, implicit.or(around));
            level.segments.push(segment);
            Ok::<_, SegmentError>(())
        })?;
        self.0.reschedule();
        Ok(())
    }

    /// Changes the parameters of the innermost segment.
    ///
    /// # Errors
    /// [`SegmentError::UnsupportedDiscipline`]; [`SegmentError::NotInnermost`];
    /// [`SegmentError::Cancelled`].
    pub fn update_scheduling_segment(
        &self,
        name: &str,
        parameter: impl Into<Option<SchedulingParameter>>,
        implicit: Option<SchedulingParameter>,
    ) -> Result<(), SegmentError> {
        let parameter = parameter.into();
        self.0.check(parameter.or(implicit))?;
        self.0.check(implicit)?;
        level::with(|level| {
            not_cancelled(level.thread.as_ref())?;
            let segment = level.own_innermost().filter(|it| it.name == name);
            let segment = segment.ok_or(SegmentError::NotInnermost)?;
            segment.parameter = parameter;
            segment.implicit = implicit.or(segment.implicit);
            Ok::<_, SegmentError>(())
        })?;
        self.0.reschedule();
        Ok(())
    }

    /// Ends the innermost segment, and the distributable thread with its outermost one.
    ///
    /// # Errors
    /// [`SegmentError::NotInnermost`]; [`SegmentError::Cancelled`]: the segment has ended.
    pub fn end_scheduling_segment(&self, name: &str) -> Result<(), SegmentError> {
        let (thread, ended) = level::with(|level| {
            let innermost = level.own_innermost().filter(|it| it.name == name);
            innermost.ok_or(SegmentError::NotInnermost)?;
            level.segments.pop();
            let thread = level.thread.clone();
            let native = level.segments.is_empty().then(|| level.end_thread());
            Ok::<_, SegmentError>((thread, native))
        })?;
        match (ended, &thread) {
            (Some(native), Some(thread)) => {
                self.0.end(thread, native);
                self.0.registry.leave(thread.id());
            }
            _ => self.0.reschedule(),
        }
        not_cancelled(thread.as_ref())
    }

    /// The distributable thread.
    #[must_use]
    pub fn thread(&self) -> Option<DistributableThread> {
        level::with(|level| level.thread.clone())
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> Option<ThreadId> {
        self.thread().map(|it| it.id())
    }

    /// The parameter by which the innermost segment is scheduled.
    #[must_use]
    pub fn scheduling_parameter(&self) -> Option<SchedulingParameter> {
        level::with(|level| level.segments.last()?.effective())
    }

    /// The parameter of segments and threads without an explicit one.
    #[must_use]
    pub fn implicit_scheduling_parameter(&self) -> Option<SchedulingParameter> {
        level::with(|level| level.segments.last()?.implicit)
    }

    /// The names of the open segments of this upcall, the innermost first.
    #[must_use]
    pub fn current_scheduling_segment_names(&self) -> Vec<String> {
        level::with(|level| {
            let names = level.segments.iter().rev().map(|it| it.name.clone());
            names.collect()
        })
    }

    /// A scheduling point of a long computation: without effect unless the thread was cancelled.
    ///
    /// # Errors
    /// [`SegmentError::Cancelled`].
    pub fn check_cancelled(&self) -> Result<(), SegmentError> {
        not_cancelled(self.thread().as_ref())
    }
}

fn not_cancelled(thread: Option<&DistributableThread>) -> Result<(), SegmentError> {
    if thread.is_some_and(|it| it.state() == State::Cancelled) {
        Err(SegmentError::Cancelled)
    } else {
        Ok(())
    }
}

impl fmt::Debug for Current {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Current").field("id", &self.id()).finish()
    }
}
