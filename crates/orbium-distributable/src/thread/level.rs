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
    /// That of segments and threads without a parameter of their own.
    pub(crate) implicit: Option<SchedulingParameter>,
    /// The processor time of the native thread when it began.
    begun: Duration,
}

impl Segment {
    /// A segment of the calling native thread begins.
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

    /// The parameter by which it is scheduled, with the execution time that remains when its native
    /// thread has used that processor time.
    pub(crate) fn remaining(&self, used: impl FnOnce() -> Duration) -> Option<SchedulingParameter> {
        let used = || used().saturating_sub(self.begun);
        self.effective().map(|it| it.after(used))
    }

    /// The parameter by which it is scheduled.
    pub(crate) fn effective(&self) -> Option<SchedulingParameter> {
        self.parameter.or(self.implicit)
    }
}

/// An upcall, or what a native thread runs outside of upcalls.
#[derive(Debug, Default)]
pub(crate) struct Level {
    /// The distributable thread that it is a part of.
    pub(crate) thread: Option<DistributableThread>,
    /// The innermost last.
    pub(crate) segments: Vec<Segment>,
    /// The outermost segments, which do not end here: those of the caller and of the object.
    pub(crate) inherited: usize,
    /// What the native thread had before the distributable one came to it.
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

    /// The distributable thread begins here.
    pub(crate) fn begin_thread(&mut self, thread: DistributableThread) {
        self.thread = Some(thread);
        self.native = Native::of_this_thread();
    }

    /// A segment begins that ends with the upcall.
    pub(crate) fn push_inherited(&mut self, segment: Segment) {
        self.segments.push(segment);
        self.inherited = self.segments.len();
    }

    /// The distributable thread ends here. Returns what the native thread had before.
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

/// Looks at the level of the calling thread, or changes it; there is always one.
pub(crate) fn with<R>(change: impl FnOnce(&mut Level) -> R) -> R {
    LEVELS.with_borrow_mut(|levels| {
        if levels.is_empty() {
            levels.push(Level::default());
        }
        let innermost = levels.len() - 1;
        change(&mut levels[innermost])
    })
}

/// An upcall begins.
pub(crate) fn push(level: Level) {
    LEVELS.with_borrow_mut(|levels| {
        if levels.is_empty() {
            // That of the thread outside of upcalls.
            levels.push(Level::default());
        }
        levels.push(level);
    });
}

/// An upcall has ended.
pub(crate) fn pop() -> Option<Level> {
    LEVELS.with_borrow_mut(|levels| match levels.len() {
        0 | 1 => None,
        _ => levels.pop(),
    })
}
