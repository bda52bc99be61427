// SPDX-License-Identifier: MIT OR Apache-2.0
//! The example of the paper on TAO (Schmidt, Levine, Mungee 1998, section 4), and its rules.

use orbium_sched::{
    DependencyKind, Importance, Options, Repository, Strategy, Test, Time, Timing, Verdict,
};

use crate::book::{avionics, ms, repository, schedule, timing};

/// Rule 1: 50 ms is queue 0 with the greatest priority, and so on; the conjunction has the rate
/// of its slowest supplier.
///
/// Conformance: RT 6 - RT_Infos to priorities: rate monotonic, the paper's rules 1 and 2
#[test]
fn rate_groups_become_queues_the_shortest_period_first() {
    let (mut repository, [ins, adc, gps, bit, frame]) = avionics();
    let schedule = repository.compute_scheduling(&Options::default()).unwrap();
    let assigned = [ins, adc, gps, frame, bit].map(|it| {
        let it = repository.priority(it).unwrap();
        (it.preemption_priority, it.subpriority, it.priority)
    });
    assert_eq!(
        assigned,
        [(0, 0, 99), (1, 0, 98), (2, 0, 97), (2, 1, 97), (3, 0, 96)]
    );
    assert_eq!(
        schedule
            .levels
            .iter()
            .map(|it| it.period)
            .collect::<Vec<_>>(),
        [50, 100, 200, 1000].map(ms)
    );
    assert!(schedule.is_sound(), "{:?}", schedule.anomalies);
    assert_eq!(
        repository
            .entry_point_priority("BIT::run")
            .unwrap()
            .priority,
        96
    );
}

/// Rule 2, for an operation that is reactive and supplied by several.
#[test]
fn an_operation_without_a_period_has_the_least_one_of_its_suppliers() {
    let (mut repository, [ins, _, gps, ..]) = avionics();
    let hud = repository
        .register(
            "HUD::show",
            Timing {
                worst_case_execution_time: ms(1),
                ..Timing::default()
            },
        )
        .unwrap();
    for supplier in [gps, ins] {
        repository
            .add_dependency(hud, supplier, 1, DependencyKind::OneWayCall)
            .unwrap();
    }
    let schedule = repository.compute_scheduling(&Options::default()).unwrap();
    assert_eq!(repository.priority(hud).unwrap().preemption_priority, 0);
    // Both suppliers' events are charged.
    let thread = schedule.threads.iter().find(|it| it.entry == hud).unwrap();
    assert_eq!(
        thread.rates.iter().map(|it| it.period).collect::<Vec<_>>(),
        [ms(50), ms(200)]
    );
    assert!((thread.utilization() - (1.0 / 50.0 + 1.0 / 200.0)).abs() < 1e-12);
}

/// Harmonic rate groups (50, 100, 200, 1,000 ms) reach a utilization of 1.0 by response times,
/// while the bound says 0.757.
#[test]
fn harmonic_rate_groups_fill_the_processor() {
    let full = repository(&[
        timing(50, 20),
        timing(100, 20),
        timing(200, 40),
        timing(1000, 200),
    ]);
    let schedule = schedule(&full, Strategy::Rms);
    assert!((schedule.utilization - 1.0).abs() < 1e-12);
    let expected = Verdict::Guaranteed(Test::ResponseTime);
    assert_eq!(schedule.levels[3].verdict, expected);
    assert_eq!(schedule.levels[3].response, Some(ms(1000)));
    assert!((orbium_sched::feasibility::utilization_bound(4) - 0.757).abs() < 5e-4);
}

/// The cached-time rule: k calls cost C + (k - 1) * cached.
///
/// Conformance: RT 6 - cached execution time
#[test]
fn a_cached_result_is_computed_once_per_period() {
    for (cached, expected) in [(0, 10 + 3 * 5), (1, 10 + 5 + 2)] {
        let mut book = Repository::new();
        let root = book.register("root", timing(100, 10)).unwrap();
        let read = Timing {
            cached_execution_time: ms(cached),
            ..timing(0, 5)
        };
        let read = book.register("read", read).unwrap();
        book.add_dependency(root, read, 2, DependencyKind::TwoWayCall)
            .unwrap();
        book.add_dependency(root, read, 1, DependencyKind::TwoWayCall)
            .unwrap();
        let schedule = schedule(&book, Strategy::Rms);
        assert_eq!(
            schedule.threads[0].worst_case,
            ms(expected),
            "cached {cached}"
        );
    }
}

/// "What is the lowest priority level of which all operations meet their deadlines?"
///
/// Conformance: RT 6 - the lowest priority level of which all operations meet their deadlines
#[test]
fn the_lowest_level_that_meets_its_deadlines_is_named() {
    let overloaded = repository(&[
        timing(50, 25),
        timing(100, 40),
        timing(200, 60),
        timing(1000, 1),
    ]);
    let schedule = schedule(&overloaded, Strategy::Rms);
    let met: Vec<_> = schedule.levels.iter().map(|it| it.response).collect();
    assert_eq!(met, [Some(ms(25)), Some(ms(90)), None, None]);
    let lowest = schedule.lowest_level_met().unwrap();
    assert_eq!((lowest.queue, lowest.period), (1, ms(100)));
    assert!(!schedule.is_feasible());
    assert_eq!(schedule.guaranteed().count(), 2);
    assert_eq!(schedule.best_effort().count(), 2);
}

/// Deterministic and statistical QoS: the second class holds with typical execution times.
///
/// Conformance: RT 6 - deterministic and statistical classes
#[test]
fn deadlines_met_with_typical_times_alone_are_statistical() {
    let usual = Timing {
        typical_execution_time: ms(20),
        ..timing(100, 60)
    };
    let schedule = schedule(&repository(&[timing(50, 25), usual]), Strategy::Rms);
    assert_eq!(schedule.levels[1].verdict, Verdict::Statistical);
    assert!(schedule.levels[0].is_met() && !schedule.is_feasible());
}

#[test]
fn importance_orders_what_dependencies_leave_open() {
    let important = |importance| Timing {
        importance,
        ..timing(100, 1)
    };
    let mut book = repository(&[
        important(Importance::Low),
        important(Importance::VeryHigh),
        important(Importance::High),
    ]);
    let [a, b, c] = ["a", "b", "c"].map(|it| book.lookup(it).unwrap());
    // The most important consumes what the least important supplies.
    book.add_dependency(b, a, 1, DependencyKind::OneWayCall)
        .unwrap();
    book.compute_scheduling(&Options::default()).unwrap();
    let order = [c, a, b].map(|it| book.priority(it).unwrap().subpriority);
    assert_eq!(order, [0, 1, 2]);
}

#[test]
fn overhead_and_blocking_are_charged() {
    let mut book = repository(&[timing(50, 10), timing(100, 20), timing(0, 1)]);
    let [a, c] = ["a", "c"].map(|it| book.lookup(it).unwrap());
    book.add_dependency(a, c, 3, DependencyKind::TwoWayCall)
        .unwrap();
    let mut options = Options::default();
    options.overhead.call = Time::from_micros(500);
    options.overhead.context_switch = Time::from_micros(250);
    options.overhead.blocking = ms(2);
    let schedule = book.compute_scheduling(&options).unwrap();
    // 10 + 3 * (1 + 0.5) + 2 * 0.25, and blocked for 2 by what is below.
    assert_eq!(schedule.threads[0].worst_case, ms(15));
    assert_eq!(schedule.levels[0].response, Some(ms(17)));
    // Nothing is below the last level.
    assert_eq!(schedule.levels[1].response, Some(Time::from_micros(35_500)));
}
