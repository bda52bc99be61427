// SPDX-License-Identifier: MIT OR Apache-2.0
//! Offers in addition to a schedule.

use orbium::transport::Peer;
use orbium_sched::{Options, Repository, Timing};

use super::*;

const MS: fn(u64) -> Duration = Duration::from_millis;

/// 20 ms in each 50 ms at the highest priority, 30 ms in each 200 ms below.
fn admission() -> ScheduleAdmission {
    let mut repository = Repository::new();
    for (name, period, time) in [("steer", 50, 20), ("log", 200, 30)] {
        let timing = Timing {
            period: Time::from_millis(period),
            worst_case_execution_time: Time::from_millis(time),
            ..Timing::default()
        };
        repository.register(name, timing).unwrap();
    }
    let schedule = repository.compute_scheduling(&Options::default()).unwrap();
    assert_eq!(schedule.levels[0].priority, 99);
    ScheduleAdmission::new(&schedule).cost(MS(10))
}

fn offer(priority: i16, requests: u32) -> Offer {
    Offer::new(Priority::new(priority).unwrap(), requests)
}

fn asked(offer: &Offer) -> BindingRequest<'_> {
    BindingRequest {
        offer,
        protocol: "iiop",
        object_id: b"it",
        adapter: "charts",
        lane: "orbium-serve",
        peer: &Peer::Unknown,
        held: None,
    }
}

fn accepted(admission: &ScheduleAdmission, offer: &Offer) -> Reservation {
    match admission.consider(&asked(offer)) {
        Verdict::Accept(terms, reservation) => {
            assert!(offer.admits(&terms));
            reservation
        }
        other => panic!("{other:?}"),
    }
}

/// Below all: 10 ms each 100 ms, delayed by 20 + 20 + 30 at the worst.
#[test]
fn a_binding_with_a_deadline_that_holds_is_admitted_until_it_ends() {
    let admission = admission();
    let held = accepted(&admission, &offer(1, 10).deadline(MS(100)));
    assert_eq!(admission.active(), 1);
    drop(held);
    assert_eq!(admission.active(), 0);
}

#[test]
fn a_deadline_that_cannot_hold_is_refused() {
    let admission = admission();
    // Alone with more urgent ones it takes 60 ms: 10 + 20 + 30, and 20 more at 50 ms.
    for (deadline, holds) in [(79, false), (80, true)] {
        let offer = offer(1, 5).deadline(MS(deadline));
        let verdict = admission.consider(&asked(&offer));
        match verdict {
            Verdict::Accept(..) => assert!(holds),
            Verdict::Refuse(reason) => {
                assert!(!holds);
                assert_eq!(reason.code, ReasonCode::Deadline);
            }
            other => panic!("{other:?}"),
        }
    }
}

/// Admission by a share of the processor would accept it: half of it is free.
#[test]
fn a_binding_that_would_delay_the_schedule_is_refused() {
    let admission = admission().cost(MS(31));
    // At the highest priority it delays `steer` beyond 50 ms once in a second.
    let verdict = admission.consider(&asked(&offer(100, 1)));
    assert!(matches!(verdict, Verdict::Refuse(it) if it.code == ReasonCode::Deadline));
    let verdict = admission.consider(&asked(&offer(1, 1)));
    assert!(matches!(verdict, Verdict::Accept(..)));
}

#[test]
fn the_highest_rate_that_holds_is_the_counter_offer() {
    let admission = admission();
    let wanted = offer(1, 1_000);
    let Verdict::Counter(terms, reason) = admission.consider(&asked(&wanted)) else {
        panic!("100 percent and more");
    };
    assert_eq!(reason.code, ReasonCode::Rate);
    let best = terms.rate.requests;
    let _held = accepted(&admission, &offer(1, best));
    drop(_held);
    let beyond = offer(1, best + 1);
    assert!(matches!(
        admission.consider(&asked(&beyond)),
        Verdict::Counter(..)
    ));
    // A range that includes the counter-offer needs no second call.
    let ranged = wanted.at_least(1);
    accepted(&admission, &ranged);
}

#[test]
fn bindings_are_counted_against_each_other_and_bursts_come_at_once() {
    let admission = admission();
    let _first = accepted(&admission, &offer(2, 5).deadline(MS(100)));
    // 20 + 20 + 30 + 10 + 10.
    for (deadline, holds) in [(89, false), (90, true)] {
        let offer = offer(1, 5).deadline(MS(deadline));
        let verdict = admission.consider(&asked(&offer));
        assert_eq!(matches!(verdict, Verdict::Accept(..)), holds, "{verdict:?}");
    }
    // Three at once: the last of them ends 20 ms later, and `steer` runs once more.
    for (deadline, holds) in [(129, false), (130, true)] {
        let offer = offer(1, 5).burst(3).deadline(MS(deadline));
        let verdict = admission.consider(&asked(&offer));
        assert_eq!(matches!(verdict, Verdict::Accept(..)), holds, "{verdict:?}");
    }
}

/// `show` runs for the data of `steer` at the priority of that, and of `log` below: at the end of
/// `log`, which a binding of the same priority delays. 20 ms of `show` and `steer` behind 200 ms of
/// `log` exceed its 200, though `log` itself and the binding end in time.
#[test]
fn a_consumer_of_what_a_binding_delays_meets_its_deadline_too() {
    let mut repository = Repository::new();
    let mut register = |name, period, time| {
        let timing = Timing {
            period: Time::from_millis(period),
            worst_case_execution_time: Time::from_millis(time),
            ..Timing::default()
        };
        repository.register(name, timing).unwrap()
    };
    let (steer, log) = (register("steer", 50, 10), register("log", 200, 20));
    let show = register("show", 0, 5);
    for supplier in [steer, log] {
        let data = orbium_sched::DependencyKind::OneWayCall;
        repository.add_dependency(show, supplier, 1, data).unwrap();
    }
    let schedule = repository.compute_scheduling(&Options::default()).unwrap();
    assert!(schedule.is_feasible());
    for (cost, holds) in [(60, true), (110, false)] {
        let admission = ScheduleAdmission::new(&schedule).cost(MS(cost));
        let verdict = admission.consider(&asked(&offer(98, 1)));
        assert_eq!(matches!(verdict, Verdict::Accept(..)), holds, "{verdict:?}");
    }
}

#[test]
fn there_are_as_many_bindings_as_there_may_be() {
    let admission = admission().bindings(1);
    let _first = accepted(&admission, &offer(1, 1));
    let verdict = admission.consider(&asked(&offer(1, 1)));
    assert!(matches!(verdict, Verdict::Refuse(it) if it.code == ReasonCode::Bindings));
}

/// A request that leaves 100 ns of each second: the iteration of responses below it took steps of a
/// second, for minutes, under the lock of all bindings. An unproved offer is refused, and others
/// are admitted after that.
#[test]
fn an_offer_that_nearly_fills_the_processor_is_answered() {
    let schedule = Repository::new().compute_scheduling(&Options::default());
    let admission = ScheduleAdmission::new(&schedule.unwrap());
    let admission = admission
        .cost(MS(10))
        .cost_in("full", Duration::from_nanos(999_999_900));
    let days = MS(10_000_000_000);
    let mut small = offer(2, 1).deadline(days);
    small.rate.period = days;
    let held: Vec<_> = (0..40).map(|_| accepted(&admission, &small)).collect();
    let full = offer(100, 1).deadline(days);
    for _ in 0..3 {
        let verdict = admission.consider(&BindingRequest {
            adapter: "full",
            ..asked(&full)
        });
        assert!(matches!(verdict, Verdict::Refuse(_)), "{verdict:?}");
    }
    let _more = accepted(&admission, &small);
    assert_eq!(admission.active(), held.len() + 1);
}

#[test]
fn extremes_are_answers() {
    let admission = admission();
    for requests in [1, u32::MAX] {
        for period in [Duration::from_micros(1), Duration::from_secs(86_400)] {
            let mut offer = offer(i16::MAX, requests).burst(u32::MAX).at_least(1);
            offer.rate.period = period;
            let _ = admission.consider(&asked(&offer));
        }
    }
}
