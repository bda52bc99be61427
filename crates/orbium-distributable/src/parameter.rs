// SPDX-License-Identifier: MIT OR Apache-2.0
//! Scheduling parameters of segments, by discipline.

/// What a segment asks of the scheduler. Each discipline has its own parameters; deadlines are
/// points of time and execution times are lengths, both `TimeBase::TimeT`: units of 100 ns, points
/// since 1582-10-15.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SchedulingParameter {
    /// `FP_Scheduling`: the highest priority first.
    FixedPriority {
        /// `base_priority`.
        priority: i16,
    },
    /// `EDF_Scheduling`: the earliest deadline first.
    EarliestDeadline {
        /// The deadline.
        deadline: u64,
        /// Breaks ties; greater is more important.
        importance: i32,
    },
    /// `LLF_Scheduling`: the least laxity first.
    LeastLaxity {
        /// The deadline.
        deadline: u64,
        /// The estimate of the execution time, from the beginning of the segment.
        execution: u64,
        /// Breaks ties; greater is more important.
        importance: i32,
    },
    /// `MUF_Scheduling`: by criticality, then by laxity.
    MaximumUrgency {
        /// The deadline.
        deadline: u64,
        /// The estimate of the execution time, from the beginning of the segment.
        execution: u64,
        /// Greater is more critical.
        criticality: i32,
    },
}

impl SchedulingParameter {
    /// The name of the discipline (`scheduling_discipline_name`): that of its IDL module.
    #[must_use]
    pub const fn discipline(&self) -> &'static str {
        match self {
            Self::FixedPriority { .. } => "FP_Scheduling",
            Self::EarliestDeadline { .. } => "EDF_Scheduling",
            Self::LeastLaxity { .. } => "LLF_Scheduling",
            Self::MaximumUrgency { .. } => "MUF_Scheduling",
        }
    }
}
