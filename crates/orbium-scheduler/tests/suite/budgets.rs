// SPDX-License-Identifier: MIT OR Apache-2.0
//! Budgets of requests, in virtual time.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use orbium::interceptor::Interceptors;
use orbium::lane::Scheduling;
use orbium_sched::{Entry, Table};
use orbium_scheduler::{BudgetCounts, CpuBudgets, Overrun, ScheduledThread};
use orbium_sys::NativeThread;
use orbium_testkit::probe::Target;
use orbium_testkit::{PATIENCE, client, reach, skipped, within};

use crate::intercepted_process::InterceptedProcess;
use crate::time::{MS, VirtualClock};

/// 5 ms for `act`, and no budget for `noop`.
static SCHEDULE: Table = Table {
    entries: &[
        Entry::new("Probe::Target::act", (0, 0, 1), 500_000, 50_000),
        Entry::new("Probe::Target::noop", (0, 0, 1), 500_000, 0),
    ],
    ..Table::EMPTY
};

/// Conformance: RT 6 - budgets of requests: a servant that overruns is notified and counted
#[test]
fn a_servant_that_overruns_is_notified_and_counted() {
    let clock = VirtualClock::default();
    let budgets = CpuBudgets::with_clock(&SCHEDULE, clock.clone());
    let mut interceptors = Interceptors::new();
    budgets.install(&mut interceptors).unwrap();
    assert!(budgets.install(&mut interceptors).is_err());
    let InterceptedProcess {
        orb,
        state,
        target: own,
    } = InterceptedProcess::new(interceptors);
    let overruns = Arc::new(Mutex::new(Vec::new()));
    let reported = Arc::clone(&overruns);
    budgets.on_overrun(move |it| reported.lock().unwrap().push(it));
    budgets.on_overrun(|_| panic!("the first call-back counts"));
    let remaining = Arc::new(Mutex::new(Vec::new()));
    let (seen, again) = (Arc::clone(&remaining), own.clone());
    // As many milliseconds as it is asked for, and a call of 1 ms to itself, in the same thread.
    state.on_act(move |_, milliseconds| {
        clock.advance(MS * milliseconds.unsigned_abs());
        if milliseconds > 1 {
            again.act(1)?;
        }
        seen.lock().unwrap().push(CpuBudgets::remaining());
        Ok(milliseconds)
    });
    let caller = client();
    let target: Target = reach(&caller, &orb.object_to_string(&own));
    within("the calls", move || {
        for milliseconds in [3, 5, 8] {
            target.act(milliseconds).unwrap();
        }
        target.noop().unwrap();
    });
    let left = |milliseconds: u32| Some(MS * milliseconds);
    let expected = [left(4), left(2), left(4), left(0), left(4), left(0)];
    assert_eq!(*remaining.lock().unwrap(), expected);
    let overrun = Overrun {
        operation: 0,
        budget: MS * 5,
        taken: MS * 8,
    };
    assert_eq!(*overruns.lock().unwrap(), [overrun]);
    let acted = BudgetCounts {
        requests: 6,
        overruns: 1,
        longest: MS * 8,
    };
    assert_eq!(budgets.counts(0), Some(acted));
    let done = BudgetCounts {
        requests: 1,
        overruns: 0,
        longest: Duration::ZERO,
    };
    assert_eq!(budgets.counts(1), Some(done));
    assert_eq!(budgets.counts(2), None);
    assert_eq!(CpuBudgets::remaining(), None);
    // As the metrics of the ORB have it; an operation without a budget is left out.
    let shown = orb.enable_metrics().snapshot().budgets;
    let [shown] = shown.as_slice() else {
        panic!("{shown:?}");
    };
    assert_eq!(shown.operation, "Probe::Target/act");
    assert_eq!((shown.budget, shown.counts.longest), (MS * 5, MS * 8));
    assert_eq!((shown.counts.requests, shown.counts.overruns), (6, 1));
    orb.shutdown(true).unwrap();
}

/// Conformance: RT 6 - budgets of requests: a servant that overruns is demoted until its request ends
#[test]
fn a_servant_that_overruns_is_demoted_for_the_rest_of_its_request() {
    let usual = Scheduling::fifo(2);
    if usual.try_out().is_err() {
        return skipped("no permission for real-time priorities");
    }
    let lower = Scheduling::OTHER;
    let budgets = CpuBudgets::new(&SCHEDULE);
    let mut interceptors = Interceptors::new();
    budgets.install(&mut interceptors).unwrap();
    let watchdog = ScheduledThread {
        name: "watchdog".to_owned(),
        scheduling: Some(Scheduling::fifo(3)),
        ..ScheduledThread::default()
    };
    budgets.demote(lower, watchdog).unwrap();
    let InterceptedProcess {
        orb,
        state,
        target: own,
    } = InterceptedProcess::new(interceptors);
    let scheduling = || NativeThread::current().scheduling().unwrap();
    // 0: the thread gets its priority. 1: it works until it is demoted. 2: within the budget.
    state.on_act(move |_, step| {
        match step {
            0 => usual.apply_to_this_thread().unwrap(),
            1 => {
                assert_eq!(scheduling(), usual);
                let begun = Instant::now();
                while scheduling() != lower && begun.elapsed() < PATIENCE {}
            }
            _ => {}
        }
        Ok(scheduling().priority)
    });
    let caller = client();
    let target: Target = reach(&caller, &orb.object_to_string(&own));
    let priorities = within("the calls", move || {
        [0, 1, 2].map(|step| target.act(step).unwrap())
    });
    assert_eq!(priorities, [2, 0, 2]);
    assert_eq!(budgets.demotions(), 1);
    orb.shutdown(true).unwrap();
}
