// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bad input: each kind is a typed error or anomaly.

use orbium_sched::feasibility::{Task, response_times};
use orbium_sched::{
    AnomalyKind, Criticality, DependencyKind, Handle, InfoKind, Options, Repository, SchedError,
    Severity, Strategy, Time, Timing,
};

use crate::book::{critical, ms, repository, schedule, timing};

fn kinds(book: &Repository) -> Vec<(Severity, AnomalyKind)> {
    let schedule = schedule(book, Strategy::Rms);
    schedule
        .anomalies
        .iter()
        .map(|it| (it.severity, it.kind))
        .collect()
}

/// Conformance: RT 6 - bad input: cycles, with their path
#[test]
fn cycles_are_refused_with_their_path() {
    for kind in [DependencyKind::TwoWayCall, DependencyKind::OneWayCall] {
        let mut book = repository(&[timing(50, 1), timing(0, 1), timing(0, 1), timing(0, 1)]);
        let [a, b, c, d] = ["a", "b", "c", "d"].map(|it| book.lookup(it).unwrap());
        for (from, to) in [(a, b), (b, c), (c, d), (d, b)] {
            book.add_dependency(from, to, 1, kind).unwrap();
        }
        let error = book.compute_scheduling(&Options::default()).unwrap_err();
        let path = ["b", "c", "d", "b"].map(str::to_owned).to_vec();
        assert_eq!(error, SchedError::CyclicDependencies(path));
        assert!(error.to_string().ends_with("b -> c -> d -> b"), "{error}");
        // Nothing was assigned.
        assert_eq!(
            book.priority(a),
            Err(SchedError::NotScheduled("a".to_owned()))
        );
        book.remove_dependency(d, b, kind).unwrap();
        book.compute_scheduling(&Options::default()).unwrap();
    }
    let mut own = repository(&[timing(50, 1)]);
    let a = own.lookup("a").unwrap();
    own.add_dependency(a, a, 1, DependencyKind::TwoWayCall)
        .unwrap();
    assert!(own.compute_scheduling(&Options::default()).is_err());
}

/// Conformance: RT 6 - bad input: DUPLICATE_NAME, UNKNOWN_TASK, NOT_SCHEDULED
#[test]
fn names_and_handles_are_checked() {
    let mut book = repository(&[timing(50, 1)]);
    assert_eq!(
        book.create("a"),
        Err(SchedError::DuplicateName("a".to_owned()))
    );
    assert_eq!(
        book.lookup("z"),
        Err(SchedError::UnknownTask("z".to_owned()))
    );
    let a = book.lookup("a").unwrap();
    for handle in [0, 2, u32::MAX].map(Handle::from_number) {
        assert!(matches!(book.get(handle), Err(SchedError::UnknownTask(_))));
        assert!(matches!(
            book.set(handle, timing(1, 1)),
            Err(SchedError::UnknownTask(_))
        ));
        for (from, to) in [(a, handle), (handle, a)] {
            let added = book.add_dependency(from, to, 1, DependencyKind::TwoWayCall);
            assert!(matches!(added, Err(SchedError::UnknownTask(_))));
        }
    }
    assert_eq!(
        book.entry_point_priority("a"),
        Err(SchedError::NotScheduled("a".to_owned()))
    );
    assert_eq!(
        book.add_dependency(a, a, 0, DependencyKind::TwoWayCall),
        Err(SchedError::NoCalls("a".to_owned()))
    );
}

#[test]
fn a_period_that_the_idl_cannot_hold_is_refused() {
    let mut book = repository(&[timing(50, 1)]);
    let a = book.lookup("a").unwrap();
    assert!(
        book.set(
            a,
            Timing {
                period: Time::from_ticks(i32::MAX as u64),
                ..timing(1, 1)
            }
        )
        .is_ok()
    );
    let refused = book.set(
        a,
        Timing {
            period: Time::from_ticks(1 << 31),
            ..timing(1, 1)
        },
    );
    assert_eq!(refused, Err(SchedError::PeriodTooLong("a".to_owned())));
    let long = Timing {
        period: Time::from_ticks(1 << 31),
        ..timing(1, 1)
    };
    assert!(book.register("long", long).is_err());
    assert!(book.lookup("long").is_err(), "it is not registered");
}

/// Conformance: RT 6 - bad input: two entry points of a thread
#[test]
fn a_thread_that_another_one_calls_has_two_entry_points() {
    let mut book = repository(&[
        timing(50, 1),
        Timing {
            threads: 1,
            ..timing(100, 1)
        },
    ]);
    let [a, b] = ["a", "b"].map(|it| book.lookup(it).unwrap());
    book.add_dependency(a, b, 1, DependencyKind::TwoWayCall)
        .unwrap();
    assert_eq!(
        kinds(&book),
        [(Severity::Error, AnomalyKind::TwoEntryPoints { caller: a })]
    );
}

/// Conformance: RT 6 - bad input: passive roots
#[test]
fn a_root_that_nothing_runs_is_an_anomaly() {
    let mut book = repository(&[timing(50, 1), timing(0, 1)]);
    assert_eq!(kinds(&book), [(Severity::Error, AnomalyKind::PassiveRoot)]);
    let schedule = book.compute_scheduling(&Options::default()).unwrap();
    assert!(schedule.is_feasible() && !schedule.is_sound());
    assert_eq!(schedule.anomalies[0].handle, book.lookup("b").ok());
    assert_eq!(
        book.entry_point_priority("b"),
        Err(SchedError::NotScheduled("b".to_owned()))
    );
}

#[test]
fn a_thread_without_a_rate_is_an_anomaly() {
    let active = repository(&[Timing {
        threads: 1,
        ..timing(0, 1)
    }]);
    assert_eq!(kinds(&active), [(Severity::Error, AnomalyKind::NoRate)]);
    // Its supplier runs only when it calls it.
    let mut own = repository(&[timing(0, 1), timing(0, 1)]);
    let [a, b] = ["a", "b"].map(|it| own.lookup(it).unwrap());
    own.add_dependency(a, b, 1, DependencyKind::TwoWayCall)
        .unwrap();
    own.add_dependency(a, b, 1, DependencyKind::OneWayCall)
        .unwrap();
    assert_eq!(kinds(&own), [(Severity::Error, AnomalyKind::NoRate)]);
}

/// Conformance: RT 6 - bad input: INSUFFICIENT_PRIORITY_LEVELS
#[test]
fn too_few_native_priorities_are_refused() {
    let mut book = repository(&[timing(50, 1), timing(100, 1), timing(200, 1)]);
    let refused = SchedError::InsufficientPriorityLevels {
        needed: 3,
        available: 2,
    };
    let range = |min_priority, max_priority| Options {
        min_priority,
        max_priority,
        ..Options::default()
    };
    assert_eq!(book.compute_scheduling(&range(1, 2)), Err(refused.clone()));
    assert_eq!(book.compute_scheduling(&range(2, 1)), Err(refused));
    book.compute_scheduling(&range(1, 3)).unwrap();
    // Where small numbers are urgent.
    book.compute_scheduling(&range(255, 0)).unwrap();
    assert_eq!(book.entry_point_priority("b").unwrap().priority, 1);
    assert!(book.compute_scheduling(&range(i32::MIN, i32::MAX)).is_ok());
}

/// Conformance: RT 6 - bad input: overload, UTILIZATION_BOUND_EXCEEDED
#[test]
fn overload_is_an_anomaly_and_every_missed_deadline_too() {
    let book = repository(&[timing(50, 40), timing(100, 40)]);
    let schedule = schedule(&book, Strategy::Rms);
    let expected = [
        (
            Severity::Error,
            AnomalyKind::MissesDeadline {
                deadline: ms(100),
                response: None,
            },
        ),
        (
            Severity::Error,
            AnomalyKind::Overload {
                utilization: schedule.utilization,
            },
        ),
    ];
    assert_eq!(kinds(&book), expected);
    let error = schedule.require_feasible().unwrap_err();
    assert!(
        matches!(error, SchedError::UtilizationBoundExceeded { .. }),
        "{error}"
    );
}

#[test]
fn doubtful_times_are_warnings() {
    let odd = Timing {
        typical_execution_time: ms(3),
        cached_execution_time: ms(2),
        ..timing(50, 1)
    };
    let background = Timing {
        quantum: ms(1),
        ..timing(100, 1)
    };
    let expected = [
        AnomalyKind::TypicalExceedsWorstCase,
        AnomalyKind::CachedExceedsWorstCase,
        AnomalyKind::NoExecutionTime,
        AnomalyKind::PeriodInBackground,
    ];
    let book = repository(&[odd, timing(50, 0), background]);
    assert_eq!(kinds(&book), expected.map(|it| (Severity::Warning, it)));
}

#[test]
fn conjunctions_of_periods_that_do_not_divide_are_doubtful() {
    let both = Timing {
        kind: InfoKind::Conjunction,
        ..timing(0, 1)
    };
    let mut book = repository(&[timing(40, 1), timing(50, 1), both]);
    let [a, b, c] = ["a", "b", "c"].map(|it| book.lookup(it).unwrap());
    for supplier in [a, b] {
        book.add_dependency(c, supplier, 1, DependencyKind::OneWayCall)
            .unwrap();
    }
    assert_eq!(
        kinds(&book),
        [(Severity::Warning, AnomalyKind::NotHarmonic)]
    );
}

#[test]
fn a_critical_consumer_of_an_uncritical_supplier_is_doubtful() {
    let mut book = repository(&[timing(50, 1), critical(0, 1, Criticality::High)]);
    let [a, b] = ["a", "b"].map(|it| book.lookup(it).unwrap());
    book.add_dependency(b, a, 1, DependencyKind::OneWayCall)
        .unwrap();
    assert_eq!(
        kinds(&book),
        [(
            Severity::Warning,
            AnomalyKind::CriticalDependsOnLess { supplier: a }
        )]
    );
}

#[test]
fn errors_print_their_sentence() {
    let error = SchedError::DuplicateName("x".to_owned());
    assert_eq!(format!("{error:?}"), "`x` is registered already");
}

#[test]
fn an_empty_repository_has_an_empty_schedule() {
    let schedule = schedule(&Repository::new(), Strategy::Rms);
    assert!(schedule.levels.is_empty() && schedule.is_sound());
    assert!(schedule.lowest_level_met().is_none());
}

/// The first task leaves nothing: the response of the second would grow by 100 ns a step, up to
/// its period of 214 s.
#[test]
fn a_response_without_end_is_given_up() {
    let task = |period, time| Task::new(Time::from_ticks(period), Time::from_ticks(time));
    let tasks = [task(1, 1), task(u64::MAX, 1)];
    assert_eq!(
        response_times(&tasks, Time::ZERO),
        [Some(Time::from_ticks(1)), None]
    );
}
