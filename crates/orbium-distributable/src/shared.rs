// SPDX-License-Identifier: MIT OR Apache-2.0
//! State shared by interceptors, the control object and handles.

use std::sync::atomic::{AtomicU64, Ordering};

use orbium::Orb;
use orbium_sys::{NativeThread, random_number};

use crate::error::SegmentError;
use crate::objects::{ObjectSegment, Objects};
use crate::propagation::notice::Inherited;
use crate::propagation::presence::Running;
use crate::resource::resources::Resources;
use crate::scheduling::counted_scheduler::CountedScheduler;
use crate::scheduling::parameter::SchedulingParameter;
use crate::scheduling::scheduler::Scheduler;
use crate::thread::DistributableThread;
use crate::thread::id::ThreadId;
use crate::thread::level::{self, Segment};
use crate::thread::native::{Native, processor_time};
use crate::thread::registry::Registry;

/// The scheduler of an ORB, and its distributable threads and resources in this process.
pub(crate) struct Shared {
    pub(crate) scheduler: CountedScheduler,
    pub(crate) registry: Registry,
    pub(crate) resources: Resources,
    pub(crate) objects: Objects,
    last_call: AtomicU64,
}

impl Shared {
    pub(crate) fn new(scheduler: impl Scheduler) -> Self {
        Self {
            scheduler: CountedScheduler::new(scheduler),
            registry: Registry::default(),
            resources: Resources::default(),
            objects: Objects::default(),
            last_call: AtomicU64::new(random_number()),
        }
    }

    /// A number for a call that is unique among all processes.
    pub(crate) fn next_call(&self) -> u64 {
        self.last_call.fetch_add(1, Ordering::Relaxed)
    }

    /// Checks that the scheduler supports the parameter.
    ///
    /// # Errors
    /// [`SegmentError::UnsupportedDiscipline`].
    pub(crate) fn check(&self, parameter: Option<SchedulingParameter>) -> Result<(), SegmentError> {
        let scheduler = self.scheduler.discipline();
        match parameter.map(|it| it.discipline()) {
            Some(parameter) if parameter != scheduler => Err(SegmentError::UnsupportedDiscipline {
                scheduler,
                parameter,
            }),
            _ => Ok(()),
        }
    }

    /// A scheduling point: applies the innermost segment of the calling thread, or none.
    pub(crate) fn reschedule(&self) {
        let native = NativeThread::current();
        let current = level::with(|level| {
            let measured = processor_time(native);
            let innermost = level.segments.last();
            let running = Running {
                native,
                own: innermost.and_then(|it| it.remaining(|| measured)),
                measured,
                before: level.native,
            };
            Some((level.thread.clone()?, running))
        });
        match current {
            Some((thread, running)) => thread.presence().run(running, &self.scheduler),
            None => self.scheduler.withdraw(native),
        }
    }

    /// Records the begin of an upcall of the thread.
    pub(crate) fn enter(&self, thread: &DistributableThread, inherited: Inherited) {
        thread.presence().enter(self.known(inherited));
        // After it: an earlier notice is stored, a later one finds the upcall.
        if let Some(notice) = self.registry.take_notice(inherited.call) {
            thread.presence().inherit(notice);
        }
    }

    /// Continues the upcall in the segment of its object, which ends with it: at the parameter of
    /// that segment or that of its caller, whichever is more urgent. An ordinary request becomes a
    /// distributable thread until then.
    pub(crate) fn enter_object(&self, segment: ObjectSegment) {
        let around = level::with(|level| {
            if level.thread.is_none() {
                let thread = self.registry.enter(ThreadId::unique());
                thread.presence().enter(Inherited::default());
                level.begin_thread(thread);
            }
            level.segments.last().cloned()
        });
        let used = || processor_time(NativeThread::current());
        let of_caller = around.as_ref().and_then(|it| it.remaining(used));
        let both = [Some(segment.parameter), of_caller];
        let parameter = self.scheduler.most_urgent(both, |it| *it).flatten();
        let implicit = around.and_then(|it| it.implicit);
        let implicit = implicit.or(Some(segment.parameter));
        let segment = Segment::begin(segment.name, parameter, implicit);
        level::with(|level| level.push_inherited(segment));
        self.reschedule();
    }

    /// Ends an upcall of the thread, or the thread itself: its locks since then are released, and
    /// the priority of the calling native thread is restored.
    pub(crate) fn end(&self, thread: &DistributableThread, native: Native) {
        self.release(thread);
        native.restore(NativeThread::current());
    }

    /// Ends a thread after its native thread, which has ended in a segment.
    pub(crate) fn abandon(&self, thread: &DistributableThread) {
        self.release(thread);
        self.registry.leave(thread.id());
    }

    fn release(&self, thread: &DistributableThread) {
        self.resources.release_all(thread, &self.scheduler);
        thread.presence().pause(&self.scheduler);
    }

    /// Applies a notice: an upcall of the thread inherits, and so do its calls.
    pub(crate) fn inherit(&self, orb: &Orb, thread: ThreadId, notice: Inherited) {
        let notice = self.known(notice);
        self.registry.remember(notice);
        if let Some(thread) = self.registry.find(thread)
            && thread.presence().inherit(notice)
        {
            self.registry.take_notice(notice.call);
            self.resources.changed(&thread, orb, &self.scheduler);
        }
    }

    /// Removes a parameter of another discipline.
    fn known(&self, inherited: Inherited) -> Inherited {
        let parameter = inherited.parameter;
        Inherited {
            parameter: parameter.filter(|it| it.discipline() == self.scheduler.discipline()),
            ..inherited
        }
    }
}
