// SPDX-License-Identifier: MIT OR Apache-2.0
//! Options of a schedule.

use std::fmt;
use std::str::FromStr;

use crate::info::Criticality;
use crate::time::Time;

/// The scheduling strategy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// Rate monotonic: one queue per period, the shortest first.
    #[default]
    Rms,
    /// Earliest deadline first: one queue.
    Edf,
    /// Minimum laxity first: one queue.
    Mlf,
    /// Maximum urgency first: one queue per criticality, each by laxity.
    Muf,
    /// The critical set rate monotonic, and one queue by laxity below it for all others.
    RmsMlf,
}

impl Strategy {
    /// All strategies.
    pub const ALL: [Self; 5] = [Self::Rms, Self::Edf, Self::Mlf, Self::Muf, Self::RmsMlf];

    /// The name on command lines and in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Strategy::Rms => "rms",
            Strategy::Edf => "edf",
            Strategy::Mlf => "mlf",
            Strategy::Muf => "muf",
            Strategy::RmsMlf => "rms+mlf",
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Whether a job of a queue by deadline or laxity preempts another one of the same queue. More
/// urgent queues preempt less urgent ones in any case, and jobs of static queues run to completion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Preemption {
    /// A started job runs to completion, as in dispatchers, in event channels and in scheduler
    /// contexts with one thread: a more urgent one waits for it.
    #[default]
    NonPreemptive,
    /// It preempts: threads that an operating system schedules by deadline.
    Preemptive,
}

impl Preemption {
    /// Both.
    pub const ALL: [Self; 2] = [Self::NonPreemptive, Self::Preemptive];

    /// The name on command lines and in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Preemption::NonPreemptive => "non-preemptive",
            Preemption::Preemptive => "preemptive",
        }
    }
}

impl fmt::Display for Preemption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that is not a kind of preemption.
#[derive(Clone, PartialEq, Eq)]
pub struct UnknownPreemption(String);

impl fmt::Display for UnknownPreemption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is neither non-preemptive nor preemptive", self.0)
    }
}

impl fmt::Debug for UnknownPreemption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for UnknownPreemption {}

impl FromStr for Preemption {
    type Err = UnknownPreemption;

    fn from_str(text: &str) -> Result<Self, UnknownPreemption> {
        let found = Self::ALL.into_iter().find(|it| it.name() == text);
        found.ok_or_else(|| UnknownPreemption(text.chars().take(40).collect()))
    }
}

/// A name that is not a strategy.
#[derive(Clone, PartialEq, Eq)]
pub struct UnknownStrategy(String);

impl fmt::Display for UnknownStrategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is none of rms, edf, mlf, muf, rms+mlf", self.0)
    }
}

impl fmt::Debug for UnknownStrategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for UnknownStrategy {}

impl FromStr for Strategy {
    type Err = UnknownStrategy;

    fn from_str(text: &str) -> Result<Self, UnknownStrategy> {
        let found = Self::ALL.into_iter().find(|it| it.name() == text);
        found.ok_or_else(|| UnknownStrategy(text.chars().take(40).collect()))
    }
}

/// Overhead of the ORB and the operating system, added to the times of operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overhead {
    /// The ORB's cost of each call, charged to the caller.
    pub call: Time,
    /// A context switch; each run of a thread is charged two.
    pub context_switch: Time,
    /// The longest critical section of a lane: a more urgent lane waits for it at most once.
    pub blocking: Time,
}

/// Options of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The strategy; rate monotonic by default.
    pub strategy: Strategy,
    /// Whether jobs of a queue by deadline or laxity preempt each other; they do not by default.
    pub preemption: Preemption,
    /// The native priority of the least urgent queue; 1 by default, the lowest of SCHED_FIFO.
    pub min_priority: i32,
    /// The native priority of the most urgent queue; 99 by default. If small numbers are urgent it
    /// is less than `min_priority`.
    pub max_priority: i32,
    /// Operations of this criticality and above are the critical set; HIGH by default.
    pub critical: Criticality,
    /// Added costs; none by default.
    pub overhead: Overhead,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            strategy: Strategy::default(),
            preemption: Preemption::default(),
            min_priority: 1,
            max_priority: 99,
            critical: Criticality::High,
            overhead: Overhead::default(),
        }
    }
}

impl Options {
    /// The defaults with that strategy.
    #[must_use]
    pub fn new(strategy: Strategy) -> Self {
        Options {
            strategy,
            ..Self::default()
        }
    }

    /// The number of native priorities.
    pub(crate) fn levels(&self) -> usize {
        self.min_priority.abs_diff(self.max_priority) as usize + 1
    }

    /// The native priority of a queue, of which there are no more than [`Options::levels`].
    pub(crate) fn priority(&self, queue: usize) -> i32 {
        let queue = i32::try_from(queue).unwrap_or(i32::MAX);
        if self.max_priority >= self.min_priority {
            self.max_priority.saturating_sub(queue)
        } else {
            self.max_priority.saturating_add(queue)
        }
    }
}
