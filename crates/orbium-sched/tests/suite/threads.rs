// SPDX-License-Identifier: MIT OR Apache-2.0
//! Threads, and the rates that dependencies imply.

use orbium_sched::{
    AnomalyKind, DependencyKind, EnableState, Handle, InfoKind, Options, Rate, Repository,
    SchedError, Schedule, Strategy, Timing,
};

use crate::book::{ms, schedule, timing};

/// Conformance: RT 6 - threads found in the graph of two-way and one-way dependencies
#[test]
fn a_thread_has_the_time_and_the_least_period_of_all_that_it_calls() {
    let mut book = Repository::new();
    let root = book.register("root", timing(100, 1)).unwrap();
    let left = book.register("left", timing(0, 2)).unwrap();
    let right = book.register("right", timing(40, 3)).unwrap();
    let leaf = book.register("leaf", timing(0, 4)).unwrap();
    for (from, to, calls) in [
        (root, left, 2),
        (root, right, 1),
        (left, leaf, 3),
        (right, leaf, 1),
    ] {
        book.add_dependency(from, to, calls, DependencyKind::TwoWayCall)
            .unwrap();
    }
    let schedule = book.compute_scheduling(&Options::default()).unwrap();
    let [thread] = &*schedule.threads else {
        panic!("{schedule:?}");
    };
    assert_eq!(thread.worst_case, ms(1 + 2 * 2 + 3 + 7 * 4));
    assert_eq!(thread.period, ms(40));
    assert_eq!(thread.operations.first(), Some(&root));
    assert_eq!(thread.operations.last(), Some(&leaf));
    // What it calls runs in its queue; callees come first there.
    assert!(book.priority(leaf).unwrap() < book.priority(root).unwrap());
}

#[test]
fn disabled_operations_are_part_of_no_thread() {
    let mut book = Repository::new();
    let root = book.register("root", timing(100, 1)).unwrap();
    let left = book.register("left", timing(0, 2)).unwrap();
    let right = book.register("right", timing(0, 4)).unwrap();
    let call = |to| (to, 1, DependencyKind::TwoWayCall);
    for to in [left, right] {
        let (to, calls, kind) = call(to);
        book.add_dependency(root, to, calls, kind).unwrap();
    }
    let worst_cases = |book: &Repository| -> Vec<_> {
        let schedule = Schedule::compute(book, &Options::default()).unwrap();
        schedule.threads.iter().map(|it| it.worst_case).collect()
    };
    assert_eq!(worst_cases(&book), [ms(7)]);
    book.set_enable_state(left, EnableState::Disabled).unwrap();
    assert_eq!(worst_cases(&book), [ms(5)]);
    let kept = EnableState::NonVolatile;
    book.set_dependency_enable_state(root, call(right), kept)
        .unwrap();
    assert_eq!(worst_cases(&book), [ms(5)]);
    book.set_dependency_enable_state(root, call(right), EnableState::Disabled)
        .unwrap();
    assert_eq!(worst_cases(&book), [ms(1)]);
    book.set_enable_state(root, EnableState::Disabled).unwrap();
    assert_eq!(worst_cases(&book), []);
    let unknown = book.set_dependency_enable_state(left, call(right), kept);
    assert!(unknown.is_err());
}

#[test]
fn an_operation_of_two_threads_has_the_more_urgent_queue() {
    let mut book = Repository::new();
    let slow = book.register("slow", timing(100, 1)).unwrap();
    let fast = book.register("fast", timing(50, 1)).unwrap();
    let shared = book.register("shared", timing(0, 1)).unwrap();
    for root in [slow, fast] {
        book.add_dependency(root, shared, 1, DependencyKind::TwoWayCall)
            .unwrap();
    }
    book.compute_scheduling(&Options::default()).unwrap();
    assert_eq!(book.priority(shared).unwrap().preemption_priority, 0);
}

/// A call of `slow` that has begun runs in the queue of `fast`, which was analysed without it: 3 + 8 = 11 ms of 10 ms.
///
/// Conformance: RT 6 - an operation of several threads: a call of the less urgent one blocks the others once
#[test]
fn a_call_of_a_less_urgent_thread_blocks_the_queue_of_the_operation() {
    let schedule_of = |is_shared: bool| {
        let mut book = Repository::new();
        let fast = book.register("fast", timing(10, 5)).unwrap();
        book.register("middle", timing(20, 1)).unwrap();
        let slow = book.register("slow", timing(100, 2)).unwrap();
        let called = book.register("called", timing(0, 1)).unwrap();
        let nested = book.register("nested", timing(0, 1)).unwrap();
        let other = book.register("other", timing(0, 3)).unwrap();
        let mut calls = |from, to, times| {
            book.add_dependency(from, to, times, DependencyKind::TwoWayCall)
                .unwrap();
        };
        calls(called, nested, 2);
        calls(fast, called, 1);
        calls(slow, if is_shared { called } else { other }, 1);
        let schedule = schedule(&book, Strategy::Rms);
        let responses = schedule.levels.iter().map(|it| it.response);
        (responses.collect::<Vec<_>>(), schedule.is_feasible())
    };
    // slow: 5, 14, 22, 31, 39.
    let responses = vec![Some(ms(8)), Some(ms(9)), Some(ms(39))];
    assert_eq!(schedule_of(false), (responses, true));
    // middle: 1 + 3 + 8, 1 + 3 + 16.
    let responses = vec![None, Some(ms(20)), Some(ms(39))];
    assert_eq!(schedule_of(true), (responses, false));
}

#[test]
fn disjunctions_add_rates_and_conjunctions_take_the_lowest() {
    for (kind, expected) in [
        (InfoKind::Disjunction, vec![(50, 2), (100, 1)]),
        (InfoKind::Conjunction, vec![(100, 1)]),
    ] {
        let mut book = Repository::new();
        let fast = book.register("fast", timing(50, 1)).unwrap();
        let slow = book.register("slow", timing(100, 1)).unwrap();
        let user = book
            .register(
                "user",
                Timing {
                    kind,
                    ..timing(0, 1)
                },
            )
            .unwrap();
        book.add_dependency(user, fast, 2, DependencyKind::OneWayCall)
            .unwrap();
        book.add_dependency(user, slow, 1, DependencyKind::OneWayCall)
            .unwrap();
        // Rates are implied along chains.
        let last = book.register("last", timing(0, 1)).unwrap();
        book.add_dependency(last, user, 1, DependencyKind::OneWayCall)
            .unwrap();
        let schedule = schedule(&book, Strategy::Rms);
        let expected: Vec<_> = expected
            .into_iter()
            .map(|(period, runs)| Rate {
                period: ms(period),
                runs,
            })
            .collect();
        for entry in [user, last] {
            let thread = schedule
                .threads
                .iter()
                .find(|it| it.entry == entry)
                .unwrap();
            assert_eq!(thread.rates, expected);
        }
    }
}

/// Rates of the thread that begins with an operation, in milliseconds.
fn rates_of(schedule: &Schedule, entry: Handle) -> Vec<(u64, u64)> {
    let mut threads = schedule.threads.iter();
    let thread = threads.find(|it| it.entry == entry).unwrap();
    let rates = thread.rates.iter();
    rates
        .map(|it| (it.period.ticks() / 10_000, it.runs))
        .collect()
}

/// A supplier that pushes two events per run has a conjunction run twice, as does one that itself has two suppliers. Both were
/// counted as one run in the longest period: the schedule was called feasible at less than half of the load.
#[test]
fn a_conjunction_runs_as_often_as_the_supplier_with_the_fewest_events() {
    let mut book = Repository::new();
    let timing_of = |kind, time| Timing {
        kind,
        ..timing(0, time)
    };
    let [fast, slow] = [50, 100].map(|it| book.register(&it.to_string(), timing(it, 1)).unwrap());
    let both = timing_of(InfoKind::Conjunction, 20);
    let bursts = book.register("bursts", both).unwrap();
    let sum = book.register("sum", timing_of(InfoKind::Disjunction, 1));
    let (sum, chained) = (sum.unwrap(), book.register("chained", both).unwrap());
    for (consumer, supplier, calls) in [
        (bursts, fast, 1),
        (bursts, slow, 2),
        (sum, fast, 1),
        (sum, slow, 1),
        (chained, sum, 1),
        (chained, fast, 1),
    ] {
        book.add_dependency(consumer, supplier, calls, DependencyKind::OneWayCall)
            .unwrap();
    }
    let schedule = schedule(&book, Strategy::Rms);
    // Two in each 100 ms, and one in each 50 ms, not one in each 100 ms.
    assert_eq!(rates_of(&schedule, bursts), [(100, 2)]);
    assert_eq!(rates_of(&schedule, chained), [(50, 1)]);
}

/// An operation runs for the data of a supplier, and another one calls it: the first was left out, and with it most of the load.
#[test]
fn a_consumer_that_is_called_runs_for_its_data_too() {
    let mut book = Repository::new();
    let supplier = book.register("supplier", timing(10, 1)).unwrap();
    let caller = book.register("caller", timing(1_000, 1)).unwrap();
    let consumer = book.register("consumer", timing(0, 9)).unwrap();
    book.add_dependency(consumer, supplier, 1, DependencyKind::OneWayCall)
        .unwrap();
    book.add_dependency(caller, consumer, 1, DependencyKind::TwoWayCall)
        .unwrap();
    let schedule = schedule(&book, Strategy::Rms);
    assert_eq!(rates_of(&schedule, consumer), [(10, 1)]);
    assert!(!schedule.is_feasible() && !schedule.is_sound());
    let kinds: Vec<_> = schedule.anomalies.iter().map(|it| it.kind.code()).collect();
    assert!(kinds.contains(&"two-entry-points"), "{kinds:?}");
}

/// What dispatches events runs for each of them, however rarely the operation that it calls is said to run. The period of that was
/// taken for the rate, and the load counted a tenth.
#[test]
fn a_reactive_operation_runs_for_its_data_whatever_it_calls() {
    for (period, expected) in [(100, (10, 1)), (5, (5, 1)), (10, (10, 1))] {
        let mut book = Repository::new();
        let supplier = book.register("supplier", timing(10, 1)).unwrap();
        let show = book.register("show", timing(period, 20)).unwrap();
        let dispatch = book.register("dispatch", timing(0, 1)).unwrap();
        book.add_dependency(dispatch, supplier, 1, DependencyKind::OneWayCall)
            .unwrap();
        book.add_dependency(dispatch, show, 1, DependencyKind::TwoWayCall)
            .unwrap();
        let schedule = schedule(&book, Strategy::Rms);
        assert_eq!(rates_of(&schedule, dispatch), [expected], "{period}");
        assert!(!schedule.is_feasible());
    }
}

/// It calls its own supplier, which so has its rate: that of what it calls, which has a period.
#[test]
fn an_operation_that_calls_its_supplier_has_a_rate() {
    let mut book = Repository::new();
    let own = book.register("own", timing(0, 1)).unwrap();
    let supplier = book.register("supplier", timing(50, 1)).unwrap();
    for kind in [DependencyKind::TwoWayCall, DependencyKind::OneWayCall] {
        book.add_dependency(own, supplier, 1, kind).unwrap();
    }
    let consumer = book.register("consumer", timing(0, 1)).unwrap();
    book.add_dependency(consumer, own, 3, DependencyKind::OneWayCall)
        .unwrap();
    let schedule = schedule(&book, Strategy::Rms);
    assert_eq!(rates_of(&schedule, own), [(50, 1)]);
    assert_eq!(rates_of(&schedule, consumer), [(50, 3)]);
}

/// A consumer above its slow supplier is released late: by the supplier's response.
#[test]
fn responses_of_suppliers_are_the_jitter_of_consumers_above_them() {
    let mut book = Repository::new();
    let fast = book.register("fast", timing(50, 10)).unwrap();
    let slow = book.register("slow", timing(100, 20)).unwrap();
    let user = book.register("user", timing(0, 5)).unwrap();
    for supplier in [fast, slow] {
        book.add_dependency(user, supplier, 1, DependencyKind::OneWayCall)
            .unwrap();
    }
    let schedule = schedule(&book, Strategy::Rms);
    let jitters: Vec<_> = schedule
        .tasks(&schedule.levels[0])
        .iter()
        .map(|(_, it)| it.jitter)
        .collect();
    let slow = schedule.levels[1].response.unwrap();
    assert_eq!(jitters.last(), Some(&slow));
    assert_eq!(slow, ms(40));
    assert!(schedule.is_feasible());
}

/// Quantum: the background level is the last one, and is promised nothing.
///
/// Conformance: RT 6 - quantum: the time-sliced background
#[test]
fn operations_with_a_quantum_are_the_background() {
    let mut book = Repository::new();
    book.register("control", timing(50, 40)).unwrap();
    let quantum = Timing {
        quantum: ms(5),
        ..timing(0, 10_000)
    };
    let idle = book.register("idle", quantum).unwrap();
    let schedule = book.compute_scheduling(&Options::default()).unwrap();
    assert!(schedule.is_sound(), "{:?}", schedule.anomalies);
    let last = schedule.levels.last().unwrap();
    assert_eq!(last.dispatching, orbium_sched::Dispatching::TimeSliced);
    assert_eq!(book.priority(idle).unwrap().preemption_priority, 1);
}

#[test]
fn operations_of_other_hosts_are_not_charged() {
    let mut book = Repository::new();
    let root = book.register("root", timing(50, 10)).unwrap();
    let remote = Timing {
        kind: InfoKind::RemoteDependant,
        ..timing(0, 30)
    };
    let remote = book.register("remote", remote).unwrap();
    book.add_dependency(root, remote, 2, DependencyKind::TwoWayCall)
        .unwrap();
    let schedule = schedule(&book, Strategy::Rms);
    assert_eq!(schedule.threads[0].worst_case, ms(10));
    // Nothing showed that the caller waits for longer than the analysis assumes.
    let kind = AnomalyKind::WaitsForRemote { operation: remote };
    let found = schedule.anomalies.iter().map(|it| (it.handle, it.kind));
    assert_eq!(found.collect::<Vec<_>>(), [(Some(root), kind)]);
    assert!(schedule.is_sound());
}

/// Each operation of a chain had an own thread with the rest of the chain: 50,000 took 10 GB.
#[test]
fn threads_of_more_operations_than_are_analysed_are_refused() {
    for (count, expected) in [(1_000, true), (5_000, false)] {
        let mut book = Repository::new();
        let info = Timing {
            threads: 1,
            ..timing(50, 0)
        };
        let mut last = book.register("0", info).unwrap();
        for number in 1..count {
            let next = book.register(&number.to_string(), info).unwrap();
            book.add_dependency(next, last, 1, DependencyKind::TwoWayCall)
                .unwrap();
            last = next;
        }
        let computed = book.compute_scheduling(&Options::default());
        let error = computed.map(drop).err();
        assert_eq!(error.is_none(), expected, "{error:?}");
        assert!(expected || error == Some(SchedError::TooManyOperations));
    }
    // One operation that all suppliers run, and as many consumers of it.
    let mut book = Repository::new();
    let shared = book.register("shared", timing(0, 0)).unwrap();
    for number in 0..4_000 {
        let caller = book.register(&format!("caller {number}"), timing(50, 0));
        book.add_dependency(caller.unwrap(), shared, 1, DependencyKind::TwoWayCall)
            .unwrap();
        let consumer = book.register(&format!("consumer {number}"), timing(50, 0));
        book.add_dependency(consumer.unwrap(), shared, 1, DependencyKind::OneWayCall)
            .unwrap();
    }
    let refused = book.compute_scheduling(&Options::default()).map(drop);
    assert_eq!(refused, Err(SchedError::TooManyOperations));
}

/// A chain of 100,000 operations: no recursion, no overflow.
#[test]
fn long_chains_and_huge_products_of_calls_are_analysed() {
    let mut book = Repository::new();
    let mut last = book.register("0", timing(50, 1)).unwrap();
    for number in 1..100_000_u32 {
        let next = book.register(&number.to_string(), timing(0, 1)).unwrap();
        book.add_dependency(last, next, 1 + number % 2, DependencyKind::TwoWayCall)
            .unwrap();
        last = next;
    }
    let schedule = schedule(&book, Strategy::Rms);
    assert_eq!(schedule.threads[0].operations.len(), 100_000);
    assert!(!schedule.is_feasible());
}
