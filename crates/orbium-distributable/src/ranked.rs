// SPDX-License-Identifier: MIT OR Apache-2.0
//! Schedulers that order all threads which run, and map ranks to native priorities.

use std::cmp::Reverse;
use std::ops::RangeInclusive;
use std::sync::{Mutex, MutexGuard, PoisonError};

use orbium::Scheduling;
use orbium_sys::{NativeThread, RealTimeError};

use crate::parameter::SchedulingParameter;
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
    key: Key,
    thread: NativeThread,
    /// The native priority that it has.
    given: Option<i32>,
}

/// The least is the most urgent: criticality, deadline or latest start, importance.
type Key = (Reverse<i32>, u64, Reverse<i32>);

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

/// The order among threads; none of fixed priorities.
fn key(parameter: &SchedulingParameter) -> Option<Key> {
    Some(match *parameter {
        SchedulingParameter::FixedPriority { .. } => return None,
        SchedulingParameter::EarliestDeadline {
            deadline,
            importance,
        } => (Reverse(0), deadline, Reverse(importance)),
        SchedulingParameter::LeastLaxity {
            deadline,
            execution,
            importance,
        } => (
            Reverse(0),
            deadline.saturating_sub(execution),
            Reverse(importance),
        ),
        SchedulingParameter::MaximumUrgency {
            deadline,
            execution,
            criticality,
        } => (
            Reverse(criticality),
            deadline.saturating_sub(execution),
            Reverse(0),
        ),
    })
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
        let Some(key) = key(parameter) else {
            return Ok(());
        };
        let mut running = self.lock();
        let before = running.iter().position(|it| it.thread == thread);
        let given = before.and_then(|index| running.remove(index).given);
        let place = running.partition_point(|it| it.key <= key);
        let it = Running { key, thread, given };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_discipline_has_its_order() {
        let edf = |deadline, importance| SchedulingParameter::EarliestDeadline {
            deadline,
            importance,
        };
        assert!(key(&edf(1, 0)) < key(&edf(2, 9)));
        assert!(key(&edf(1, 1)) < key(&edf(1, 0)));
        let llf = |deadline, execution| SchedulingParameter::LeastLaxity {
            deadline,
            execution,
            importance: 0,
        };
        assert!(key(&llf(60, 55)) < key(&llf(50, 10)));
        let muf = |criticality, deadline| SchedulingParameter::MaximumUrgency {
            deadline,
            execution: u64::MAX,
            criticality,
        };
        assert!(key(&muf(2, 90)) < key(&muf(1, 10)));
        assert_eq!(
            key(&SchedulingParameter::FixedPriority { priority: 1 }),
            None
        );
    }
}
