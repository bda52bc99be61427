// SPDX-License-Identifier: MIT OR Apache-2.0
//! The interface of schedulers.

use orbium_sys::{NativeThread, RealTimeError};

use crate::scheduling::parameter::SchedulingParameter;

/// Schedules the native threads that run segments (`RTScheduling::Scheduler`). It is called at
/// scheduling points, by the native thread itself: when segments begin, change and end, requests
/// are sent and replies arrive, upcalls begin and end, resources are locked and unlocked. While a
/// thread inherits, another thread calls it for that one. It is not called to run a thread with a
/// [`Reservation`](orbium::lane::Reservation), which keeps that in each segment.
pub trait Scheduler: Send + Sync + 'static {
    /// The discipline (`scheduling_discipline_name`) of the parameters that it accepts.
    fn discipline(&self) -> &'static str;

    /// The thread runs with that parameter from now on. Its execution time is the present remainder
    /// of the estimate. A thread that waits for a reply does not run.
    ///
    /// # Errors
    /// The host refuses the native priority. The thread continues unchanged, and the refusal is
    /// counted.
    fn run(
        &self,
        thread: NativeThread,
        parameter: &SchedulingParameter,
    ) -> Result<(), RealTimeError>;

    /// The thread leaves its segment, or waits for a reply or a resource.
    fn withdraw(&self, thread: NativeThread);

    /// Whether a thread with the one parameter runs before a thread with the other: it determines
    /// the order of waiters of a [`ResourceManager`](crate::ResourceManager), and the inheritance
    /// of its owner. Default: the rule of the discipline.
    fn is_more_urgent(&self, one: &SchedulingParameter, other: &SchedulingParameter) -> bool {
        one.is_more_urgent_than(other)
    }
}
