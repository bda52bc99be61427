// SPDX-License-Identifier: MIT OR Apache-2.0
//! Presence of a distributable thread in one process: upcalls, outstanding calls, the native thread
//! that runs it, and the parameter inherited from the waiters for its resources.

use std::thread::Thread;
use std::time::Duration;

use orbium::giop::Ior;
use orbium_sys::NativeThread;

use crate::propagation::notice::{Inherited, Notice};
use crate::scheduling::counted_scheduler::CountedScheduler;
use crate::scheduling::parameter::SchedulingParameter;
use crate::thread::id::ThreadId;
use crate::thread::native::{Native, processor_time};

/// The native thread that runs the head of a distributable one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Running {
    pub(crate) native: NativeThread,
    /// The parameter of its innermost segment, with the remaining execution time at its last
    /// scheduling point.
    pub(crate) own: Option<SchedulingParameter>,
    /// The processor time of the native thread at that point.
    pub(crate) measured: Duration,
    /// The previous scheduling of the native thread.
    pub(crate) before: Native,
}

impl Running {
    /// The parameter with the present remaining execution time.
    fn remaining(&self) -> Option<SchedulingParameter> {
        let used = || processor_time(self.native).saturating_sub(self.measured);
        self.own.map(|it| it.after(used))
    }
}

/// An outstanding call of the thread.
#[derive(Debug)]
struct Outgoing {
    request: u32,
    /// The destination of notices about it; none if unknown.
    control: Option<Ior>,
    /// The number of the thread's upcalls in this process when it began: the call inherits what
    /// they inherit.
    upcalls: usize,
    /// The last sent inheritance.
    sent: Inherited,
}

/// A distributable thread in one process.
#[derive(Debug, Default)]
pub(crate) struct Presence {
    /// `None` while its head is in another process.
    running: Option<Running>,
    /// The native thread to which the last priority was assigned.
    scheduled: Option<NativeThread>,
    /// The native thread, while it waits for a resource.
    waiting: Option<Thread>,
    /// The most urgent of the ceilings and waiters of the resources that it holds here.
    of_resources: Option<SchedulingParameter>,
    /// Resources that it holds here.
    held: usize,
    /// The inheritance of each of its upcalls from the process of the call.
    upcalls: Vec<Inherited>,
    calls: Vec<Outgoing>,
}

impl Presence {
    /// A scheduling point: sets the native thread that runs its head.
    pub(crate) fn run(&mut self, running: Running, scheduler: &CountedScheduler) {
        self.running = Some(running);
        self.apply(scheduler);
    }

    /// Called when its head leaves for another process, or it ends.
    pub(crate) fn pause(&mut self, scheduler: &CountedScheduler) {
        if let Some(running) = self.running.take() {
            scheduler.withdraw(running.native);
        }
    }

    /// Called before the native thread waits for a resource.
    pub(crate) fn block(&mut self, waiting: Thread, scheduler: &CountedScheduler) {
        self.waiting = Some(waiting);
        if let Some(running) = self.running {
            scheduler.withdraw(running.native);
        }
    }

    /// Called when the native thread stops waiting.
    pub(crate) fn unblock(&mut self, scheduler: &CountedScheduler) {
        self.waiting = None;
        self.apply(scheduler);
    }

    /// The native thread that waits for a resource.
    pub(crate) fn waiting(&self) -> Option<Thread> {
        self.waiting.clone()
    }

    /// The parameter by which it is scheduled: its own, or an inherited one.
    pub(crate) fn effective(&self, scheduler: &CountedScheduler) -> Option<SchedulingParameter> {
        let own = self.running.and_then(|it| it.remaining());
        let inherited = self.inherited(self.upcalls.len(), scheduler);
        scheduler.most_urgent([own, inherited], |it| *it)?
    }

    /// The parameter that it inherits here and in the first of its upcalls.
    fn inherited(
        &self,
        upcalls: usize,
        scheduler: &CountedScheduler,
    ) -> Option<SchedulingParameter> {
        let upcalls = self.upcalls.iter().take(upcalls).map(|it| it.parameter);
        scheduler.most_urgent(upcalls.chain([self.of_resources]), |it| *it)?
    }

    /// Schedules the native thread that runs its head, unless that has a reservation.
    pub(crate) fn apply(&mut self, scheduler: &CountedScheduler) {
        let is_scheduled = |it: &Running| self.waiting.is_none() && !it.before.is_reserved();
        let Some(running) = self.running.filter(is_scheduled) else {
            return;
        };
        match self.effective(scheduler) {
            Some(parameter) => {
                self.scheduled = Some(running.native);
                scheduler.run(running.native, &parameter);
            }
            None => {
                scheduler.withdraw(running.native);
                if self.scheduled.take() == Some(running.native) {
                    running.before.restore(running.native);
                }
            }
        }
    }

    /// The number of its upcalls here.
    pub(crate) fn upcalls(&self) -> usize {
        self.upcalls.len()
    }

    /// Records the begin of an upcall.
    pub(crate) fn enter(&mut self, inherited: Inherited) {
        self.upcalls.push(inherited);
    }

    /// Records the end of the innermost upcall.
    pub(crate) fn leave(&mut self) {
        self.upcalls.pop();
    }

    /// Applies a notice about an upcall. Returns whether it is for one of these and changes it.
    pub(crate) fn inherit(&mut self, notice: Inherited) -> bool {
        let upcall = self.upcalls.iter_mut().find(|it| it.call == notice.call);
        let upcall = upcall.filter(|it| it.sequence < notice.sequence);
        upcall.map(|it| *it = notice).is_some()
    }

    /// Sets the parameter inherited from the ceilings and waiters of its resources. Returns whether
    /// it has changed.
    pub(crate) fn inherit_of_resources(&mut self, parameter: Option<SchedulingParameter>) -> bool {
        let before = std::mem::replace(&mut self.of_resources, parameter);
        before != parameter
    }

    pub(crate) fn hold(&mut self) {
        self.held += 1;
    }

    pub(crate) fn release(&mut self) {
        self.held -= 1;
    }

    /// Whether it holds resources here.
    pub(crate) fn holds(&self) -> bool {
        self.held > 0
    }

    /// Records a sent request. Returns its inheritance.
    pub(crate) fn begin_call(
        &mut self,
        request: u32,
        call: u64,
        control: Option<Ior>,
        scheduler: &CountedScheduler,
    ) -> Inherited {
        let upcalls = self.upcalls.len();
        let sent = Inherited {
            call,
            sequence: 1,
            parameter: self.inherited(upcalls, scheduler),
        };
        self.calls.push(Outgoing {
            request,
            control,
            upcalls,
            sent,
        });
        sent
    }

    /// Removes a call. Returns whether it was outstanding.
    pub(crate) fn end_call(&mut self, request: u32) -> bool {
        let calls = &mut self.calls;
        let index = calls.iter().rposition(|it| it.request == request);
        index.map(|index| calls.remove(index)).is_some()
    }

    /// The destinations of a cancellation.
    pub(crate) fn controls(&self) -> Vec<Ior> {
        let calls = self.calls.iter();
        calls.filter_map(|it| it.control.clone()).collect()
    }

    /// The inheritance notices for outstanding calls that have changed.
    pub(crate) fn notices(
        &mut self,
        thread: ThreadId,
        scheduler: &CountedScheduler,
    ) -> Vec<Notice> {
        let now: Vec<_> = self.calls.iter().map(|it| it.upcalls).collect();
        let now = now.into_iter().map(|it| self.inherited(it, scheduler));
        let now: Vec<_> = now.collect();
        let changed = self.calls.iter_mut().zip(now);
        let changed = changed.filter(|(call, now)| call.sent.parameter != *now);
        let notices = changed.filter_map(|(call, parameter)| {
            call.sent.sequence += 1;
            call.sent.parameter = parameter;
            Some(Notice {
                control: call.control.clone()?,
                thread,
                inherited: call.sent,
            })
        });
        notices.collect()
    }
}
