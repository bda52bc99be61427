// SPDX-License-Identifier: MIT OR Apache-2.0
//! Examples with published results.

use orbium_sched::Time;
use orbium_sched::feasibility::{
    Task, edf_is_feasible, hyperbolic_bound_holds, response_times, utilization, utilization_bound,
    utilization_bound_holds,
};

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

/// Liu and Layland, JACM 20(1), 1973: the least upper bounds of 2, 3 and 4 tasks, and ln 2.
#[test]
fn liu_and_laylands_bounds() {
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

/// Burns and Wellings, "Real-Time Systems and Programming Languages", process sets A, B and C:
/// A exceeds the bound and misses, B is below it, C reaches 1.0 above the bound and holds.
#[test]
fn burns_and_wellings_process_sets() {
    let a = [(30, 10), (40, 10), (50, 12)];
    assert!(!utilization_bound_holds(&tasks(&a)));
    assert_eq!(responses(&a, 0), [Some(10), Some(20), None]);
    let b = [(16, 4), (40, 5), (80, 32)];
    assert!((utilization(&tasks(&b)) - 0.775).abs() < 1e-9 && utilization_bound_holds(&tasks(&b)));
    let c = [(20, 5), (40, 10), (80, 40)];
    assert!(!utilization_bound_holds(&tasks(&c)));
    assert_eq!(responses(&c, 0), [Some(5), Some(15), Some(80)]);
    // Set D, which response time analysis is introduced with.
    assert_eq!(
        responses(&[(7, 3), (12, 3), (20, 5)], 0),
        [Some(3), Some(6), Some(20)]
    );
}

/// Lehoczky, Sha and Ding, RTSS 1989: periods 100, 150, 350 and times 40, 40, 100 hold at 0.952,
/// far above the bound.
#[test]
fn lehoczky_sha_and_dings_example() {
    let set = [(100, 40), (150, 40), (350, 100)];
    assert!(!utilization_bound_holds(&tasks(&set)));
    assert_eq!(responses(&set, 0), [Some(40), Some(80), Some(300)]);
}

/// Bini, Buttazzo and Buttazzo, IEEE Trans. Computers 52(7), 2003: what the hyperbolic bound
/// accepts includes what Liu and Layland's does; utilizations 0.6 and 0.24 are accepted by it alone.
#[test]
fn the_hyperbolic_bound_accepts_more() {
    let set = tasks(&[(10, 6), (100, 24)]);
    assert!(!utilization_bound_holds(&set));
    assert!(hyperbolic_bound_holds(&set));
    assert!(!hyperbolic_bound_holds(&tasks(&[(10, 6), (100, 26)])));
}

/// Buttazzo, "Hard Real-Time Computing Systems", the example of EDF against RM: (2, 5) and (4, 7)
/// have a utilization of 34/35, miss under RM and hold under EDF.
#[test]
fn buttazzos_example_of_rm_and_edf() {
    let set = [(5, 2), (7, 4)];
    assert_eq!(responses(&set, 0), [Some(2), None]);
    assert!(edf_is_feasible(&tasks(&set)));
}

/// Buttazzo, the example of processor demand: (C, D, T) = (2, 4, 6), (2, 5, 8), (3, 7, 9) hold.
#[test]
fn buttazzos_example_of_processor_demand() {
    let task = |time, deadline, period| {
        Task::new(Time::from_ticks(period), Time::from_ticks(time))
            .with_deadline(Time::from_ticks(deadline))
    };
    assert!(edf_is_feasible(&[
        task(2, 4, 6),
        task(2, 5, 8),
        task(3, 7, 9)
    ]));
    assert!(!edf_is_feasible(&[
        task(2, 4, 6),
        task(2, 4, 8),
        task(3, 6, 9)
    ]));
}

/// Blocking by a section of lower priority enters once, and not at the lowest level.
#[test]
fn blocking_enters_once() {
    assert_eq!(
        responses(&[(20, 5), (40, 10), (80, 20)], 3),
        [Some(8), Some(18), Some(40)]
    );
}
