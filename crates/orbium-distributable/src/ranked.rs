// SPDX-License-Identifier: MIT OR Apache-2.0
//! Schedulers that order all threads which run, and map ranks to native priorities.

use std::ops::RangeInclusive;
use std::sync::{Mutex, MutexGuard, PoisonError};

use orbium::Scheduling;
use orbium_sys::{NativeThread, RealTimeError};

use crate::parameter::{SchedulingParameter, Urgency};
use crate::scheduler::Scheduler;

/// Earliest deadline, least laxity or maximum urgency first: the threads that run segments have
/// native priorities (SCHED_FIFO) of a range by their rank, the most urgent the highest. Threads
/// beyond the range share its lowest. A thread that comes, changes or goes changes the ranks of the others.
///
/// Laxity counts the estimated execution time of a segment whole, at each scheduling point.
#[derive(Debug)]
pub struct Ranked {
    discipline: &'static str,
    native: RangeInclusive<i32>,
    running: Mutex<Vec<Running>>,
}

#[derive(Debug)]
struct Running {
    urgency: Urgency,
    thread: NativeThread,
    /// The native priority that it has.
    given: Option<i32>,
}

impl Ranked {
    /// By deadline.
    #[must_use]
    pub fn earliest_deadline(native: RangeInclusive<i32>) -> Self {
        Self::new("EDF_Scheduling", native)
    }

    /// By laxity.
    #[must_use]
    pub fn least_laxity(native: RangeInclusive<i32>) -> Self {
        Self::new("LLF_Scheduling", native)
    }

    /// By criticality, then laxity.
    #[must_use]
    pub fn maximum_urgency(native: RangeInclusive<i32>) -> Self {
        Self::new("MUF_Scheduling", native)
    }

    fn new(discipline: &'static str, native: RangeInclusive<i32>) -> Self {
        Self {
            discipline,
            native,
            running: Mutex::default(),
        }
    }

    /// The threads that run segments, the most urgent first.
    #[must_use]
    pub fn running(&self) -> Vec<NativeThread> {
        self.lock().iter().map(|it| it.thread).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives each thread the native priority of its rank; what is refused for `own`.
    fn assign(&self, running: &mut [Running], own: NativeThread) -> Result<(), RealTimeError> {
        let mut outcome = Ok(());
        for (rank, it) in running.iter_mut().enumerate() {
            let rank = i32::try_from(rank).unwrap_or(i32::MAX);
            let native = self
                .native
                .end()
                .saturating_sub(rank)
                .max(*self.native.start());
            if it.given == Some(native) {
                continue;
            }
            // Another thread may have ended.
            let given = it.thread.set_scheduling(Scheduling::fifo(native));
            it.given = given.is_ok().then_some(native);
            if it.thread == own {
                outcome = given;
            }
        }
        outcome
    }
}

impl Scheduler for Ranked {
    fn discipline(&self) -> &'static str {
        self.discipline
    }

    fn run(
        &self,
        thread: NativeThread,
        parameter: &SchedulingParameter,
    ) -> Result<(), RealTimeError> {
        if parameter.discipline() != self.discipline {
            return Ok(());
        }
        let urgency = parameter.urgency();
        let mut running = self.lock();
        let before = running.iter().position(|it| it.thread == thread);
        let given = before.and_then(|index| running.remove(index).given);
        let place = running.partition_point(|it| it.urgency <= urgency);
        let it = Running {
            urgency,
            thread,
            given,
        };
        running.insert(place, it);
        self.assign(&mut running, thread)
    }

    fn withdraw(&self, thread: NativeThread) {
        let mut running = self.lock();
        running.retain(|it| it.thread != thread);
        // A refusal was reported when the thread came.
        let _ = self.assign(&mut running, thread);
    }
}
