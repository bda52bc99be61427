// SPDX-License-Identifier: MIT OR Apache-2.0
//! The strategies in comparison: what each keeps when there is more to do than time.

use orbium_sched::simulator::{simulate, tasks_of};
use orbium_sched::{
    Criticality, DependencyKind, Dispatching, Options, Preemption, Schedule, Strategy, Test,
    Verdict, overload,
};

use crate::book::{critical, ms, repository, schedule, timing};

/// Utilization 1.2, of which the critical set has 0.7; its long-period half has the largest laxity.
fn overloaded(strategy: Strategy) -> Schedule {
    let book = repository(&[
        critical(100, 40, Criticality::High),
        critical(200, 60, Criticality::VeryHigh),
        critical(50, 15, Criticality::Low),
        critical(1000, 200, Criticality::Medium),
    ]);
    schedule(&book, strategy)
}

/// The misses of threads that are critical, and of the others, over a hyperperiod.
fn misses(schedule: &Schedule) -> (usize, usize) {
    let (tasks, dispatching) = tasks_of(schedule);
    let simulated: Vec<_> = tasks.iter().map(|(_, task)| *task).collect();
    let trace = simulate(
        &simulated,
        &dispatching,
        schedule.preemption,
        ms(10_000),
        usize::MAX,
    );
    let is_critical =
        |task: usize| schedule.threads[tasks[task].0].criticality >= Criticality::High;
    let critical = trace.misses().filter(|it| is_critical(it.task)).count();
    (critical, trace.misses().count() - critical)
}

/// Conformance: RT 6 - MUF and the hybrid keep the critical set under overload
#[test]
fn muf_and_the_hybrid_keep_the_critical_set_where_edf_does_not() {
    for strategy in [Strategy::Muf, Strategy::RmsMlf] {
        let schedule = overloaded(strategy);
        assert!(
            schedule.is_feasible(),
            "{strategy}: {:?}",
            schedule.anomalies
        );
        let (critical, others) = misses(&schedule);
        assert_eq!(critical, 0, "{strategy}");
        assert!(others > 0, "{strategy}");
    }
    for strategy in [Strategy::Edf, Strategy::Mlf] {
        let schedule = overloaded(strategy);
        assert!(!schedule.is_feasible());
        assert!(misses(&schedule).0 > 0, "{strategy}");
    }
}

/// Conformance: RT 6 - EDF, MLF, MUF and rate monotonic with laxity below
#[test]
fn queues_are_those_of_the_strategy() {
    use Dispatching::{Deadline, Laxity, Static};
    let queues = |strategy| -> Vec<_> {
        let levels = overloaded(strategy).levels;
        levels
            .iter()
            .map(|it| (it.dispatching, it.threads.clone(), it.promised))
            .collect()
    };
    let all = vec![0, 1, 2, 3];
    assert_eq!(queues(Strategy::Edf), [(Deadline, all.clone(), true)]);
    assert_eq!(queues(Strategy::Mlf), [(Laxity, all, true)]);
    let one = |kind, thread, promised| (kind, vec![thread], promised);
    let rms = [
        one(Static, 2, true),
        one(Static, 0, true),
        one(Static, 1, true),
        one(Static, 3, true),
    ];
    assert_eq!(queues(Strategy::Rms), rms);
    let muf = [
        one(Laxity, 1, true),
        one(Laxity, 0, true),
        one(Laxity, 3, false),
        one(Laxity, 2, false),
    ];
    assert_eq!(queues(Strategy::Muf), muf);
    let hybrid = [
        one(Static, 0, true),
        one(Static, 1, true),
        (Laxity, vec![2, 3], false),
    ];
    assert_eq!(queues(Strategy::RmsMlf), hybrid);
}

/// A critical set of two queues with a utilization below 1 can still miss: the sum alone, which
/// the paper's test of MUF is, would promise it.
#[test]
fn a_critical_set_of_two_queues_is_not_judged_by_its_sum() {
    let book = repository(&[
        critical(100, 50, Criticality::VeryHigh),
        critical(10, 1, Criticality::High),
    ]);
    let schedule = schedule(&book, Strategy::Muf);
    assert!(schedule.utilization < 0.61 && !schedule.is_feasible());
    assert!(misses(&schedule).0 > 0);
}

fn preemptive(strategy: Strategy) -> Options {
    Options {
        preemption: Preemption::Preemptive,
        ..Options::new(strategy)
    }
}

#[test]
fn edf_fills_the_processor_where_rms_cannot() {
    let book = repository(&[timing(50, 20), timing(70, 42)]);
    for strategy in [Strategy::Edf, Strategy::Mlf] {
        let schedule = Schedule::compute(&book, &preemptive(strategy)).unwrap();
        assert!(schedule.is_feasible());
        let verdict = schedule.levels[0].verdict;
        assert_eq!(verdict, Verdict::Guaranteed(Test::ProcessorDemand));
        assert_eq!(misses(&schedule), (0, 0));
    }
    assert!(!schedule(&book, Strategy::Rms).is_feasible());
}

/// A run of a queue by deadline is not preempted by its queue: 42 ms and 20 ms are more than the
/// 50 ms of the second. With 30 ms they are not.
///
/// Conformance: RT 6 - a dynamic queue is judged without preemption within it, as it is dispatched
#[test]
fn a_queue_by_deadline_waits_for_its_longest_run() {
    let long = repository(&[timing(50, 20), timing(70, 42)]);
    let short = repository(&[timing(50, 20), timing(70, 30)]);
    for strategy in [Strategy::Edf, Strategy::Mlf] {
        let refused = schedule(&long, strategy);
        assert!(!refused.is_feasible(), "{strategy}");
        assert_eq!(refused.levels[0].verdict, Verdict::NotGuaranteed);
        let holds = schedule(&short, strategy);
        let verdict = holds.levels[0].verdict;
        assert_eq!(verdict, Verdict::Guaranteed(Test::NonPreemptiveDemand));
        assert_eq!(misses(&holds), (0, 0));
    }
}

/// A consumer is ready when its supplier has ended, up to 50 ms after the beginning of its period: within
/// 50 ms there can be two runs of it, 40 ms, and one of the supplier. With preemption both count as
/// released together.
#[test]
fn a_consumer_in_a_queue_by_deadline_is_ordered_by_its_own_release() {
    for strategy in [Strategy::Edf, Strategy::Mlf] {
        for (time, holds) in [(10, true), (11, false)] {
            let mut book = repository(&[timing(50, time), timing(0, 20)]);
            let [supplier, consumer] = [0, 1].map(|it| book.infos()[it].handle);
            let data = DependencyKind::OneWayCall;
            book.add_dependency(consumer, supplier, 1, data).unwrap();
            assert_eq!(schedule(&book, strategy).is_feasible(), holds, "{strategy}");
            let preemptive = Schedule::compute(&book, &preemptive(strategy)).unwrap();
            assert!(preemptive.is_feasible(), "{strategy}");
        }
    }
}

/// Conformance: RT 6 - utilization 1.2: RMS, MUF and the hybrid miss no deadline of the critical set
#[test]
fn under_overload_the_critical_set_misses_nothing() {
    let misses = |options: &Options, utilization| {
        overload::simulated_misses(options, utilization, 0..10).unwrap()
    };
    for preemption in Preemption::ALL {
        for strategy in [Strategy::Rms, Strategy::RmsMlf] {
            let options = Options {
                preemption,
                ..Options::new(strategy)
            };
            let misses = misses(&options, 1.2);
            assert_eq!(misses.critical, 0.0, "{strategy}");
            assert!(misses.other > 0.0, "{strategy}");
        }
    }
    assert_eq!(misses(&preemptive(Strategy::Muf), 1.2).critical, 0.0);
    for strategy in [Strategy::Edf, Strategy::Mlf] {
        for options in [Options::new(strategy), preemptive(strategy)] {
            assert!(misses(&options, 1.2).critical > 0.0, "{strategy}");
        }
        // Nothing is missed up to a utilization of 1.
        let full = misses(&preemptive(strategy), 1.0);
        assert_eq!(full, overload::Misses::default(), "{strategy}");
    }
}
