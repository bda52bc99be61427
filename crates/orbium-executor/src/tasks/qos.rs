// SPDX-License-Identifier: MIT OR Apache-2.0
//! The QoS of a task.

use std::time::Duration;

use orbium_sched::Criticality;

/// The QoS of a task. Each policy reads the fields that it needs.
///
/// ```
/// use std::time::Duration;
/// use orbium_executor::TaskQos;
///
/// let qos = TaskQos::default()
///     .priority(7)
///     .period(Duration::from_millis(50))
///     .worst_case(Duration::from_millis(2));
/// assert_eq!(qos.relative_deadline(), Some(Duration::from_millis(50)));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TaskQos {
    /// Greater values are more urgent.
    pub priority: i32,
    /// The relative deadline: from the wake-up of a waiting task until it waits again or ends; none
    /// for that of the period.
    pub deadline: Option<Duration>,
    /// The least time between two wake-ups.
    pub period: Option<Duration>,
    /// The worst-case execution time from a wake-up until the task waits again or ends.
    pub worst_case: Duration,
    /// The first key of maximum urgency first.
    pub criticality: Criticality,
}

impl TaskQos {
    /// A QoS with that priority.
    #[must_use]
    pub const fn priority(self, priority: i32) -> Self {
        Self { priority, ..self }
    }

    /// With that deadline, relative to the release.
    #[must_use]
    pub const fn deadline(self, deadline: Duration) -> Self {
        Self {
            deadline: Some(deadline),
            ..self
        }
    }

    /// With that period.
    #[must_use]
    pub const fn period(self, period: Duration) -> Self {
        Self {
            period: Some(period),
            ..self
        }
    }

    /// With that execution time.
    #[must_use]
    pub const fn worst_case(self, worst_case: Duration) -> Self {
        Self { worst_case, ..self }
    }

    /// With that criticality.
    #[must_use]
    pub const fn criticality(self, criticality: Criticality) -> Self {
        Self {
            criticality,
            ..self
        }
    }

    /// The deadline, or else the period.
    #[must_use]
    pub fn relative_deadline(&self) -> Option<Duration> {
        self.deadline.or(self.period)
    }
}
