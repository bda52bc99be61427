// SPDX-License-Identifier: MIT OR Apache-2.0
//! Queues, and what holds for them.

use crate::time::Time;

/// Dispatching policy of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dispatching {
    /// By subpriority, each job to its end (STATIC_DISPATCHING).
    Static,
    /// By the earliest deadline (DEADLINE_DISPATCHING).
    Deadline,
    /// By the least laxity (LAXITY_DISPATCHING): of jobs that wait, the one with the latest start
    /// that is nearest.
    Laxity,
    /// The background: in the order of arrival, each job to its end. Its threads are in SCHED_RR, in which
    /// Linux has those of equal priority take turns in slices of its own length.
    TimeSliced,
}

/// The test that shows a guarantee.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Test {
    /// The utilization bound of Liu and Layland.
    UtilizationBound,
    /// The hyperbolic bound.
    HyperbolicBound,
    /// Response times.
    ResponseTime,
    /// Processor demand, which for deadlines that are periods is a utilization of at most 1.
    ProcessorDemand,
    /// Processor demand with the longest job of the queue that others cannot preempt.
    NonPreemptiveDemand,
}

impl Test {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Test::UtilizationBound => "the utilization bound",
            Test::HyperbolicBound => "the hyperbolic bound",
            Test::ResponseTime => "response times",
            Test::ProcessorDemand => "preemptive processor demand",
            Test::NonPreemptiveDemand => "non-preemptive processor demand",
        }
    }
}

/// Verdict on the operations of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// All deadlines hold with worst-case execution times: the deterministic class.
    Guaranteed(Test),
    /// All deadlines hold with typical execution times: the statistical class.
    Statistical,
    /// No test shows that they hold even so. Other than for non-preemptive queues by laxity and
    /// for dynamic queues below others, which have sufficient tests, deadlines can be missed.
    NotGuaranteed,
    /// There are no deadlines: the background.
    Background,
}

/// A queue with its threads.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// The number of the queue, 0 being the most urgent.
    pub queue: u32,
    /// Its native priority.
    pub priority: i32,
    /// How it chooses among its jobs.
    pub dispatching: Dispatching,
    /// The least period of its threads; zero in the background.
    pub period: Time,
    /// Its threads, as indices of [`Schedule::threads`](crate::Schedule::threads).
    pub threads: Vec<usize>,
    /// Its share of the processor.
    pub utilization: f64,
    /// The longest response of static queues, from the release of the jobs; none where it is
    /// longer than all deadlines, and for other queues.
    pub response: Option<Time>,
    /// What holds.
    pub verdict: Verdict,
    /// Whether the strategy promises its deadlines: all levels, or those of the critical set.
    pub promised: bool,
}

impl Level {
    /// Whether all deadlines hold with worst-case execution times.
    #[must_use]
    pub fn is_met(&self) -> bool {
        matches!(self.verdict, Verdict::Guaranteed(_))
    }
}
