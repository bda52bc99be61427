// SPDX-License-Identifier: MIT OR Apache-2.0
//! Small task sets, each with its result computed by hand in the comment.

use orbium_sched::Time;
use orbium_sched::feasibility::{
    NonPreemptive, Task, edf_is_feasible, hyperbolic_bound_holds, nonpreemptive_edf_is_feasible,
    nonpreemptive_queue_is_feasible, response_times, utilization, utilization_bound,
    utilization_bound_holds,
};
use orbium_sched::simulator::{Simulated, simulate};
use orbium_sched::{Dispatching, Options, Preemption, Repository, Timing};

fn tasks(all: &[(u64, u64)]) -> Vec<Task> {
    let task =
        |(period, time): &(u64, u64)| Task::new(Time::from_ticks(*period), Time::from_ticks(*time));
    all.iter().map(task).collect()
}

fn responses(all: &[(u64, u64)], blocking: u64) -> Vec<Option<u64>> {
    let responses = response_times(&tasks(all), Time::from_ticks(blocking));
    responses
        .into_iter()
        .map(|it| it.map(Time::ticks))
        .collect()
}

/// n (2^(1/n) - 1) for 1 to 4 tasks, as the paper has it, and its limit, ln 2.
#[test]
fn the_utilization_bound_falls_from_one_to_ln_2() {
    for (count, bound) in [
        (1, 1.0),
        (2, 0.828),
        (3, 0.780),
        (4, 0.757),
        (1_000_000, 0.693),
    ] {
        assert!((utilization_bound(count) - bound).abs() < 5e-4, "{count}");
    }
}

/// By hand, R = C + sum of ceil(R / T) C of the shorter periods. (30, 10), (40, 10), (50, 12), of
/// utilization 0.823: third task 12, 32, 42, 52, which is beyond 50.
#[test]
fn a_set_above_the_bound_misses_its_last_deadline() {
    let set = [(30, 10), (40, 10), (50, 12)];
    assert!(!utilization_bound_holds(&tasks(&set)));
    assert_eq!(responses(&set, 0), [Some(10), Some(20), None]);
}

/// (16, 4), (40, 5), (80, 32): 0.25 + 0.125 + 0.4 = 0.775, and the bound of three is 0.7797.
#[test]
fn a_set_below_the_bound_holds() {
    let set = [(16, 4), (40, 5), (80, 32)];
    assert!((utilization(&tasks(&set)) - 0.775).abs() < 1e-9);
    assert!(utilization_bound_holds(&tasks(&set)));
    // Third task: 32, 45, 54, 58, 58; second: 5, 9, 9.
    assert_eq!(responses(&set, 0), [Some(4), Some(9), Some(58)]);
}

/// Harmonic periods reach 1.0. (20, 5), (40, 10), (80, 40): third task 40, 60, 75, 80, 80.
/// (7, 3), (12, 3), (20, 5), of utilization 0.929: third task 5, 11, 14, 17, 20, 20.
/// (100, 40), (150, 40), (350, 100), of utilization 0.952: third task 100, 180, 260, 300, 300.
#[test]
fn response_times_hold_above_the_bound() {
    for (set, expected) in [
        ([(20, 5), (40, 10), (80, 40)], [5, 15, 80]),
        ([(7, 3), (12, 3), (20, 5)], [3, 6, 20]),
        ([(100, 40), (150, 40), (350, 100)], [40, 80, 300]),
    ] {
        assert!(!utilization_bound_holds(&tasks(&set)));
        assert_eq!(responses(&set, 0), expected.map(Some));
    }
}

/// Shares 0.6 and 0.24: 1.6 * 1.24 = 1.984 is at most 2, and the sum, 0.84, is above 0.828.
/// Shares 0.6 and 0.26: 1.6 * 1.26 = 2.016 is not.
#[test]
fn the_hyperbolic_bound_accepts_more() {
    let set = tasks(&[(10, 6), (100, 24)]);
    assert!(!utilization_bound_holds(&set));
    assert!(hyperbolic_bound_holds(&set));
    assert!(!hyperbolic_bound_holds(&tasks(&[(10, 6), (100, 26)])));
}

/// (5, 2), (7, 4): 2/5 + 4/7 = 34/35. Rate monotonic: second task 4, 6, 8, which is beyond 7.
#[test]
fn earliest_deadline_first_holds_where_rate_monotonic_misses() {
    let set = [(5, 2), (7, 4)];
    assert_eq!(responses(&set, 0), [Some(2), None]);
    assert!(edf_is_feasible(&tasks(&set)));
}

/// Times, deadlines, periods (2, 4, 6), (2, 5, 8), (3, 7, 9). Demand at the deadlines of
/// the busy period: 2 at 4, 4 at 5, 7 at 7, 9 at 10, 11 at 13, 16 at 16, where it ends. With (2, 4, 8) and (3, 6, 9) it is 7 at 6.
#[test]
fn processor_demand_decides_for_deadlines_before_the_period() {
    let task = |time, deadline, period| {
        Task::new(Time::from_ticks(period), Time::from_ticks(time))
            .with_deadline(Time::from_ticks(deadline))
    };
    let holds = [task(2, 4, 6), task(2, 5, 8), task(3, 7, 9)];
    assert!(edf_is_feasible(&holds));
    let misses = [task(2, 4, 6), task(2, 4, 8), task(3, 6, 9)];
    assert!(!edf_is_feasible(&misses));
}

/// Blocking by a section of lower priority enters once, and not at the lowest level: 3 + 5;
/// 3 + 10 + 5; third task 20, 35, 40, 40.
#[test]
fn blocking_enters_once() {
    assert_eq!(
        responses(&[(20, 5), (40, 10), (80, 20)], 3),
        [Some(8), Some(18), Some(40)]
    );
}

/// The last level is blocked by nothing: (10, 6), (20, 2), (100, 1) is 1 + 2 + 6, however long the level above it is blocked. Its
/// response was looked for from that one's on, 17 less 3, and was 15.
#[test]
fn the_last_level_does_not_begin_with_the_blocking_of_the_one_above() {
    let mut book = Repository::new();
    for (period, time) in [(10, 6), (20, 2), (100, 1)] {
        let timing = Timing {
            period: Time::from_ticks(period),
            worst_case_execution_time: Time::from_ticks(time),
            ..Timing::default()
        };
        book.register(&period.to_string(), timing).unwrap();
    }
    let mut options = Options::default();
    options.overhead.blocking = Time::from_ticks(3);
    let schedule = book.compute_scheduling(&options).unwrap();
    let responses = schedule.levels.iter().map(|it| it.response);
    let expected = [9, 17, 9].map(|it| Some(Time::from_ticks(it)));
    assert!(responses.eq(expected), "{schedule:?}");
}

/// The first deadline that a queue by deadline misses when each task has that first release, with
/// and without preemption.
fn missed(set: &[(u64, u64)], offsets: &[u64], preemption: Preemption) -> Option<(usize, u64)> {
    let one = |(task, offset): (&Task, &u64)| Simulated {
        queue: 0,
        period: task.period,
        execution_time: task.execution_time,
        deadline: task.deadline,
        estimate: task.execution_time,
        offset: Time::from_ticks(*offset),
    };
    let simulated: Vec<_> = tasks(set).iter().zip(offsets).map(one).collect();
    let (kind, end) = (Dispatching::Deadline, Time::from_ticks(5_000));
    let trace = simulate(&simulated, &[kind], preemption, end, usize::MAX);
    let first = trace.misses().min_by_key(|it| it.deadline)?;
    Some((first.task, first.deadline.ticks()))
}

/// Example 1 of J. Lee, Improved Schedulability Analysis of the Contention-Free Policy and EDF
/// without preemption (Symmetry 12, 2020): (102, 24), (33, 17), of utilization 0.750. A job of the
/// first from 0 to 24 has the second, released at 6, end at 41, and its deadline is 39: of 33 it has to
/// wait for at most 16.
#[test]
fn a_published_set_misses_without_preemption() {
    let set = [(102, 24), (33, 17)];
    assert_eq!(
        missed(&set, &[0, 6], Preemption::NonPreemptive),
        Some((1, 39))
    );
    assert_eq!(missed(&set, &[0, 6], Preemption::Preemptive), None);
    assert!(edf_is_feasible(&tasks(&set)));
    assert!(!nonpreemptive_edf_is_feasible(&tasks(&set)));
    // With 17 of the longer job, begun just before, 16 remain; 18 are one too many.
    assert!(nonpreemptive_edf_is_feasible(&tasks(&[
        (102, 17),
        (33, 17)
    ])));
    assert!(!nonpreemptive_edf_is_feasible(&tasks(&[
        (102, 18),
        (33, 17)
    ])));
}

/// The condition of Jeffay, Stanat and Martel: L of at least C + sum of floor((L - 1) / T) C of the
/// shorter periods, for L between the shortest period and that of C. A(6, 1), B(4, 1), C(10, 4.5), in
/// tenths: at 41 it is 45 + 10 of B, which is beyond. C of 3.1: 31 + 10 at 41, 31 + 10 + 10 at 61, 31 + 20 + 10
/// at 81; one tenth more is beyond at 41.
#[test]
fn the_condition_of_jeffay_decides_for_sporadic_tasks() {
    let set = |time| tasks(&[(60, 10), (40, 10), (100, time)]);
    assert!(!nonpreemptive_edf_is_feasible(&set(45)));
    assert!(edf_is_feasible(&set(45)));
    assert!(nonpreemptive_edf_is_feasible(&set(31)));
    assert!(!nonpreemptive_edf_is_feasible(&set(32)));
    // Two releases a tenth after C: of A and B, the second ends at 65 of at most 61.
    let late = missed(
        &[(60, 10), (40, 10), (100, 45)],
        &[1, 1, 0],
        Preemption::NonPreemptive,
    );
    assert_eq!(late, Some((1, 41)));
}

/// The order of latest starts lets the long job go before the short one that is due earlier: of
/// (20, 4) and (25, 15) the second starts at 10 at the latest, the first at 16. 15 + 4 are within 20; 17 + 4
/// are not, though by deadline 4 + 17 are within 25, and a job of 17 begun before leaves 16 of it.
#[test]
fn latest_starts_let_a_long_job_go_first() {
    let laxity = |set: &[(u64, u64)]| {
        let queue: Vec<_> = tasks(set)
            .into_iter()
            .map(NonPreemptive::by_laxity)
            .collect();
        nonpreemptive_queue_is_feasible(&queue, &[], Time::ZERO)
    };
    assert!(laxity(&[(20, 4), (25, 15)]));
    assert!(!laxity(&[(20, 4), (25, 17)]));
    assert!(nonpreemptive_edf_is_feasible(&tasks(&[(20, 4), (25, 17)])));
}

/// A more urgent queue preempts: (10, 3) above (30, 9), (60, 12). The first job of the queue waits for
/// 11 of the second and has 9; 20 with 3, 3 and 3 of the other are 29 of 30. With 13 it is 21, and 30
/// of 30; with 14 it is 22, and beyond.
#[test]
fn a_more_urgent_queue_preempts_a_queue_without_preemption() {
    let holds = |time| {
        let queue = tasks(&[(30, 9), (60, time)]);
        let queue: Vec<_> = queue.into_iter().map(NonPreemptive::by_deadline).collect();
        nonpreemptive_queue_is_feasible(&queue, &tasks(&[(10, 3)]), Time::ZERO)
    };
    assert!(holds(12));
    assert!(holds(13));
    assert!(!holds(14));
}
