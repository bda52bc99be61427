// SPDX-License-Identifier: MIT OR Apache-2.0
//! The offer of a binding.

use std::time::Duration;

use orbium_core::Reservation;
use orbium_rt::Offer;
use orbium_rt::binding::Rate;

use crate::Qos;

impl Qos {
    /// The offer of a [binding](orbium_rt::binding) for such calls: the priority, a request in each
    /// period and one ahead, the deadline, and the [reservation](Self::reservation) if there is
    /// one. `None` without priority and period. Whole microseconds: times are rounded down,
    /// the execution time up.
    ///
    /// ```no_run
    /// use std::time::Duration;
    /// use orbium_core::{ObjectRef, Orb, Priority};
    /// use orbium_qos::{Qos, QosObject};
    /// use orbium_rt::RtObject;
    ///
    /// let orb = Orb::builder().build()?;
    /// let valve: ObjectRef = orb.resolve("corbaloc::localhost:5000/Valve")?;
    /// let qos = Qos {
    ///     priority: Priority::new(20_000),
    ///     period: Some(Duration::from_millis(50)),
    ///     deadline: Some(Duration::from_millis(10)),
    ///     wcet: Some(Duration::from_millis(2)),
    ///     ..Qos::NONE
    /// };
    /// let offer = qos.offer().ok_or("no priority or period")?;
    /// let valve = valve.with_qos(&qos)?.bind(&offer.soft())?;
    /// println!("{:?}", valve.terms());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn offer(&self) -> Option<Offer> {
        let (priority, period) = (self.priority?, self.period?);
        let rate = Rate {
            requests: 1,
            period: microseconds(period),
            burst: 2,
        };
        let reserve = |it: Reservation| Reservation {
            runtime: microseconds(it.runtime + Duration::from_nanos(999)),
            deadline: microseconds(it.deadline),
            period: microseconds(it.period),
            ..it
        };
        Some(Offer {
            rate,
            deadline: self.deadline.map(microseconds),
            reservation: self.reservation().map(reserve),
            ..Offer::new(priority, rate.requests)
        })
    }
}

/// The whole microseconds in a time.
const fn microseconds(time: Duration) -> Duration {
    Duration::new(time.as_secs(), time.subsec_micros() * 1000)
}

#[cfg(test)]
mod tests {
    use orbium_core::Priority;

    use super::*;

    #[test]
    fn an_offer_has_a_priority_and_a_period_at_least() {
        let said = Qos {
            priority: Priority::new(7),
            period: Some(Duration::from_secs(7200)),
            ..Qos::NONE
        };
        let offer = said.offer().unwrap();
        assert!(offer.is_sound());
        assert_eq!((offer.deadline, offer.reservation), (None, None));
        for field in [
            Qos {
                priority: None,
                ..said
            },
            Qos {
                period: None,
                ..said
            },
        ] {
            assert_eq!(field.offer(), None, "{field:?}");
        }
    }

    #[test]
    fn times_in_ticks_of_the_scheduler_are_offered_in_microseconds() {
        let ticks = |ticks: u64| Some(Duration::from_nanos(100 * ticks));
        let offer = Qos {
            priority: Priority::new(7),
            period: ticks(500_003),
            deadline: ticks(100_003),
            wcet: ticks(20_003),
            ..Qos::NONE
        };
        let offer = offer.offer().unwrap();
        assert!(offer.is_sound(), "{offer:?}");
        let micros = Duration::from_micros;
        let reservation = offer.reservation.unwrap();
        assert_eq!(offer.rate.period, micros(50_000));
        assert_eq!(offer.deadline, Some(micros(10_000)));
        assert_eq!(reservation.runtime, micros(2001));
        assert_eq!(reservation.deadline, micros(10_000));
    }
}
