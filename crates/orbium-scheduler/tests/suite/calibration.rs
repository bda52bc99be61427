// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calibration in virtual time, and by the processor's.

use std::time::Duration;

use orbium_sched::{SchedError, Table, Time, Timing};
use orbium_scheduler::{Calibration, CalibrationError, Mode, Scheduler, SchedulerError};

use crate::time::{MS, VirtualClock};

/// Worst case and median within the two digits that distributions have.
fn is_about(found: Time, expected: Duration) -> bool {
    let (found, expected) = (found.as_duration().as_secs_f64(), expected.as_secs_f64());
    (found - expected).abs() <= expected * 0.02
}

/// Conformance: RT 6 - calibration measures execution times until they settle
#[test]
fn execution_times_settle() {
    let clock = VirtualClock::default();
    let mut runs = 0_u32;
    // The first round is slow; one run in ten takes twice as long as the others.
    let work = || {
        runs += 1;
        let slow = if runs <= 100 { 8 } else { 1 };
        let tenth = 1 + u32::from(runs.is_multiple_of(10));
        clock.advance(MS * slow * tenth);
    };
    let found = Calibration::default().measure_by(&clock, work).unwrap();
    // The median falls in the second round and in the third.
    assert_eq!((found.runs, runs), (400, 400));
    assert!(is_about(found.worst_case, MS * 16 * 12 / 10), "{found:?}");
    assert!(is_about(found.typical, MS), "{found:?}");
    assert_eq!(found.jumps, 0);
}

#[test]
fn the_distribution_is_that_of_all_runs() {
    let clock = VirtualClock::default();
    let mut runs = 0_u32;
    let work = || {
        runs += 1;
        clock.advance(MS * if runs.is_multiple_of(50) { 4 } else { 1 });
    };
    let (all, times) = Calibration::default()
        .distribution_by(&clock, work)
        .unwrap();
    assert_eq!((all.count(), times.runs), (200, 200));
    let about = |time: Duration, expected| time.abs_diff(expected) <= expected / 50;
    assert!(about(all.min(), MS) && about(all.quantile(0.5), MS));
    assert!(about(all.quantile(0.99), MS * 4) && about(all.max(), MS * 4));
}

#[test]
fn times_that_grow_for_ever_do_not_settle() {
    let clock = VirtualClock::default();
    let mut length = MS / 100;
    let calibration = Calibration {
        runs: 1,
        rounds: 40,
        ..Calibration::default()
    };
    let found = calibration.measure_by(&clock, || {
        length = length * 6 / 5;
        clock.advance(length);
    });
    match found.unwrap_err() {
        CalibrationError::NotSettled { runs, difference } => {
            assert_eq!(runs, 40);
            assert!(difference > 0.05, "{difference}");
        }
        error => panic!("{error}"),
    }
}

#[test]
fn runs_in_which_the_clock_jumps_do_not_count() {
    let clock = VirtualClock::default();
    clock.set(Duration::from_secs(1_000_000));
    let mut runs = 0_u32;
    let found = Calibration::default().measure_by(&clock, || {
        runs += 1;
        match runs % 10 {
            3 => clock.set(Duration::from_secs(1_000 + u64::from(runs))),
            7 => clock.advance(Duration::from_secs(3_600)),
            _ => clock.advance(MS),
        }
    });
    let found = found.unwrap();
    assert_eq!(found.jumps, u64::from(runs) / 5);
    assert!(is_about(found.worst_case, MS * 12 / 10), "{found:?}");

    let mut hours = 0;
    let always = Calibration::default().measure_by(&clock, || {
        hours += 1;
        clock.advance(Duration::from_secs(3_600));
    });
    assert_eq!(always.unwrap_err(), CalibrationError::Clock);
    assert_eq!(hours, 100);
}

/// Conformance: RT 6 - calibration fills in the execution times of RT_Infos in a configuration run
#[test]
fn a_configuration_run_fills_in_what_it_measures() {
    let clock = VirtualClock::default();
    let calibration = Calibration::default();
    let timing = Timing {
        period: Time::from_millis(50),
        worst_case_execution_time: Time::from_millis(1),
        ..Timing::default()
    };
    let calibrate = |mode| {
        let mut scheduler = Scheduler::new(&Table::EMPTY, mode);
        let read = scheduler.repository_mut().register("Gyro::read", timing);
        let read = read.unwrap();
        let mut runs = 0;
        let found = scheduler.calibrate_by(&clock, read, &calibration, || {
            runs += 1;
            clock.advance(MS * 5);
        });
        let measured = scheduler.repository().get(read).unwrap().timing;
        (found.unwrap(), runs, measured)
    };
    let (found, runs, measured) = calibrate(Mode::Configure("schedule.rs".into()));
    assert_eq!(found.map(|it| it.runs), Some(runs));
    assert!(
        is_about(measured.worst_case_execution_time, MS * 6),
        "{measured:?}"
    );
    assert!(
        is_about(measured.typical_execution_time, MS * 5),
        "{measured:?}"
    );
    assert_eq!(measured.period, timing.period);
    // At run time nothing is measured: the table has the times.
    assert_eq!(calibrate(Mode::Run), (None, 0, timing));
}

#[test]
fn operations_that_are_not_registered_are_not_calibrated() {
    let mut other = Scheduler::new(&Table::EMPTY, Mode::Run);
    let handle = other.repository_mut().create("Gyro::read").unwrap();
    let mut scheduler = Scheduler::new(&Table::EMPTY, Mode::Configure("schedule.rs".into()));
    let refused = scheduler.calibrate(handle, &Calibration::default(), || panic!("it ran"));
    match refused.unwrap_err() {
        SchedulerError::Sched(SchedError::UnknownTask(_)) => {}
        error => panic!("{error}"),
    }
}

#[test]
fn processor_time_passes_while_work_is_done() {
    let calibration = Calibration {
        rounds: 2,
        // Whatever else the host does, the second round ends it.
        tolerance: f64::INFINITY,
        ..Calibration::default()
    };
    let mut sum = 0_u64;
    let found = calibration.measure(|| {
        for number in 0..10_000 {
            sum = std::hint::black_box(sum.wrapping_add(number));
        }
    });
    let found = found.unwrap();
    assert_eq!((found.runs, found.jumps), (200, 0));
    assert!(
        found.typical > Time::ZERO && found.worst_case >= found.typical,
        "{found:?}"
    );
}
