// SPDX-License-Identifier: MIT OR Apache-2.0
//! Segments of the calling native thread: its own, and those of each nested upcall.

use std::cell::RefCell;
use std::time::Duration;

use orbium_sys::NativeThread;

use crate::scheduling::parameter::SchedulingParameter;
use crate::thread::DistributableThread;
use crate::thread::native::{Native, processor_time};

/// A scheduling segment.
#[derive(Clone, Debug)]
pub(crate) struct Segment {
    pub(crate) name: String,
    pub(crate) parameter: Option<SchedulingParameter>,
    /// The parameter of segments and threads without an explicit one.
    pub(crate) implicit: Option<SchedulingParameter>,
    /// The processor time of the native thread when it began.
    begun: Duration,
}

impl Segment {
    /// Begins a segment of the calling native thread.
    pub(crate) fn begin(
        name: String,
        parameter: Option<SchedulingParameter>,
        implicit: Option<SchedulingParameter>,
    ) -> Self {
        Self {
            name,
            parameter,
            implicit,
            begun: processor_time(NativeThread::current()),
        }
    }

    /// The parameter by which it is scheduled, with the execution time that remains after its
    /// native thread has used that processor time.
    pub(crate) fn remaining(&self, used: impl FnOnce() -> Duration) -> Option<SchedulingParameter> {
        let used = || used().saturating_sub(self.begun);
        self.effective().map(|it| it.after(used))
    }

    /// The parameter by which it is scheduled.
    pub(crate) fn effective(&self) -> Option<SchedulingParameter> {
        self.parameter.or(self.implicit)
    }
}

/// An upcall, or the work of a native thread outside upcalls.
#[derive(Debug, Default)]
pub(crate) struct Level {
    /// The distributable thread to which it belongs.
    pub(crate) thread: Option<DistributableThread>,
    /// The innermost last.
    pub(crate) segments: Vec<Segment>,
    /// The outermost segments, which do not end here: those of the caller and of the object.
    pub(crate) inherited: usize,
    /// The scheduling of the native thread before it ran the distributable one.
    pub(crate) native: Native,
}

impl Level {
    /// An upcall of a distributable thread, in a segment of its caller.
    pub(crate) fn of_upcall(thread: DistributableThread, segment: Segment) -> Self {
        Self {
            thread: Some(thread),
            segments: vec![segment],
            inherited: 1,
            native: Native::of_this_thread(),
        }
    }

    /// Begins the distributable thread here.
    pub(crate) fn begin_thread(&mut self, thread: DistributableThread) {
        self.thread = Some(thread);
        self.native = Native::of_this_thread();
    }

    /// Begins a segment that ends with the upcall.
    pub(crate) fn push_inherited(&mut self, segment: Segment) {
        self.segments.push(segment);
        self.inherited = self.segments.len();
    }

    /// Ends the distributable thread here. Returns the previous scheduling of the native thread.
    pub(crate) fn end_thread(&mut self) -> Native {
        self.thread = None;
        std::mem::take(&mut self.native)
    }

    /// The innermost segment that began here.
    pub(crate) fn own_innermost(&mut self) -> Option<&mut Segment> {
        if self.segments.len() > self.inherited {
            self.segments.last_mut()
        } else {
            None
        }
    }
}

thread_local! {
    static LEVELS: RefCell<Vec<Level>> = const { RefCell::new(Vec::new()) };
}

/// Reads or changes the level of the calling thread; there is always one.
pub(crate) fn with<R>(change: impl FnOnce(&mut Level) -> R) -> R {
    LEVELS.with_borrow_mut(|levels| {
        if levels.is_empty() {
            levels.push(Level::default());
        }
        let innermost = levels.len() - 1;
        change(&mut levels[innermost])
    })
}

/// Begins an upcall.
pub(crate) fn push(level: Level) {
    LEVELS.with_borrow_mut(|levels| {
        if levels.is_empty() {
            // The level of the thread outside upcalls.
            levels.push(Level::default());
        }
        levels.push(level);
    });
}

/// Ends an upcall.
pub(crate) fn pop() -> Option<Level> {
    LEVELS.with_borrow_mut(|levels| match levels.len() {
        0 | 1 => None,
        _ => levels.pop(),
    })
}
