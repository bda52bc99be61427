// SPDX-License-Identifier: MIT OR Apache-2.0
//! Gantt charts and call trees.

use orbium_sched::gantt::{Bar, Chart};
use orbium_sched::{DependencyKind, Options, Repository, Strategy, Time, call_tree};

use crate::book::{ms, timing};

/// Names with periods and times in milliseconds.
fn repository(operations: &[(&str, u64, u64)]) -> Repository {
    let mut repository = Repository::new();
    for (name, period, time) in operations {
        repository.register(name, timing(*period, *time)).unwrap();
    }
    repository
}

fn chart(repository: &mut Repository, strategy: Strategy, steps: usize) -> Chart {
    let schedule = repository.compute_scheduling(&Options::new(strategy));
    Chart::new(repository, &schedule.unwrap(), steps)
}

/// By hand: `fast` runs at 0, 50; `slow` needs 60 of the 30 + 30 that are left of 100 ms.
#[test]
fn a_chart_has_runs_waiting_and_misses_of_the_hyperperiod() {
    let mut repository = repository(&[("fast", 50, 20), ("slow", 100, 60)]);
    let shown = chart(&mut repository, Strategy::Rms, Chart::MAX_STEPS);
    assert!(shown.is_complete);
    let bar = |start, end| Bar {
        start: ms(start),
        end: ms(end),
    };
    assert_eq!(shown.rows[1].runs, [bar(20, 50), bar(70, 100)]);
    assert_eq!(shown.rows[1].ready, [bar(0, 100)]);
    let text = "fast |####      ####      |\n\
                slow |----######----######|\n     \
                0               100 ms\n";
    assert_eq!(shown.to_text(20), text);
}

#[test]
fn missed_deadlines_are_marked() {
    let mut repository = repository(&[("fast", 50, 30), ("slow", 100, 60)]);
    let shown = chart(&mut repository, Strategy::Rms, Chart::MAX_STEPS);
    assert_eq!(shown.rows[1].misses, [ms(100)]);
    assert!(shown.to_text(10).lines().nth(1).unwrap().ends_with("!|"));
    assert_eq!(shown.to_svg().matches("class=\"miss\"").count(), 1);
}

/// The first task never pauses, so that one slice is all there would be of 2,140,000,000 jobs.
#[test]
fn a_chart_of_any_hyperperiod_ends() {
    let mut repository = Repository::new();
    for (name, period, time) in [("hog", 1, 1), ("rare", 2_140_000_001, 5)] {
        let timing = orbium_sched::Timing {
            period: Time::from_ticks(period),
            worst_case_execution_time: Time::from_ticks(time),
            ..Default::default()
        };
        repository.register(name, timing).unwrap();
    }
    let shown = chart(&mut repository, Strategy::Rms, 1_000);
    assert!(!shown.is_complete);
    assert_eq!(shown.end, Time::from_ticks(1_000));
    assert!(shown.to_text(60).contains("shown in part"));
}

#[test]
fn charts_of_nothing_are_empty() {
    let shown = chart(&mut Repository::new(), Strategy::Rms, Chart::MAX_STEPS);
    assert_eq!((shown.rows.len(), shown.to_text(60)), (0, String::new()));
    assert!(shown.is_complete);
}

#[test]
fn names_in_a_drawing_are_escaped() {
    let mut repository = repository(&[("a<b>&\u{1}c", 50, 20)]);
    let svg = chart(&mut repository, Strategy::Edf, Chart::MAX_STEPS).to_svg();
    assert!(svg.contains(">a&lt;b&gt;&amp;c<"), "{svg}");
}

#[test]
fn the_calls_of_a_thread_are_a_tree_with_each_operation_once() {
    let mut repository = repository(&[("steer", 50, 10)]);
    let steer = repository.lookup("steer").unwrap();
    let read = repository.register("read", timing(0, 2)).unwrap();
    let bus = repository.register("bus", timing(0, 1)).unwrap();
    let log = repository.register("log", timing(0, 3)).unwrap();
    let call = DependencyKind::TwoWayCall;
    repository.add_dependency(steer, read, 2, call).unwrap();
    repository.add_dependency(read, bus, 1, call).unwrap();
    repository.add_dependency(steer, read, 1, call).unwrap();
    let data = DependencyKind::OneWayCall;
    repository.add_dependency(log, steer, 1, data).unwrap();
    let schedule = repository.compute_scheduling(&Options::default()).unwrap();
    let expected = "steer, 10 ms\n  2 x read, 2 ms\n    1 x bus, 1 ms\n  1 x read, 2 ms ...\n\
                    log, 3 ms, suppliers: steer\n";
    assert_eq!(call_tree(&repository, &schedule), expected);
}
