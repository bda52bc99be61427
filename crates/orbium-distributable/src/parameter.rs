// SPDX-License-Identifier: MIT OR Apache-2.0
//! Scheduling parameters of segments, by discipline.

use std::cmp::Reverse;

/// Scheduling parameter of a segment. Each discipline has its own parameters; deadlines are points
/// of time and execution times are lengths, both `TimeBase::TimeT`: units of 100 ns, points since
/// 1582-10-15.
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
    /// `Max_Utility_Scheduling`: by deadline, unless not all deadlines can be met.
    MaximumUtility {
        /// The deadline.
        deadline: u64,
        /// The estimate of the execution time, from the beginning of the segment; 0 where it is not known.
        execution: u64,
        /// The utility of ending by the deadline; there is none after it.
        importance: i32,
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
            Self::MaximumUtility { .. } => "Max_Utility_Scheduling",
        }
    }

    /// Whether a thread with this parameter runs before one with the other. Parameters of different
    /// disciplines have no meaningful order.
    ///
    /// ```
    /// use orbium_distributable::SchedulingParameter;
    ///
    /// let fixed = |priority| SchedulingParameter::FixedPriority { priority };
    /// assert!(fixed(10).is_more_urgent_than(&fixed(3)));
    /// ```
    #[must_use]
    pub fn is_more_urgent_than(&self, other: &Self) -> bool {
        self.urgency() < other.urgency()
    }

    /// The order among parameters of one discipline.
    pub(crate) fn urgency(&self) -> Urgency {
        match *self {
            Self::FixedPriority { priority } => (Reverse(priority.into()), 0, Reverse(0)),
            Self::EarliestDeadline {
                deadline,
                importance,
            }
            | Self::MaximumUtility {
                deadline,
                importance,
                ..
            } => (Reverse(0), deadline, Reverse(importance)),
            Self::LeastLaxity {
                deadline,
                execution,
                importance,
            } => (
                Reverse(0),
                deadline.saturating_sub(execution),
                Reverse(importance),
            ),
            Self::MaximumUrgency {
                deadline,
                execution,
                criticality,
            } => (
                Reverse(criticality),
                deadline.saturating_sub(execution),
                Reverse(0),
            ),
        }
    }
}

/// The least is the most urgent: priority or criticality, deadline or latest start, importance.
pub(crate) type Urgency = (Reverse<i32>, u64, Reverse<i32>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_discipline_has_its_order() {
        let fixed = |priority| SchedulingParameter::FixedPriority { priority };
        assert!(fixed(-1).is_more_urgent_than(&fixed(-2)));
        let edf = |deadline, importance| SchedulingParameter::EarliestDeadline {
            deadline,
            importance,
        };
        assert!(edf(1, 0).is_more_urgent_than(&edf(2, 9)));
        assert!(edf(1, 1).is_more_urgent_than(&edf(1, 0)));
        assert!(!edf(1, 1).is_more_urgent_than(&edf(1, 1)));
        let llf = |deadline, execution| SchedulingParameter::LeastLaxity {
            deadline,
            execution,
            importance: 0,
        };
        assert!(llf(60, 55).is_more_urgent_than(&llf(50, 10)));
        let muf = |criticality, deadline| SchedulingParameter::MaximumUrgency {
            deadline,
            execution: u64::MAX,
            criticality,
        };
        assert!(muf(2, 90).is_more_urgent_than(&muf(1, 10)));
    }
}
