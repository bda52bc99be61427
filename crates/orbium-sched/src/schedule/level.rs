// SPDX-License-Identifier: MIT OR Apache-2.0
//! Queues with their verdicts.

use crate::time::Time;

/// Dispatching policy of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dispatching {
    /// By subpriority, each job to completion (STATIC_DISPATCHING).
    Static,
    /// By the earliest deadline (DEADLINE_DISPATCHING).
    Deadline,
    /// By the least laxity (LAXITY_DISPATCHING): of the waiting jobs, the one with the earliest
    /// latest start.
    Laxity,
    /// The background: in the order of arrival, each job to completion. Its threads are in
    /// SCHED_RR, in which Linux alternates those of equal priority in slices of its own length.
    TimeSliced,
}

/// The test that proves a guarantee.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Test {
    /// The utilization bound of Liu and Layland.
    UtilizationBound,
    /// The hyperbolic bound.
    HyperbolicBound,
    /// Response times.
    ResponseTime,
    /// Processor demand; for deadlines equal to periods, a utilization of at most 1.
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
    /// No test shows that they hold even then. Except for non-preemptive queues by laxity and for
    /// dynamic queues below others, which have sufficient tests, deadlines can be missed.
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
    /// Its dispatching policy.
    pub dispatching: Dispatching,
    /// The least period of its threads; zero in the background.
    pub period: Time,
    /// Its threads, as indices of [`Schedule::threads`](crate::Schedule::threads).
    pub threads: Vec<usize>,
    /// Its utilization of the processor.
    pub utilization: f64,
    /// The longest response of static queues, from the release of the jobs; none if it exceeds all
    /// deadlines, and for other queues.
    pub response: Option<Time>,
    /// The verdict.
    pub verdict: Verdict,
    /// Whether the strategy guarantees its deadlines: for all levels, or those of the critical set.
    pub promised: bool,
}

impl Level {
    /// Whether all deadlines hold with worst-case execution times.
    #[must_use]
    pub fn is_met(&self) -> bool {
        matches!(self.verdict, Verdict::Guaranteed(_))
    }
}
