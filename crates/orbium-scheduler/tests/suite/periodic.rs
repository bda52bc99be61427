// SPDX-License-Identifier: MIT OR Apache-2.0
//! Periodic tasks in virtual time: each begins, runs and ends when the test says.

use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use orbium::lane::priority;
use orbium_scheduler::{
    Job, Overload, PeriodicTask, PeriodicTaskBuilder, SchedulerError, Statistics,
};
use orbium_testkit::within;

use crate::time::{MS, VirtualClock};

/// Runs a task of 10 ms until `work`, which gets the number of the call, returns false.
fn run(
    configure: impl FnOnce(PeriodicTaskBuilder) -> PeriodicTaskBuilder,
    mut work: impl FnMut(usize, &Job<'_>, &VirtualClock) -> bool + Send + 'static,
) -> Statistics {
    let clock = VirtualClock::default();
    let (last, ended): (_, Receiver<()>) = sync_channel(0);
    let task = PeriodicTask::every("task", 10 * MS).clock(clock.clone());
    let mut calls = 0;
    let task = configure(task).start(move |job| {
        if work(calls, job, &clock) {
            calls += 1;
        } else {
            // Returns when the test has seen it, and again when the receiver is gone.
            let _ = last.send(());
        }
    });
    within("the task", move || {
        ended.recv().unwrap();
        drop(ended);
        task.unwrap().stop().unwrap()
    })
}

/// Conformance: RT 6 - `PeriodicTask`: no drift, jitter measured, overruns counted
#[test]
fn delays_of_runs_do_not_move_releases() {
    let (released, releases) = sync_channel(64);
    run(
        |task| task.offset(3 * MS),
        move |call, job, clock| {
            // Those after the thirtieth are too many in the end.
            let _ = released.try_send((job.number(), job.due(), job.deadline()));
            // 7 ms of work, and 9 of each third one.
            clock.advance(if call % 3 == 2 { 9 * MS } else { 7 * MS });
            call < 29
        },
    );
    let releases: Vec<_> = releases.into_iter().collect();
    for (number, release) in (0_u32..30).zip(releases) {
        let due = 3 * MS + 10 * MS * number;
        assert_eq!(release, (number.into(), due, Some(due + 10 * MS)));
    }
}

/// Conformance: RT 6 - `PeriodicTask`: no drift, jitter measured, overruns counted
#[test]
fn overruns_are_counted_and_jitter_is_measured() {
    let statistics = run(
        |task| task,
        |call, _, clock| {
            clock.advance(if call == 2 { 24 * MS } else { 4 * MS });
            call < 9
        },
    );
    // The third run ends at 44 in place of 30, the fourth and fifth at 48 and 52 in place of 40 and 50.
    assert!(statistics.runs >= 9, "{statistics:?}");
    assert_eq!(
        (statistics.late, statistics.skipped),
        (3, 0),
        "{statistics:?}"
    );
    assert_eq!(statistics.response.count(), statistics.runs);
    let near = |time: Duration, expected: Duration| time.abs_diff(expected) <= expected / 50;
    // The fourth run was released at 30.
    assert!(near(statistics.jitter.max(), 14 * MS), "{statistics:?}");
    assert!(near(statistics.response.max(), 24 * MS), "{statistics:?}");
    assert!(
        near(statistics.response.quantile(0.5), 4 * MS),
        "{statistics:?}"
    );
}

/// Conformance: RT 6 - overload policy of an operation: run late, skip, cancel, counted
#[test]
fn releases_that_have_passed_are_skipped() {
    let statistics = run(
        |task| task.overload(Overload::Skip),
        |call, job, clock| {
            clock.advance(if call == 2 { 24 * MS } else { 4 * MS });
            if call == 3 {
                assert_eq!((job.number(), job.due()), (4, 40 * MS));
            }
            call < 9
        },
    );
    assert_eq!(
        (statistics.late, statistics.skipped),
        (1, 1),
        "{statistics:?}"
    );
    assert_eq!(statistics.cancelled, 0);
}

/// Conformance: RT 6 - overload policy of an operation: run late, skip, cancel, counted
#[test]
fn a_run_is_cancelled_at_its_deadline() {
    let statistics = run(
        |task| task.overload(Overload::Cancel),
        |call, job, clock| {
            if call == 1 {
                for _ in 0..10 {
                    assert!(!job.is_cancelled());
                    clock.advance(MS);
                }
                assert!(!job.is_cancelled(), "the deadline itself is in time");
                clock.advance(MS);
                assert!(job.is_cancelled());
            }
            call < 4
        },
    );
    assert_eq!(
        (statistics.cancelled, statistics.late),
        (1, 0),
        "{statistics:?}"
    );
}

#[test]
fn only_the_policy_cancels() {
    for overload in [Overload::RunLate, Overload::Skip] {
        let statistics = run(
            |task| task.overload(overload),
            |call, job, clock| {
                clock.advance(11 * MS);
                assert!(job.is_late() && !job.is_cancelled());
                call < 2
            },
        );
        assert_eq!(statistics.cancelled, 0);
    }
}

/// Conformance: RT 6 - bad input: clocks that jump
#[test]
fn a_clock_that_jumps_costs_one_run() {
    let statistics = run(
        |task| task,
        |call, job, clock| {
            match call {
                0 => clock.set(3_600_000 * MS),
                // Forward: one run for all that was missed, in phase.
                1 => assert_eq!(job.due(), 3_600_000 * MS),
                2 => {
                    assert_eq!(job.due(), 3_600_010 * MS);
                    clock.set(5 * MS);
                }
                // Back: a period later.
                3 => assert_eq!(job.due(), 15 * MS),
                _ => return false,
            }
            true
        },
    );
    assert_eq!(statistics.clock_jumps, 2, "{statistics:?}");
}

#[test]
fn a_task_without_a_period_is_refused() {
    let refused = PeriodicTask::every("idle", Duration::ZERO).start(|_| ());
    assert!(matches!(refused, Err(SchedulerError::NoPeriod(name)) if name == "idle"));
}

#[test]
fn a_panic_ends_the_task_and_is_reported() {
    let task = PeriodicTask::every("faulty", MS).start(|_| {
        std::panic::resume_unwind(Box::new("work"));
    });
    let task = task.unwrap();
    orbium_testkit::eventually("its end", || !task.is_running());
    let error = within("the end", move || task.stop().unwrap_err());
    assert_eq!(error.to_string(), "a run of `faulty` panicked");
}

/// By the host's clock: how late runs are is the host's affair, how many there are is not.
#[test]
fn a_task_by_the_schedule_runs_at_its_priority() {
    let (ran, priorities) = sync_channel(1);
    let task = PeriodicTask::scheduled(&crate::lanes::SCHEDULE, 1).unwrap();
    let task = task.soft(true).start(move |_| {
        let name = std::thread::current().name().map(str::to_owned);
        let _ = ran.try_send((priority::current(), name));
    });
    let task = task.unwrap();
    let (priority, name) = within("a run", move || priorities.recv().unwrap());
    assert_eq!(priority.map(i16::from), Some(10));
    assert_eq!(name.as_deref(), Some("ADC::update"));
    assert!(within("its end", move || task.stop().unwrap()).runs > 0);
    let beyond = PeriodicTask::scheduled(&crate::lanes::SCHEDULE, 3);
    assert_eq!(
        beyond.unwrap_err().to_string(),
        "no operation `3` is registered"
    );
}

/// It waited for its own thread, which panics.
#[test]
fn a_run_may_end_its_own_task() {
    let own: Arc<Mutex<Option<PeriodicTask>>> = Arc::default();
    let (send, ended) = sync_channel(1);
    let of_task = Arc::clone(&own);
    let task = PeriodicTask::every("once", MS).start(move |_| {
        let task = of_task.lock().unwrap().take();
        if let Some(task) = task {
            let _ = send.send(task.stop().map(|it| it.late));
        }
    });
    *own.lock().unwrap() = Some(task.unwrap());
    let ended = within("the run", move || ended.recv());
    assert!(matches!(ended, Ok(Ok(_))), "{ended:?}");
}
