// SPDX-License-Identifier: MIT OR Apache-2.0
//! Scheduling classes of the urgent clients and lanes of an experiment.

use std::fmt;
use std::time::Duration;

use clap::ValueEnum;
use orbium::lane::{Reservation, Scheduling};

use super::real_time::{HIGH, become_real_time, can_be_real_time};

/// A scheduling class of the system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Class {
    /// SCHED_OTHER: fair shares, without priorities
    Other,
    /// SCHED_FIFO at the native priority
    #[default]
    Fifo,
    /// SCHED_DEADLINE: a reservation, with the earlier deadline at the higher priority
    Deadline,
    /// SCHED_DEADLINE with SCHED_FLAG_RECLAIM: also the unused time of other reservations
    Reclaiming,
}

/// Processor time of a thread in each period under SCHED_DEADLINE. Two threads at each of fifty
/// priorities reserve 83 % of a processor.
const RUNTIME: Duration = Duration::from_micros(300);
const LONGEST_PERIOD: Duration = Duration::from_millis(50);

impl Class {
    /// The name in system interfaces.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Other => "SCHED_OTHER",
            Self::Fifo => "SCHED_FIFO",
            Self::Deadline => "SCHED_DEADLINE",
            Self::Reclaiming => "SCHED_DEADLINE, reclaiming",
        }
    }

    /// The class with that name on a command line.
    pub(crate) fn parse(word: &str) -> Option<Self> {
        Self::from_str(word, false).ok()
    }

    /// The scheduling of a lane of that priority; 0 is the lane of ordinary threads.
    pub(crate) fn scheduling(self, priority: i32) -> Option<Scheduling> {
        (self == Self::Fifo && priority > 0).then(|| Scheduling::fifo(priority))
    }

    /// The reservation of a lane of that priority.
    pub(crate) fn reservation(self, priority: i32) -> Option<Reservation> {
        let reserved = || reserved_at(priority);
        match self {
            Self::Deadline if priority > 0 => Some(reserved()),
            Self::Reclaiming if priority > 0 => Some(reserved().reclaiming()),
            _ => None,
        }
    }

    /// Whether threads of this class have reservations: then the system pins none of them to one
    /// processor.
    pub(crate) const fn reserves(self) -> bool {
        matches!(self, Self::Deadline | Self::Reclaiming)
    }

    /// Applies this class at a priority to the calling thread.
    ///
    /// # Errors
    /// The reason, in words.
    pub(crate) fn apply(self, priority: i32) -> Result<(), String> {
        if let Some(reservation) = self.reservation(priority) {
            let applied = reservation.apply_to_this_thread();
            return applied.map_err(|error| error.to_string());
        }
        match self.scheduling(priority) {
            Some(_) => become_real_time(priority),
            None => Ok(()),
        }
    }

    /// Whether a thread may have this class at a priority; the error is a sentence with the reason.
    pub(crate) fn can_have(self, priority: i32) -> Result<(), String> {
        if let Some(reservation) = self.reservation(priority) {
            return reservation.try_out().map_err(|error| error.to_string());
        }
        match self.scheduling(priority) {
            Some(_) => can_be_real_time(priority),
            None => Ok(()),
        }
    }
}

/// The name on the command line.
impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Other => "other",
            Self::Fifo => "fifo",
            Self::Deadline => "deadline",
            Self::Reclaiming => "reclaiming",
        })
    }
}

/// The period, which is also the deadline, decreases from the longest at priority 1 to half of it
/// at [`HIGH`]. With a deadline below the period, Linux would defer a thread that wakes up between
/// the two to the next period.
fn reserved_at(priority: i32) -> Reservation {
    let all = 2 * HIGH;
    let steps = all + 1 - priority.clamp(1, HIGH);
    Reservation::new(
        RUNTIME,
        LONGEST_PERIOD * steps.unsigned_abs() / all.unsigned_abs(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_parsed_by_the_name_that_it_shows() {
        for class in Class::value_variants() {
            assert_eq!(Class::parse(&class.to_string()), Some(*class));
        }
        assert_eq!(Class::parse("rr"), None);
    }

    #[test]
    fn deadlines_are_the_earlier_the_higher_the_priority() {
        assert_eq!(reserved_at(1).period, LONGEST_PERIOD);
        assert_eq!(reserved_at(HIGH).deadline, Duration::from_micros(25_500));
        for priority in 2..=HIGH {
            let (own, below) = (reserved_at(priority), reserved_at(priority - 1));
            assert!(own.deadline < below.deadline && own.deadline == own.period);
        }
    }

    #[test]
    fn each_class_schedules_by_one_means() {
        assert_eq!(Class::Fifo.scheduling(7), Some(Scheduling::fifo(7)));
        assert_eq!(Class::Fifo.reservation(7), None);
        let reserved = Class::Deadline.reservation(7).unwrap();
        assert!(!reserved.reclaims);
        let reclaiming = Some(reserved.reclaiming());
        assert_eq!(Class::Reclaiming.reservation(7), reclaiming);
        for class in Class::value_variants() {
            assert_eq!(class.reserves(), class.reservation(7).is_some());
            assert!(class.scheduling(7).is_none() || !class.reserves());
            assert_eq!(class.scheduling(0), None);
            assert_eq!(class.reservation(0), None);
        }
        assert_eq!(Class::Other.scheduling(7), None);
        assert_eq!(Class::Other.reservation(7), None);
    }
}
