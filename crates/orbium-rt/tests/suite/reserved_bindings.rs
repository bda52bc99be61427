// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bindings with threads for which the host reserves time of a processor.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use orbium_core::{Config, Limits, Orb, Priority, RealTimeError, Reservation};
use orbium_rt::binding::{BindError, Bindings, Rate, ReasonCode};
use orbium_rt::{Bound, Budget, Offer, RtObject};
use orbium_testkit::probe::Target;
use orbium_testkit::{TargetState, eventually, skipped};

use crate::common::{client, seen_by, server_with, soft};

const MS: Duration = Duration::from_millis(1);
const TWO_FIFTHS: Reservation =
    Reservation::new(Duration::from_millis(20), Duration::from_millis(50));

/// One of these tests reserves all that there is.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static HOST: Mutex<()> = Mutex::new(());
    HOST.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether this host reserves time for this process; says so if it does not.
pub(crate) fn is_possible() -> bool {
    match TWO_FIFTHS.try_out() {
        Ok(()) => true,
        Err(error) => {
            skipped(&format!("reservations: {error}"));
            false
        }
    }
}

/// Threads of this process that have a reservation.
pub(crate) fn reserved_threads() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let stats = tasks.filter_map(|it| std::fs::read_to_string(it.ok()?.path().join("stat")).ok());
    let is_reserved = |stat: &String| {
        let fields = stat.rsplit(") ").next().unwrap().split(' ');
        // SCHED_DEADLINE.
        fields.into_iter().nth(38) == Some("6")
    };
    stats.filter(is_reserved).count()
}

/// A binding; other processes may have reserved time until now.
fn bind(target: &Target, offer: &Offer) -> Bound<Target> {
    let mut bound = None;
    eventually("the host reserves it", || {
        bound = match target.bind(offer) {
            Ok(bound) => Some(bound),
            Err(BindError::Refused(it)) if it.code == ReasonCode::Reservation => None,
            Err(error) => panic!("{error}"),
        };
        bound.is_some()
    });
    bound.unwrap()
}

/// A server where an object answers with the runtime, in microseconds, that is reserved for the thread.
fn served(budget: Budget) -> (Orb, Bindings, Target) {
    let (orb, bindings, target, _) = served_with(budget);
    (orb, bindings, target)
}

/// The runtime, in microseconds, that is reserved for the calling thread.
pub(crate) fn reserved_here() -> i32 {
    let reservation = Reservation::of_this_thread().unwrap();
    reservation.map_or(0, |it| it.runtime.as_micros() as i32)
}

fn served_with(budget: Budget) -> (Orb, Bindings, Target, Arc<TargetState>) {
    let config = Config {
        limits: Limits {
            dedicated_threads: 1000,
            ..Limits::default()
        },
        ..Config::default()
    };
    let (orb, rt) = server_with(config, soft());
    let bindings = rt.serve_bindings(budget).unwrap();
    let state = Arc::new(TargetState::default());
    state.on_act(|_, _| Ok(reserved_here()));
    let object: Target = orb.root_poa().activate(Arc::clone(&state)).unwrap();
    let target = seen_by(&client().0, &orb, &object);
    (orb, bindings, target, state)
}

fn budget() -> Budget {
    Budget::new()
        .cost(Duration::from_micros(1))
        .bindings(1000)
        .reservations(0.5)
}

fn offer(reservation: Reservation) -> Offer {
    let priority = Priority::new(40).unwrap();
    Offer::new(priority, 100).burst(10).reserve(reservation)
}

fn reason(bound: Result<Bound<Target>, BindError>) -> ReasonCode {
    match bound {
        Err(BindError::Refused(reason)) => reason.code,
        other => panic!("{other:?}"),
    }
}

/// Conformance: RT GOPI 5.2 - bindings: a reservation for the thread - it has what was agreed on
#[test]
fn the_thread_of_a_binding_has_its_reservation() {
    let _alone = alone();
    if !is_possible() {
        return;
    }
    let (orb, bindings, target) = served(budget());
    let wanted = Reservation {
        runtime: 5 * MS,
        deadline: 50 * MS,
        period: 100 * MS,
        reclaims: false,
    };
    let mut bound = bind(&target, &offer(wanted).soft());
    assert_eq!(bound.terms().reservation, Some(wanted));
    assert_eq!(bound.refused(), None);
    assert_eq!(reserved_threads(), 1);
    let shown = orb.connections().entries;
    let in_force = "binding: priority 40, 100 requests in 1s, reserved 5ms in each 100ms by 50ms";
    assert!(shown.iter().any(|it| it.in_force == in_force), "{shown:?}");
    assert_eq!(bindings.list()[0].terms.reservation, Some(wanted));
    assert_eq!(bound.act(0), Ok(5000));
    assert_eq!(target.act(0), Ok(0), "without binding");
    // Everything else can change, and the reservation stays.
    let faster = Offer {
        rate: Rate {
            burst: 10,
            ..Rate::per_second(200)
        },
        least_requests: 200,
        ..offer(wanted)
    };
    bound.renegotiate(&faster).unwrap();
    assert_eq!(bound.present_terms().unwrap().reservation, Some(wanted));
    assert_eq!(bound.act(0), Ok(5000));
    let without = Offer::new(Priority::new(40).unwrap(), 100);
    match bound.renegotiate(&without) {
        Err(BindError::Refused(reason)) => assert_eq!(reason.code, ReasonCode::Reservation),
        other => panic!("{other:?}"),
    }
    assert_eq!(bound.act(0), Ok(5000));
    bound.unbind().unwrap();
    eventually("the thread is one of the lane", || reserved_threads() == 0);
    assert_eq!(bindings.active(), 0);
    orb.shutdown(true).unwrap();
}

/// Servants that set native priorities, and objects that have some, leave the thread as it is.
///
/// Conformance: RT GOPI 5.2 - bindings: a reservation for the thread - whatever native priorities its requests bring
#[test]
fn native_priorities_leave_a_reservation_as_it_is() {
    let _alone = alone();
    if !is_possible() {
        return;
    }
    let (orb, _bindings, target, state) = served_with(budget());
    state.on_act(|_, native| {
        if native > 0 {
            orbium_core::set_thread_scheduling(orbium_core::Scheduling::fifo(native)).unwrap();
        }
        Ok(reserved_here())
    });
    let bound = bind(&target, &offer(TWO_FIFTHS));
    for native in [0, 7, 0] {
        assert_eq!(bound.act(native), Ok(20_000));
    }
    bound.unbind().unwrap();
    orb.shutdown(true).unwrap();
}

/// Two bindings of 40 % fit in a processor, and the host counts all of its processors together.
///
/// Conformance: RT GOPI 5.2 - bindings: a reservation for the thread - refused by the host where the processors have no time left
#[test]
fn reservations_of_bindings_beyond_the_processors_are_refused() {
    let _alone = alone();
    if !is_possible() {
        return;
    }
    let (orb, bindings, target) = served(budget());
    let processors = std::thread::available_parallelism().unwrap().get();
    let mut bound = Vec::new();
    let refused = loop {
        match target.bind(&offer(TWO_FIFTHS)) {
            Ok(binding) => bound.push(binding),
            Err(error) => break error,
        }
        assert!(bound.len() < 3 * processors, "{}", bound.len());
    };
    let BindError::Refused(refused) = refused else {
        panic!("{refused}");
    };
    assert_eq!(refused.code, ReasonCode::Reservation);
    assert!(
        refused.text.contains("together with the others"),
        "{refused}"
    );
    assert!(refused.text.contains("the thread has"), "{refused}");
    for binding in &bound {
        assert_eq!(binding.act(0), Ok(20_000));
    }
    eventually("the refused one has ended", || {
        bindings.active() == bound.len()
    });
    // What one gives up another may have.
    if let Some(binding) = bound.pop() {
        binding.unbind().unwrap();
        eventually("the time is free again", || {
            target.bind(&offer(TWO_FIFTHS)).is_ok()
        });
    }
    drop(bound);
    orb.shutdown(true).unwrap();
}

/// Conformance: RT GOPI 5.2 - bindings: a reservation for the thread - refused by an admission that does not permit it
#[test]
fn an_admission_that_permits_no_reservation_refuses_it() {
    let (orb, bindings, target) = served(Budget::new());
    let bound = target.bind(&offer(TWO_FIFTHS));
    assert_eq!(reason(bound), ReasonCode::Reservation);
    orb.shutdown(true).unwrap();
    assert_eq!(bindings.active(), 0);
    let (orb, _, target) = served(budget());
    let too_much = Reservation::new(26 * MS, 50 * MS);
    assert_eq!(
        reason(target.bind(&offer(too_much))),
        ReasonCode::Reservation
    );
    let senseless = Reservation::new(60 * MS, 50 * MS);
    assert!(matches!(
        target.bind(&offer(senseless)),
        Err(BindError::Malformed)
    ));
    orb.shutdown(true).unwrap();
}

/// Without privileges too: whatever the host may reserve, the binding is refused with a reason, and a soft one goes on
/// without.
///
/// Conformance: RT GOPI 5.2 - bindings: a reservation for the thread - refused by the host where the processors have no time left
#[test]
fn a_reservation_that_the_host_does_not_know_is_refused() {
    let _alone = alone();
    // Linux refuses less than 1,024 ns.
    let too_short = Reservation::new(Duration::from_micros(1), MS);
    assert!(matches!(
        too_short.try_out(),
        Err(RealTimeError::NoSuchReservation(_)
            | RealTimeError::ReservationNotPermitted(_)
            | RealTimeError::Unsupported(_))
    ));
    let (orb, bindings, target) = served(budget());
    assert_eq!(
        reason(target.bind(&offer(too_short))),
        ReasonCode::Reservation
    );
    eventually("it has ended", || bindings.active() == 0);
    assert_eq!(target.act(0), Ok(0), "the server serves on");
    let soft = target.bind(&offer(too_short).soft()).unwrap();
    assert_eq!(soft.terms().reservation, None);
    assert_eq!(
        soft.refused().map(|it| it.code),
        Some(ReasonCode::Reservation)
    );
    eventually("one is left", || bindings.active() == 1);
    assert_eq!(bindings.list()[0].terms.reservation, None);
    assert_eq!(soft.act(0), Ok(0));
    soft.unbind().unwrap();
    orb.shutdown(true).unwrap();
}
