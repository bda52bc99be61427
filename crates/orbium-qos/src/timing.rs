// SPDX-License-Identifier: MIT OR Apache-2.0
//! From and to what the scheduler knows.

use std::time::Duration;

use orbium_core::{LaneConfig, Reservation, ServerStrategy};
use orbium_sched::{Time, Timing};

use crate::Qos;

impl From<&Timing> for Qos {
    /// What the RT_Info of an operation says, as annotations (`@rt`) or registrations made it:
    /// its deadline is its period.
    fn from(timing: &Timing) -> Self {
        let time = |time: Time| (!time.is_zero()).then(|| time.as_duration());
        Self {
            period: time(timing.period),
            deadline: time(timing.period),
            wcet: time(timing.worst_case_execution_time),
            criticality: Some(timing.criticality),
            importance: Some(timing.importance),
            ..Self::NONE
        }
    }
}

impl Qos {
    /// The RT_Info's part of it.
    #[must_use]
    pub fn timing(&self) -> Timing {
        let time = |time: Option<Duration>| {
            let ticks = time.map_or(0, |time| time.as_nanos().div_ceil(100));
            Time::from_ticks(u64::try_from(ticks).unwrap_or(u64::MAX))
        };
        Timing {
            worst_case_execution_time: time(self.wcet),
            period: time(self.period),
            criticality: self.criticality.unwrap_or_default(),
            importance: self.importance.unwrap_or_default(),
            ..Timing::default()
        }
    }

    /// The time of a processor to reserve (SCHED_DEADLINE) for a thread that serves such calls;
    /// `None` without wcet and period.
    #[must_use]
    pub fn reservation(&self) -> Option<Reservation> {
        let (runtime, period) = (self.wcet?, self.period?);
        let deadline = self.deadline.map_or(period, |it| it.min(period));
        Some(Reservation {
            runtime,
            deadline,
            period,
        })
    }

    /// A lane that serves such calls: one reactive thread at the priority, with the
    /// reservation. Give it endpoints; `soft` goes on where the host refuses the reservation.
    #[must_use]
    pub fn lane(&self, name: &str, soft: bool) -> LaneConfig {
        LaneConfig {
            name: name.to_owned(),
            priority: self.priority,
            reservation: self.reservation(),
            strategy: ServerStrategy::Reactive,
            soft,
            ..LaneConfig::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use orbium_core::Priority;
    use orbium_sched::{Criticality, Importance};

    use super::*;

    /// Conformance: RT - one QoS value: fields, scopes, what makes no sense together
    #[test]
    fn an_rt_info_says_the_same_both_ways() {
        let timing = Timing {
            worst_case_execution_time: Time::from_millis(5),
            period: Time::from_millis(50),
            criticality: Criticality::High,
            importance: Importance::VeryLow,
            ..Timing::default()
        };
        let qos = Qos::from(&timing);
        assert_eq!(qos.deadline, Some(Duration::from_millis(50)));
        assert_eq!(qos.timing(), timing);
        let reserved = qos.reservation().unwrap();
        assert_eq!(reserved.runtime, Duration::from_millis(5));
        assert_eq!(Qos::NONE.reservation(), None);
        let urgent = Qos {
            priority: Priority::new(9),
            ..qos
        };
        let lane = urgent.lane("rate-20hz", true);
        assert_eq!(lane.priority, Priority::new(9));
        assert_eq!(lane.reservation, Some(reserved));
    }
}
