// SPDX-License-Identifier: MIT OR Apache-2.0
//! Scheduling parameters of segments, by discipline.

use std::cmp::Reverse;
use std::time::Duration;

/// Scheduling parameter of a segment. Each discipline has its own parameters; deadlines are
/// absolute times and execution times are durations, both `TimeBase::TimeT`: units of 100 ns, times
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
    /// `MIF_Scheduling`: the most important first.
    MostImportantFirst {
        /// Greater values are more important.
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
        /// Greater values are more critical.
        criticality: i32,
    },
    /// `Max_Utility_Scheduling`: by deadline, unless not all deadlines can be met.
    MaximumUtility {
        /// The deadline.
        deadline: u64,
        /// The estimate of the execution time, from the beginning of the segment; 0 if unknown.
        execution: u64,
        /// The utility of ending by the deadline; it is zero after the deadline.
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
            Self::MostImportantFirst { .. } => "MIF_Scheduling",
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

    /// The parameter with the execution time that remains after so much was used, which is only
    /// read for disciplines that count it.
    #[must_use]
    pub(crate) fn after(mut self, used: impl FnOnce() -> Duration) -> Self {
        if let Self::LeastLaxity { execution, .. }
        | Self::MaximumUrgency { execution, .. }
        | Self::MaximumUtility { execution, .. } = &mut self
        {
            let used = u64::try_from(used().as_nanos() / 100).unwrap_or(u64::MAX);
            *execution = execution.saturating_sub(used);
        }
        self
    }

    /// The order among parameters of one discipline.
    pub(crate) fn urgency(&self) -> Urgency {
        match *self {
            Self::FixedPriority { priority } => (Reverse(priority.into()), 0, Reverse(0)),
            Self::MostImportantFirst { importance } => (Reverse(importance), 0, Reverse(0)),
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
        let mif = |importance| SchedulingParameter::MostImportantFirst { importance };
        assert!(mif(2).is_more_urgent_than(&mif(-1)));
        let muf = |criticality, deadline| SchedulingParameter::MaximumUrgency {
            deadline,
            execution: u64::MAX,
            criticality,
        };
        assert!(muf(2, 90).is_more_urgent_than(&muf(1, 10)));
    }

    #[test]
    fn the_remaining_execution_time_decides() {
        let muf = |deadline, execution| SchedulingParameter::MaximumUrgency {
            deadline,
            execution,
            criticality: 1,
        };
        // Units of 100 ns: latest starts of 40 and 45, and of 50 after a microsecond.
        let (first, second) = (muf(60, 20), muf(90, 45));
        assert!(first.is_more_urgent_than(&second));
        let later = first.after(|| Duration::from_micros(1));
        assert_eq!(later, muf(60, 10));
        assert!(second.is_more_urgent_than(&later));
        // Beyond the estimate the rest is zero.
        assert_eq!(first.after(|| Duration::MAX), muf(60, 0));
        let fixed = SchedulingParameter::FixedPriority { priority: 1 };
        assert_eq!(
            fixed.after(|| unreachable!("no execution time to count")),
            fixed
        );
    }
}
