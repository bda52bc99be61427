// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sample repositories for the tests.

use orbium_sched::{
    Criticality, DependencyKind, Handle, InfoKind, Options, Repository, Schedule, Strategy, Time,
    Timing,
};

pub(crate) fn ms(millis: u64) -> Time {
    Time::from_millis(millis)
}

/// A period and a worst case, in milliseconds.
pub(crate) fn timing(period: u64, time: u64) -> Timing {
    Timing {
        period: ms(period),
        worst_case_execution_time: ms(time),
        ..Timing::default()
    }
}

pub(crate) fn critical(period: u64, time: u64, criticality: Criticality) -> Timing {
    Timing {
        criticality,
        ..timing(period, time)
    }
}

/// Operations named `a`, `b`, …
pub(crate) fn repository(timings: &[Timing]) -> Repository {
    let mut repository = Repository::new();
    for (name, timing) in ('a'..).zip(timings) {
        repository.register(&name.to_string(), *timing).unwrap();
    }
    repository
}

pub(crate) fn schedule(repository: &Repository, strategy: Strategy) -> Schedule {
    Schedule::compute(repository, &Options::new(strategy)).unwrap()
}

/// `INS` at 20 Hz, `ADC` at 10, `GPS` at 5, `BIT` at 1, and the air frame, which consumes the
/// conjunction of the first three.
pub(crate) fn avionics() -> (Repository, [Handle; 5]) {
    let mut repository = Repository::new();
    let mut register =
        |name, period, time| repository.register(name, timing(period, time)).unwrap();
    let ins = register("INS::update", 50, 10);
    let adc = register("ADC::update", 100, 20);
    let gps = register("GPS::update", 200, 20);
    let bit = register("BIT::run", 1000, 100);
    let frame = repository
        .register(
            "AirFrame::push",
            Timing {
                worst_case_execution_time: ms(20),
                kind: InfoKind::Conjunction,
                ..Timing::default()
            },
        )
        .unwrap();
    for supplier in [ins, adc, gps] {
        repository
            .add_dependency(frame, supplier, 1, DependencyKind::OneWayCall)
            .unwrap();
    }
    (repository, [ins, adc, gps, bit, frame])
}
