// SPDX-License-Identifier: MIT OR Apache-2.0
//! Conversion from and to values of the scheduler.

use std::time::{Duration, Instant};

use orbium_core::{LaneConfig, Reservation, ServerStrategy, Urgency, priority};
use orbium_executor::TaskQos;
use orbium_sched::{Time, Timing};

use crate::Qos;

impl From<&Timing> for Qos {
    /// The contents of an operation's RT_Info, from annotations (`@rt`) or registrations: its
    /// deadline is its period.
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

/// The QoS of the task that serves a request, for `ContextHandle::executor_by`: that of its RIOP
/// context; without a deadline there, the time until its client's time-out, and without a priority
/// that of the calling thread.
///
/// ```
/// use orbium_core::{AsyncServant, ByUrgency};
/// use orbium_executor::{Policy, SchedulerContext};
/// use orbium_qos::task_qos;
///
/// # struct Ledger;
/// let context = SchedulerContext::builder("ledger").policy(Policy::Edf).threads(2).build()?;
/// let servant = AsyncServant::new(Ledger, ByUrgency(context.executor_by(task_qos)));
/// # drop(servant);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn task_qos(urgency: &Urgency) -> TaskQos {
    let said = urgency.riop.map_or(Qos::NONE, Qos::from);
    let remaining = |end: Instant| end.saturating_duration_since(Instant::now());
    let priority = said.priority.or_else(priority::current);
    TaskQos {
        priority: priority.map_or(0, |it| it.number().into()),
        deadline: said.deadline.or_else(|| urgency.deadline.map(remaining)),
        period: said.period,
        criticality: said.criticality.unwrap_or_default(),
        ..TaskQos::default()
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

    /// The processor time to reserve (SCHED_DEADLINE) for a thread that serves such calls; `None`
    /// without wcet and period.
    #[must_use]
    pub fn reservation(&self) -> Option<Reservation> {
        let (runtime, period) = (self.wcet?, self.period?);
        let deadline = self.deadline.map_or(period, |it| it.min(period));
        let reservation = Reservation::new(runtime, period);
        Some(Reservation {
            deadline,
            ..reservation
        })
    }

    /// A lane that serves such calls: one reactive thread at the priority, with the reservation.
    /// Endpoints are to be added; with `soft` it continues if the host refuses the reservation.
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

    #[test]
    fn a_task_has_what_the_request_says_and_else_what_its_client_waits() {
        let end = Instant::now() + Duration::from_secs(3600);
        let waits = Urgency {
            deadline: Some(end),
            ..Urgency::default()
        };
        let left = task_qos(&waits).deadline.unwrap();
        assert!(left <= Duration::from_secs(3600) && !left.is_zero());
        let said = Qos {
            priority: Priority::new(7),
            period: Some(Duration::from_millis(50)),
            deadline: Some(Duration::from_millis(20)),
            criticality: Some(Criticality::High),
            ..Qos::NONE
        };
        let data = crate::riop::encode(&said).unwrap();
        let says = Urgency {
            riop: orbium_giop::riop::Riop::decode(&data).ok(),
            ..waits
        };
        let expected = TaskQos::default()
            .priority(7)
            .period(Duration::from_millis(50))
            .deadline(Duration::from_millis(20))
            .criticality(Criticality::High);
        assert_eq!(task_qos(&says), expected);
        assert_eq!(task_qos(&Urgency::default()), TaskQos::default());
    }

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
