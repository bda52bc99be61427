// SPDX-License-Identifier: MIT OR Apache-2.0
//! `RT_Info`: the timing of an operation, and the assignment of the scheduler to it.

use std::fmt;
use std::str::FromStr;

use crate::time::Time;

/// The identifier of an [`RtInfo`]: dense from 1, so that tables are arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Handle(pub(crate) u32);

impl Handle {
    /// The number, from 1.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.0
    }

    /// The handle of that number, which may be unknown to a repository.
    #[must_use]
    pub const fn from_number(number: u32) -> Self {
        Handle(number)
    }

    /// The index in tables, from 0.
    pub(crate) const fn index(self) -> usize {
        self.0.wrapping_sub(1) as usize
    }

    pub(crate) fn at(index: usize) -> Self {
        Handle(u32::try_from(index + 1).unwrap_or(u32::MAX))
    }
}

macro_rules! degrees {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(missing_docs, reason = "the names say it")]
        pub enum $name {
            VeryLow,
            Low,
            #[default]
            Medium,
            High,
            VeryHigh,
        }

        impl $name {
            /// All degrees, from the lowest.
            pub const ALL: [Self; 5] =
                [Self::VeryLow, Self::Low, Self::Medium, Self::High, Self::VeryHigh];

            /// The name in IDL: `VERY_LOW` to `VERY_HIGH`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                ["VERY_LOW", "LOW", "MEDIUM", "HIGH", "VERY_HIGH"][self as usize]
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }

        impl FromStr for $name {
            type Err = UnknownDegree;

            fn from_str(text: &str) -> Result<Self, UnknownDegree> {
                let found = Self::ALL.into_iter().find(|it| it.name() == text);
                found.ok_or_else(|| UnknownDegree(text.chars().take(40).collect()))
            }
        }
    };
}

degrees! {
    /// The first key of maximum urgency first; only in the text of the paper.
    Criticality
}

degrees! {
    /// The tie-breaker of operations with equal criticality and rate and no dependency.
    Importance
}

/// A name that is not a criticality or importance.
#[derive(Clone, PartialEq, Eq)]
pub struct UnknownDegree(String);

impl fmt::Display for UnknownDegree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is none of VERY_LOW, LOW, MEDIUM, HIGH, VERY_HIGH",
            self.0
        )
    }
}

impl fmt::Debug for UnknownDegree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for UnknownDegree {}

/// Combination of several suppliers into the rate of an operation (TAO's `Info_Type_t`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum InfoKind {
    /// An operation: it runs for each event of each supplier.
    #[default]
    Operation,
    /// It runs once the events of all suppliers have arrived: at the lowest rate.
    Conjunction,
    /// It runs for each event of any supplier: at the sum of the rates.
    Disjunction,
    /// It runs on another host: its time is not charged to this processor.
    RemoteDependant,
}

impl InfoKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [
        Self::Operation,
        Self::Conjunction,
        Self::Disjunction,
        Self::RemoteDependant,
    ];

    /// The name in IDL.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            InfoKind::Operation => "OPERATION",
            InfoKind::Conjunction => "CONJUNCTION",
            InfoKind::Disjunction => "DISJUNCTION",
            InfoKind::RemoteDependant => "REMOTE_DEPENDANT",
        }
    }
}

/// Timing of an operation, as declared by the application.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    /// The worst-case execution time, for the deterministic analysis.
    pub worst_case_execution_time: Time,
    /// The usual execution time, for the statistical analysis. Zero: the worst case.
    pub typical_execution_time: Time,
    /// If not zero, the cost of further calls within a period, because the result is cached.
    pub cached_execution_time: Time,
    /// The least time between two runs, which is also the deadline. Zero: the operation is
    /// reactive, and its time is charged to its callers.
    pub period: Time,
    /// The first key of maximum urgency first.
    pub criticality: Criticality,
    /// The tie-breaker of the order.
    pub importance: Importance,
    /// If not zero, the operation belongs to the background, the last queue, which runs in
    /// SCHED_RR. The value makes no difference: Linux has one slice for all threads of that class.
    pub quantum: Time,
    /// Internal threads. Zero: passive; the operation runs in the thread of its caller.
    pub threads: u32,
    /// The combination of its suppliers into its rate.
    pub kind: InfoKind,
}

/// Whether an operation, or a dependency, is part of schedules (TAO's `RT_Info_Enabled_Type_t`,
/// `Dependency_Enabled_Type_t`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum EnableState {
    /// It stays registered, but is excluded from schedules.
    Disabled,
    /// It is part of schedules.
    #[default]
    Enabled,
    /// It is part of schedules, and stays so when all enabled ones are replaced.
    NonVolatile,
}

impl EnableState {
    /// All states.
    pub const ALL: [Self; 3] = [Self::Disabled, Self::Enabled, Self::NonVolatile];

    /// The name in text.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            EnableState::Disabled => "DISABLED",
            EnableState::Enabled => "ENABLED",
            EnableState::NonVolatile => "NON_VOLATILE",
        }
    }

    /// Whether it is excluded from schedules.
    #[must_use]
    pub const fn is_disabled(self) -> bool {
        matches!(self, EnableState::Disabled)
    }
}

/// Kind of a dependency (TAO's `Dependency_Type_t`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DependencyKind {
    /// A call: the time of the callee is charged to the thread of its caller.
    TwoWayCall,
    /// Data: the consumer runs at the rate of its supplier, in a separate thread.
    OneWayCall,
}

/// Dependency of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// The callee, or the supplier.
    pub on: Handle,
    /// Calls per run of the caller, or events per run of the supplier; at least 1.
    pub calls: u32,
    /// The kind of the dependency.
    pub kind: DependencyKind,
    /// Whether it is part of schedules.
    pub state: EnableState,
}

/// Assignment of the scheduler to an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Assignment {
    /// The number of the dispatch queue, 0 being the most urgent.
    pub preemption_priority: u32,
    /// The order within the queue, 0 being the first.
    pub subpriority: u32,
    /// The native priority of the thread that serves the queue.
    pub priority: i32,
}

/// An operation with timing constraints: `RT_Info` of the paper and of TAO's `RtecScheduler`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RtInfo {
    /// The unique name; the scoped name of an operation is recommended.
    pub entry_point: String,
    /// The identifier.
    pub handle: Handle,
    /// The timing that the application has declared.
    pub timing: Timing,
    /// Whether it is part of schedules.
    pub state: EnableState,
    /// The dependencies of the operation.
    pub dependencies: Vec<Dependency>,
    /// The assignment of the scheduler, if there is one.
    pub assignment: Option<Assignment>,
}

impl RtInfo {
    pub(crate) fn worst_case(&self) -> Time {
        self.timing.worst_case_execution_time
    }

    /// The worst case unless another time is set.
    pub(crate) fn typical(&self) -> Time {
        match self.timing.typical_execution_time {
            Time::ZERO => self.worst_case(),
            typical => typical,
        }
    }
}
