// SPDX-License-Identifier: MIT OR Apache-2.0
//! Schedulers that order all running threads, and map ranks to native priorities.

use std::ops::RangeInclusive;
use std::time::{Duration, SystemTime};

use orbium::giop::time::UtcTime;
use orbium::lane::Scheduling;
use orbium::lock::{Mutex, MutexGuard};
use orbium_sys::{NativeThread, RealTimeError};

use crate::scheduling::parameter::SchedulingParameter;
use crate::scheduling::scheduler::Scheduler;
use crate::scheduling::utility::{self, Demand};
use crate::thread::native::processor_time;

/// Earliest deadline, most important, least laxity, maximum urgency or maximum utility first: the
/// threads that run segments have native priorities (SCHED_FIFO) of a range by their rank, the most
/// urgent the highest. Threads beyond the range share its lowest. The addition, change or removal
/// of a thread changes the ranks of the others.
///
/// Laxity and utility use the remainder of the estimated execution time: the estimate less the
/// processor time that the native thread has used in the segment, measured again for all threads at
/// each scheduling point of any of them. A server counts from the remainder at the time of the
/// request; the caller does not count the time used by the server.
#[derive(Debug)]
pub struct Ranked {
    discipline: &'static str,
    order: Order,
    native: RangeInclusive<i32>,
    running: Mutex<Vec<Running>>,
}

/// The order of threads.
#[derive(Clone, Copy, Debug)]
enum Order {
    /// By their parameters, each independently.
    Urgency,
    /// By the utility of all together.
    Utility,
}

impl Order {
    fn sort(self, running: &mut Vec<Running>) {
        match self {
            Self::Urgency => running.sort_by_cached_key(|it| it.remaining().urgency()),
            Self::Utility => {
                let demands: Vec<_> = running
                    .iter()
                    .map(|it| Demand::of(&it.remaining()))
                    .collect();
                let order = utility::order(&demands, UtcTime::from(SystemTime::now()).0);
                *running = order.into_iter().map(|it| running[it]).collect();
            }
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Running {
    parameter: SchedulingParameter,
    /// The processor time of the thread when it got that parameter.
    since: Duration,
    thread: NativeThread,
    /// Its present native priority.
    given: Option<i32>,
}

impl Running {
    /// The parameter with the remaining execution time.
    fn remaining(&self) -> SchedulingParameter {
        let used = || processor_time(self.thread).saturating_sub(self.since);
        self.parameter.after(used)
    }
}

impl Ranked {
    /// By deadline.
    #[must_use]
    pub fn earliest_deadline(native: RangeInclusive<i32>) -> Self {
        Self::new("EDF_Scheduling", Order::Urgency, native)
    }

    /// By importance.
    #[must_use]
    pub fn most_important_first(native: RangeInclusive<i32>) -> Self {
        Self::new("MIF_Scheduling", Order::Urgency, native)
    }

    /// By laxity.
    #[must_use]
    pub fn least_laxity(native: RangeInclusive<i32>) -> Self {
        Self::new("LLF_Scheduling", Order::Urgency, native)
    }

    /// By criticality, then laxity.
    #[must_use]
    pub fn maximum_urgency(native: RangeInclusive<i32>) -> Self {
        Self::new("MUF_Scheduling", Order::Urgency, native)
    }

    /// By deadline while one processor can meet all deadlines. In overload the threads with the
    /// least importance for their execution time are shed, and come last, until the others meet
    /// their deadlines (Clark's DASA, without dependencies). Both are evaluated at scheduling
    /// points of any thread, by the clock of the host.
    ///
    /// ```
    /// use orbium_distributable::{DistributableThreads, Ranked};
    ///
    /// let threads = DistributableThreads::new(Ranked::maximum_utility(10..=40));
    /// # drop(threads);
    /// ```
    #[must_use]
    pub fn maximum_utility(native: RangeInclusive<i32>) -> Self {
        Self::new("Max_Utility_Scheduling", Order::Utility, native)
    }

    fn new(discipline: &'static str, order: Order, native: RangeInclusive<i32>) -> Self {
        Self {
            discipline,
            order,
            native,
            running: Mutex::default(),
        }
    }

    /// The threads that run segments, the most urgent first and the shed ones last.
    #[must_use]
    pub fn running(&self) -> Vec<NativeThread> {
        self.lock().iter().map(|it| it.thread).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Running>> {
        self.running.lock()
    }

    /// Assigns each thread the native priority of its rank; returns a refusal for `own`.
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
        let mut running = self.lock();
        let before = running.iter().position(|it| it.thread == thread);
        let given = before.and_then(|index| running.remove(index).given);
        // Behind those of the same urgency.
        running.push(Running {
            parameter: *parameter,
            since: processor_time(thread),
            thread,
            given,
        });
        self.order.sort(&mut running);
        self.assign(&mut running, thread)
    }

    fn withdraw(&self, thread: NativeThread) {
        let mut running = self.lock();
        running.retain(|it| it.thread != thread);
        self.order.sort(&mut running);
        // A refusal was reported when the thread was added.
        let _ = self.assign(&mut running, thread);
    }
}
