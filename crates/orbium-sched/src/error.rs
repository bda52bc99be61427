// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors of the scheduler: the exceptions of its IDL as one enum.

use std::fmt;

/// Error of the scheduler.
#[derive(Clone, PartialEq)]
pub enum SchedError {
    /// DUPLICATE_NAME: an operation of that name is registered.
    DuplicateName(String),
    /// UNKNOWN_TASK: no operation has that name or handle.
    UnknownTask(String),
    /// NOT_SCHEDULED: the operation has no priority yet.
    NotScheduled(String),
    /// UTILIZATION_BOUND_EXCEEDED: deadlines that the strategy guarantees are missed.
    UtilizationBoundExceeded {
        /// The sum of execution time over period.
        utilization: f64,
    },
    /// The sentence of an anomaly that is an error: the analysis does not cover it.
    Unsound(String),
    /// INSUFFICIENT_PRIORITY_LEVELS: more queues than native priorities.
    InsufficientPriorityLevels {
        /// Queues of the schedule.
        needed: usize,
        /// The number of native priorities in the range.
        available: usize,
    },
    /// TASK_COUNT_MISMATCH: the table was made for another number of operations.
    TaskCountMismatch {
        /// Operations that the program registered.
        registered: usize,
        /// Operations in the table.
        scheduled: usize,
    },
    /// The table was made for other operations, for other requirements of the same ones, or by
    /// another strategy.
    OtherProgram,
    /// CYCLIC_DEPENDENCIES: operations that depend on one another, the first being repeated at the end.
    CyclicDependencies(Vec<String>),
    /// A period beyond 214.7 s, which `Period` of the IDL cannot hold.
    PeriodTooLong(String),
    /// A dependency with no call.
    NoCalls(String),
    /// The number of operations of all threads, each counted in every thread that runs it, or of
    /// pairs of consumer and supplier, exceeds 10 million, the limit of the analysis.
    TooManyOperations,
}

impl fmt::Display for SchedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DuplicateName(name) => write!(f, "`{name}` is registered already"),
            Self::UnknownTask(task) => write!(f, "no operation `{task}` is registered"),
            Self::NotScheduled(task) => write!(f, "`{task}` is not scheduled"),
            Self::UtilizationBoundExceeded { utilization } => {
                write!(
                    f,
                    "deadlines are missed at a utilization of {utilization:.3}"
                )
            }
            Self::Unsound(anomaly) => f.write_str(anomaly),
            Self::InsufficientPriorityLevels { needed, available } => write!(
                f,
                "the schedule has {needed} queues, and there are {available} native priorities"
            ),
            Self::TaskCountMismatch {
                registered,
                scheduled: 0,
            } => write!(
                f,
                "{registered} operations are registered, and the table is empty: a configuration run writes it"
            ),
            Self::TaskCountMismatch {
                registered,
                scheduled,
            } => write!(
                f,
                "{registered} operations are registered, and the table has {scheduled}"
            ),
            Self::OtherProgram => f.write_str(
                "the table was computed from operations with other names, requirements or dependencies, or by another strategy: a configuration run writes it anew",
            ),
            Self::CyclicDependencies(path) => {
                write!(f, "operations depend on one another: {}", path.join(" -> "))
            }
            Self::PeriodTooLong(task) => write!(f, "the period of `{task}` is longer than 214.7 s"),
            Self::TooManyOperations => f.write_str(
                "the threads run more operations together, or have more suppliers, than are analysed: 10000000",
            ),
            Self::NoCalls(task) => write!(f, "a dependency of `{task}` has no calls"),
        }
    }
}

impl fmt::Debug for SchedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for SchedError {}
