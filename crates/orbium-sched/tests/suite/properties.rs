// SPDX-License-Identifier: MIT OR Apache-2.0
//! The analysis against the simulator on random task sets: every deadline.

use orbium_sched::feasibility::{
    NonPreemptive, Task, edf_is_feasible, hyperperiod, nonpreemptive_edf_is_feasible,
    nonpreemptive_queue_is_feasible, response_times, utilization_is_at_most_one,
};
use orbium_sched::simulator::{Simulated, hyperperiod_of, simulate, tasks_of};
use orbium_sched::{
    Criticality, Dispatching, Level, Options, Preemption, Repository, Schedule, Strategy as Policy,
    Time, Timing,
};
use proptest::prelude::*;

fn ticks(ticks: u64) -> Time {
    Time::from_ticks(ticks)
}

/// Periods with a small least common multiple.
fn period() -> impl Strategy<Value = u64> {
    prop::sample::select(vec![4_u64, 5, 6, 8, 10, 12, 15, 16, 20, 24, 30, 40, 48, 60])
}

fn task() -> impl Strategy<Value = Task> {
    (period(), 1_u64..100, 0_u64..100).prop_map(|(period, share, slack)| {
        let time = (period * share / 250).max(1);
        let deadline = period - (period - time) * slack / 200;
        Task::new(ticks(period), ticks(time)).with_deadline(ticks(deadline))
    })
}

fn simulated(task: &Task, queue: usize) -> Simulated {
    Simulated {
        queue,
        period: task.period,
        execution_time: task.execution_time,
        deadline: task.deadline,
        estimate: task.execution_time,
        offset: Time::ZERO,
    }
}

/// Whether a queue without preemption misses a deadline with these first releases.
fn misses(tasks: &[Task], dispatching: Dispatching, offsets: impl Fn(usize) -> u64) -> bool {
    let later = |(index, task): (usize, &Task)| Simulated {
        offset: ticks(offsets(index)),
        ..simulated(task, 0)
    };
    let simulated: Vec<_> = tasks.iter().enumerate().map(later).collect();
    // When a set is overloaded, the first miss may come late.
    let turns = if utilization_is_at_most_one(tasks) {
        3
    } else {
        20
    };
    let end = hyperperiod(tasks).unwrap().saturating_mul(turns);
    let kind = Preemption::NonPreemptive;
    let trace = simulate(&simulated, &[dispatching], kind, end, 100_000);
    trace.misses().next().is_some()
}

fn threads() -> impl Strategy<Value = Repository> {
    let timing =
        (period(), 1_u64..100, 0_usize..5).prop_map(|(period, share, criticality)| Timing {
            period: ticks(period),
            worst_case_execution_time: ticks((period * share / 300).max(1)),
            criticality: Criticality::ALL[criticality],
            ..Timing::default()
        });
    prop::collection::vec(timing, 1..9).prop_map(|timings| {
        let mut repository = Repository::new();
        for (number, timing) in timings.into_iter().enumerate() {
            repository.register(&number.to_string(), timing).unwrap();
        }
        repository
    })
}

/// Per level: whether the simulation misses one of its deadlines, and its longest response.
fn run(schedule: &Schedule) -> Vec<(bool, Option<Time>)> {
    run_from(schedule, &[0])
}

/// The same with these first releases, in turns.
fn run_from(schedule: &Schedule, offsets: &[u64]) -> Vec<(bool, Option<Time>)> {
    let (tasks, dispatching) = tasks_of(schedule);
    let mut tasks: Vec<_> = tasks.into_iter().map(|(_, task)| task).collect();
    for (task, offset) in tasks.iter_mut().zip(offsets.iter().cycle()) {
        task.offset = ticks(*offset);
    }
    let turns = if offsets == [0] { 1 } else { 2 };
    let end = hyperperiod_of(schedule).unwrap().saturating_mul(turns);
    let trace = simulate(&tasks, &dispatching, schedule.preemption, end, usize::MAX);
    let level = |queue: usize| {
        let own = |task: usize| tasks[task].queue == queue;
        let is_missed = trace.misses().any(|it| own(it.task));
        let responses = (0..tasks.len())
            .filter(|it| own(*it))
            .filter_map(|it| trace.worst_response(it));
        (is_missed, responses.max())
    };
    (0..schedule.levels.len()).map(level).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Fixed priorities, any deadlines up to the periods: the response is the longest one of the
    /// simulation exactly, and there is one if and only if no deadline is missed.
    #[test]
    fn response_times_are_those_of_the_simulator(tasks in prop::collection::vec(task(), 1..7)) {
        let responses = response_times(&tasks, Time::ZERO);
        let simulated: Vec<_> = tasks.iter().enumerate().map(|(queue, it)| simulated(it, queue)).collect();
        let dispatching = vec![Dispatching::Static; tasks.len()];
        let end = hyperperiod(&tasks).unwrap();
        let trace = simulate(&simulated, &dispatching, Preemption::default(), end, usize::MAX);
        for (index, response) in responses.iter().enumerate() {
            let is_missed = trace.misses().any(|it| it.task == index);
            prop_assert_eq!(response.is_none(), is_missed, "task {}", index);
            if response.is_some() {
                prop_assert_eq!(*response, trace.worst_response(index));
            }
        }
    }

    /// EDF and least laxity, any deadlines up to the periods: feasible if and only if no deadline is missed.
    #[test]
    fn processor_demand_is_that_of_the_simulator(tasks in prop::collection::vec(task(), 1..7)) {
        let simulated: Vec<_> = tasks.iter().map(|it| simulated(it, 0)).collect();
        // When a set is overloaded, the first miss may come late.
        let end = hyperperiod(&tasks).unwrap().saturating_mul(20);
        for dispatching in [Dispatching::Deadline, Dispatching::Laxity] {
            let trace = simulate(&simulated, &[dispatching], Preemption::Preemptive, end, 100_000);
            let is_missed = trace.misses().next().is_some();
            prop_assert_eq!(edf_is_feasible(&tasks), !is_missed, "{:?}", dispatching);
        }
    }

    /// RMS: each level is met if and only if the simulation misses none of its deadlines, and its
    /// response is the longest of its jobs.
    #[test]
    fn rms_levels_are_those_of_the_simulator(repository in threads()) {
        let schedule = Schedule::compute(&repository, &Options::new(Policy::Rms)).unwrap();
        for (level, (is_missed, longest)) in schedule.levels.iter().zip(run(&schedule)) {
            prop_assert_eq!(level.is_met(), !is_missed);
            if level.is_met() {
                prop_assert_eq!(level.response, longest);
            }
        }
    }

    /// Non-preemptive EDF, any deadlines up to the periods: feasible if and only if no deadline is
    /// missed when all are released together and when any one of them is released just before.
    #[test]
    fn nonpreemptive_demand_is_that_of_the_simulator(tasks in prop::collection::vec(task(), 1..7)) {
        let before = |first: usize| misses(&tasks, Dispatching::Deadline, |it| u64::from(it != first));
        let is_missed = (0..=tasks.len()).any(before);
        prop_assert_eq!(nonpreemptive_edf_is_feasible(&tasks), !is_missed);
    }

    /// Least laxity without preemption: what is called feasible misses nothing, whatever is
    /// released when.
    #[test]
    fn nonpreemptive_laxity_keeps_what_it_promises(
        tasks in prop::collection::vec(task(), 1..7),
        offsets in prop::collection::vec(0_u64..60, 7),
    ) {
        let queue: Vec<_> = tasks.iter().copied().map(NonPreemptive::by_laxity).collect();
        if nonpreemptive_queue_is_feasible(&queue, &[], Time::ZERO) {
            let before = |first: usize| misses(&tasks, Dispatching::Laxity, |it| u64::from(it != first));
            prop_assert!(!(0..=tasks.len()).any(before));
            prop_assert!(!misses(&tasks, Dispatching::Laxity, |it| offsets[it]));
        }
    }

    /// EDF and MLF with preemption: one level, met if and only if no deadline is missed.
    #[test]
    fn one_queue_is_that_of_the_simulator(repository in threads()) {
        for strategy in [Policy::Edf, Policy::Mlf] {
            let options = Options { preemption: Preemption::Preemptive, ..Options::new(strategy) };
            let schedule = Schedule::compute(&repository, &options).unwrap();
            // Backlog of an overload can hide within one hyperperiod only if there is none.
            prop_assert_eq!(schedule.is_feasible(), !run(&schedule)[0].0);
        }
    }

    /// Every strategy, with and without preemption within a queue: what is guaranteed is kept,
    /// whatever the rest does and whenever it is released.
    #[test]
    fn guarantees_are_kept(
        repository in threads(),
        offsets in prop::collection::vec(0_u64..60, 8),
    ) {
        for (strategy, preemption) in Policy::ALL.into_iter().flat_map(|it| Preemption::ALL.map(|kind| (it, kind))) {
            let options = Options { preemption, ..Options::new(strategy) };
            let schedule = Schedule::compute(&repository, &options).unwrap();
            if !schedule.levels.iter().any(Level::is_met) {
                continue;
            }
            for offsets in [&[0][..], &[1, 0, 1, 1], &offsets] {
                for (level, (is_missed, _)) in schedule.levels.iter().zip(run_from(&schedule, offsets)) {
                    prop_assert!(
                        !(level.is_met() && is_missed),
                        "{} {}: queue {}", preemption, strategy, level.queue
                    );
                }
            }
        }
    }

    /// A bound never promises what the exact test refuses.
    #[test]
    fn bounds_are_sufficient(repository in threads()) {
        let schedule = Schedule::compute(&repository, &Options::new(Policy::Rms)).unwrap();
        for level in schedule.levels.iter().filter(|it| it.is_met()) {
            prop_assert!(level.response.is_some_and(|it| it <= level.period));
        }
    }
}
