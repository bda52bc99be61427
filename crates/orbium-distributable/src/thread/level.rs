// SPDX-License-Identifier: MIT OR Apache-2.0
//! Segments of the calling native thread: its own, and those of each nested upcall.

use std::cell::RefCell;
use std::time::Duration;

use orbium_sys::{NativeThread, spawn};

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

/// Ends a distributable thread after its native one, on another thread.
pub(crate) type End = Box<dyn FnOnce() + Send>;

/// An upcall, or the work of a native thread outside upcalls.
#[derive(Default)]
pub(crate) struct Level {
    /// The distributable thread to which it belongs.
    pub(crate) thread: Option<DistributableThread>,
    /// The innermost last.
    pub(crate) segments: Vec<Segment>,
    /// The outermost segments, which do not end here: those of the caller and of the object.
    pub(crate) inherited: usize,
    /// The scheduling of the native thread before it ran the distributable one.
    pub(crate) native: Native,
    /// Called if the native thread ends before the distributable one, which began in a segment.
    pub(crate) unended: Option<End>,
}

impl Level {
    /// An upcall of a distributable thread, in a segment of its caller.
    pub(crate) fn of_upcall(thread: DistributableThread, segment: Segment) -> Self {
        Self {
            thread: Some(thread),
            segments: vec![segment],
            inherited: 1,
            native: Native::of_this_thread(),
            unended: None,
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
        (self.thread, self.unended) = (None, None);
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

/// The levels of a native thread, the innermost last.
struct Levels(Vec<Level>);

impl Drop for Levels {
    fn drop(&mut self) {
        while let Some(level) = self.0.pop() {
            // On another thread: notices are calls, which use values of their thread. This one ends
            // afterwards, as its number may be reused.
            let ended = level.unended.map(|end| spawn("orbium-segment", None, end));
            if let Some(Ok(ending)) = ended {
                ending.join();
            }
        }
    }
}

thread_local! {
    static LEVELS: RefCell<Levels> = const { RefCell::new(Levels(Vec::new())) };
}

/// Reads or changes the level of the calling thread; there is always one.
pub(crate) fn with<R>(change: impl FnOnce(&mut Level) -> R) -> R {
    LEVELS.with_borrow_mut(|Levels(levels)| {
        if levels.is_empty() {
            levels.push(Level::default());
        }
        let innermost = levels.len() - 1;
        change(&mut levels[innermost])
    })
}

/// Begins an upcall.
pub(crate) fn push(level: Level) {
    LEVELS.with_borrow_mut(|Levels(levels)| {
        if levels.is_empty() {
            // The level of the thread outside upcalls.
            levels.push(Level::default());
        }
        levels.push(level);
    });
}

/// Ends an upcall.
pub(crate) fn pop() -> Option<Level> {
    LEVELS.with_borrow_mut(|Levels(levels)| match levels.len() {
        0 | 1 => None,
        _ => levels.pop(),
    })
}
